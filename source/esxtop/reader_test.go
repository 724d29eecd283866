package esxtop

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"example.org/homenode/numa"
)

// read returns what a file holds, one line a row, and its warnings and error.
func read(t *testing.T, r io.Reader, opt Options) (rows, problems []string) {
	t.Helper()
	rd, err := NewReader("b.csv", r, opt)
	if err != nil {
		return nil, []string{"error " + err.Error()}
	}
	for rd.Scan() {
		rows = append(rows, format(rd.Row()))
	}
	for _, w := range rd.Warnings() {
		problems = append(problems, w.Error())
	}
	if rd.Err() != nil {
		problems = append(problems, "error "+rd.Err().Error())
	}
	return rows, problems
}

func format(row *Row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s", row.Line, row.Time.Format("2006-01-02T15:04:05.999"))
	for i := range row.Values {
		v, ok := row.Value(i)
		homes, home := row.Homes(i)
		switch {
		case home:
			fmt.Fprintf(&b, " {%s}", homes)
		case ok:
			fmt.Fprintf(&b, " %v", v)
		default:
			b.WriteString(" ?")
		}
	}
	return b.String()
}

const (
	head = `"(PDH-CSV 4.0) (UTC)(0)","\\h\Memory\Free MBytes","\\h\Group Memory(7:a)\Numa Home Nodes","\\h\Memory\Kernel State",` + "\n"
	bare = `(PDH-CSV 4.0) (UTC)(0),\\h\Memory\Free MBytes,\\h\Memory\Kernel State` + "\n"
)

func TestReader(t *testing.T) {
	const stamp = "2026-11-21T10:00:0"
	for _, tt := range []struct {
		name           string
		in             string
		rows, problems []string
	}{
		{"as esxtop writes it", head + `"11/21/2026 10:00:00","12.50","0,1","-3",` + "\n" + `"11/21/2026 10:00:05","1234567.25","1","0",` + "\n",
			[]string{"2 " + stamp + "0 12.5 {0,1} -3", "3 " + stamp + "5 1.23456725e+06 {1} 0"}, nil},
		{"nothing stated", head + `"11/21/2026 10:00:00","-","-","",` + "\n", []string{"2 " + stamp + "0 ? {-} ?"}, nil},
		{"CRLF", strings.ReplaceAll(head+`"11/21/2026 10:00:00","1","0","2",`+"\n", "\n", "\r\n"), []string{"2 " + stamp + "0 1 {0} 2"}, nil},
		{"bare CR", strings.ReplaceAll(bare+"11/21/2026 10:00:00,1,2\n11/21/2026 10:00:05,3,4\n", "\n", "\r"), []string{"2 " + stamp + "0 1 2", "3 " + stamp + "5 3 4"}, nil},
		{"byte order mark", "\ufeff" + head + `"11/21/2026 10:00:00","1","0","2",` + "\n", []string{"2 " + stamp + "0 1 {0} 2"}, nil},
		{"other lists of nodes", head + `"11/21/2026 10:00:00","1","0 1","2",` + "\n" + `"11/21/2026 10:00:05","1","1;3","2",` + "\n", []string{"2 " + stamp + "0 1 {0,1} 2", "3 " + stamp + "5 1 {1,3} 2"}, nil},
		{"a range or a list", head + `"11/21/2026 10:00:00","1","0-1","2",` + "\n", []string{"2 " + stamp + "0 1 ? 2"},
			[]string{`b.csv:2:28: \\h\Group Memory(7:a)\Numa Home Nodes: found "0-1", want home nodes such as 0,1: the cell is left out`}},
		{"time zone", strings.Replace(head, "(UTC)(0)", "(W. Europe Standard Time)(-60)", 1) + `"11/21/2026 11:00:00.250","1","0","2",` + "\n", []string{"2 " + stamp + "0.25 1 {0} 2"}, nil},
		{"junk before the header", "no termcap entry for a `xterm-256color' terminal" + head + `"11/21/2026 10:00:00","1","0","2",` + "\n", []string{"2 " + stamp + "0 1 {0} 2"},
			[]string{"b.csv:1:1: found \"no termcap entry for a `xterm-256color' terminal\" before the header: left out"}},
		{"a line of junk", "bash: warning\n" + head + `"11/21/2026 10:00:00","1","0","2",` + "\n", []string{"3 " + stamp + "0 1 {0} 2"},
			[]string{`b.csv:1:1: found "bash: warning\n" before the header: left out`}},
		{"no number", head + `"11/21/2026 10:00:00","n/a","0","2",` + "\n" + `"11/21/2026 10:00:05","NaN","0","0x10",` + "\n", []string{"2 " + stamp + "0 ? {0} 2", "3 " + stamp + "5 ? {0} ?"},
			[]string{`b.csv:2:24: \\h\Memory\Free MBytes: found "n/a", want a number: the cell is left out (and 2 more such cells)`}},
		{"short row", head + `"11/21/2026 10:00:00","1","0",` + "\n" + `"11/21/2026 10:00:05","1","0","2",` + "\n", []string{"3 " + stamp + "5 1 {0} 2"},
			[]string{"b.csv:2:31: found 3 fields, want 4 as in the header: the row is left out"}},
		{"long row", head + `"11/21/2026 10:00:00","1","0","2","3"` + "\n", nil,
			[]string{"b.csv:2:35: found 5 fields, want 4 as in the header: the row is left out"}},
		{"cut in a field", head + `"11/21/2026 10:00:00","1","0","2",` + "\n" + `"11/21/2026 10:00:05","1","`, []string{"2 " + stamp + "0 1 {0} 2"},
			[]string{"b.csv:3:28: found the end of the file after 3 of 4 fields: the row is left out"}},
		{"complete, but for the line end", head + `"11/21/2026 10:00:00","1","0","2"`, []string{"2 " + stamp + "0 1 {0} 2"}, nil},
		{"the last number may be cut", bare + "11/21/2026 10:00:00,1,2\n11/21/2026 10:00:05,1,2", []string{"2 " + stamp + "0 1 2", "3 " + stamp + "5 1 ?"},
			[]string{`b.csv:3:23: \\h\Memory\Kernel State: found no line end after the number, which may be cut: the cell is left out`}},
		{"two rows fused", head + `"11/21/2026 10:00:00","1","0","2"` + `"11/21/2026 10:00:05","1","0","2",` + "\n" + `"11/21/2026 10:00:10","1","0","2",` + "\n", []string{"3 2026-11-21T10:00:10 1 {0} 2"},
			[]string{"b.csv:2:56: found 7 fields, want 4 as in the header: the row is left out"}},
		{"NUL bytes", head + "\x00\x00\n" + `"11/21/2026 10:00:00","1` + "\x00" + `","0","2",` + "\n", []string{"3 " + stamp + "0 ? {0} 2"},
			[]string{"b.csv:2:1: found NUL bytes (and 1 more such lines)", "b.csv:3:24: \\\\h\\Memory\\Free MBytes: found \"1\\x00\", want a number: the cell is left out"}},
		{"no time", head + `"tomorrow","1","0","2",` + "\n", nil,
			[]string{`b.csv:2:1: found "\"tomorrow\"", want a time such as 11/21/2026 10:00:00: the row is left out`}},
		{"February 30", head + `"02/30/2026 10:00:00","1","0","2",` + "\n", nil,
			[]string{`b.csv:2:1: found "\"02/30/2026 10:00:00\"", want a time such as 11/21/2026 10:00:00: the row is left out`}},
		{"Excel: no seconds, no zeros", bare + "3/26/2015 22:42,24.4,40\n3/26/2015 22:42,24.5,41\n", []string{"2 2015-03-26T22:42:00 24.4 40", "3 2015-03-26T22:42:30 24.5 41"},
			[]string{"b.csv:2:1: found several rows of one minute without seconds: they are spread evenly over it, so times within a minute are assumed (and 1 more such rows)"}},
		{"Excel for Mac: no date, past midnight", bare + "23:59:58,1,2\n00:00:03,3,4\n", []string{"2 1970-01-01T23:59:58 1 2", "3 1970-01-02T00:00:03 3 4"},
			[]string{"b.csv:2:1: found a time without date: the first day is assumed to be 1970-01-01 (and 1 more such rows)"}},
		{"decimal commas", strings.ReplaceAll(bare, ",", ";") + "21.11.2026 10:00:00;1.024,5;0,25\n", []string{"2 " + stamp + "0 1024.5 0.25"}, nil},
		{"decimal commas, two readings", strings.ReplaceAll(bare, ",", ";") + "21.11.2026 10:00:00;1.024;0\n", []string{"2 " + stamp + "0 ? 0"},
			[]string{`b.csv:2:21: \\h\Memory\Free MBytes: found "1.024", want a decimal point: it could mean two numbers, the cell is left out`}},
		{"decimal commas in quotes", head + `"11/21/2026 10:00:00","1,234","0,1","1,5",` + "\n", []string{"2 " + stamp + "0 1.234 {0,1} 1.5"}, nil},
		{"decimal commas and thousands", strings.ReplaceAll(bare, ",", ";") + "21.11.2026 10:00:00;65.536;0,25\n21.11.2026 10:00:05;65.536;0\n", []string{"2 " + stamp + "0 65536 0.25", "3 " + stamp + "5 65536 0"}, nil},
		{"decimal points and thousands", head + `"11/21/2026 10:00:00","65,536","0,1","1.5",` + "\n" + `"11/21/2026 10:00:05","65,536","0,1","1",` + "\n", []string{"2 " + stamp + "0 65536 {0,1} 1.5", "3 " + stamp + "5 65536 {0,1} 1"}, nil},
		{"apostrophes", strings.ReplaceAll(bare, ",", ";") + "21.11.2026 10:00:00;39’321.60;65'536\n21.11.2026 10:00:05;1.250;65’536\n", []string{"2 " + stamp + "0 39321.6 65536", "3 " + stamp + "5 1.25 65536"}, nil},
		{"both kinds of points", head + `"11/21/2026 10:00:00","1,5","0","1.5",` + "\n" + `"11/21/2026 10:00:05","1,234","0","1",` + "\n", []string{"2 " + stamp + "0 1.5 {0} 1.5", "3 " + stamp + "5 ? {0} 1"},
			[]string{`b.csv:3:24: \\h\Memory\Free MBytes: found "1,234", want a decimal point: it could mean two numbers, the cell is left out`}},
		{"thousands, two readings", head + `"11/21/2026 10:00:00","1,234","0","1",` + "\n", []string{"2 " + stamp + "0 ? {0} 1"},
			[]string{`b.csv:2:24: \\h\Memory\Free MBytes: found "1,234", want a decimal point: it could mean two numbers, the cell is left out`}},
		{"quotes lost and doubled", head + `"11/21/2026 10:00:00",1,"0","2""3",` + "\n", []string{"2 " + stamp + "0 1 {0} ?"},
			[]string{`b.csv:2:29: \\h\Memory\Kernel State: found "\"2\"\"3\"", want a number: the cell is left out`}},
		{"another header", head + `"11/21/2026 10:00:00","1","0","2",` + "\n" + `"(PDH-CSV 4.0) (UTC)(0)","\\h\Memory\Free MBytes",` + "\n" + `"11/21/2026 10:00:05","9",` + "\n",
			[]string{"2 " + stamp + "0 1 {0} 2", "4 " + stamp + "5 9"},
			[]string{"b.csv:3:1: found another header with 1 columns, the one before has 3: rows below are read by it"}},
		{"the same header again, after a cut row", head + `"11/21/2026 10:00:00","1` + head + `"11/21/2026 10:00:05","9","1","3",` + "\n", []string{"3 " + stamp + "5 9 {1} 3"},
			[]string{`b.csv:2:1: found "\"11/21/2026 10:00:00\",\"1" before a header: left out`}},
		{"only a header", head, nil, nil},
		{"empty", "", nil, []string{"error read b.csv: unexpected EOF"}},
		{"something else", "Name,Value\n1,2\n", nil, []string{`error b.csv:1:1: found "Name,Value", want the header of an esxtop batch file, "(PDH-CSV 4.0)"`}},
		{"no columns", `"(PDH-CSV 4.0) (UTC)(0)"` + "\n", nil, []string{"error b.csv:1:1: found a header without columns"}},
		{"no comma", `"(PDH-CSV 4.0) (UTC)(0)"|"a"` + "\n", nil, []string{`error b.csv:1:1: found "|\"a\"" after the first cell, want a comma`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			check := func(how string, r io.Reader, opt Options) {
				t.Helper()
				rows, problems := read(t, r, opt)
				if !slices.Equal(rows, tt.rows) || !slices.Equal(problems, tt.problems) {
					t.Errorf("%s:\n%s\n%s\nwant\n%s\n%s", how, strings.Join(rows, "\n"), strings.Join(problems, "\n"), strings.Join(tt.rows, "\n"), strings.Join(tt.problems, "\n"))
				}
			}
			check("file", strings.NewReader(tt.in), Options{})
			check("stream", iotest.OneByteReader(strings.NewReader(tt.in)), Options{})
			check("three workers", strings.NewReader(tt.in), Options{Workers: 3})
			check("stream with two workers", iotest.HalfReader(strings.NewReader(tt.in)), Options{Workers: 2})
		})
	}
}

func TestUTF16(t *testing.T) {
	in := head + `"11/21/2026 10:00:00","1.25","0","2",` + "\r\n"
	for _, mark := range []string{"\ufeff", ""} {
		var little, big []byte
		for _, u := range utf16.Encode([]rune(mark + in)) {
			little = append(little, byte(u), byte(u>>8))
			big = append(big, byte(u>>8), byte(u))
		}
		for _, b := range [][]byte{little, big} {
			rows, problems := read(t, bytes.NewReader(b), Options{})
			if want := []string{"2 2026-11-21T10:00:00 1.25 {0} 2"}; !slices.Equal(rows, want) || problems != nil {
				t.Errorf("% x…: %q, %q; want %q", b[:4], rows, problems, want)
			}
		}
	}
}

// TestFused reads the column that ESXi 6.5 prints without quotes (rach-sharp, esxtopd; the
// cells are those of that file).
func TestFused(t *testing.T) {
	const in = `"(PDH-CSV 4.0) (UTC)(0)","\\h\Power(0)\%T-State T7",   -"\\h\PCPU Power State(PCPU 1)\%C-State C0","\\h\Power(1)\%T-State T7",   -` + "\n" +
		`"04/24/2018 10:49:12","0.00",    73.1"8.93","0.50",    73.3` + "\n" +
		`"04/24/2018 10:49:17","1.00",    73.1"9.93","1.50",    73.3` + "\n"
	rows, problems := read(t, strings.NewReader(in), Options{})
	wantRows := []string{"2 2018-04-24T10:49:12 0 8.93 0.5", "3 2018-04-24T10:49:17 1 9.93 1.5"}
	wantProblems := []string{`b.csv:1:53: found "   -\"\\\\h\\PCPU Power State(PCPU 1)\\%C-State C0\"", want a comma and a quote before the name: ESXi 6.5 glues a nameless column to the next one`,
		`b.csv:1:127: found "   -" without quotes, want the name of a column: it is left out`}
	if !slices.Equal(rows, wantRows) || !slices.Equal(problems, wantProblems) {
		t.Errorf("%q\n%q\nwant\n%q\n%q", rows, problems, wantRows, wantProblems)
	}
	// The fast path takes such rows too.
	h, msg := parseHeader([]byte(strings.Split(in, "\n")[0]), 1, new(warnings), func(*Header) func(*Column) bool { return nil })
	if msg != "" {
		t.Fatal(msg)
	}
	p := newParser(h, '\n')
	b := &batch{}
	p.grow(b)
	line := append([]byte(strings.Split(in, "\n")[1]+"\n"), make([]byte, padding)...)
	if size, ok := p.swift.row(line[:len(line)-padding], &p.out); !ok || size != len(line)-padding {
		t.Errorf("swift.row() = %d, %v; want the whole row", size, ok)
	}
}

func TestColumns(t *testing.T) {
	const in = `"(PDH-CSV 4.0) (UTC)(0)","\\esx.example\Group Cpu(7:a:b)\% Used","\\esx.example\Vcpu(7:a:b:44:vmx-vcpu-12:a:b)\% Used","\\esx.example\Vcpu(8:1234:55:vmx)\% Used",` +
		`"\\esx.example\Network Port(vSwitch0:1:x (old).eth0)\Link Speed (Mb/s)","\\esx.example\Virtual Disk(db)\Reads/sec","\\esx.example\Virtual Disk(db)\Reads/sec","odd"` + "\n"
	r, err := NewReader("b.csv", strings.NewReader(in), Options{Want: func(c *Column) bool { return c.Counter != "odd" }})
	if err != nil {
		t.Fatal(err)
	}
	h := r.Header()
	const host = "esx.example"
	want := []Column{
		{host, "Group Cpu", "7:a:b", "% Used", 1, 0, false},
		{host, "Vcpu", "7:a:b:44:vmx-vcpu-12:a:b", "% Used", 2, 0, false},
		{host, "Vcpu", "8:1234:55:vmx", "% Used", 3, 0, false},
		{host, "Network Port", "vSwitch0:1:x (old).eth0", "Link Speed (Mb/s)", 4, 0, false},
		{host, "Virtual Disk", "db", "Reads/sec", 5, 0, false},
		{host, "Virtual Disk", "db", "Reads/sec", 6, 1, false},
		{"", "", "", "odd", 7, 0, false},
	}
	if !slices.Equal(h.Columns, want) || !slices.Equal(h.Wanted, []int{0, 1, 2, 3, 4, 5}) {
		t.Errorf("columns %+v, wanted %v; want %+v", h.Columns, h.Wanted, want)
	}
	if got, want := h.Columns[3].String(), `\\esx.example\Network Port(vSwitch0:1:x (old).eth0)\Link Speed (Mb/s)`; got != want {
		t.Errorf("String() = %s, want %s", got, want)
	}
	if gid, name, ok := h.Columns[0].Group(); gid != 7 || name != "a:b" || !ok {
		t.Errorf("Group() = %d, %q, %v", gid, name, ok)
	}
	for i, want := range map[int]World{1: {7, "a:b", 44, "vmx-vcpu-12:a:b"}, 2: {8, "1234", 55, "vmx"}} {
		if w, ok := h.World(&h.Columns[i]); w != want || !ok {
			t.Errorf("World(%s) = %+v, %v; want %+v", &h.Columns[i], w, ok, want)
		}
	}
	w, _ := h.World(&h.Columns[1])
	if n, ok := w.VCPU(); n != 12 || !ok {
		t.Errorf("VCPU() = %d, %v; want 12", n, ok)
	}
	if !h.Columns[0].Is("group  CPU", "% used") || h.Columns[0].Is("Group Cpu", "% Run") {
		t.Error("Is does not compare as it says")
	}
}

// TestGrowing reads a file that grows by a row while it is read.
func TestGrowing(t *testing.T) {
	rows := head + `"11/21/2026 10:00:00","1.50","0","1",` + "\n"
	r, err := NewReader("b.csv", io.MultiReader(strings.NewReader(rows), strings.NewReader(`"11/21/2026 10:00:05","2.50","0","1",`+"\n")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for r.Scan() {
		n++
	}
	if n != 2 {
		t.Errorf("%d rows, want 2", n)
	}
}

func TestReadError(t *testing.T) {
	broken := errors.New("disk on fire")
	in := head + `"11/21/2026 10:00:00","1.50","0","1",` + "\n"
	for _, workers := range []int{0, 2} {
		rows, problems := read(t, io.MultiReader(strings.NewReader(in), iotest.ErrReader(broken)), Options{Workers: workers})
		if want := []string{"error read b.csv: disk on fire"}; len(rows) != 1 || !slices.Equal(problems, want) {
			t.Errorf("%d workers: %q, %q; want a row and %q", workers, rows, problems, want)
		}
	}
	_, err := NewReader("b.csv", strings.NewReader("x"), Options{})
	var syntax *numa.SyntaxError
	if !errors.As(err, &syntax) {
		t.Errorf("error %T, want *numa.SyntaxError", err)
	}
}

// TestLong reads a row that is longer than a batch, and one with a long line of junk.
func TestLong(t *testing.T) {
	c := newCapture(60_000, 100)
	c.names[7] += strings.Repeat("x", 11<<20)
	in := c.header(nil)
	for range 5 {
		in = c.row(in)
	}
	for _, workers := range []int{0, 2} {
		rows, problems := read(t, bytes.NewReader(in), Options{Workers: workers, Want: func(c *Column) bool { return c.Index%1000 == 1 }})
		if len(rows) != 5 || problems != nil || strings.Count(rows[4], " ") != 61 {
			t.Errorf("%d rows, %q", len(rows), problems)
		}
	}
}

func TestParseNumber(t *testing.T) {
	for _, tt := range []struct {
		in    string
		comma bool
		want  float64
		is    verdict
	}{
		{"0", false, 0, number}, {"12.50", false, 12.5, number}, {"-3", false, -3, number}, {" 7 ", false, 7, number}, {"+7", false, 7, number},
		{".5", false, 0.5, number}, {"5.", false, 5, number}, {"1.2E+05", false, 120000, number}, {"12345678901234567890.5", false, 12345678901234567890.5, number},
		{"", false, 0, nothing}, {"-", false, 0, nothing}, {"  ", false, 0, nothing},
		{"1,5", false, 1.5, number}, {"12,34", false, 12.34, number}, {"0,123", false, 0.123, number}, {"1234,567", false, 1234.567, number},
		{"1,234", false, 0, ambiguous}, {"123,456", false, 0, ambiguous}, {"1,234,567", false, 1234567, number}, {"1,234.5", false, 1234.5, number},
		{"1.234,5", false, 1234.5, number}, {"1 234,5", false, 1234.5, number}, {"1\u00a0234", false, 1234, number}, {"1.234.567", false, 1234567, number},
		{"1,234", true, 1.234, number}, {"1.234", true, 0, ambiguous}, {"12.5", true, 12.5, number},
		{"1,23,456", false, 0, wrong}, {"1.2.3", false, 0, wrong}, {"12 34", false, 0, wrong}, {".", false, 0, wrong}, {"--1", false, 0, wrong}, {"1e", false, 0, wrong},
		{"nan", false, 0, wrong}, {"Inf", false, 0, wrong}, {"0x1p4", false, 0, wrong}, {"1_000", false, 0, wrong}, {"1e999", false, 0, wrong}, {"1..2", false, 0, wrong},
	} {
		v, is := parseNumber([]byte(tt.in), decimals{comma: tt.comma})
		if is != tt.is || is == number && v != tt.want || is != number && !IsMissing(v) {
			t.Errorf("parseNumber(%q, %v) = %v, %d; want %v, %d", tt.in, tt.comma, v, is, tt.want, tt.is)
		}
	}
}

// TestClose ends a Reader with workers early.
func TestClose(t *testing.T) {
	c := newCapture(1000, 1)
	in := c.header(nil)
	for range 2000 {
		in = c.row(in)
	}
	r, err := NewReader("b.csv", bytes.NewReader(in), Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Scan() || r.Row().Line != 2 {
		t.Fatal("no row")
	}
	workers := r.team
	r.Close()
	workers.all.Wait()
	if r.Scan() || r.Err() != nil {
		t.Errorf("a row after Close, or error %v", r.Err())
	}
	r.Close()
}

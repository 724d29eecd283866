package esxtop

import (
	"bytes"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rowsOf parses data as rows below a header. Without swift, the specification reads them
// alone.
func rowsOf(h *Header, data []byte, swift bool) *batch {
	p := newParser(h, '\n')
	if !swift {
		p.swift, p.plain = nil, nil
	}
	b := &batch{data: slices.Concat(data, make([]byte, padding))[:len(data)], header: -1}
	p.batch(b)
	return b
}

const (
	good1 = `"11/21/2026 10:00:00","1.50","0,1","0.00","7","123456.75","0.00","1.00","9","0.00","0.00","0.00","5.00","1.00",` + "\n"
	good2 = `"11/21/2026 10:00:05","12.50","1","0.00","7","123456.75","-","1.00","9","","10.00","0.00","5.00","1.00",` + "\r\n"
)

// FuzzRow checks that swift gives what the strict parser gives, or leaves the row to it.
func FuzzRow(f *testing.F) {
	header := `"(PDH-CSV 4.0) (UTC)(0)","\\h\Memory\Free MBytes","\\h\Group Memory(7:a)\Numa Home Nodes"`
	for i := range 11 {
		header += `,"\\h\Memory\c` + strconv.Itoa(i) + `"`
	}
	var headers []*Header
	for _, line := range []string{header + ",", header + ",   -"} {
		for _, want := range []func(*Column) bool{
			nil,
			func(c *Column) bool { return c.Index == 1 || c.Index >= 11 },
			func(c *Column) bool { return c.Index == 2 || c.Index == 5 || c.Index == 12 },
			func(c *Column) bool { return false },
		} {
			h, msg := parseHeader([]byte(line), 1, new(warnings), func(*Header) func(*Column) bool { return want })
			if msg != "" {
				f.Fatal(msg)
			}
			headers = append(headers, h)
		}
	}
	for n := range headers {
		f.Add(byte(n), []byte(good1+good2+good1))
		f.Add(byte(n), []byte(good1+strings.Replace(good2, `"9"`, `9`, 1)+strings.Replace(good1, `"7"`, `"7""7"`, 1)))
		f.Add(byte(n), []byte(good1+good2[:60]+"\n"+good1+good2[:50]))
		f.Add(byte(n), []byte(strings.ReplaceAll(good1+good2, `",`+"\n", `",    73.3`+"\n")))
		f.Add(byte(n), []byte(good1+strings.Replace(good2, `"9","","10.00"`, `"9"",""10.00"`, 1)))
		f.Add(byte(n), []byte(good1+strings.Replace(good2, `","`, `";"`, 3)+strings.Repeat(good1, 3)))
	}
	f.Fuzz(func(t *testing.T, n byte, data []byte) {
		if bytes.Contains(data, []byte(magic)) {
			return // only the strict parser looks for another header
		}
		h := headers[int(n)%len(headers)]
		got, want := rowsOf(h, data, true), rowsOf(h, data, false)
		if got.lines != want.lines {
			t.Fatalf("%d lines, want %d", got.lines, want.lines)
		}
		swift, strict := texts(h, got), texts(h, want)
		for i, line := range bytes.Split(data, []byte{'\n'}) {
			n := i + 1
			switch {
			case swift[n] == strict[n]:
			case regular.Match(line):
				t.Errorf("line %d: %s, want %s", n, swift[n], strict[n])
			case swift[n] != "" && swift[n] != between(h, line, n):
				t.Errorf("line %d: %s, want %s as between the quotes", n, swift[n], between(h, line, n))
			}
		}
	})
}

// FuzzPlain checks that plain gives what the strict parser gives, or leaves the row to it.
func FuzzPlain(f *testing.F) {
	var headers []*Header
	for _, line := range []string{bareHead, bareHead + ",", strings.ReplaceAll(bareHead, ",", "\t")} {
		for _, want := range []func(*Column) bool{
			nil,
			func(c *Column) bool { return c.Index%5 == 2 },
			func(c *Column) bool { return c.Index == 1 || c.Index == 20 },
			func(c *Column) bool { return false },
		} {
			h, msg := parseHeader([]byte(line), 1, new(warnings), func(*Header) func(*Column) bool { return want })
			if msg != "" {
				f.Fatal(msg)
			}
			headers = append(headers, h)
		}
	}
	row := "11/21/2026 10:00:00" + strings.Repeat(",0.00,12.50,123456.75,7", 5)
	for n := range headers {
		f.Add(byte(n), []byte(row+"\n"+strings.ReplaceAll(row, "0.00", "")+"\r\n"+row))
		f.Add(byte(n), []byte(row+",\n"+row+",1\n"+row[:60]+"\n"+row+"\n"))
		f.Add(byte(n), []byte(strings.ReplaceAll(row+"\n"+row+"\n", ",", "\t")))
		f.Add(byte(n), []byte(row+"\n"+strings.Replace(row, "7", `"7"`, 1)+"\n"+strings.Replace(row, "12.50", "-", 3)+"\n"+strings.ReplaceAll(row, "12.50", "x")+"\n"))
	}
	f.Fuzz(func(t *testing.T, n byte, data []byte) {
		h := headers[int(n)%len(headers)]
		got, want := rowsOf(h, data, true), rowsOf(h, data, false)
		if got, want := texts(h, got), texts(h, want); !maps.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		if got.lines != want.lines || got.warns != want.warns || got.header != want.header {
			t.Errorf("%d lines, %v; want %d, %v", got.lines, got.warns.list("b"), want.lines, want.warns.list("b"))
		}
	})
}

// bareHead is a header of 20 columns, one of them home nodes.
var bareHead = `(PDH-CSV 4.0) (UTC)(0),\\h\Group Memory(7:a)\Numa Home Nodes` + strings.Repeat(`,\\h\Memory\Free MBytes`, 19)

// TestSwiftTakes checks that rows which differ a lot from the one before are still read in
// the fast way: a tail and gaps that shrink and grow by kilobytes.
func TestSwiftTakes(t *testing.T) {
	c := newCapture(10_000, 5) // 2,000 of them after the last wanted one
	h, msg := parseHeader(bytes.TrimSpace(c.header(nil)), 1, new(warnings), func(*Header) func(*Column) bool { return numaAndReady })
	if msg != "" {
		t.Fatal(msg)
	}
	p, b := newParser(h, '\n'), new(batch)
	p.grow(b)
	for i := range 10 {
		for column := range c.values {
			c.values[column] = []byte("0.00")
			if i%2 == 1 {
				c.values[column] = []byte("12345.67")
			}
		}
		line := append(c.row(nil), make([]byte, padding)...)
		line = line[:len(line)-padding]
		if size, ok := p.swift.row(line, &p.out); !ok || size != len(line) {
			t.Errorf("row %d: swift.row() = %d, %v; want %d", i, size, ok, len(line))
		}
	}
}

// regular is a row without any damage: no quotes within quotes, and commas only in the
// home nodes, which are field 2.
var regular = regexp.MustCompile(`^"[^"]*","[^",]*","[^"]*"(,"[^",]*")*(,[^",]*)?,?\r?$`)

// numbers returns the rows of data as swift reads them when the text is not wanted.
func numbers(h *Header, data []byte) []string {
	p := newParser(h, '\n')
	b := &batch{data: slices.Concat(data, make([]byte, padding))[:len(data)], header: -1}
	p.batch(b)
	return numbersOf(h, b)
}

func numbersOf(h *Header, b *batch) (rows []string) {
	var row Row
	for i := range b.rows {
		b.row(&row, h, i, 0)
		rows = append(rows, format(&row))
	}
	return rows
}

// TestLively checks that rows in which all numbers change, and then none, are read as strict
// reads them.
func TestLively(t *testing.T) {
	c := newCapture(3000, 5)
	c.lively = true
	h, msg := parseHeader(bytes.TrimSpace(c.header(nil)), 1, new(warnings), func(*Header) func(*Column) bool { return nil })
	if msg != "" {
		t.Fatal(msg)
	}
	var data []byte
	for i := range 80 {
		c.lively = i < 40
		data = c.row(data)
	}
	if got, want := numbers(h, data), numbersOf(h, rowsOf(h, data, false)); len(want) != 80 || !slices.Equal(got, want) {
		t.Errorf("%d rows, want %d", len(got), len(want))
	}
	p := newParser(h, '\n')
	var without []int // rows from which on they are read without or with the memory
	for i := range 80 {
		b := &batch{data: slices.Concat(data, make([]byte, padding))[:bytes.IndexByte(data, '\n')+1], header: -1}
		data = data[len(b.data):]
		was := p.swift.before.without > 0
		p.batch(b)
		if is := p.swift.before.without > 0; is != was {
			without = append(without, i)
		}
	}
	if want := []int{2, 17, 19, 34, 36, 51}; !slices.Equal(without, want) {
		t.Errorf("memory put away and taken up at rows %v, want %v", without, want)
	}
}

// texts returns rows by their line.
func texts(h *Header, b *batch) map[int]string {
	out := map[int]string{}
	var row Row
	for i := range b.rows {
		b.row(&row, h, i, 0)
		out[row.Line] = format(&row)
	}
	return out
}

// between returns line n as the strict parser reads what stands between every other pair of quotes.
func between(h *Header, line []byte, n int) string {
	cells := make([]string, len(h.Columns)+1)
	parts := strings.Split(string(line), `"`)
	for i := range cells {
		if at := 2*i + 1; at < len(parts) {
			cells[i] = parts[at]
		}
	}
	whole := strings.Repeat("\n", n-1) + `"` + strings.Join(cells, `","`) + `"` + strings.Repeat(",-", h.fields-len(cells)) + ",\n"
	return texts(h, rowsOf(h, []byte(whole), false))[n]
}

// FuzzNumber checks that numbers are those of strconv, and that the two ways to read them
// agree.
func FuzzNumber(f *testing.F) {
	for _, s := range []string{"0", "0.00", "12.50", "1234567", "12345678", "12345.67", "-1.50", "1,234", "1e5", ".5", "99999999.99", "0.1", "1.234", "000.10", ".00", "1."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, is := parseNumber([]byte(s), decimals{})
		want, err := strconv.ParseFloat(strings.Trim(s, " \t\r"), 64)
		plain := err == nil && strings.Trim(strings.Trim(s, " \t\r"), "0123456789.eE+-") == ""
		if plain != (is == number) && plain || plain && math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("parseNumber(%q) = %v, %d; want %v, %v", s, got, is, want, plain)
		}
		if is != number && !IsMissing(got) {
			t.Errorf("parseNumber(%q) = %v, %d; want Missing", s, got, is)
		}
		if len(s) > 8 {
			return
		}
		var cell [8]byte
		copy(cell[:], s)
		if swift := swarNumber(word(cell[:], 0), len(s)); len(s) > 0 && swift >= 0 && (!plain || swift != want) {
			t.Errorf("swarNumber(%q) = %v, want %v, %v", s, swift, want, err)
		}
	})
}

// FuzzHeader checks that the parts of a column's name are all of it, and that fields are
// split as a loop over the bytes does.
func FuzzHeader(f *testing.F) {
	f.Add([]byte(strings.TrimSpace(head)))
	f.Add([]byte(strings.TrimSpace(bare)))
	f.Add([]byte(`"(PDH-CSV 4.0) (W. Europe Daylight Time)(-120)";"\\h\a(b(c))\d/s (e)";"x";   -"\\h\a\b",   -`))
	f.Fuzz(func(t *testing.T, line []byte) {
		h, msg := parseHeader(line, 1, new(warnings), func(*Header) func(*Column) bool { return nil })
		if (h == nil) == (msg == "") {
			t.Fatalf("parseHeader(%q) = %v, %q", line, h, msg)
		}
		if h == nil {
			return
		}
		for i := range h.Columns {
			c := &h.Columns[i]
			host, object, instance, counter := splitPath([]byte(c.String()))
			again := Column{string(host), string(object), string(instance), string(counter), c.Index, c.Copy, c.Damaged}
			if again != *c && c.Object != "" {
				t.Errorf("%+v reads as %+v when written as %s", *c, again, c)
			}
			if c.Index != i+1 || !bytes.Contains(line, []byte(c.Counter)) {
				t.Errorf("column %d is %+v", i, *c)
			}
			h.World(c)
		}
	})
}

// FuzzReader checks that no file breaks a Reader, and that workers change nothing.
func FuzzReader(f *testing.F) {
	for _, s := range []string{head, head + good1, bare + "3/26/2015 22:42,24.4,40\n", head + `"11/21/2026 10:00:00","1","0","2",` + "\n" + bare + "3/26/2015 22:42,1,40\n",
		strings.ReplaceAll(bare, ",", ";") + "22:42:01;1,5;2\r\n", "junk" + head} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		// A stream is not read twice to see how its dates are written: it has warnings of its own.
		for _, stream := range []bool{false, true} {
			open := func() io.Reader {
				if stream {
					return bytes.NewBuffer(data)
				}
				return bytes.NewReader(data)
			}
			rows, problems := read(t, open(), Options{})
			for workers := 1; workers <= 2; workers++ {
				again, same := read(t, open(), Options{Workers: workers})
				if !slices.Equal(rows, again) || !slices.Equal(problems, same) {
					t.Errorf("%q %q, with %d workers %q %q", rows, problems, workers, again, same)
				}
			}
		}
		if ticks, err := NewTicks("b.csv", bytes.NewReader(data), Options{}); err == nil {
			for ticks.Scan() {
				if ticks.Tick().Line < 2 {
					t.Errorf("tick at line %d", ticks.Tick().Line)
				}
			}
		}
	})
}

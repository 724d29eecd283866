package explore

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// header joins names to a header in esxtop's own form.
func header(names ...string) string {
	return `"(PDH-CSV 4.0) (UTC)(0)","` + strings.Join(names, `","`) + `",` + "\n"
}

// row joins cells to a row.
func row(stamp string, cells ...string) string {
	return `"` + stamp + `","` + strings.Join(cells, `","`) + `",` + "\n"
}

// small is a file of two VMs, one of which is wide, and two disks of one name.
var small = header(`\\esx01\Memory\Free MBytes`, `\\esx01\Numa Node(0)\Free MBytes`, `\\esx01\Numa Node(1)\Free MBytes`,
	`\\esx01\Group Cpu(7:sql01)\% Ready`, `\\esx01\Group Cpu(7:sql01)\% VmWait`, `\\esx01\Group Cpu(9:web (old))\% Ready`,
	`\\esx01\Group Memory(7:sql01)\Numa Home Nodes`, `\\esx01\Group Memory(7:sql01)\Numa % Local`,
	`\\esx01\Virtual Disk(web)\Reads/sec`, `\\esx01\Virtual Disk(web)\Reads/sec`,
	`\\esx01\Network Port(a:1:b)\Average Packet Size  Transmitted (Bytes)`) +
	row("11/21/2026 10:00:00", "1000", "500", "400", "1.50", "20.00", "0.00", "0,1", "81", "3.00", "4.00", "64.00") +
	row("11/21/2026 10:00:05", "1001", "501", "401", "2.50", "21.00", "0.10", "1", "79", "3.10", "4.10", "65.00") +
	row("11/21/2026 10:00:11", "1002", "502", "402", "3.50", "22.00", "0.20", "-", "", "3.20", "4.20", "66.00")

func TestList(t *testing.T) {
	l, err := List("small.csv", strings.NewReader(small), Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"file":"small.csv","quoted":true,"separator":",","zone":"UTC","bias":0,"hosts":["esx01"],"columns":11,"headers":1,"rows":3,` +
		`"first":"2026-11-21T10:00:00Z","last":"2026-11-21T10:00:11Z","interval":{"least":5,"mean":5.5,"most":6},"objects":[` +
		`{"name":"Memory","columns":1,"counters":[{"name":"Free MBytes","columns":1}],"instances":[{"host":"esx01","name":"","columns":1}]},` +
		`{"name":"Numa Node","columns":2,"counters":[{"name":"Free MBytes","columns":2}],"instances":[{"host":"esx01","name":"0","columns":1},{"host":"esx01","name":"1","columns":1}]},` +
		`{"name":"Group Cpu","columns":3,"counters":[{"name":"% Ready","columns":2},{"name":"% VmWait","columns":1}],"instances":[{"host":"esx01","name":"7:sql01","columns":2},{"host":"esx01","name":"9:web (old)","columns":1}]},` +
		`{"name":"Group Memory","columns":2,"counters":[{"name":"Numa Home Nodes","columns":1},{"name":"Numa % Local","columns":1}],"instances":[{"host":"esx01","name":"7:sql01","columns":2}]},` +
		`{"name":"Virtual Disk","columns":2,"counters":[{"name":"Reads/sec","columns":2}],"instances":[{"host":"esx01","name":"web","columns":2}]},` +
		`{"name":"Network Port","columns":1,"counters":[{"name":"Average Packet Size  Transmitted (Bytes)","columns":1}],"instances":[{"host":"esx01","name":"a:1:b","columns":1}]}]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// names returns object(instances)counters of a listing, in short.
func names(l *Listing) string {
	var out []string
	for _, o := range l.Objects {
		var instances, counters []string
		for _, i := range o.Instances {
			instances = append(instances, i.Name)
		}
		for _, c := range o.Counters {
			counters = append(counters, c.Name)
		}
		out = append(out, o.Name+"("+strings.Join(instances, "|")+")"+strings.Join(counters, "|"))
	}
	return strings.Join(out, "; ")
}

func TestPick(t *testing.T) {
	for _, tt := range []struct {
		name string
		opt  Options
		want string
	}{
		{"one object, in any case", Options{Object: "group memory"}, "Group Memory(7:sql01)Numa Home Nodes|Numa % Local"},
		{"objects by glob", Options{Object: "Group*", Counter: "% ready"}, "Group Cpu(7:sql01|9:web (old))% Ready"},
		{"instances of several objects", Options{Instance: "*:SQL01", Counter: "*%*"}, "Group Cpu(7:sql01)% Ready|% VmWait; Group Memory(7:sql01)Numa % Local"},
		{"one character", Options{Instance: "?"}, "Numa Node(0|1)Free MBytes"},
		{"parentheses and dots stand for themselves", Options{Instance: "9:web (old)"}, "Group Cpu(9:web (old))% Ready"},
		{"blanks do not matter", Options{Counter: "average packet size transmitted (bytes)"}, "Network Port(a:1:b)Average Packet Size  Transmitted (Bytes)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, err := List("f", strings.NewReader(small), tt.opt)
			if err != nil {
				t.Fatal(err)
			}
			if got := names(l); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if l.Columns != 11 || l.Rows != 3 {
				t.Errorf("%d columns and %d rows, want all 11 and 3", l.Columns, l.Rows)
			}
		})
	}
}

func TestNothing(t *testing.T) {
	for _, tt := range []struct {
		opt  Options
		want string
	}{
		{Options{Object: "Grop Memory"}, `--explore: f: no object matches "Grop Memory"; alike: Group Memory`},
		{Options{Object: "xyz"}, `--explore: f: no object matches "xyz"; there are Memory, Numa Node, Group Cpu, Group Memory, Virtual Disk and 1 more`},
		{Options{Object: "Group Memory", Instance: "*:sql1"}, `--explore: f: no instance of Group Memory matches "*:sql1"; alike: sql01`},
		{Options{Object: "Memory", Instance: "0"}, `--explore: f: no instance of Memory matches "0"`},
		{Options{Instance: "7:sql02"}, `--explore: f: no instance matches "7:sql02"; alike: 7:sql01`},
		{Options{Object: "Group Memory", Counter: "Numa%Local"}, `--explore: f: no counter of Group Memory matches "Numa%Local"; alike: Numa % Local`},
		{Options{Object: "Virtual Disk", Instance: "web", Counter: "Latency"}, `--explore: f: no counter of Virtual Disk matches "Latency"; there are Reads/sec`},
	} {
		_, err := List("f", strings.NewReader(small), tt.opt)
		if err == nil || err.Error() != tt.want {
			t.Errorf("%+v: got %v, want %s", tt.opt, err, tt.want)
		}
	}
}

// extract extracts from what can be read again, as a file, when it is a reader of a string.
func extract(w io.Writer, name string, r io.Reader, patterns []string, workers int) (*Extraction, error) {
	if file, ok := r.(*strings.Reader); ok {
		from := *file
		return written(w, name, r, func() (io.ReadCloser, error) {
			file := from
			return io.NopCloser(&file), nil
		}, patterns, workers, Stretch{})
	}
	return written(w, name, r, nil, patterns, workers, Stretch{})
}

// written writes what Extract reads as CSV.
func written(w io.Writer, name string, r io.Reader, again func() (io.ReadCloser, error), patterns []string, workers int, during Stretch) (*Extraction, error) {
	x, err := Extract(name, r, again, patterns, workers, during)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	out := csv.NewWriter(w)
	out.Write(append([]string{"time"}, x.Columns...))
	for at, cells := range x.Each {
		record := []string{at.Format(time.RFC3339)}
		for _, c := range cells {
			record = append(record, string(c))
		}
		out.Write(record)
	}
	out.Flush()
	return x, errors.Join(out.Error(), x.Err())
}

func TestExtract(t *testing.T) {
	for _, tt := range []struct {
		name     string
		patterns []string
		want     string
	}{
		{"home nodes and a missing cell, as they stand", []string{`Group Memory(*:sql01)\Numa *`},
			`time,\\esx01\Group Memory(7:sql01)\Numa Home Nodes,\\esx01\Group Memory(7:sql01)\Numa % Local` + "\n" +
				`2026-11-21T10:00:00Z,"0,1",81` + "\n" + `2026-11-21T10:00:05Z,1,79` + "\n" + `2026-11-21T10:00:11Z,-,` + "\n"},
		{"several patterns keep the order of the file", []string{`virtual disk(*)\*`, `Numa Node(1)\Free MBytes`},
			`time,\\esx01\Numa Node(1)\Free MBytes,\\esx01\Virtual Disk(web)\Reads/sec,\\esx01\Virtual Disk(web)\Reads/sec #2` + "\n" +
				"2026-11-21T10:00:00Z,400,3.00,4.00\n2026-11-21T10:00:05Z,401,3.10,4.10\n2026-11-21T10:00:11Z,402,3.20,4.20\n"},
		{"the whole name, an instance with parentheses", []string{`\\esx01\Group Cpu(9:web (old))\% Ready`},
			`time,\\esx01\Group Cpu(9:web (old))\% Ready` + "\n" +
				"2026-11-21T10:00:00Z,0.00\n2026-11-21T10:00:05Z,0.10\n2026-11-21T10:00:11Z,0.20\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for workers := range 3 {
				var b strings.Builder
				x, err := extract(&b, "f", strings.NewReader(small), tt.patterns, workers)
				if err != nil {
					t.Fatal(err)
				}
				if b.String() != tt.want || x.Rows != 3 || len(x.Columns) != strings.Count(tt.want[:strings.Index(tt.want, "\n")], ",") || x.Warnings != nil {
					t.Errorf("workers %d: got %+v\n%s\nwant\n%s", workers, x, b.String(), tt.want)
				}
			}
		})
	}
}

func TestExtractNothing(t *testing.T) {
	for _, tt := range []struct{ pattern, want string }{
		{`Group Memory(*:sql09)\Numa % Local`, `--explore: no column matches "Group Memory(*:sql09)\\Numa % Local": f: no instance of Group Memory matches "*:sql09"; alike: sql01`},
		{`\\esx01\Group Memory(*)\Numa % Lokal`, `--explore: no column matches "\\\\esx01\\Group Memory(*)\\Numa % Lokal": f: no counter of Group Memory matches "Numa % Lokal"; alike: Numa % Local`},
		{`Numa % Local`, `--explore: no column matches "Numa % Local": f: want OBJECT(INSTANCE)\COUNTER`},
		{` `, `--explore: found nothing, want OBJECT(INSTANCE)\COUNTER such as 'Group Memory(*:sql01)\Numa % Local'`},
	} {
		var b strings.Builder
		_, err := extract(&b, "f", strings.NewReader(small), []string{`Memory\*`, tt.pattern}, 0)
		if err == nil || err.Error() != tt.want {
			t.Errorf("got %v, want %s", err, tt.want)
		}
		if b.Len() > 0 {
			t.Errorf("%s: wrote %q, want nothing", tt.pattern, b.String())
		}
	}
}

// TestChange reads a file whose columns change: a VM has come, another has gone.
func TestChange(t *testing.T) {
	file := header(`\\h\Group Cpu(1:a)\% Ready`, `\\h\Group Cpu(2:b)\% Ready`) +
		row("11/21/2026 10:00:00", "1.00", "2.00") +
		header(`\\h\Group Cpu(2:b)\% Ready`, `\\h\Group Cpu(3:c)\% Ready`) +
		row("11/21/2026 10:00:05", "2.10", "3.10")
	l, err := List("f", strings.NewReader(file), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := names(l), "Group Cpu(1:a|2:b|3:c)% Ready"; got != want || l.Headers != 2 || l.Columns != 3 || l.Rows != 2 {
		t.Errorf("got %s, %d headers, %d columns, %d rows; want %s, 2, 3, 2", got, l.Headers, l.Columns, l.Rows, want)
	}
	var b strings.Builder
	x, err := extract(&b, "f", strings.NewReader(file), []string{`Group Cpu(*)\% Ready`}, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := `time,\\h\Group Cpu(1:a)\% Ready,\\h\Group Cpu(2:b)\% Ready,\\h\Group Cpu(3:c)\% Ready` + "\n2026-11-21T10:00:00Z,1.00,2.00,\n2026-11-21T10:00:05Z,,2.10,3.10\n"
	if b.String() != want || len(x.Warnings) != 1 {
		t.Errorf("got\n%s\nwant\n%s\nwarnings %q, want one about the header", b.String(), want, x.Warnings)
	}
	// One that comes later alone, and a stretch of time.
	b.Reset()
	again := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(file)), nil }
	late := Stretch{From: time.Date(2026, 11, 21, 10, 0, 5, 0, time.UTC)}
	x, err = written(&b, "f", strings.NewReader(file), again, []string{`Group Cpu(3:c)\*`}, 0, late)
	if want := `time,\\h\Group Cpu(3:c)\% Ready` + "\n2026-11-21T10:00:05Z,3.10\n"; err != nil || b.String() != want || x.Outside != 1 {
		t.Errorf("got\n%s, %v\nwant\n%s", b.String(), err, want)
	}
	// What can be read once has the columns of its first header.
	b.Reset()
	x, err = written(&b, "f", strings.NewReader(file), nil, []string{`Group Cpu(*)\% Ready`}, 0, Stretch{})
	want = `time,\\h\Group Cpu(1:a)\% Ready,\\h\Group Cpu(2:b)\% Ready` + "\n2026-11-21T10:00:00Z,1.00,2.00\n2026-11-21T10:00:05Z,,2.10\n"
	if err != nil || b.String() != want {
		t.Errorf("got\n%s, %v\nwant\n%s", b.String(), err, want)
	}
	if len(x.Warnings) != 2 || x.Warnings[0] != "f:3:1: found 1 columns that match but were not in the first header: they are left out, as what is read once has the columns of its first header; extract from the file itself" {
		t.Errorf("warnings %q, want one about the column that came and one about the header", x.Warnings)
	}
	_, err = written(&b, "f", strings.NewReader(file), nil, []string{`Group Cpu(3:c)\*`}, 0, Stretch{})
	if want := `--explore: no column matches "Group Cpu(3:c)\\*": f: no instance of Group Cpu matches "3:c"; alike: 1:a, 2:b (of standard input the first header counts alone: extract from the file itself for VMs that came later)`; err == nil || err.Error() != want {
		t.Errorf("error\n%v, want\n%s", err, want)
	}
}

// TestDamage reads what other programs and full disks have made of files.
func TestDamage(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		rows       int
		warnings   []string
		extract    string // of everything
	}{
		{"saved by a spreadsheet", "(PDH-CSV 4.0) (UTC)(0),\\\\h\\Memory\\Free MBytes\n11/21/2026 10:00,12.5\n11/21/2026 10:01,12\n", 2, nil,
			"time,\\\\h\\Memory\\Free MBytes\n2026-11-21T10:00:00Z,12.5\n2026-11-21T10:01:00Z,12\n"},
		{"a last line that is cut off", header(`\\h\Memory\Free MBytes`, `\\h\Memory\Kernel State`) + row("11/21/2026 10:00:00", "5", "0") + `"11/21/2026 10:00:05","`, 1,
			[]string{"f:3"}, "time,\\\\h\\Memory\\Free MBytes,\\\\h\\Memory\\Kernel State\n2026-11-21T10:00:00Z,5,0\n"},
		{"a row that goes back", header(`\\h\Memory\Free MBytes`) + row("11/21/2026 10:00:05", "5") + row("11/21/2026 10:00:00", "6"), 2,
			[]string{"f:3"}, "time,\\\\h\\Memory\\Free MBytes\n2026-11-21T10:00:05Z,5\n2026-11-21T10:00:00Z,6\n"},
		{"no rows", header(`\\h\Memory\Free MBytes`), 0, nil, "time,\\\\h\\Memory\\Free MBytes\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, err := List("f", strings.NewReader(tt.file), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if l.Rows != tt.rows || len(l.Warnings) != len(tt.warnings) || (l.First == nil) != (tt.rows == 0) {
				t.Fatalf("got %d rows from %v and warnings %q, want %d and %d", l.Rows, l.First, l.Warnings, tt.rows, len(tt.warnings))
			}
			for i, w := range tt.warnings {
				if !strings.HasPrefix(l.Warnings[i], w+":") {
					t.Errorf("warning %q, want one about %s", l.Warnings[i], w)
				}
			}
			var b strings.Builder
			if _, err := extract(&b, "f", strings.NewReader(tt.file), []string{"*"}, 0); err != nil {
				t.Fatal(err)
			}
			if b.String() != tt.extract {
				t.Errorf("got\n%s\nwant\n%s", b.String(), tt.extract)
			}
		})
	}
}

func TestNoCapture(t *testing.T) {
	for _, tt := range []struct{ file, want string }{
		{"", "read f: unexpected EOF"},
		{"name,cpu\nweb,4\n", `f:1:1: found "name,cpu", want the header of an esxtop batch file, "(PDH-CSV 4.0)"`},
	} {
		if _, err := List("f", strings.NewReader(tt.file), Options{}); err == nil || err.Error() != tt.want {
			t.Errorf("List: got %v, want %s", err, tt.want)
		}
		if _, err := extract(io.Discard, "f", strings.NewReader(tt.file), []string{"*"}, 0); err == nil || err.Error() != tt.want {
			t.Errorf("Extract: got %v, want %s", err, tt.want)
		}
	}
}

// TestBrokenSource checks that what was read before an error of the source is kept.
func TestBrokenSource(t *testing.T) {
	broken := errors.New("disk on fire")
	// Longer than what is looked at to find the header.
	long := header(`\\h\Memory\Free MBytes`) + strings.Repeat(row("11/21/2026 10:00:00", "1000"), 1000)
	source := func() io.Reader { return io.MultiReader(strings.NewReader(long), iotest.ErrReader(broken)) }
	l, err := List("f", source(), Options{})
	if !errors.Is(err, broken) || l == nil || l.Rows != 1000 {
		t.Errorf("List: got %+v and %v, want 1000 rows and the error", l, err)
	}
	var b strings.Builder
	x, err := extract(&b, "f", source(), []string{`Memory\Free MBytes`}, 0)
	if !errors.Is(err, broken) || x == nil || x.Rows != 1000 || strings.Count(b.String(), "\n") != 1001 {
		t.Errorf("Extract: got %+v, %v and %d bytes, want 1000 rows and the error", x, err, b.Len())
	}
}

// FuzzExtract checks that each row has a cell for each column, and that List counts the
// same rows.
func FuzzExtract(f *testing.F) {
	f.Add([]byte(small), "*")
	f.Add([]byte(header(`\\h\a,"b"`, "\x1b[31m")+row("11/21/2026 10:00:00", "1", "\x00", "2")), `*\*`)
	f.Add([]byte("(PDH-CSV 4.0),a,b\n11/21/2026 10:00,1\n(PDH-CSV 4.0),b\n11/21/2026 10:01,2\n"), "?")
	f.Fuzz(func(t *testing.T, file []byte, pattern string) {
		x, err := Extract("f", bytes.NewReader(file), nil, []string{pattern}, 0, Stretch{})
		if err != nil {
			return
		}
		defer x.Close()
		for _, cells := range x.Each {
			if len(cells) != len(x.Columns) {
				t.Fatalf("row %d has %d cells, want %d", x.Rows, len(cells), len(x.Columns))
			}
		}
		if x.Err() != nil {
			return
		}
		l, err := List("f", bytes.NewReader(file), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if l.Rows != x.Rows {
			t.Fatalf("List counts %d rows, Extract %d", l.Rows, x.Rows)
		}
	})
}

// TestTimes reads gaps of several lengths and a row that goes back before all others.
func TestTimes(t *testing.T) {
	file := header(`\\h\Memory\Free MBytes`) + row("11/21/2026 10:00:00", "1") + row("11/21/2026 10:00:09", "2") +
		row("11/21/2026 10:00:14", "3") + row("11/21/2026 09:59:00", "4") + row("11/21/2026 09:59:04", "5")
	l, err := List("f", strings.NewReader(file), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := (Interval{Least: 4, Mean: 6, Most: 9}); *l.Interval != want {
		t.Errorf("interval %+v, want %+v", *l.Interval, want)
	}
	const clock = "15:04:05"
	if first, last := l.First.Format(clock), l.Last.Format(clock); first != "09:59:00" || last != "10:00:14" {
		t.Errorf("from %s to %s, want 09:59:00 to 10:00:14", first, last)
	}
	if want := []string{"f:5: found a row that is earlier than the one before (1 in all)"}; !slices.Equal(l.Warnings, want) {
		t.Errorf("warnings %q, want %q", l.Warnings, want)
	}
}

// TestHosts checks that instances of one name on two hosts are two.
func TestHosts(t *testing.T) {
	l, err := List("f", strings.NewReader(header(`\\a\Numa Node(0)\Free MBytes`, `\\b\Numa Node(0)\Free MBytes`)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := []Instance{}
	for _, i := range l.Objects[0].Instances {
		got = append(got, *i)
	}
	if want := []Instance{{"a", "0", 1}, {"b", "0", 1}}; !slices.Equal(got, want) || !slices.Equal(l.Hosts, []string{"a", "b"}) {
		t.Errorf("instances %v of hosts %v, want %v", got, l.Hosts, want)
	}
}

package chart_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"

	"homenode/internal/golden"
	"homenode/output/draw/chart"
)

// hostile is what a name from a stranger can hold.
const hostile = `"><script>alert('1')</script>&` + "\x00\ufffe"

func draw(t testing.TB, o chart.Options, charts ...chart.Chart) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := chart.Draw(&b, charts, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// bytesText and the two below are axes as commands have them.
func bytesText(v float64) string {
	for _, unit := range []string{"B", "KiB", "MiB"} {
		if v < 1024 {
			return fmt.Sprintf("%.4g %s", v, unit)
		}
		v /= 1024
	}
	return fmt.Sprintf("%.4g GiB", v)
}

func timeText(v float64) string {
	for _, unit := range []string{"s", "ms", "µs"} {
		if v >= 1 {
			return fmt.Sprintf("%.3g %s", v, unit)
		}
		v *= 1000
	}
	return fmt.Sprintf("%.3g ns", v)
}

func gigahertz(v float64) string { return fmt.Sprintf("%.4g GHz", v) }

// costs are two curves over the block, measured from 4 to 512 KiB.
func costs() chart.Chart {
	curve := func(name string, at float64, low, high float64) chart.Series {
		s := chart.Series{Name: name}
		for _, kib := range []float64{1, 4, 32, 512, 4096} {
			y := at * (0.25 + 32/kib)
			p := chart.Point{X: kib * 1024, Y: y, Measured: kib >= 4 && kib <= 512, Outside: kib < 4 || kib > 512}
			if low > 0 {
				p.Low, p.High = y*low, y*high
			}
			s.Points = append(s.Points, p)
		}
		return s
	}
	return chart.Chart{
		ID: "cost", Title: "What one bit of storage traffic costs, by block", Note: "Source: b-vsan, Xeon Gold 6544Y; the range is that of both mixes.",
		Lines: &chart.Lines{
			X: chart.Axis{Label: "block", Log: true, Bytes: true, Text: bytesText},
			Y: chart.Axis{Label: "Hz per b/s", Log: true},
			Series: []chart.Series{
				curve("read, random", 1.2, .8, 1.3), curve("write, random", 3, 0, 0), curve("read <seq> & more", .5, 0, 0),
			},
			Marks: []chart.Mark{{Name: "asked: 32 KiB", Value: 32 << 10}, {Name: "usual: 24 KiB", Value: 24 << 10}, {Name: "rule of thumb", Value: 1, Horizontal: true}, {Name: "with margin", Value: 1.1, Horizontal: true}},
		},
	}
}

// shares are curves over linear axes.
func shares() chart.Chart {
	s := chart.Series{Name: "64 vCPUs"}
	for i := range 11 {
		s.Points = append(s.Points, chart.Point{X: float64(i) * 10, Y: float64(i*i) * 1.7})
	}
	return chart.Chart{ID: "cpu", Title: "CPU by traffic", Lines: &chart.Lines{
		X: chart.Axis{Label: "traffic, Gb/s"}, Y: chart.Axis{Label: "CPU", Text: gigahertz},
		Series: []chart.Series{s}, Marks: []chart.Mark{{Name: "host", Value: 115.2, Horizontal: true}, {Name: "NIC", Value: 100}},
	}}
}

func hosts() chart.Chart {
	return chart.Chart{ID: "hosts", Title: "CPU of the cluster's hosts", Note: "Hatched: not used.", Bars: &chart.Bars{
		X: chart.Axis{Label: "CPU", Text: gigahertz},
		Rows: []chart.Row{
			{Name: "2 × 32 cores, 1 TB", Value: "154 GHz of 230 GHz", Limit: 230, Segments: []chart.Segment{{Kind: "VMs", Value: 120}, {Kind: "vSAN", Value: 34, Low: 140, High: 171}, {Kind: "free", Value: 76, Soft: true}}},
			{Name: "2 × 48 cores, 1.5 TB, a name that is too long to stand left of its bar", Value: "154 GHz", Limit: 345, Segments: []chart.Segment{{Kind: "VMs", Value: 120}, {Kind: "vSAN", Value: 34}, {Kind: "free", Value: 191, Soft: true}}},
			{Name: "none", Value: "does not fit"},
			{Name: hostile, Value: hostile, Segments: []chart.Segment{{Kind: hostile, Value: 10}}},
		},
	}}
}

func ladder() chart.Chart {
	row := func(name string, v, low, high float64, kind string) chart.Row {
		return chart.Row{Name: name, Value: timeText(v), Segments: []chart.Segment{{Kind: kind, Value: v, Low: low, High: high, Soft: kind == "yours"}}}
	}
	return chart.Chart{ID: "ladder", Title: "Local RAM is 100 times slower than the L1 cache, a disk 100,000 times", Bars: &chart.Bars{
		X: chart.Axis{Label: "latency", Log: true, Text: timeText},
		Rows: []chart.Row{
			row("L1 cache", 1.3e-9, 0, 0, "published"), row("RAM, local", 100e-9, 80e-9, 130e-9, "published"), row("RAM, local (yours)", 87e-9, 0, 0, "yours"),
			row("RDMA", 2e-6, 1e-6, 3e-6, "published"), row("NVMe", 80e-6, 20e-6, 300e-6, "published"), row("disk", 10e-3, 4e-3, 20e-3, "published"), row("a query", 9, 0, 0, "published"),
		},
	}}
}

// cores is a matrix of n logical processors on two packages, one pair of which was not measured and one follows from others.
func cores(n int) chart.Chart {
	h := &chart.Heat{Unit: "ns", ColumnLabel: "logical processor", Breaks: []int{n / 2}}
	for i := range n {
		h.Rows, h.Columns = append(h.Rows, fmt.Sprintf("vCPU %d", i)), append(h.Columns, fmt.Sprint(i))
		row := make([]chart.HeatCell, n)
		for j := range n {
			switch near := i < n/2 == (j < n/2); {
			case i/2 == j/2:
				row[j] = chart.HeatCell{Value: 8, Known: i != j}
			case near:
				row[j] = chart.HeatCell{Value: 45 + float64((i*j)%5), Known: true, Soft: i == 0 && j == 3}
			default:
				row[j] = chart.HeatCell{Value: 110 + float64((i+j)%7), Known: i != 7 || j != 0}
			}
		}
		h.Cells = append(h.Cells, row)
	}
	return chart.Chart{ID: fmt.Sprintf("cores-%d", n), Title: "Two packages: 110 ns between them, 45 within", Note: "compare-and-swap", Heat: h}
}

// states are quantities that add up, one of which is not known at first, one never, and one is none; nothing is known in between.
func states() chart.Chart {
	c := &chart.Areas{X: chart.Axis{Label: "hours"}, Y: chart.Axis{Bytes: true, Text: bytesText}, Names: []string{"private", "shared", "ballooned", hostile}}
	for _, hour := range []float64{0, 1, 2, 5, 6} {
		s := chart.Step{From: hour, To: hour + 1, Values: []float64{(8 - hour) * 1024, math.NaN(), 0, math.NaN()}, Text: fmt.Sprintf("hour %v", hour)}
		if hour > 1 {
			s.Values[1] = 2048
		}
		c.Steps = append(c.Steps, s)
	}
	return chart.Chart{ID: "states", Title: "Memory by state", Areas: c}
}

// TestAreas draws what is known: a gap is not bridged, what is unknown is said to be, and a quantity stands on those below it.
func TestAreas(t *testing.T) {
	c := states()
	out := string(draw(t, chart.Options{}, c))
	for _, want := range []string{">shared</text>", ">ballooned: none</text>", ": unknown</text>", `aria-label="private: 8 KiB at first, 2 KiB at last, at most 8 KiB"`, `aria-label="shared: 2 KiB at first, 2 KiB at last, at most 2 KiB"`, "<title>hour 5</title>"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in the drawing", want)
		}
	}
	path := regexp.MustCompile(`id="states__area-private__bar" class="bar" d="([^"]*)"`).FindStringSubmatch(out)
	if path == nil || strings.Count(path[1], "Z") != 2 {
		t.Errorf("private memory is drawn as %v, want two stretches", path)
	}
	if strings.Contains(out, "states__area-ballooned") || strings.Count(out, ": unknown") != 1 {
		t.Error("what is none or unknown is drawn")
	}
	c.Areas.Steps = append(c.Areas.Steps, chart.Step{From: math.NaN()}, chart.Step{From: 8, To: 9, Values: []float64{1}})
	if out := string(draw(t, chart.Options{}, c)); !strings.Contains(out, "Not drawn: 2 values") {
		t.Error("steps without a place are not counted")
	}
	if out := string(draw(t, chart.Options{}, chart.Chart{ID: "none", Areas: &chart.Areas{Names: []string{"a"}}})); !strings.Contains(out, "nothing to draw") {
		t.Error("nothing is drawn as something")
	}
}

func TestDraw(t *testing.T) {
	for _, c := range []chart.Chart{costs(), shares(), states(), hosts(), ladder(), cores(8), cores(64)} {
		golden.Equal(t, draw(t, chart.Options{Inline: true}, c), "testdata/"+c.ID+".svg")
	}
	golden.Equal(t, draw(t, chart.Options{}, costs(), ladder()), "testdata/two.svg")
}

// number is what an attribute of a place can hold.
var number = regexp.MustCompile(`^-?\d+(\.\d)?$`)

// check reads a drawing: well-formed, each id once and of plain letters, places that are
// numbers inside the picture, no reference to anything outside.
func check(t *testing.T, b []byte) {
	t.Helper()
	ids := map[string]bool{}
	width := ""
	dec := xml.NewDecoder(bytes.NewReader(b))
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, b)
		}
		e, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		if e.Name.Local == "script" {
			t.Errorf("a label became markup")
		}
		for _, a := range e.Attr {
			switch a.Name.Local {
			case "id":
				if ids[a.Value] || strings.Trim(a.Value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") != "" {
					t.Errorf("id %q is used twice or is no plain name", a.Value)
				}
				ids[a.Value] = true
			case "x", "y", "x1", "x2", "y1", "y2", "width", "height":
				if !number.MatchString(a.Value) {
					t.Errorf("%s of a %s is %q", a.Name.Local, e.Name.Local, a.Value)
				}
				if a.Name.Local == "width" && e.Name.Local == "svg" {
					width = a.Value
				}
			case "d":
				if strings.Trim(a.Value, "MLHVhvazZ0123456789. -") != "" {
					t.Errorf("path %q", a.Value)
				}
			case "href", "src", "style":
				t.Errorf("%s has %s=%q", e.Name.Local, a.Name.Local, a.Value)
			}
		}
	}
	if width != "760" {
		t.Errorf("found a picture of width %q, want 760", width)
	}
}

func TestWellFormed(t *testing.T) {
	one, again := draw(t, chart.Options{}, costs(), shares(), hosts(), ladder()), draw(t, chart.Options{}, costs(), shares(), hosts(), ladder())
	if !bytes.Equal(one, again) {
		t.Error("two drawings differ")
	}
	check(t, one)
	if strings.Contains(chart.Style, "url(") || strings.Contains(chart.Style, "@import") {
		t.Error("the style refers to another resource")
	}
}

// What has no place is counted, and an empty chart says that it is.
func TestNothingToDraw(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	log := chart.Axis{Log: true}
	for _, tt := range []struct {
		name string
		c    chart.Chart
		want []string
		not  []string
	}{
		{"no series", chart.Chart{Lines: &chart.Lines{}}, []string{">nothing to draw<"}, nil},
		{"no points", chart.Chart{Lines: &chart.Lines{Series: []chart.Series{{Name: "a"}}, Marks: []chart.Mark{{Name: "m", Value: 3}}}}, []string{">nothing to draw<", ">m<"}, nil},
		{"no rows", chart.Chart{Bars: &chart.Bars{}}, []string{">nothing to draw<"}, nil},
		{"rows of nothing", chart.Chart{Bars: &chart.Bars{Rows: []chart.Row{{Name: "a", Segments: []chart.Segment{{Value: 0}}}}}}, []string{">a<"}, []string{"Not drawn"}},
		{"one point", chart.Chart{Lines: &chart.Lines{X: log, Y: log, Series: []chart.Series{{Points: []chart.Point{{X: 5, Y: 7}}}}}}, []string{`class="dot"`}, []string{"nothing", "Not drawn"}},
		{"not numbers", chart.Chart{Lines: &chart.Lines{Series: []chart.Series{{Points: []chart.Point{
			{X: nan, Y: 1}, {X: 1, Y: inf}, {X: 1, Y: 1, Low: nan, High: 2}, {X: 2, Y: 2, Low: 3, High: 2}}}}, Marks: []chart.Mark{{Value: -inf}}}},
			[]string{"Not drawn: 5 values"}, []string{"nothing to draw", "band"}},
		{"below the logarithm", chart.Chart{Lines: &chart.Lines{X: log, Y: log, Series: []chart.Series{{Points: []chart.Point{{X: 0, Y: 1}, {X: 1, Y: -1}, {X: 1, Y: 3, High: 4}}}}}},
			[]string{"Not drawn: 2 values", "whisker"}, nil},
		{"bars below 0", chart.Chart{Bars: &chart.Bars{Rows: []chart.Row{{Name: "a", Limit: -1, Segments: []chart.Segment{{Value: -1}, {Value: 2}, {Value: nan}}}}}},
			[]string{"Not drawn: 3 values", `class="bar kind-0"`}, []string{"capacity"}},
		{"no cells", chart.Chart{Heat: &chart.Heat{}}, []string{">nothing to draw<"}, nil},
		{"cells of nothing", chart.Chart{Heat: &chart.Heat{Rows: []string{"a"}, Columns: []string{"b", "c", "d"}, Cells: [][]chart.HeatCell{{{Value: nan, Known: true}, {Value: -1, Known: true}, {}}}}},
			[]string{"Not drawn: 2 values", ">nothing to draw<", "not measured"}, nil},
		{"two segments on a logarithm", chart.Chart{Bars: &chart.Bars{X: log, Rows: []chart.Row{{Name: "a", Segments: []chart.Segment{{Value: 1}, {Value: 2}}}}}}, []string{"Not drawn: 1 value "}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.c.ID = "c"
			b := draw(t, chart.Options{Inline: true}, tt.c)
			for _, s := range tt.want {
				if !bytes.Contains(b, []byte(s)) {
					t.Errorf("no %s in\n%s", s, b)
				}
			}
			for _, s := range tt.not {
				if bytes.Contains(b, []byte(s)) {
					t.Errorf("%s in\n%s", s, b)
				}
			}
			check(t, b)
		})
	}
}

func TestErrors(t *testing.T) {
	lines := &chart.Lines{}
	for _, tt := range []struct {
		charts []chart.Chart
		want   string
	}{
		{nil, "no charts to draw"},
		{[]chart.Chart{{ID: "1", Lines: lines}}, `chart 0: found id "1", want a letter, then letters, digits and hyphens`},
		{[]chart.Chart{{ID: "a", Lines: lines}, {ID: "a", Lines: lines}}, `chart 1: found id "a", which another chart has`},
		{[]chart.Chart{{ID: "a"}}, "chart a: want either lines, areas, bars, heat or hosts"},
		{[]chart.Chart{{ID: "a", Heat: &chart.Heat{Rows: []string{"a"}, Columns: []string{"a"}, Cells: [][]chart.HeatCell{{}}}}}, "chart a: want a cell for each row and column"},
	} {
		if err := chart.Draw(io.Discard, tt.charts, chart.Options{}); err == nil || err.Error() != tt.want {
			t.Errorf("found %v, want %s", err, tt.want)
		}
	}
}

// Many rows and curves, of one name, have places and ids of their own.
func TestMany(t *testing.T) {
	bars, lines := chart.Bars{}, chart.Lines{}
	for i := range 200 {
		bars.Rows = append(bars.Rows, chart.Row{Name: "esx", Value: "v", Segments: []chart.Segment{{Kind: fmt.Sprint(i % 11), Value: float64(i)}}})
		lines.Series = append(lines.Series, chart.Series{Name: hostile, Points: []chart.Point{{X: 1, Y: float64(i)}, {X: 2, Y: 3}}})
		lines.Marks = append(lines.Marks, chart.Mark{Name: "m", Value: 1.5}, chart.Mark{Name: "m", Value: 1.5, Horizontal: true})
	}
	b := draw(t, chart.Options{}, chart.Chart{ID: "a", Bars: &bars}, chart.Chart{ID: "b", Lines: &lines}, cores(100))
	check(t, b)
	if n := bytes.Count(b, []byte(`class="row"`)); n != 200 {
		t.Errorf("found %d rows, want 200", n)
	}
}

// FuzzDraw checks that any values and names give a well-formed drawing.
func FuzzDraw(f *testing.F) {
	f.Add("a", 1.0, 2.0, 3.0, -4.0, uint8(0))
	f.Add(hostile, math.NaN(), math.Inf(1), 1e308, -1e308, uint8(255))
	f.Add("", 1e-320, 5e-100, 1e100, 0.0, uint8(3))
	f.Add("b", 1e10, 1e10+1e-6, 1e10, 1e10, uint8(1))
	f.Add("c", 0.1, 0.30000000000000004, 1.0, 1e99, uint8(86))
	f.Fuzz(func(t *testing.T, name string, a, b, c, d float64, bits uint8) {
		on := func(n int) bool { return bits&(1<<n) != 0 }
		x := chart.Axis{Label: name, Log: on(0), Bytes: on(1)}
		y := chart.Axis{Label: name, Log: on(2), Bytes: on(3)}
		points := []chart.Point{{X: a, Y: b, Low: c, High: d, Measured: on(4)}, {X: b, Y: c, Outside: on(5)}, {X: c, Y: d, Low: a, High: b}}
		out := draw(t, chart.Options{Inline: on(6)}, chart.Chart{ID: "l", Title: name, Note: name, Lines: &chart.Lines{
			X: x, Y: y, Series: []chart.Series{{Name: name, Points: points}, {Name: name, Points: points[:1]}},
			Marks: []chart.Mark{{Name: name, Value: d}, {Name: name, Value: a, Horizontal: on(7)}},
		}}, chart.Chart{ID: "b", Title: name, Bars: &chart.Bars{X: x, Rows: []chart.Row{
			{Name: name, Value: name, Limit: d, Segments: []chart.Segment{{Kind: name, Value: a, Low: c, High: d, Soft: on(4)}, {Value: b}}},
			{Name: name, Segments: []chart.Segment{{Kind: "k", Value: c}}},
		}}})
		check(t, out)
	})
}

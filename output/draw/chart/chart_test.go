package chart_test

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"example.org/homenode/internal/golden"
	"example.org/homenode/output/draw/chart"
	"example.org/homenode/output/draw/picture"
)

// hostile is what a name from a stranger can hold.
const hostile = `"><script>alert('1')</script>&` + "\x00\ufffe"

func draw(t testing.TB, inside bool, charts ...chart.Chart) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := picture.Write(&b, chart.Of(charts...), inside); err != nil {
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
			p := chart.Point{X: kib * 1024, Y: y, Measured: kib >= 4 && kib <= 512}
			if low > 0 {
				p.Low, p.High = y*low, y*high
			}
			s.Points = append(s.Points, p)
		}
		return s
	}
	return chart.Chart{
		ID: "cost", Title: "What one bit of storage traffic costs, by block", Note: "Source: b-vsan, Xeon Gold 6544Y; the range is that of both mixes.",
		Figure: &chart.Lines{
			X: picture.Axis{Label: "block", Log: true, Bytes: true, Text: bytesText},
			Y: picture.Axis{Label: "Hz per b/s", Log: true},
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
	return chart.Chart{ID: "cpu", Title: "CPU by traffic", Figure: &chart.Lines{
		X: picture.Axis{Label: "traffic, Gb/s"}, Y: picture.Axis{Label: "CPU", Text: gigahertz},
		Series: []chart.Series{s}, Marks: []chart.Mark{{Name: "host", Value: 115.2, Horizontal: true}, {Name: "NIC", Value: 100}},
	}}
}

func hosts() chart.Chart {
	return chart.Chart{ID: "hosts", Title: "CPU of the cluster's hosts", Note: "Hatched: not used.", Figure: &chart.Bars{
		X: picture.Axis{Label: "CPU", Text: gigahertz},
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
	return chart.Chart{ID: "ladder", Title: "Local RAM is 100 times slower than the L1 cache, a disk 100,000 times", Figure: &chart.Bars{
		X: picture.Axis{Label: "latency", Log: true, Text: timeText},
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
	return chart.Chart{ID: fmt.Sprintf("cores-%d", n), Title: "Two packages: 110 ns between them, 45 within", Note: "compare-and-swap", Figure: h}
}

// states are quantities that add up, one of which is not known at first, one never, and one is none; nothing is known in between.
func states() chart.Chart {
	c := &chart.Areas{X: picture.Axis{Label: "hours"}, Y: picture.Axis{Bytes: true, Text: bytesText}, Names: []string{"private", "shared", "ballooned", hostile}}
	for _, hour := range []float64{0, 1, 2, 5, 6} {
		s := chart.Step{From: hour, To: hour + 1, Values: []float64{(8 - hour) * 1024, math.NaN(), 0, math.NaN()}, Text: fmt.Sprintf("hour %v", hour)}
		if hour > 1 {
			s.Values[1] = 2048
		}
		c.Steps = append(c.Steps, s)
	}
	return chart.Chart{ID: "states", Title: "Memory by state", Figure: c}
}

// TestAreas draws what is known: a gap is not bridged, what is unknown is said to be, and a quantity stands on those below it.
func TestAreas(t *testing.T) {
	c := states()
	out := string(draw(t, false, c))
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
	areas := c.Figure.(*chart.Areas)
	areas.Steps = append(areas.Steps, chart.Step{From: math.NaN()}, chart.Step{From: 8, To: 9, Values: []float64{1}})
	if out := string(draw(t, false, c)); !strings.Contains(out, "Not drawn: 2 values") {
		t.Error("steps without a place are not counted")
	}
	if out := string(draw(t, false, chart.Chart{ID: "none", Figure: &chart.Areas{Names: []string{"a"}}})); !strings.Contains(out, "nothing to draw") {
		t.Error("nothing is drawn as something")
	}
}

func TestDraw(t *testing.T) {
	for _, c := range []chart.Chart{costs(), shares(), states(), hosts(), ladder(), cores(8), cores(64)} {
		golden.Equal(t, draw(t, true, c), "testdata/"+c.ID+".svg")
	}
	golden.Equal(t, draw(t, true, costs(), ladder()), "testdata/two.svg")
}

// What has no place is counted, and an empty chart says that it is.
func TestNothingToDraw(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	log := picture.Axis{Log: true}
	for _, tt := range []struct {
		name string
		c    chart.Chart
		want []string
		not  []string
	}{
		{"no series", chart.Chart{Figure: &chart.Lines{}}, []string{">nothing to draw<"}, nil},
		{"no points", chart.Chart{Figure: &chart.Lines{Series: []chart.Series{{Name: "a"}}, Marks: []chart.Mark{{Name: "m", Value: 3}}}}, []string{">nothing to draw<", ">m<"}, nil},
		{"no rows", chart.Chart{Figure: &chart.Bars{}}, []string{">nothing to draw<"}, nil},
		{"rows of nothing", chart.Chart{Figure: &chart.Bars{Rows: []chart.Row{{Name: "a", Segments: []chart.Segment{{Value: 0}}}}}}, []string{">a<"}, []string{"Not drawn"}},
		{"one point", chart.Chart{Figure: &chart.Lines{X: log, Y: log, Series: []chart.Series{{Points: []chart.Point{{X: 5, Y: 7}}}}}}, []string{`class="dot"`}, []string{"nothing", "Not drawn"}},
		{"not numbers", chart.Chart{Figure: &chart.Lines{Series: []chart.Series{{Points: []chart.Point{
			{X: nan, Y: 1}, {X: 1, Y: inf}, {X: 1, Y: 1, Low: nan, High: 2}, {X: 2, Y: 2, Low: 3, High: 2}}}}, Marks: []chart.Mark{{Value: -inf}}}},
			[]string{"Not drawn: 5 values"}, []string{"nothing to draw", "band"}},
		{"below the logarithm", chart.Chart{Figure: &chart.Lines{X: log, Y: log, Series: []chart.Series{{Points: []chart.Point{{X: 0, Y: 1}, {X: 1, Y: -1}, {X: 1, Y: 3, High: 4}}}}}},
			[]string{"Not drawn: 2 values", "whisker"}, nil},
		{"bars below 0", chart.Chart{Figure: &chart.Bars{Rows: []chart.Row{{Name: "a", Limit: -1, Segments: []chart.Segment{{Value: -1}, {Value: 2}, {Value: nan}}}}}},
			[]string{"Not drawn: 3 values", `class="bar kind-0"`}, []string{"capacity"}},
		{"no cells", chart.Chart{Figure: &chart.Heat{}}, []string{">nothing to draw<"}, nil},
		{"cells of nothing", chart.Chart{Figure: &chart.Heat{Rows: []string{"a"}, Columns: []string{"b", "c", "d"}, Cells: [][]chart.HeatCell{{{Value: nan, Known: true}, {Value: -1, Known: true}, {}}}}},
			[]string{"Not drawn: 2 values", ">nothing to draw<", "not measured"}, nil},
		{"two segments on a logarithm", chart.Chart{Figure: &chart.Bars{X: log, Rows: []chart.Row{{Name: "a", Segments: []chart.Segment{{Value: 1}, {Value: 2}}}}}}, []string{"Not drawn: 1 value "}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.c.ID = "c"
			b := draw(t, true, tt.c)
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
		})
	}
}

// TestBadID checks that charts have ids of their own: whoever makes them says which.
func TestBadID(t *testing.T) {
	lines := &chart.Lines{}
	for want, charts := range map[string][]chart.Chart{
		`chart 0: found id "1", want its own: a letter, then letters, digits and hyphens`: {{ID: "1", Figure: lines}},
		`chart 1: found id "a", want its own: a letter, then letters, digits and hyphens`: {{ID: "a", Figure: lines}, {ID: "a", Figure: lines}},
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("found %v, want %s", got, want)
				}
			}()
			chart.Of(charts...)
		}()
	}
}

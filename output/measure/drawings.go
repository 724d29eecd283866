package measure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"example.org/homenode/numa/unit"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/draw/chart"
	"example.org/homenode/output/draw/picture"
	"example.org/homenode/size/latency"
	"example.org/homenode/source/measured"
)

// drawings returns the pictures: latency by working set, between nodes, between logical processors, of pages, and the ladder.
func drawings(r *measured.Result) []answer.Drawing {
	var out []answer.Drawing
	for _, c := range []*chart.Chart{histogram(r), rungs(r), nodeHeat(r), coreHeat(r), ladder(r)} {
		if c == nil {
			continue
		}
		out = append(out, answer.Drawing{ID: c.ID, Wide: true, About: c.Title, Picture: func() *picture.Picture { return chart.Of(*c) }})
	}
	return out
}

var nsAxis = picture.Axis{Label: "ns", Text: func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }}

// rungs draws the latency by working set.
func rungs(r *measured.Result) *chart.Chart {
	if len(r.Rungs) == 0 {
		return nil
	}
	lines := &chart.Lines{
		X: picture.Axis{Label: "working set", Log: true, Bytes: true, Text: func(v float64) string { return sizeText(int64(math.Round(v))) }},
		Y: picture.Axis{Label: "latency", Log: true, Text: nanoseconds},
	}
	for _, rung := range r.Rungs {
		name := string(rung.Pages) + " pages"
		i := slices.IndexFunc(lines.Series, func(s chart.Series) bool { return s.Name == name })
		if i < 0 {
			i = len(lines.Series)
			lines.Series = append(lines.Series, chart.Series{Name: name})
		}
		lines.Series[i].Points = append(lines.Series[i].Points, chart.Point{X: float64(rung.Bytes), Y: rung.Latency.Median, Low: rung.Latency.P25, High: rung.Latency.P75, Measured: true})
	}
	for i := range lines.Series {
		slices.SortFunc(lines.Series[i].Points, func(a, b chart.Point) int { return cmp.Compare(a.X, b.X) })
	}
	for _, c := range r.Machine.Topology.Caches {
		name := fmt.Sprintf("L%d as told", c.Level)
		if c.Type == "instruction" || c.Size == 0 || slices.ContainsFunc(lines.Marks, func(m chart.Mark) bool { return m.Name == name }) {
			continue
		}
		lines.Marks = append(lines.Marks, chart.Mark{Name: name, Value: float64(c.Size)})
	}
	return &chart.Chart{ID: "rungs", Title: "Latency of a dependent load, by working set", Note: "Each point is the median; bars show the middle half of the samples.", Figure: lines}
}

// nodeHeat draws the latency between nodes.
func nodeHeat(r *measured.Result) *chart.Chart {
	m := r.Latency
	if m == nil || len(m.To) < 2 {
		return nil
	}
	h := &chart.Heat{Unit: "ns", ColumnLabel: "memory of node"}
	for _, to := range m.To {
		h.Columns = append(h.Columns, strconv.Itoa(to))
	}
	for i, row := range m.Cells {
		h.Rows = append(h.Rows, fmt.Sprintf("from node %d", m.From[i]))
		cells := make([]chart.HeatCell, len(row))
		for j, c := range row {
			if c.Stats != nil {
				cells[j] = chart.HeatCell{Value: c.Stats.Median, Known: true}
			}
		}
		h.Cells = append(h.Cells, cells)
	}
	return &chart.Chart{ID: "nodes", Title: "Latency from node to node", Figure: h}
}

// mostHeat is the maximum number of logical processors drawn individually; more are drawn as blocks.
const mostHeat = 256

// coreHeat draws the latency between logical processors, in the order of their groups.
func coreHeat(r *measured.Result) *chart.Chart {
	c := r.Cores
	if c == nil || len(c.CPUs) < 2 {
		return nil
	}
	order, breaks := byGroup(c)
	block := (len(order) + mostHeat - 1) / mostHeat
	size := (len(order) + block - 1) / block
	place := map[int]int{}
	for i, cpu := range order {
		place[cpu] = i / block
	}
	sums, counts, soft := square[float64](size), square[int](size), square[int](size)
	for _, p := range c.Pairs {
		a, b := place[p.A], place[p.B]
		for _, at := range [][2]int{{a, b}, {b, a}} {
			sums[at[0]][at[1]] += p.Latency.Median
			counts[at[0]][at[1]]++
			if p.Guessed {
				soft[at[0]][at[1]]++
			}
		}
	}
	h := &chart.Heat{Unit: "ns", ColumnLabel: "logical processor"}
	for i := range size {
		name := strconv.Itoa(order[i*block])
		h.Rows, h.Columns = append(h.Rows, name), append(h.Columns, name)
		row := make([]chart.HeatCell, size)
		for j := range row {
			if n := counts[i][j]; n > 0 {
				row[j] = chart.HeatCell{Value: sums[i][j] / float64(n), Known: true, Soft: soft[i][j] == n}
			}
		}
		h.Cells = append(h.Cells, row)
	}
	for _, b := range breaks {
		h.Breaks = append(h.Breaks, b/block)
	}
	note := "Half of a round trip of one cache line, " + c.Method + "."
	if block > 1 {
		note += fmt.Sprintf(" Each cell is the mean of %d × %d logical processors.", block, block)
	}
	return &chart.Chart{ID: "cores", Title: "From one logical processor to another", Note: note, Figure: h}
}

func square[T any](n int) [][]T {
	out := make([][]T, n)
	for i := range out {
		out[i] = make([]T, n)
	}
	return out
}

// byGroup returns the logical processors in the order of the widest groups, and the start of each group.
func byGroup(c *measured.Cores) (order, breaks []int) {
	if len(c.Levels) == 0 {
		return c.CPUs, nil
	}
	seen := map[int]bool{}
	for i, g := range c.Levels[len(c.Levels)-1].Groups {
		if i > 0 {
			breaks = append(breaks, len(order))
		}
		for _, cpu := range g {
			order, seen[cpu] = append(order, cpu), true
		}
	}
	for _, cpu := range c.CPUs {
		if !seen[cpu] {
			order = append(order, cpu)
		}
	}
	return order, breaks
}

// histogram draws the latencies of pages, with the fitted distributions of local and remote memory.
func histogram(r *measured.Result) *chart.Chart {
	h := r.Hidden
	if h == nil || len(h.Histogram) < 2 {
		return nil
	}
	pages := chart.Series{Name: "pages"}
	for _, b := range h.Histogram {
		pages.Points = append(pages.Points, chart.Point{X: b.Nanoseconds, Y: float64(b.Pages), Measured: true})
	}
	lines := &chart.Lines{X: picture.Axis{Label: "latency of a page, ns", Text: nsAxis.Text}, Y: picture.Axis{Label: "pages", Text: nsAxis.Text}, Series: []chart.Series{pages}}
	if m := h.Modes; m != nil && m.Spread > 0 {
		width := h.Histogram[1].Nanoseconds - h.Histogram[0].Nanoseconds
		for _, mode := range []struct {
			name        string
			mean, share float64
		}{{"near", m.Near, 1 - m.Share}, {"far", m.Far, m.Share}} {
			s := chart.Series{Name: fmt.Sprintf("%s: %.0f ns", mode.name, mode.mean)}
			for x := mode.mean - 3*m.Spread; x <= mode.mean+3*m.Spread; x += m.Spread / 4 {
				z := (x - mode.mean) / m.Spread
				s.Points = append(s.Points, chart.Point{X: x, Y: float64(h.Pages) * mode.share * width * math.Exp(-z*z/2) / (m.Spread * math.Sqrt(2*math.Pi))})
			}
			lines.Series = append(lines.Series, s)
		}
	}
	return &chart.Chart{ID: "pages", Title: fmt.Sprintf("Latency of %d pages", h.Pages), Note: "Two hills are two kinds of memory: near and far. One hill does not prove that all of it is near.", Figure: lines}
}

// published are the steps of size latency for comparison with the measured ones.
var published = []latency.Step{latency.L1, latency.L2, latency.L3, latency.RAM, latency.RAMFar, latency.Call, latency.RDMA, latency.NVMeRead, latency.RPCFast, latency.RPC}

// ladder draws every step from the cache to the remote procedure call, measured and published.
func ladder(r *measured.Result) *chart.Chart {
	if len(r.Steps) == 0 {
		return nil
	}
	core := latency.CoreOf2019
	if r.Clock != nil && r.Clock.CoreHzHigh > 0 {
		core = unit.Hz(r.Clock.CoreHzHigh)
	}
	bars := &chart.Bars{X: picture.Axis{Label: "latency, logarithmic", Log: true, Text: func(v float64) string { return unit.Seconds(v).String() }}}
	add := func(name, kind string, v unit.Seconds) {
		bars.Rows = append(bars.Rows, chart.Row{Name: name, Value: v.String(), Segments: []chart.Segment{{Kind: kind, Value: float64(v), Soft: kind == "published"}}})
	}
	for _, l := range r.Levels {
		if l.Pages == measured.Small {
			add(l.Name, "measured", unit.Seconds(l.Latency/1e9))
		}
	}
	for _, s := range r.Steps {
		name := s.Name
		if s.Where != "" {
			name += ", " + s.Where
		}
		add(name, "measured", unit.Seconds(s.Latency.Median/1e9))
	}
	for _, rung := range latency.Ladder(core, nil) {
		if slices.Contains(published, rung.Step) && rung.Published != nil {
			add(rung.Name+" (published)", "published", rung.Published.Value)
		}
	}
	slices.SortStableFunc(bars.Rows, func(a, b chart.Row) int {
		return cmp.Compare(a.Segments[0].Value, b.Segments[0].Value)
	})
	return &chart.Chart{ID: "ladder", Title: "From the cache to the remote procedure call", Note: "Published figures are of other machines: homenode size latency --details has their sources.", Figure: bars}
}

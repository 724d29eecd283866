// Package sweeps writes what a sweep of simulations came to: as a table, CSV and JSON.
package sweeps

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"homenode/change/sweep"
	"homenode/internal/texttab"
	"homenode/numa"
)

// columns are the measures that the table shows; CSV and JSON have all.
var columns = []int{sweep.Speed, sweep.Worst, sweep.Locality, sweep.Remote, sweep.Far, sweep.Ready, sweep.CoStop, sweep.Swapped, sweep.Moves, sweep.Findings}

// against are those whose difference from today stands beside them.
var against = map[int]bool{sweep.Speed: true, sweep.Locality: true}

// Text prints the points in the order of the grid, what each value does, and notes.
func Text(w io.Writer, r *sweep.Result, colour bool) error {
	p := &printer{w: w, colour: colour}
	p.line("%s", texttab.Clean(headline(r)))
	for i, d := range r.Plan.Dimensions {
		p.line("%-6s %s", head(i == 0, "sweep"), texttab.Clean(d.Text))
	}
	if len(r.Plan.Seeds) > 1 {
		p.line("%-6s %d, from %d to %d: means of them, and from … to over them", head(len(r.Plan.Dimensions) == 0, "seeds"), len(r.Plan.Seeds), r.Plan.Seeds[0], r.Plan.Seeds[len(r.Plan.Seeds)-1])
	}
	p.line("")
	p.points(r)
	for d := range r.Plan.Dimensions {
		if len(r.Plan.Dimensions) > 1 && len(r.Plan.Dimensions[d].Values) > 1 {
			p.line("\n%s, mean over all others", texttab.Clean(r.Plan.Dimensions[d].Name))
			p.effects(r, d)
		}
	}
	p.notes(r)
	return p.err
}

func head(first bool, name string) string {
	if first || name == "seeds" {
		return name
	}
	return ""
}

type printer struct {
	w      io.Writer
	colour bool
	err    error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, strings.TrimRight(fmt.Sprintf(format, args...), " "))
	}
}

func (p *printer) table(t *texttab.Table) {
	if p.err == nil {
		_, p.err = t.WriteTo(p.w)
	}
}

// headline says which point is best, and what that is worth.
func headline(r *sweep.Result) string {
	grid := len(r.Points) - 1
	text := fmt.Sprintf("simulated: %s over %s, ", r.Plan.Story.Name, length(r.Plan.Story.Length))
	if grid == 0 {
		return text + fmt.Sprintf("as it is, with %s", count(len(r.Plan.Seeds), "seed"))
	}
	text += count(grid, "point") + " and today"
	if n := len(r.Plan.Seeds); n > 1 {
		text += fmt.Sprintf(", each with %d seeds", n)
	}
	switch {
	case r.Failed() == len(r.Points):
		return text + "; none could be simulated"
	case r.Best < 0:
		return text + "; no two of them differ in speed, N%L or ready time"
	}
	best := &r.Points[r.Best]
	verb := "; best is"
	switch {
	case !r.BeatsToday() && best.Steps == nil:
		return text + "; none is better than today"
	case !r.BeatsToday():
		verb = "; none is better than today, of them the best is"
	}
	text += fmt.Sprintf("%s %d (%s)", verb, r.Best, label(r, best))
	if d, ok := delta(r, best, sweep.Speed); ok {
		text += ", speed " + signed(d, 3) + " against today"
	}
	if faster, of := r.Faster(r.Best); of > 1 {
		text += fmt.Sprintf(", faster with %d of %d seeds", faster, of)
	}
	return text
}

// length writes a time without its last zeros.
func length(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

func label(r *sweep.Result, pt *sweep.PointResult) string {
	var parts []string
	for d := range r.Plan.Dimensions {
		parts = append(parts, r.Plan.Dimensions[d].Name+" "+r.Label(pt, d))
	}
	return strings.Join(parts, ", ")
}

// delta returns the difference of a measure from today.
func delta(r *sweep.Result, pt *sweep.PointResult, k int) (float64, bool) {
	a, b := pt.Measured[k], r.Today().Measured[k]
	return a.Mean - b.Mean, a.Known && b.Known
}

// shown are the columns in which a point is not nothing: without swapping there is no
// column for it.
func shown(r *sweep.Result) []int {
	var out []int
	for _, k := range columns {
		something := false
		for i := range r.Points {
			m := r.Points[i].Measured[k]
			something = something || m.Known && m.High > 0
		}
		if something || k != sweep.Swapped && k != sweep.CoStop {
			out = append(out, k)
		}
	}
	if !r.Alike(sweep.VMHours) {
		out = append([]int{sweep.VMHours}, out...)
	}
	if !r.Alike(sweep.Asked) {
		out = append([]int{sweep.Asked}, out...)
	}
	return out
}

// points prints the grid.
func (p *printer) points(r *sweep.Result) {
	t := &texttab.Table{Right: map[int]bool{}}
	cells := []string{"POINT"}
	for _, d := range r.Plan.Dimensions {
		cells = append(cells, d.Name)
	}
	list := shown(r)
	seeds := len(r.Plan.Seeds) > 1
	for _, k := range list {
		t.Right[len(cells)] = true
		cells = append(cells, strings.ToUpper(sweep.Measures[k].Title))
		if against[k] {
			t.Right[len(cells)] = true
			cells = append(cells, "±TODAY")
		}
		if seeds && k == sweep.Speed {
			cells = append(cells, "SEEDS")
		}
	}
	t.Row(append(cells, "")...)
	for i := range r.Points {
		pt := &r.Points[i]
		cells := []string{strconv.Itoa(i)}
		for d := range r.Plan.Dimensions {
			cells = append(cells, r.Label(pt, d))
		}
		for _, k := range list {
			cells = append(cells, number(k, pt.Measured[k]))
			if against[k] {
				cells = append(cells, difference(r, i, k))
			}
			if m := pt.Measured[k]; seeds && k == sweep.Speed {
				cells = append(cells, over(m))
			}
		}
		t.Row(append(cells, mark(r, i))...)
		if p.colour && i > 0 && i == r.Best {
			t.Paint(len(cells), "1;32")
		}
		if p.colour && i > 0 && (i == r.Worst || !pt.Whole()) {
			t.Paint(len(cells), "1;31")
		}
	}
	p.table(t)
}

// mark says what is special about a point.
func mark(r *sweep.Result, i int) string {
	pt := &r.Points[i]
	switch {
	case pt.Failed == len(pt.Runs):
		return "not simulated"
	case pt.Failed > 0:
		return fmt.Sprintf("%d of %d seeds not simulated", pt.Failed, len(pt.Runs))
	case i == 0:
		return "today"
	case i == r.Best:
		return "best"
	case i == r.Worst:
		return "worst"
	}
	return ""
}

func over(m sweep.Spread) string {
	if !m.Known {
		return ""
	}
	return fixed(m.Low, 3) + " … " + fixed(m.High, 3)
}

// difference of a point from today; nothing for today itself.
func difference(r *sweep.Result, i, k int) string {
	d, ok := delta(r, &r.Points[i], k)
	if i == 0 || !ok {
		return ""
	}
	if sweep.Measures[k].Kind == sweep.Share {
		return signed(100*d, 1)
	}
	return signed(d, 3)
}

// number writes a mean; a dash for what is unknown.
func number(k int, m sweep.Spread) string {
	if !m.Known {
		return "-"
	}
	switch sweep.Measures[k].Kind {
	case sweep.Share:
		return fixed(100*m.Mean, 1) + "%"
	case sweep.Bytes:
		return numa.Bytes(math.Round(m.Mean)).String()
	case sweep.Hours, sweep.Cores:
		return fixed(m.Mean, 1)
	case sweep.Index:
		return fixed(m.Mean, 3)
	}
	if m.Mean == math.Trunc(m.Mean) {
		return fixed(m.Mean, 0)
	}
	return fixed(m.Mean, 1)
}

func fixed(v float64, digits int) string { return strconv.FormatFloat(v, 'f', digits, 64) }

// signed has a sign, but for what rounds to nothing.
func signed(v float64, digits int) string {
	text := fixed(math.Abs(v), digits)
	switch {
	case text == fixed(0, digits):
		return text
	case v < 0:
		return "−" + text
	}
	return "+" + text
}

// effects prints what each value of a dimension does.
func (p *printer) effects(r *sweep.Result, dimension int) {
	t := &texttab.Table{Right: map[int]bool{}, Indent: "  "}
	list := shown(r)
	cells := []string{"VALUE", "POINTS"}
	for _, k := range list {
		t.Right[len(cells)] = true
		cells = append(cells, strings.ToUpper(sweep.Measures[k].Title))
	}
	t.Row(cells...)
	for i := range r.Effects {
		e := &r.Effects[i]
		if e.Dimension != dimension {
			continue
		}
		points := strconv.Itoa(e.Points)
		if e.Points < e.Of {
			points += fmt.Sprintf(" of %d", e.Of)
		}
		cells := []string{r.Plan.Dimensions[dimension].Values[e.Value].Label, points}
		for _, k := range list {
			cells = append(cells, number(k, e.Mean[k]))
		}
		t.Row(cells...)
	}
	p.table(t)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

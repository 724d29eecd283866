// Package change has the answers of commands that compare the current state with another: other
// settings, other loads, another distribution, another fleet.
package change

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"example.org/homenode/change/sweep"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
)

// columns are the measures in the table. CSV and JSON have all measures.
var columns = []int{sweep.Speed, sweep.Worst, sweep.Locality, sweep.Remote, sweep.Far, sweep.Ready, sweep.CoStop, sweep.Swapped, sweep.Moves, sweep.Findings}

// against are the measures shown with their difference from today.
var against = map[int]bool{sweep.Speed: true, sweep.Locality: true}

// Sweep returns the answer of a sweep: the points in grid order, the effect of each value, and
// notes.
func Sweep(r *sweep.Result) *answer.Answer {
	a := &answer.Answer{Command: "simulate", Format: "homenode-sweep", Version: 3, Simulated: true, Verdict: []string{headline(r)}, Result: r}
	for _, d := range r.Dimensions {
		a.Facts = append(a.Facts, answer.Fact{Name: "grid", Text: d.Text})
	}
	if n := len(r.Seeds); n > 1 {
		a.Facts = append(a.Facts, answer.Fact{Name: "seeds", Text: fmt.Sprintf("%d, from %d to %d: means of them, and from … to over them", n, r.Seeds[0], r.Seeds[n-1])})
	}
	a.Tables = []answer.Table{pointsTable(r)}
	if effects := effectsTable(r); len(effects.Rows) > 0 {
		a.Tables = append(a.Tables, effects)
	}
	a.Note(sweepNotes(r)...)
	return a
}

// headline names the best point and its benefit.
func headline(r *sweep.Result) string {
	grid := len(r.Points) - 1
	text := fmt.Sprintf("simulated: %s over %s, ", r.Source, words.Short(r.Story.Length))
	if grid == 0 {
		return text + "as it is, with " + words.Plural(len(r.Seeds), "seed")
	}
	text += words.Plural(grid, "point") + " and today"
	if n := len(r.Seeds); n > 1 {
		text += fmt.Sprintf(", each with %d seeds", n)
	}
	switch {
	case r.Failed() == len(r.Points):
		return text + "; none could be simulated"
	case r.Best < 0:
		return text + "; no two of them differ in speed, N%L or ready time"
	}
	best := &r.Points[r.Best]
	if !r.BeatsToday() && best.Steps == nil {
		return text + "; none is better than today"
	}
	var label []string
	for d := range r.Dimensions {
		label = append(label, r.Dimensions[d].Name+" "+best.Labels[d])
	}
	point := fmt.Sprintf("%d (%s)", r.Best, strings.Join(label, ", "))
	if r.BeatsToday() {
		text += "; best is " + point
	} else {
		text += "; none is better than today, and " + point + " costs least"
	}
	if d := best.Measured[sweep.Speed].AgainstToday; d != nil {
		text += ", speed " + signed(*d, 3) + " against today"
		if r.Swaps() {
			text += " without VMs that swap"
		}
	}
	if faster, of := r.Faster(r.Best); of > 1 {
		text += fmt.Sprintf(", faster with %d of %d seeds", faster, of)
	}
	return text
}

// shown returns the columns that are not empty for all points: without swapping, for example,
// that column is omitted.
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

// pointsTable has one row per point of the grid.
func pointsTable(r *sweep.Result) answer.Table {
	names := []string{"point"}
	for _, d := range r.Dimensions {
		names = append(names, d.Name)
	}
	list := shown(r)
	seeds := len(r.Seeds) > 1
	for _, k := range list {
		names = append(names, ">"+sweep.Measures[k].Title)
		if against[k] {
			names = append(names, ">±today")
		}
		if seeds && k == sweep.Speed {
			names = append(names, "seeds")
		}
	}
	t := answer.Table{Name: "points", Columns: answer.Columns(append(names, "")...), Plain: plainPoints(r)}
	for i := range r.Points {
		pt := &r.Points[i]
		cells := append([]string{strconv.Itoa(i)}, pt.Labels...)
		for _, k := range list {
			m := &pt.Measured[k]
			cells = append(cells, number(k, m))
			if against[k] {
				cells = append(cells, difference(i, k, m))
			}
			if seeds && k == sweep.Speed {
				cells = append(cells, over(m))
			}
		}
		t.Add(append(cells, mark(r, i))...)
		if i > 0 && (i == r.Worst || !pt.Whole()) {
			t.Rows[i][len(cells)].Tone = answer.High
		}
	}
	return t
}

// mark returns the remark about a point.
func mark(r *sweep.Result, i int) string {
	pt := &r.Points[i]
	switch {
	case pt.Failed == len(pt.Runs):
		return "not simulated"
	case pt.Failed > 0:
		return fmt.Sprintf("%d of %d seeds not simulated", pt.Failed, len(pt.Runs))
	case i == 0:
		return "today"
	case i == r.Best && !r.BeatsToday():
		return "costs least"
	case i == r.Best:
		return "best"
	case i == r.Worst:
		return "worst"
	}
	return ""
}

func over(m *sweep.Spread) string {
	if !m.Known {
		return ""
	}
	return fixed(m.Low, 3) + " … " + fixed(m.High, 3)
}

// difference returns the difference of a point from today; "" for today itself.
func difference(point, k int, m *sweep.Spread) string {
	switch {
	case point == 0 || m.AgainstToday == nil:
		return ""
	case sweep.Measures[k].Kind == sweep.Share:
		return signed(100**m.AgainstToday, 1)
	}
	return signed(*m.AgainstToday, 3)
}

// number formats a mean; "-" if it is unknown.
func number(k int, m *sweep.Spread) string {
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

// signed formats a number with its sign; a number that rounds to zero has none.
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

// effectsTable has the effect of each value, for dimensions with several values.
func effectsTable(r *sweep.Result) answer.Table {
	names := []string{"of", "value", "points"}
	list := shown(r)
	for _, k := range list {
		names = append(names, ">"+sweep.Measures[k].Title)
	}
	t := answer.Table{Name: "effects", Title: "Each value: the mean over all points with it", Columns: answer.Columns(names...)}
	at := 0
	for _, d := range r.Dimensions {
		effects := r.Effects[at : at+len(d.Values)]
		at += len(d.Values)
		if len(r.Dimensions) == 1 || len(effects) == 1 {
			continue
		}
		for _, e := range effects {
			points := strconv.Itoa(e.Points)
			if e.Points < e.Of {
				points += fmt.Sprintf(" of %d", e.Of)
			}
			cells := []string{e.Dimension, e.Value, points}
			for _, k := range list {
				cells = append(cells, number(k, &e.Mean[k]))
			}
			t.Add(cells...)
		}
	}
	return t
}

// plainPoints has one row per point with its values and, for each measure, the mean, minimum
// and maximum over the seeds, and the difference of the mean from today.
func plainPoints(r *sweep.Result) *answer.Table {
	names := []string{"point"}
	for _, d := range r.Dimensions {
		names = append(names, d.Name)
	}
	names = append(names, "runs", "failed", "mark")
	for _, m := range sweep.Measures {
		for _, of := range []string{"", " least", " most", " against today"} {
			names = append(names, m.Key+units[m.Kind].name+of)
		}
	}
	t := &answer.Table{Columns: answer.Columns(names...)}
	for i := range r.Points {
		pt := &r.Points[i]
		row := append([]string{strconv.Itoa(i)}, pt.Labels...)
		row = append(row, strconv.Itoa(len(pt.Runs)), strconv.Itoa(pt.Failed), mark(r, i))
		for k, m := range pt.Measured {
			if !m.Known {
				row = append(row, "", "", "", "")
				continue
			}
			by := cmp.Or(units[sweep.Measures[k].Kind].scale, 1)
			row = append(row, fixed(m.Mean*by, 6), fixed(m.Low*by, 6), fixed(m.High*by, 6), "")
			if m.AgainstToday != nil {
				row[len(row)-1] = fixed(*m.AgainstToday*by, 6)
			}
		}
		t.Add(row...)
	}
	return t
}

// units are the units of CSV columns, with the factor for converting a measure.
var units = map[sweep.MeasureKind]struct {
	name  string
	scale float64
}{sweep.Share: {" %", 100}, sweep.Bytes: {" MB", 1.0 / (1 << 20)}, sweep.Cores: {" cores", 1}}

// mostFailed is the maximum number of failed points that the notes list.
const mostFailed = 20

// sweepNotes returns remarks that the numbers do not show.
func sweepNotes(r *sweep.Result) []string {
	var out []string
	failed := 0
	for i := range r.Points {
		for _, one := range r.Points[i].Runs {
			if one.Failed == "" {
				continue
			}
			if failed++; failed <= mostFailed {
				out = append(out, fmt.Sprintf("point %d could not be simulated: %s", i, one.Failed))
			}
			break
		}
	}
	if failed > mostFailed {
		out = append(out, fmt.Sprintf("%d more points could not be simulated: --format json names them all", failed-mostFailed))
	}
	out = append(out, unable(r)...)
	if !r.Alike(sweep.Asked) {
		out = append(out, "the points ask for different CPU time (CPU ASKED, cores on average): speeds are of different work. A load is a share of each vCPU: where vcpus= halves them, cpu=x2 beside it keeps the work as it is")
	}
	if !r.Alike(sweep.VMHours) {
		out = append(out, "not all points run the same VMs as long (VM HOURS): a point with more of them is better, whatever its speed")
	}
	if r.Swaps() {
		out = append(out, "speed leaves out a VM while more than 1 % of its memory is swapped: a point with less swapped memory is better, whatever its speed")
	}
	switch {
	case r.Options.Silent:
		out = append(out, "the fleet is so large that nothing was judged and no speed worked out")
	case r.Extrapolated():
		out = append(out, "speed is the performance index (docs/evidence/cost.md), for some VMs extrapolated beyond what anybody measured; its interval is in --format json")
	default:
		out = append(out, "speed is the performance index (docs/evidence/cost.md); its interval is in --format json")
	}
	if f := r.Story.Unstated; f.Known() && len(r.Story.Loads) < len(r.Story.Fleet.VMs) {
		out = append(out, f.Origin.String())
	}
	return out
}

// unable describes hosts and VMs that were omitted in points.
func unable(r *sweep.Result) []string {
	points, first, what := 0, -1, ""
	for i := range r.Points {
		for _, one := range r.Points[i].Runs {
			if one.Record != nil && one.Record.Unable > 0 {
				if points++; first < 0 {
					first, what = i, one.Record.Problems[0]
				}
				break
			}
		}
	}
	if points == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s without hosts or VMs that could not be simulated, first of them point %d: %s", words.Plural(points, "point"), first, what)}
}

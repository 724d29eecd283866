package timeline

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/output/draw/picture"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/simulate"
)

// events adds events at their start times, in as many rows as their texts need. Lines mark them
// in all panels.
func (l *layout) events(v *capture.VM) {
	if l.o.Events == nil {
		return
	}
	const rowHeight, mostRows = picture.Px(150), 6
	var rows picture.Rows
	var groups []picture.Group
	for _, e := range l.o.Events(l.rec, v) {
		if !l.span.Has(e.Time) {
			continue
		}
		x := l.span.X(e.Time)
		words := picture.Shape{Class: "facts", X: x + 40, Text: texttab.Cut(e.Text, 28)}
		wide := picture.Wide(words.Text, letter) + 60
		from, to := x, x+wide
		if to > pictureWidth-margin {
			words.Class, words.X = "facts before", x-40
			from, to = x-wide, x
		}
		row, free := rows.Take(from, to, mostRows)
		y := l.Y + picture.Px(row)*rowHeight
		shapes := []picture.Shape{{Class: "event", X: x, Y: y, H: rowHeight - 30}}
		if free { // otherwise only the line remains, and shows its text on hover
			words.Y = y + 100
			shapes = append(shapes, words)
		}
		numbers := l.span.Clock(e.Time) + " " + e.Text
		if e.Note != "" {
			numbers += ": " + e.Note
		}
		groups = append(groups, picture.Group{ID: fmt.Sprintf("%s__event-%d", l.ID, len(groups)), Class: "story", Focus: true, Numbers: numbers, Shapes: shapes})
		l.marks = append(l.marks, x)
	}
	l.rows("events", "story", groups, &rows, rowHeight)
}

// rows adds content in rows, with a name on the left.
func (l *layout) rows(id, name string, groups []picture.Group, rows *picture.Rows, height picture.Px) {
	if len(groups) > 0 {
		l.add(id, "panel", "", l.head(name)...)
		l.Groups = append(l.Groups, groups...)
		l.Y += picture.Px(rows.Len())*height + panelGap
	}
}

// found adds the findings about a subject over the time of the finding, in as many rows as
// necessary.
func (l *layout) found(about func(*finding.Finding) bool) {
	const rowHeight = picture.Px(170)
	var rows picture.Rows
	var groups []picture.Group
	l.top = l.Y
	for i := range l.o.Findings {
		f := &l.o.Findings[i]
		if !about(f) || f.From.IsZero() {
			continue
		}
		x, w := l.span.Box(f.From, f.To)
		label := picture.Wide(f.Rule, boldLetter) + 60
		text := picture.Shape{Class: "name", X: x + 30, Text: f.Rule}
		end := x + w
		if w < label {
			text.X, end = x+w+30, x+w+label
			if end > pictureWidth {
				text.Class, text.X, end = "name before", x-30, x+w
			}
		}
		row, _ := rows.Take(x, end+40, math.MaxInt)
		y := l.Y + picture.Px(row)*rowHeight
		text.Y = y + 105
		when := l.span.FromTo(f.From, f.To)
		if from := l.span.Clock(f.From); from == l.span.Clock(f.To) {
			when = "at " + from
		}
		groups = append(groups, picture.Group{
			ID: fmt.Sprintf("%s__finding-%d", l.ID, len(groups)), Class: "spell " + f.Severity.String(), Focus: true,
			Numbers: fmt.Sprintf("%s, %s: %s", f.Rule, when, f.Message), Shapes: []picture.Shape{{Class: "bar", X: x, Y: y, W: w, H: rowHeight - 30}, text},
		})
	}
	l.rows("found", "found", groups, &rows, rowHeight)
}

// floors are the possible lower ends of the performance axis. Losses are usually small, and an
// axis from 0 would not show them.
var floors = []float64{.9, .8, .5, 0}

// speed adds the performance index with its interval.
func (d *vmDrawing) speed() {
	if d.o.Speed == nil {
		return
	}
	points := d.o.Speed(d.v)
	if len(points) == 0 {
		return
	}
	least, sum := 1.0, 0.0
	for _, p := range points {
		least = min(least, p.Low)
		sum += p.Value
	}
	s := d.scale(600, 1)
	s.Low = floors[slices.IndexFunc(floors, func(f float64) bool { return f <= max(least, 0) })]
	worst := slices.MinFunc(points, func(a, b simulate.SpeedPoint) int { return cmp.Compare(a.Value, b.Value) })
	mean := sum / float64(len(points))
	facts := []string{fmt.Sprintf("mean %.2f", mean), fmt.Sprintf("worst %.2f", worst.Value), "at " + d.span.Clock(worst.Time)}
	steps := stepsBetween(points, d.v.Last)
	interval := curve(&d.span, steps, func(i int) (low, high picture.Px, ok bool) { return s.At(points[i].Low), s.At(points[i].High), true })
	value := d.rising(s, steps, func(i int) (float64, bool) { return points[i].Value, true })
	d.panel("speed", "performance", facts, s, []picture.Tick{{Value: s.Low, Label: fmt.Sprintf("%.1f", s.Low)}, {Value: 1, Label: "1"}},
		fmt.Sprintf("performance index (1: all memory local, no wait): mean %.2f, worst %.2f (%.2f to %.2f) at %s", mean, worst.Value, worst.Low, worst.High, d.span.Clock(worst.Time)),
		picture.Shape{Class: "free", Path: picture.Area(interval)}, picture.Shape{Class: "curve", Path: picture.Line(value)})
	d.explain("free", "", "performance: what the published figures allow")
}

// stepsBetween returns how long each point is valid: until the next, unless the distance is much
// larger than the minimum distance of points.
func stepsBetween(points []simulate.SpeedPoint, last time.Time) (steps []step) {
	apart := time.Duration(0)
	for i, p := range points {
		end := last
		if i+1 < len(points) {
			end = points[i+1].Time
			if d := end.Sub(p.Time); apart == 0 || d < apart {
				apart = d
			}
		}
		steps = append(steps, step{i, p.Time, end})
	}
	for i := range steps {
		if s := &steps[i]; apart > 0 && s.to.Sub(s.from) > 2*apart {
			s.to = s.from.Add(apart)
		}
	}
	return steps
}

// moment marks Options.Moment in all panels, and shows the time above the axis.
func (l *layout) moment(bottom picture.Px) {
	if at := l.o.Moment; l.span.Has(at) {
		l.add("moment", "moment", "the moment "+l.span.Clock(at), picture.Shape{Class: "cursor", X: l.span.X(at) - 6, Y: l.top, W: 12, H: bottom - l.top})
	}
}

// HostAt describes the nodes of a host at a moment; "" if there is no data.
func HostAt(rec *capture.Recording, at time.Time) string {
	l := &layout{rec: rec}
	return atMoment(longest(rec), at, l.sumOfNodes)
}

// VMAt describes a VM of a recording at a moment; "" if there is no data.
func VMAt(rec *capture.Recording, v *capture.VM, at time.Time) string {
	d := &vmDrawing{v: v, all: v.Timeline.Buckets()}
	return atMoment(vmSteps(rec, v), at, d.sum)
}

func atMoment(steps []step, at time.Time, sum func([]step) string) string {
	for i, s := range steps {
		if !at.Before(s.from) && (at.Before(s.to) || i == len(steps)-1 && at.Equal(s.to)) {
			return sum(steps[i : i+1])
		}
	}
	return ""
}

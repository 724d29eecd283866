package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"homenode/capture"
	"homenode/internal/texttab"
	"homenode/output/draw/picture"
)

// events places what happened, each event where it begins, in as many rows as the words
// need; lines lead from them through all panels.
func (l *layout) events(o *Options, v *capture.VM) {
	if o.Events == nil {
		return
	}
	const rowHeight, mostRows = picture.Px(150), 6
	var rows picture.Rows
	var groups []picture.Group
	l.top = l.y
	for _, e := range o.Events(l.rec, v) {
		if e.Time.Before(l.span.first) || e.Time.After(l.span.last) {
			continue
		}
		x := l.span.x(e.Time)
		text := texttab.Cut(e.Text, 28)
		wide := picture.Wide(text, letter) + 60
		one := picture.Shape{Class: "facts", X: x + 40, Text: text}
		from, to := x, x+wide
		if to > pictureWidth-margin {
			one.Class, one.X = "facts before", x-40
			from, to = x-wide, x
		}
		row := rows.Free(from)
		if row == mostRows { // the line stays, and its words when it is pointed at
			row, one.Text = mostRows-1, ""
		} else {
			rows.Fill(row, to)
		}
		y := l.y + picture.Px(row)*rowHeight
		one.Y = y + 100
		shapes := []picture.Shape{{Class: "event", X: x, Y: y, H: rowHeight - 30}}
		if one.Text != "" {
			shapes = append(shapes, one)
		}
		numbers := l.span.clock(e.Time) + " " + e.Text
		if e.Note != "" {
			numbers += ": " + e.Note
		}
		groups = append(groups, picture.Group{ID: fmt.Sprintf("%s__event-%d", l.pic.ID, len(groups)), Class: "story", Focus: true, Numbers: numbers, Shapes: shapes})
		l.marks = append(l.marks, x)
	}
	if len(groups) == 0 {
		return
	}
	l.pic.Add(picture.Group{ID: l.pic.ID + "__events", Class: "panel", Shapes: l.head("story")})
	l.pic.Groups = append(l.pic.Groups, groups...)
	l.y += picture.Px(rows.Len())*rowHeight + panelGap
}

// floors are where the axis of the performance index may begin: what is lost is mostly
// little, and an axis from 0 would not show it.
var floors = []float64{.9, .8, .5, 0}

// speed places the performance index with its interval.
func (d *vmDrawing) speed(o *Options) {
	if o.Speed == nil {
		return
	}
	points := o.Speed(d.v)
	if len(points) == 0 {
		return
	}
	least, sum := 1.0, 0.0
	for _, p := range points {
		least = min(least, p.Low)
		sum += p.Value
	}
	floor := floors[slices.IndexFunc(floors, func(f float64) bool { return f <= max(least, 0) })]
	s := scale{d.y, d.y + 600, 1 - floor}
	worst := slices.MinFunc(points, func(a, b Point) int { return cmp.Compare(a.Value, b.Value) })
	mean := sum / float64(len(points))
	facts := []string{fmt.Sprintf("mean %.2f", mean), fmt.Sprintf("worst %.2f", worst.Value), "at " + d.span.clock(worst.Time)}
	var band, value []segment
	apart := nearest(points)
	for i, p := range points {
		x, w := d.span.box(p.Time, pointEnd(points, i, apart, d.v.Last))
		band = append(band, segment{x, x + w, s.y(p.Low - floor), s.y(p.High - floor)})
		value = append(value, segment{x, x + w, s.bottom, s.y(p.Value - floor)})
	}
	d.panel("speed", "performance", facts, s, []mark{{0, fmt.Sprintf("%.1f", floor)}, {1 - floor, "1"}},
		fmt.Sprintf("performance index (1: all memory local, no wait): mean %.2f, worst %.2f (%.2f to %.2f) at %s", mean, worst.Value, worst.Low, worst.High, d.span.clock(worst.Time)),
		filled("interval", touching(band)), drawn("curve", touching(value)))
	d.legend = append(d.legend, legend{"interval", "", "performance: what the published figures allow"})
}

// pointEnd returns until when a point holds: to the next, unless that is much later than
// points are apart.
func pointEnd(points []Point, i int, apart time.Duration, last time.Time) time.Time {
	end := last
	if i+1 < len(points) {
		end = points[i+1].Time
	}
	if apart > 0 && end.Sub(points[i].Time) > 2*apart {
		end = points[i].Time.Add(apart)
	}
	return end
}

// nearest returns how far points are apart, at the least.
func nearest(points []Point) (apart time.Duration) {
	for i := 1; i < len(points); i++ {
		if d := points[i].Time.Sub(points[i-1].Time); apart == 0 || d < apart {
			apart = d
		}
	}
	return apart
}

// touching cuts segments that reach into the next: widths are raised to what can be seen.
func touching(all []segment) []segment {
	for i := 1; i < len(all); i++ {
		all[i-1].to = min(all[i-1].to, all[i].from)
	}
	return all
}

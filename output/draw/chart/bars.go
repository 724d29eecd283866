package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"example.org/homenode/output/draw/picture"
)

// Bars are horizontal bars over one axis, from top to bottom.
type Bars struct {
	X     picture.Axis
	Rows  []Row
	Limit string // meaning of the rows' limits, for the legend; "" means "limit"
}

// A Row is one bar: segments from left to right. On a logarithmic axis it has one segment.
type Row struct {
	Name     string // unique in the chart
	Value    string // printed at the end of the bar
	Segments []Segment
	// Limit is the capacity, drawn as a line across the row; 0 for none.
	Limit float64
}

// A Segment is a part of a bar. Segments of one Kind look alike in all rows.
type Segment struct {
	Kind      string // the legend; "" if the chart needs none
	Value     float64
	Low, High float64 // range of its end, as values of the axis; both 0 for none
	Soft      bool    // drawn lightly: unused, or unknown whether used
}

// Sizes of bars.
const (
	rowHeight = picture.Px(270)
	barHeight = picture.Px(190)
	mostName  = picture.Px(2400)
	mostValue = picture.Px(2200)
)

func (c *Bars) draw(l *layout) {
	rows := make([]Row, len(c.Rows))
	var r picture.Reach
	var kinds []string
	hard := map[string]bool{} // kinds with segments that are not drawn lightly
	names, values := picture.Px(0), picture.Px(0)
	limits, ranges := false, false
	for i := range c.Rows {
		rows[i] = l.row(&c.X, c.Rows[i])
		row := &rows[i]
		names = max(names, picture.Wide(picture.Cut(row.Name, mostName, letter), letter))
		values = max(values, picture.Wide(picture.Cut(row.Value, mostValue, bold), bold))
		sum := 0.0
		for _, s := range row.Segments {
			sum += s.Value
			r.Add(sum)
			if !slices.Contains(kinds, s.Kind) {
				kinds = append(kinds, s.Kind)
			}
			hard[s.Kind] = hard[s.Kind] || !s.Soft
			r.Span(&c.X, s.Low, s.High)
			ranges = ranges || s.ranged()
		}
		if row.Limit != 0 {
			r.Add(row.Limit)
			limits = true
		}
	}
	l.barLegend(c, kinds, hard, limits, ranges)
	left, right := margin+names+100, width-margin-values-60
	each := picture.Px(700)
	if !c.X.Log {
		r.Add(0)
	} else if each = 480; r.Any { // powers of ten have short labels, and the shortest bar must be visible
		r.Low /= 1.25
	}
	s := c.X.Scale(r, max(int((right-left)/each), 2), true, true)
	s.From, s.To = left, right
	p := &plot{x: s, left: left, right: right, top: l.Y}
	p.bottom = p.top + picture.Px(max(len(rows), 1))*rowHeight + 40
	l.grid(p)
	for i := range rows {
		l.bar(c, &s, &rows[i], kinds, p.top+40+picture.Px(i)*rowHeight)
	}
	if len(rows) == 0 || !r.Any {
		l.nothing((left+right)/2, (p.top+p.bottom)/2+38)
	}
	l.Y = p.bottom + l.xAxis(&s, p.bottom)
}

func (s *Segment) ranged() bool { return s.Low != 0 || s.High != 0 }

// row returns the row without values that cannot be drawn, and counts these.
func (l *layout) row(a *picture.Axis, r Row) Row {
	all := r.Segments
	r.Segments = nil
	sum := 0.0
	for _, s := range all {
		if !a.Has(s.Value) || s.Value < 0 || !a.Has(sum+s.Value) || a.Log && len(r.Segments) > 0 {
			l.left++
			continue
		}
		sum += s.Value
		if s.Low < 0 {
			s.Low = math.NaN() // a bar cannot be negative
		}
		l.bounded(a, &s.Low, &s.High)
		r.Segments = append(r.Segments, s)
	}
	if r.Limit != 0 && (!a.Has(r.Limit) || r.Limit < 0) {
		l.left++
		r.Limit = 0
	}
	return r
}

// barLegend explains the kinds of segments, limits and ranges. A kind that is only drawn
// lightly has a light sample.
func (l *layout) barLegend(c *Bars, kinds []string, hard map[string]bool, limits, ranges bool) {
	var entries []picture.Entry
	for i, kind := range kinds {
		if kind != "" {
			entries = append(entries, picture.Swatch("", picture.Fill("kind", i), fillOf(i, !hard[kind]), kind))
		}
	}
	if ranges {
		entries = append(entries, picture.Entry{Class: "range", Text: "range", Sample: func(x, y picture.Px) []picture.Shape {
			return []picture.Shape{{Class: "whisker", Path: level(y+70, x, x+picture.SampleWidth)}}
		}})
	}
	if limits {
		entries = append(entries, picture.Entry{Class: "limit", Text: c.limit(), Sample: func(x, y picture.Px) []picture.Shape {
			return []picture.Shape{{Class: "capacity", X: x + picture.SampleWidth/2, Y: y, H: 140}}
		}})
	}
	l.legend(entries)
}

func (c *Bars) limit() string { return cmp.Or(c.Limit, "limit") }

// fillOf returns the fill of a kind.
func fillOf(kind int, soft bool) string {
	if soft {
		return picture.Fill("soft", kind)
	}
	return picture.Fill("kind", kind)
}

// bar places a row: its name, the segments, the range, the limit and the value.
func (l *layout) bar(c *Bars, s *picture.Ticked, r *Row, kinds []string, y picture.Px) {
	base := y + barHeight/2 + 40
	g := picture.Group{ID: l.id("row", r.Name), Class: "row", Focus: true, Numbers: r.Name}
	g.Shapes = append(g.Shapes, picture.Shape{Class: "label end", X: s.From - 70, Y: base, Text: picture.Cut(r.Name, mostName, letter)})
	end, x, sum := s.From, s.From, 0.0
	var parts []string
	var over []picture.Shape
	for _, seg := range r.Segments {
		sum += seg.Value
		to := s.At(sum)
		kind := slices.Index(kinds, seg.Kind)
		if to > x {
			g.Shapes = append(g.Shapes, picture.Shape{Class: "bar " + picture.Fill("kind", kind), X: x, Y: y, W: to - x, H: barHeight, Fill: fillOf(kind, seg.Soft)})
		}
		x, end = max(x, to), max(end, to)
		if seg.ranged() {
			low := s.From
			if s.Axis.Has(seg.Low) {
				low = s.At(seg.Low)
			}
			over = append(over, picture.Shape{Class: "whisker", Path: level(y+barHeight/2, low, s.At(seg.High))})
			end = max(end, s.At(seg.High))
		}
		parts = append(parts, segmentText(s.Axis, &seg))
	}
	g.Shapes = append(g.Shapes, over...)
	value := picture.Cut(r.Value, mostValue, bold)
	if r.Limit != 0 {
		x := s.At(r.Limit)
		g.Shapes = append(g.Shapes, picture.Shape{Class: "capacity", X: x, Y: y - 30, H: barHeight + 60})
		parts = append(parts, c.limit()+" "+s.Axis.Print(r.Limit))
		if end+picture.Wide(value, bold)+120 > x {
			end = max(end, x)
		}
	}
	if r.Value != "" {
		g.Shapes = append(g.Shapes, picture.Shape{Class: "value", X: end + 60, Y: base, Text: value})
		g.Numbers += ": " + r.Value
	}
	if text := strings.Join(parts, ", "); text != "" && text != r.Value {
		g.Numbers += " (" + text + ")"
	}
	l.Add(g)
}

func segmentText(a *picture.Axis, s *Segment) string {
	text := a.Print(s.Value)
	if s.Kind != "" {
		text = s.Kind + " " + text
	}
	if s.ranged() {
		text += ", " + a.Print(s.Low) + " to " + a.Print(s.High)
	}
	return text
}

// level returns the path of a horizontal whisker from low to high.
func level(y, low, high picture.Px) string {
	return fmt.Sprintf("M%s %sV%sM%s %sH%sM%s %sV%s", low, y-30, y+30, low, y, high, high, y-30, y+30)
}

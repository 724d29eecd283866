package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"example.org/homenode/output/draw/picture"
)

// Maximum widths of texts of an axis and of its marks.
const (
	mostTick  = picture.Px(1200)
	mostMark  = picture.Px(1500)
	mostAbove = picture.Px(2600)
)

// A Mark is a line across the chart: a limit, or the requested value.
type Mark struct {
	Name       string
	Value      float64
	Horizontal bool // Value is a Y; otherwise an X
}

// plot is the frame around curves.
type plot struct {
	x, y                     picture.Ticked
	left, right, top, bottom picture.Px
}

// framed adds the frame of a plot with its axes and marks.
func (l *layout) framed(xs, ys *picture.Axis, x, y picture.Reach, marks ...Mark) *plot {
	p := &plot{y: ys.Scale(y, 6, y.Low >= 0, true)}
	labels := picture.Px(0)
	for _, t := range p.y.Ticks {
		labels = max(labels, picture.Wide(picture.Cut(t.Label, mostTick, small), small))
	}
	p.left, p.right = margin+labels+80, width-margin-100
	above, beside := across(marks, false), across(marks, true)
	for _, m := range beside {
		p.right = min(p.right, width-margin-60-picture.Wide(picture.Cut(m.Name, mostMark, bold), bold))
	}
	p.x = xs.Scale(x, max(int((p.right-p.left)/700), 2), false, false)
	p.x.From, p.x.To = p.left+60, p.right-60
	if ys.Label != "" {
		l.text("y", "", "axis", "facts", margin, l.Y+110, picture.Cut(ys.Label, l.Inner(), letter))
		l.Y += lineHeight + 40
	}
	labelled, rows := p.labels(above)
	p.top = l.Y + picture.Px(rows)*lineHeight + 60
	p.bottom = p.top + plotHeight
	p.y.From, p.y.To = p.bottom, p.top
	l.grid(p)
	l.Y = p.bottom + l.xAxis(&p.x, p.bottom)
	for i, m := range above {
		y := p.top - 60 - picture.Px(rows-1-labelled[i].row)*lineHeight
		l.mark(&p.x, m, []picture.Shape{{Class: "limit", X: p.x.At(m.Value), Y: y + 30, H: p.bottom - y - 30},
			{Class: "tick left", X: labelled[i].x, Y: y, Text: picture.Cut(m.Name, mostAbove, bold)}})
	}
	l.beside(p, beside)
	return p
}

// grid adds the frame with its lines and the numbers of the Y axis.
func (l *layout) grid(p *plot) {
	g := picture.Group{ID: l.id("grid", ""), Class: "grid"}
	for _, t := range p.x.Ticks {
		g.Shapes = append(g.Shapes, picture.Shape{Class: "gridline", X: p.x.At(t.Value), Y: p.top, H: p.bottom - p.top})
	}
	for _, t := range p.y.Ticks {
		y := p.y.At(t.Value)
		g.Shapes = append(g.Shapes,
			picture.Shape{Class: "gridline", X: p.left, Y: y, W: p.right - p.left},
			picture.Shape{Class: "amount", X: p.left - 60, Y: y + 38, Text: picture.Cut(t.Label, mostTick, small)})
	}
	floor := picture.Shape{Class: "floor", X: p.left, Y: p.bottom, W: p.right - p.left}
	if p.y.Axis == nil { // bars begin at the left edge
		floor = picture.Shape{Class: "floor", X: p.left, Y: p.top, H: p.bottom - p.top}
	}
	g.Shapes = append(g.Shapes, floor)
	l.Add(g)
}

// xAxis adds the numbers that fit and the label below a plot. It returns their height.
func (l *layout) xAxis(s *picture.Ticked, bottom picture.Px) picture.Px {
	g := picture.Group{ID: l.id("x", ""), Class: "axis"}
	end := picture.Px(0)
	for _, t := range s.Ticks {
		text := picture.Cut(t.Label, mostTick, small)
		x, half := s.At(t.Value), picture.Wide(text, small)/2
		if x-half < end || x+half > width {
			continue
		}
		end = x + half + 60
		g.Shapes = append(g.Shapes, picture.Shape{Class: "tick", X: x, Y: bottom + 140, Text: text})
	}
	height := picture.Px(220)
	if s.Axis.Label != "" {
		g.Shapes = append(g.Shapes, picture.Shape{Class: "facts middle", X: (s.From + s.To) / 2, Y: bottom + 310, Text: picture.Cut(s.Axis.Label, s.To-s.From, letter)})
		height += lineHeight
	}
	if len(g.Shapes) > 0 {
		l.Add(g)
	}
	return height
}

// across returns the marks across one axis, in the order of their positions.
func across(marks []Mark, horizontal bool) []Mark {
	out := slices.DeleteFunc(slices.Clone(marks), func(m Mark) bool { return m.Horizontal != horizontal })
	slices.SortStableFunc(out, func(a, b Mark) int {
		if horizontal { // from top to bottom
			a, b = b, a
		}
		return cmp.Compare(a.Value, b.Value)
	})
	return out
}

// A label is the position and row of a mark's text.
type label struct {
	x   picture.Px
	row int
}

// labels places the texts of marks across X, in as many rows as necessary.
func (p *plot) labels(marks []Mark) (out []label, rows int) {
	var all picture.Rows
	for _, m := range marks {
		w := picture.Wide(picture.Cut(m.Name, mostAbove, bold), bold)
		x := min(max(p.x.At(m.Value)-w/2, margin), width-margin-w)
		row, _ := all.Take(x, x+w+80, math.MaxInt)
		out = append(out, label{x, row})
	}
	return out, all.Len()
}

func (l *layout) mark(s *picture.Ticked, m Mark, shapes []picture.Shape) {
	l.Add(picture.Group{ID: l.id("mark", m.Name), Class: "mark", Focus: true, Numbers: m.Name + ": " + s.Axis.Print(m.Value), Shapes: shapes})
}

// beside adds the marks across Y, with their texts to the right of the plot, without overlaps.
func (l *layout) beside(p *plot, marks []Mark) {
	at := p.top - 140
	for _, m := range marks {
		y := p.y.At(m.Value)
		at = max(y, at+140)
		shapes := []picture.Shape{{Class: "limit", X: p.left, Y: y, W: p.right - p.left}}
		if at != y {
			shapes = append(shapes, picture.Shape{Class: "leader", Path: fmt.Sprintf("M%s %sL%s %s", p.right, y, p.right+50, at)})
		}
		l.mark(&p.y, m, append(shapes, picture.Shape{Class: "tick left", X: p.right + 60, Y: at + 38, Text: picture.Cut(m.Name, mostMark, bold)}))
	}
}

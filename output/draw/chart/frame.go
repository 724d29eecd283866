package chart

import (
	"cmp"
	"fmt"
	"slices"

	"homenode/output/draw/picture"
	"homenode/output/draw/svg"
)

// grid places the frame with its lines and the numbers of the axis of Y.
func (l *layout) grid(p *plot) {
	g := picture.Group{ID: l.id("grid", ""), Class: "grid"}
	for _, t := range p.x.ticks {
		g.Shapes = append(g.Shapes, picture.Shape{Class: "gridline", X: p.x.at(t), Y: p.top, H: p.bottom - p.top})
	}
	for _, t := range p.y.ticks {
		y := p.y.at(t)
		g.Shapes = append(g.Shapes,
			picture.Shape{Class: "gridline", X: p.left, Y: y, W: p.right - p.left},
			picture.Shape{Class: "amount", X: p.left - 60, Y: y + 38, Text: cut(p.y.axis.text(t), 1200, small)})
	}
	g.Shapes = append(g.Shapes, picture.Shape{Class: "floor", X: p.left, Y: p.bottom, W: p.right - p.left})
	l.pic.Add(g)
}

// xAxis places the numbers and the label below a plot, as many as have room; it returns
// the height that it took.
func (l *layout) xAxis(s *scale, bottom svg.Px) svg.Px {
	g := picture.Group{ID: l.id("x", ""), Class: "axis"}
	end := svg.Px(0)
	for _, t := range s.ticks {
		text := cut(s.axis.text(t), 1200, small)
		x, half := s.at(t), wide(text, small)/2
		if x-half < end || x+half > width {
			continue
		}
		end = x + half + 60
		g.Shapes = append(g.Shapes, picture.Shape{Class: "tick", X: x, Y: bottom + 140, Text: text})
	}
	height := svg.Px(220)
	if s.axis.Label != "" {
		g.Shapes = append(g.Shapes, picture.Shape{Class: "facts middle", X: (s.from + s.to) / 2, Y: bottom + 310, Text: cut(s.axis.Label, s.to-s.from, letter)})
		height += lineHeight
	}
	if len(g.Shapes) > 0 {
		l.pic.Add(g)
	}
	return height
}

// A label is a mark's text and where it begins.
type label struct {
	x, w svg.Px
	row  int
	text string
}

// labelsAbove returns the labels of the marks across X, in as many rows as they need so
// that none touches another.
func labelsAbove(s *scale, marks []Mark) (labels []label, rows int) {
	var ends []svg.Px
	order := vertical(marks)
	slices.SortStableFunc(order, func(a, b Mark) int { return cmp.Compare(a.Value, b.Value) })
	labels = make([]label, len(order))
	for i, m := range order {
		text := cut(m.Name, 2600, bold)
		w := wide(text, bold)
		x := min(max(s.at(m.Value)-w/2, margin), width-margin-w)
		row := 0
		for row < len(ends) && ends[row] > x {
			row++
		}
		if row == len(ends) {
			ends = append(ends, 0)
		}
		ends[row] = x + w + 80
		labels[i] = label{x: x, w: w, row: row, text: text}
	}
	return labels, len(ends)
}

func vertical(marks []Mark) []Mark {
	var out []Mark
	for _, m := range marks {
		if !m.Horizontal {
			out = append(out, m)
		}
	}
	return out
}

// marksAbove returns the height of the labels of the marks across X.
func (l *layout) marksAbove(s *scale, marks []Mark) svg.Px {
	_, rows := labelsAbove(s, marks)
	return svg.Px(rows)*lineHeight + 60
}

// vertical places the marks across X, with their labels above the plot.
func (l *layout) vertical(p *plot, marks []Mark) {
	labels, rows := labelsAbove(&p.x, marks)
	order := vertical(marks)
	slices.SortStableFunc(order, func(a, b Mark) int { return cmp.Compare(a.Value, b.Value) })
	for i, m := range order {
		y := p.top - 60 - svg.Px(rows-1-labels[i].row)*lineHeight
		x := p.x.at(m.Value)
		l.pic.Add(picture.Group{ID: l.id("mark", m.Name), Class: "mark", Focus: true, Numbers: m.Name + ": " + p.x.axis.text(m.Value), Shapes: []picture.Shape{
			{Class: "limit", X: x, Y: y + 30, H: p.bottom - y - 30},
			{Class: "tick left", X: labels[i].x, Y: y, Text: labels[i].text},
		}})
	}
}

// horizontal places the marks across Y, with their labels right of the plot, apart from
// each other.
func (l *layout) horizontal(p *plot, marks []Mark) {
	var order []Mark
	for _, m := range marks {
		if m.Horizontal {
			order = append(order, m)
		}
	}
	slices.SortStableFunc(order, func(a, b Mark) int { return cmp.Compare(b.Value, a.Value) })
	ys := make([]svg.Px, len(order))
	for i, m := range order {
		ys[i] = p.y.at(m.Value)
		if i > 0 {
			ys[i] = max(ys[i], ys[i-1]+140)
		}
	}
	for i, m := range order {
		y := p.y.at(m.Value)
		shapes := []picture.Shape{{Class: "limit", X: p.left, Y: y, W: p.right - p.left}}
		if ys[i] != y {
			shapes = append(shapes, picture.Shape{Class: "leader", Path: fmt.Sprintf("M%s %sL%s %s", p.right, y, p.right+50, ys[i])})
		}
		l.pic.Add(picture.Group{ID: l.id("mark", m.Name), Class: "mark", Focus: true, Numbers: m.Name + ": " + p.y.axis.text(m.Value),
			Shapes: append(shapes, picture.Shape{Class: "tick left", X: p.right + 60, Y: ys[i] + 38, Text: cut(m.Name, 1500, bold)})})
	}
}

package chart

import (
	"cmp"
	"fmt"
	"slices"

	"homenode/output/draw/picture"
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
			picture.Shape{Class: "amount", X: p.left - 60, Y: y + 38, Text: picture.Cut(p.y.axis.text(t), 1200, small)})
	}
	g.Shapes = append(g.Shapes, picture.Shape{Class: "floor", X: p.left, Y: p.bottom, W: p.right - p.left})
	l.pic.Add(g)
}

// xAxis places the numbers and the label below a plot, as many as have room; it returns
// the height that it took.
func (l *layout) xAxis(s *scale, bottom picture.Px) picture.Px {
	g := picture.Group{ID: l.id("x", ""), Class: "axis"}
	end := picture.Px(0)
	for _, t := range s.ticks {
		text := picture.Cut(s.axis.text(t), 1200, small)
		x, half := s.at(t), picture.Wide(text, small)/2
		if x-half < end || x+half > width {
			continue
		}
		end = x + half + 60
		g.Shapes = append(g.Shapes, picture.Shape{Class: "tick", X: x, Y: bottom + 140, Text: text})
	}
	height := picture.Px(220)
	if s.axis.Label != "" {
		g.Shapes = append(g.Shapes, picture.Shape{Class: "facts middle", X: (s.from + s.to) / 2, Y: bottom + 310, Text: picture.Cut(s.axis.Label, s.to-s.from, letter)})
		height += lineHeight
	}
	if len(g.Shapes) > 0 {
		l.pic.Add(g)
	}
	return height
}

// A label is a mark with the place of its text: where it begins, and in which row.
type label struct {
	Mark
	x    picture.Px
	row  int
	text string
}

// labelsAbove returns the labels of the marks across X, in as many rows as they need.
func labelsAbove(s *scale, marks []Mark) (labels []label, rows int) {
	var all picture.Rows
	for _, m := range across(marks, false) {
		text := picture.Cut(m.Name, 2600, bold)
		w := picture.Wide(text, bold)
		x := min(max(s.at(m.Value)-w/2, margin), width-margin-w)
		row := all.Free(x)
		all.Fill(row, x+w+80)
		labels = append(labels, label{m, x, row, text})
	}
	return labels, all.Len()
}

// across returns the marks across one axis in the order of their places.
func across(marks []Mark, horizontal bool) []Mark {
	out := slices.DeleteFunc(slices.Clone(marks), func(m Mark) bool { return m.Horizontal != horizontal })
	slices.SortStableFunc(out, func(a, b Mark) int {
		if horizontal { // from the top
			a, b = b, a
		}
		return cmp.Compare(a.Value, b.Value)
	})
	return out
}

// marksAbove returns the height of the labels of the marks across X.
func (l *layout) marksAbove(s *scale, marks []Mark) picture.Px {
	_, rows := labelsAbove(s, marks)
	return picture.Px(rows)*lineHeight + 60
}

// vertical places the marks across X, with their labels above the plot.
func (l *layout) vertical(p *plot, marks []Mark) {
	labels, rows := labelsAbove(&p.x, marks)
	for _, m := range labels {
		y := p.top - 60 - picture.Px(rows-1-m.row)*lineHeight
		x := p.x.at(m.Value)
		l.pic.Add(picture.Group{ID: l.id("mark", m.Name), Class: "mark", Focus: true, Numbers: m.Name + ": " + p.x.axis.text(m.Value), Shapes: []picture.Shape{
			{Class: "limit", X: x, Y: y + 30, H: p.bottom - y - 30},
			{Class: "tick left", X: m.x, Y: y, Text: m.text},
		}})
	}
}

// horizontal places the marks across Y, with their labels right of the plot, apart from
// each other.
func (l *layout) horizontal(p *plot, marks []Mark) {
	order := across(marks, true)
	ys := make([]picture.Px, len(order))
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
			Shapes: append(shapes, picture.Shape{Class: "tick left", X: p.right + 60, Y: ys[i] + 38, Text: picture.Cut(m.Name, 1500, bold)})})
	}
}

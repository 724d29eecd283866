package chart

import (
	"fmt"
	"slices"
	"strings"

	"homenode/output/draw/picture"
)

// looks is how many curves look different: colour, dashes and shape of the dots.
const looks = 8

// plot is the frame that curves are in.
type plot struct {
	x, y                     scale
	left, right, top, bottom picture.Px
}

func (l *layout) lines(c *Lines) {
	var x, y reach
	extrapolated, ranges := false, false
	series := make([]Series, len(c.Series))
	for i := range c.Series {
		series[i] = Series{Name: c.Series[i].Name, Points: l.drawable(c, c.Series[i].Points)}
		for _, pt := range series[i].Points {
			if !l.placed(c, &pt) {
				continue
			}
			x.add(pt.X)
			y.add(pt.Y)
			if pt.ranged() {
				y.add(pt.High)
				if c.Y.has(pt.Low) {
					y.add(pt.Low)
				}
				ranges = true
			}
			extrapolated = extrapolated || pt.Outside
		}
	}
	points := x.any
	var marks []Mark
	for _, m := range c.Marks {
		a, r := &c.X, &x
		if m.Horizontal {
			a, r = &c.Y, &y
		}
		if !a.has(m.Value) {
			l.left++
			continue
		}
		r.add(m.Value)
		marks = append(marks, m)
	}
	l.seriesLegend(series, extrapolated, ranges)
	l.lineAxes(c, x, y, marks, points, series)
}

// lineAxes places the frame, then what is in it.
func (l *layout) lineAxes(c *Lines, x, y reach, marks []Mark, points bool, series []Series) {
	p := l.framed(&c.X, &c.Y, x, y, marks...)
	l.vertical(&p, marks)
	l.horizontal(&p, marks)
	for i := range series {
		l.curve(c, &p, i, &series[i])
	}
	if !points {
		l.nothing((p.left+p.right)/2, (p.top+p.bottom)/2)
	}
}

// framed places the frame of a plot with its axes.
func (l *layout) framed(xs, ys *Axis, x, y reach, marks ...Mark) plot {
	p := plot{y: scaleOf(ys, y, 6, y.low >= 0, true)}
	labels := picture.Px(0)
	for _, t := range p.y.ticks {
		labels = max(labels, picture.Wide(picture.Cut(ys.text(t), 1200, small), small))
	}
	p.left, p.right = margin+labels+80, width-margin-100
	for _, m := range marks {
		if m.Horizontal {
			p.right = min(p.right, width-margin-60-picture.Wide(picture.Cut(m.Name, 1500, bold), bold))
		}
	}
	p.x = scaleOf(xs, x, max(int((p.right-p.left)/700), 2), false, false)
	p.x.from, p.x.to = p.left+60, p.right-60
	if ys.Label != "" {
		l.pic.Add(picture.Group{ID: l.id("y", ""), Class: "axis", Shapes: []picture.Shape{
			{Class: "facts", X: margin, Y: l.y + 110, Text: picture.Cut(ys.Label, width-2*margin, letter)}}})
		l.y += lineHeight + 40
	}
	p.top = l.y + l.marksAbove(&p.x, marks)
	p.bottom = p.top + plotHeight
	p.y.from, p.y.to = p.bottom, p.top
	l.grid(&p)
	l.y = p.bottom + l.xAxis(&p.x, p.bottom)
	return p
}

// nothing says that the frame is empty.
func (l *layout) nothing(x, y picture.Px) {
	l.pic.Add(picture.Group{ID: l.id("empty", ""), Class: "empty", Shapes: []picture.Shape{{Class: "facts", X: x, Y: y, Text: "nothing to draw"}}})
}

func (p *Point) ranged() bool { return p.Low != 0 || p.High != 0 }

// placed reports whether the point has a place; drawable has counted those without.
func (l *layout) placed(c *Lines, p *Point) bool { return c.X.has(p.X) && c.Y.has(p.Y) }

// drawable returns the points without ranges that have no place, and counts what has none.
func (l *layout) drawable(c *Lines, points []Point) []Point {
	out := append([]Point(nil), points...)
	for i := range out {
		p := &out[i]
		if !l.placed(c, p) {
			l.left++
		}
		low := c.Y.has(p.Low) || c.Y.Log && p.Low == 0
		if p.ranged() && (!low || !c.Y.has(p.High) || p.Low > p.High) {
			l.left++
			p.Low, p.High = 0, 0
		}
	}
	return out
}

// seriesLegend explains the looks of curves.
func (l *layout) seriesLegend(series []Series, extrapolated, ranges bool) {
	var entries []entry
	for i := range series {
		s := &series[i]
		if len(series) == 1 && s.Name == "" {
			continue
		}
		entries = append(entries, entry{class: fmt.Sprintf("series-%d", i%looks), text: s.Name, shapes: func(x, y picture.Px) []picture.Shape {
			out := []picture.Shape{{Class: "curve", X: x, Y: y + 70, W: 260}}
			if slices.ContainsFunc(s.Points, func(p Point) bool { return p.Measured }) {
				out = append(out, picture.Shape{Class: "dot", Path: dot(i, x+130, y+70)})
			}
			return out
		}})
	}
	if extrapolated {
		entries = append(entries, entry{class: "outside", text: "extrapolated", shapes: func(x, y picture.Px) []picture.Shape {
			return []picture.Shape{{Class: "curve outside", X: x, Y: y + 70, W: 260}}
		}})
	}
	if ranges {
		entries = append(entries, entry{class: "range", text: "range", shapes: func(x, y picture.Px) []picture.Shape {
			return []picture.Shape{{Class: "band", X: x, Y: y + 10, W: 260, H: 120}}
		}})
	}
	l.legend(entries)
}

// dot returns the path of a dot; its shape is that of the curve.
func dot(look int, x, y picture.Px) string {
	const r = picture.Px(36)
	switch look % looks {
	case 1:
		return fmt.Sprintf("M%s %sh6v6h-6z", x-30, y-30)
	case 2:
		return fmt.Sprintf("M%s %sL%s %sL%s %sZ", x, y-42, x+40, y+28, x-40, y+28)
	case 3:
		return fmt.Sprintf("M%s %sL%s %sL%s %sL%s %sZ", x, y-44, x+44, y, x, y+44, x-44, y)
	case 4:
		return fmt.Sprintf("M%s %sL%s %sL%s %sZ", x, y+42, x+40, y-28, x-40, y-28)
	case 5:
		return fmt.Sprintf("M%s %sh3v2.5h2.5v3h-2.5v2.5h-3v-2.5h-2.5v-3h2.5z", x-15, y-40)
	case 6:
		return fmt.Sprintf("M%s %sh10v4h-10z", x-50, y-20)
	case 7:
		return fmt.Sprintf("M%s %sh4v10h-4z", x-20, y-50)
	}
	return fmt.Sprintf("M%s %sa%s %s 0 1 0 %s 0a%s %s 0 1 0 -%s 0Z", x-r, y, r, r, 2*r, r, r, 2*r)
}

// curve places the range, the line and the dots of a series.
func (l *layout) curve(c *Lines, p *plot, look int, s *Series) {
	id := l.id("series", s.Name)
	var solid, dashed strings.Builder
	for i := 1; i < len(s.Points); i++ {
		before, pt := &s.Points[i-1], &s.Points[i]
		if !l.placed(c, pt) || !l.placed(c, before) {
			continue
		}
		to := &solid
		if pt.Outside || before.Outside {
			to = &dashed
		}
		start := fmt.Sprintf("%s %s", p.x.at(before.X), p.y.at(before.Y))
		if !strings.HasSuffix(to.String(), start) {
			to.WriteString("M" + start)
		}
		fmt.Fprintf(to, "L%s %s", p.x.at(pt.X), p.y.at(pt.Y))
	}
	g := picture.Group{ID: id, Class: fmt.Sprintf("series series-%d", look%looks), Focus: true, Numbers: l.inSum(c, s), Shapes: l.ranges(c, p, s)}
	if solid.Len() > 0 {
		g.Shapes = append(g.Shapes, picture.Shape{Class: "curve", Path: solid.String()})
	}
	if dashed.Len() > 0 {
		g.Shapes = append(g.Shapes, picture.Shape{Class: "curve outside", Path: dashed.String()})
	}
	if len(g.Shapes) > 0 {
		l.pic.Add(g)
	}
	l.dots(c, p, look, s, id)
}

// ranges returns the band along the points that have a range, and whiskers at those that
// stand alone. A measured point without a range ends a band in itself.
func (l *layout) ranges(c *Lines, p *plot, s *Series) (shapes []picture.Shape) {
	bounds := func(i int) (low, high picture.Px, ok bool) {
		if i < 0 || i >= len(s.Points) || !l.placed(c, &s.Points[i]) {
			return 0, 0, false
		}
		pt := &s.Points[i]
		if pt.ranged() {
			return p.y.at(pt.Low), p.y.at(pt.High), true
		}
		y := p.y.at(pt.Y)
		return y, y, pt.Measured
	}
	var band strings.Builder
	for i := range s.Points {
		low, high, ok := bounds(i)
		from, to, before := bounds(i - 1)
		_, _, after := bounds(i + 1)
		x := p.x.at(s.Points[i].X)
		switch ranged := s.Points[i].ranged(); {
		case !ok:
		case ranged && !before && !after:
			shapes = append(shapes, picture.Shape{Class: "whisker", Path: upright(x, low, high)})
		case before && (ranged || s.Points[i-1].ranged()):
			x0 := p.x.at(s.Points[i-1].X)
			fmt.Fprintf(&band, "M%s %sL%s %sL%s %sL%s %sZ", x0, from, x0, to, x, high, x, low)
		}
	}
	if band.Len() > 0 {
		shapes = append([]picture.Shape{{Class: "band", Path: band.String()}}, shapes...)
	}
	return shapes
}

// dots places the measured points, and those that no line reaches.
func (l *layout) dots(c *Lines, p *plot, look int, s *Series, id string) {
	lone := func(i int) bool {
		return (i == 0 || !l.placed(c, &s.Points[i-1])) && (i == len(s.Points)-1 || !l.placed(c, &s.Points[i+1]))
	}
	for i := range s.Points {
		pt := &s.Points[i]
		if !l.placed(c, pt) || !pt.Measured && !lone(i) {
			continue
		}
		class := fmt.Sprintf("point series-%d", look%looks)
		if pt.Outside {
			class += " outside"
		}
		l.pic.Add(picture.Group{ID: fmt.Sprintf("%s__point-%d", id, i), Class: class, Focus: true, Numbers: s.Name + ": " + pointText(c, pt),
			Shapes: []picture.Shape{{Class: "dot", Path: dot(look, p.x.at(pt.X), p.y.at(pt.Y))}}})
	}
}

func pointText(c *Lines, p *Point) string {
	text := c.X.text(p.X) + ": " + c.Y.text(p.Y)
	if p.ranged() {
		text += " (" + c.Y.text(p.Low) + " to " + c.Y.text(p.High) + ")"
	}
	switch {
	case p.Outside:
		text += ", extrapolated"
	case p.Measured:
		text += ", measured"
	}
	return text
}

// inSum says where a curve begins and ends.
func (l *layout) inSum(c *Lines, s *Series) string {
	var first, last *Point
	for i := range s.Points {
		if p := &s.Points[i]; l.placed(c, p) {
			if first == nil {
				first = p
			}
			last = p
		}
	}
	switch first {
	case nil:
		return s.Name
	case last:
		return s.Name + ": " + pointText(c, first)
	}
	return fmt.Sprintf("%s: from %s to %s", s.Name, pointText(c, first), pointText(c, last))
}

// upright returns the path of a whisker from low to high.
func upright(x, low, high picture.Px) string {
	return fmt.Sprintf("M%s %sH%sM%s %sV%sM%s %sH%s", x-30, low, x+30, x, low, high, x-30, high, x+30)
}

// level returns the path of a whisker of a bar.
func level(y, low, high picture.Px) string {
	return fmt.Sprintf("M%s %sV%sM%s %sH%sM%s %sV%s", low, y-30, y+30, low, y, high, high, y-30, y+30)
}

package chart

import (
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/output/draw/picture"
)

// Lines are curves over a pair of axes.
type Lines struct {
	X, Y   picture.Axis
	Series []Series
	Marks  []Mark
}

// A Series is one curve. Its points are in ascending X.
type Series struct {
	Name   string // legend text; unique in the chart
	Points []Point
}

// A Point is one point of a curve.
type Point struct {
	X, Y float64
	// Low and High are the range of Y; both 0 for none. A measured point without a range between points with
	// one counts as exact.
	Low, High float64
	Measured  bool // drawn as a dot
}

// looks is the number of distinguishable curves, by colour, dashes and shape of the dots.
const looks = 8

// look returns the class of a curve.
func look(nth int) string { return fmt.Sprintf("series-%d", nth%looks) }

// A curve is a series, split at points that cannot be drawn.
type curve struct {
	name string
	nth  int
	runs [][]Point
}

func (c *Lines) draw(l *layout) {
	var x, y picture.Reach
	var curves []curve
	var entries []picture.Entry
	ranges := false
	for i := range c.Series {
		one := l.curveOf(c, i)
		points := slices.Concat(one.runs...)
		for _, pt := range points {
			x.Add(pt.X)
			y.Add(pt.Y)
			y.Span(&c.Y, pt.Low, pt.High)
			ranges = ranges || pt.ranged()
		}
		curves = append(curves, one)
		if len(c.Series) > 1 || one.name != "" {
			entries = append(entries, picture.Entry{Class: look(i), Text: one.name, Sample: func(x, y picture.Px) []picture.Shape {
				out := []picture.Shape{{Class: "curve", X: x, Y: y + 70, W: picture.SampleWidth}}
				if slices.ContainsFunc(points, func(p Point) bool { return p.Measured }) {
					out = append(out, dot(i, x+picture.SampleWidth/2, y+70))
				}
				return out
			}})
		}
	}
	empty := !x.Any
	var marks []Mark
	for _, m := range c.Marks {
		a, r := &c.X, &x
		if m.Horizontal {
			a, r = &c.Y, &y
		}
		if !a.Has(m.Value) {
			l.left++
			continue
		}
		r.Add(m.Value)
		marks = append(marks, m)
	}
	if ranges {
		entries = append(entries, picture.Entry{Class: "range", Text: "range", Sample: func(x, y picture.Px) []picture.Shape {
			return []picture.Shape{{Class: "band", X: x, Y: y + 10, W: picture.SampleWidth, H: 120}}
		}})
	}
	l.legend(entries)
	p := l.framed(&c.X, &c.Y, x, y, marks...)
	for i := range curves {
		l.curve(c, p, &curves[i])
	}
	if empty {
		l.nothing((p.left+p.right)/2, (p.top+p.bottom)/2)
	}
}

func (p *Point) ranged() bool { return p.Low != 0 || p.High != 0 }

// curveOf returns a series without the points and ranges that cannot be drawn. It counts these.
func (l *layout) curveOf(c *Lines, nth int) curve {
	out := curve{c.Series[nth].Name, nth, [][]Point{nil}}
	for _, p := range c.Series[nth].Points {
		l.bounded(&c.Y, &p.Low, &p.High)
		run := &out.runs[len(out.runs)-1]
		if c.X.Has(p.X) && c.Y.Has(p.Y) {
			*run = append(*run, p)
			continue
		}
		l.left++
		if *run != nil {
			out.runs = append(out.runs, nil)
		}
	}
	return out
}

// dots are the paths of dots relative to their centre: a circle, a square, triangles, a diamond, a cross and
// two bars.
var dots = [looks]string{"m-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0Z", "m-3-3h6v6h-6z", "m0-4.2l4 7h-8z", "m0-4.4l4.4 4.4-4.4 4.4-4.4-4.4z",
	"m0 4.2l4-7h-8z", "m-1.5-4h3v2.5h2.5v3h-2.5v2.5h-3v-2.5h-2.5v-3h2.5z", "m-5-2h10v4h-10z", "m-2-5h4v10h-4z"}

// dot returns a dot. Its shape identifies the curve.
func dot(nth int, x, y picture.Px) picture.Shape {
	return picture.Shape{Class: "dot", Path: fmt.Sprintf("M%s %s%s", x, y, dots[nth%looks])}
}

// curve adds the ranges, the line and the dots of a series.
func (l *layout) curve(c *Lines, p *plot, s *curve) {
	g := picture.Group{ID: l.id("series", s.name), Class: "series " + look(s.nth), Focus: true, Numbers: s.name}
	var path strings.Builder
	var points []picture.Group
	first, last := "", ""
	for _, run := range s.runs {
		g.Shapes = append(g.Shapes, p.ranges(run)...)
		for i, pt := range run {
			x, y := p.x.At(pt.X), p.y.At(pt.Y)
			text := pt.text(c)
			if first == "" {
				first = text
			}
			last = text
			if i > 0 {
				p.line(&path, &run[i-1], &pt)
			}
			if pt.Measured || len(run) == 1 { // or it is not connected to a line
				points = append(points, picture.Group{ID: fmt.Sprintf("%s__point-%d", g.ID, len(points)), Class: "point " + look(s.nth), Focus: true, Numbers: s.name + ": " + text,
					Shapes: []picture.Shape{dot(s.nth, x, y)}})
			}
		}
	}
	switch {
	case first == "":
	case first == last:
		g.Numbers += ": " + first
	default:
		g.Numbers += ": from " + first + " to " + last
	}
	if path.Len() > 0 {
		g.Shapes = append(g.Shapes, picture.Shape{Class: "curve", Path: path.String()})
	}
	if len(g.Shapes) > 0 {
		l.Add(g)
	}
	l.Groups = append(l.Groups, points...)
}

// line draws the line between two points.
func (p *plot) line(to *strings.Builder, before, pt *Point) {
	if start := fmt.Sprintf("%s %s", p.x.At(before.X), p.y.At(before.Y)); !strings.HasSuffix(to.String(), start) {
		to.WriteString("M" + start)
	}
	fmt.Fprintf(to, "L%s %s", p.x.At(pt.X), p.y.At(pt.Y))
}

// ranges returns a band along the points with a range, and whiskers for isolated points. A measured point
// without a range ends a band at its own value.
func (p *plot) ranges(run []Point) (shapes []picture.Shape) {
	bounds := func(i int) (low, high picture.Px, ok bool) {
		switch {
		case i < 0 || i >= len(run):
			return 0, 0, false
		case run[i].ranged():
			return p.y.At(run[i].Low), p.y.At(run[i].High), true
		}
		y := p.y.At(run[i].Y)
		return y, y, run[i].Measured
	}
	var band strings.Builder
	for i := range run {
		low, high, ok := bounds(i)
		from, to, before := bounds(i - 1)
		_, _, after := bounds(i + 1)
		x := p.x.At(run[i].X)
		switch ranged := run[i].ranged(); {
		case !ok:
		case ranged && !before && !after:
			shapes = append(shapes, picture.Shape{Class: "whisker", Path: upright(x, low, high)})
		case before && (ranged || run[i-1].ranged()):
			x0 := p.x.At(run[i-1].X)
			fmt.Fprintf(&band, "M%s %sL%s %sL%s %sL%s %sZ", x0, from, x0, to, x, high, x, low)
		}
	}
	if band.Len() > 0 {
		shapes = append([]picture.Shape{{Class: "band", Path: band.String()}}, shapes...)
	}
	return shapes
}

// text describes all values of a point.
func (p *Point) text(c *Lines) string {
	text := c.X.Print(p.X) + ": " + c.Y.Print(p.Y)
	if p.ranged() {
		text += " (" + c.Y.Print(p.Low) + " to " + c.Y.Print(p.High) + ")"
	}
	if p.Measured {
		text += ", measured"
	}
	return text
}

// upright returns the path of a vertical whisker from low to high.
func upright(x, low, high picture.Px) string {
	return fmt.Sprintf("M%s %sH%sM%s %sV%sM%s %sH%s", x-30, low, x+30, x, low, high, x-30, high, x+30)
}

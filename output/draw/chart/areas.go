package chart

import (
	"fmt"
	"math"
	"slices"

	"example.org/homenode/output/draw/picture"
)

// Areas are stacked quantities over steps of X.
type Areas struct {
	X, Y  picture.Axis // neither is logarithmic
	Names []string     // of the quantities, from the bottom up; unique in the chart
	Steps []Step       // in ascending X; gaps between steps stay empty
}

// A Step has one value per quantity; NaN means unknown.
type Step struct {
	From, To float64
	Values   []float64
	Text     string // description of the values
}

func (c *Areas) draw(l *layout) {
	var x, y picture.Reach
	y.Add(0)
	steps := slices.DeleteFunc(slices.Clone(c.Steps), func(s Step) bool {
		ok := c.X.Has(s.From) && c.X.Has(s.To) && s.From <= s.To && len(s.Values) == len(c.Names) && c.Y.Has(s.below(len(c.Names)))
		if !ok {
			l.left++
		}
		return !ok
	})
	for i := range steps {
		x.Add(steps[i].From)
		x.Add(steps[i].To)
		y.Add(steps[i].below(len(c.Names)))
	}
	var entries []picture.Entry
	texts := make([]string, len(c.Names))
	for i, name := range c.Names {
		var known []float64
		for _, s := range steps {
			if v := s.Values[i]; !math.IsNaN(v) {
				known = append(known, v)
			}
		}
		switch n := len(known); {
		case n == 0:
			name += ": unknown"
		case slices.Max(known) <= 0:
			name += ": none"
		default:
			texts[i] = fmt.Sprintf("%s: %s at first, %s at last, at most %s", name, c.Y.Print(known[0]), c.Y.Print(known[n-1]), c.Y.Print(slices.Max(known)))
		}
		entries = append(entries, picture.Swatch("", picture.Fill("kind", i), picture.Fill("kind", i), name))
	}
	l.legend(entries)
	p := l.framed(&c.X, &c.Y, x, y)
	for i, name := range c.Names {
		if texts[i] == "" {
			continue
		}
		var area []picture.Step
		for k := range steps {
			s := &steps[k]
			area = append(area, picture.Step{From: p.x.At(s.From), To: p.x.At(s.To), Low: p.y.At(s.below(i)), High: p.y.At(s.below(i + 1))})
		}
		l.Add(picture.Group{ID: l.id("area", name), Class: "area " + picture.Fill("kind", i), Focus: true, Numbers: texts[i],
			Shapes: []picture.Shape{{Class: "bar", Path: picture.Area(area), Fill: picture.Fill("kind", i)}}})
	}
	for i := range steps {
		from, to := p.x.At(steps[i].From), p.x.At(steps[i].To)
		l.Add(picture.Group{ID: l.id("step", ""), Class: "step", Numbers: steps[i].Text, Shapes: []picture.Shape{{Class: "hit", X: from, Y: p.top, W: max(to-from, 1), H: p.bottom - p.top}}})
	}
	if len(steps) == 0 {
		l.nothing((p.left+p.right)/2, (p.top+p.bottom)/2)
	}
}

// below returns the sum of the known values below a quantity.
func (s *Step) below(quantity int) (sum float64) {
	for _, v := range s.Values[:quantity] {
		if v > 0 {
			sum += v
		}
	}
	return sum
}

package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"homenode/output/draw/picture"
)

// Areas are quantities that add up, one above the other, over steps of X.
type Areas struct {
	X, Y  Axis     // neither is logarithmic
	Names []string // of the quantities, from the bottom; unique in the chart
	Steps []Step   // in ascending X; between two that do not touch nothing is drawn
}

// A Step has a value of each quantity; one that is no number is unknown.
type Step struct {
	From, To float64
	Values   []float64
	Text     string // what it holds, in words
}

func (l *layout) areas(c *Areas) {
	var x, y reach
	y.add(0)
	steps := slices.DeleteFunc(slices.Clone(c.Steps), func(s Step) bool {
		ok := c.X.has(s.From) && c.X.has(s.To) && s.From <= s.To && len(s.Values) == len(c.Names) && c.Y.has(s.below(len(c.Names)))
		if !ok {
			l.left++
		}
		return !ok
	})
	for i := range steps {
		x.add(steps[i].From)
		x.add(steps[i].To)
		y.add(steps[i].below(len(c.Names)))
	}
	var entries []entry
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
			texts[i] = fmt.Sprintf("%s: %s at first, %s at last, at most %s", name, c.Y.text(known[0]), c.Y.text(known[n-1]), c.Y.text(slices.Max(known)))
		}
		entries = append(entries, entry{class: kindClass(i), text: name, shapes: func(x, y picture.Px) []picture.Shape {
			return []picture.Shape{{Class: "swatch", X: x, Y: y, W: 260, H: 140, Fill: l.fill(i, false)}}
		}})
	}
	l.legend(entries)
	p := l.framed(&c.X, &c.Y, x, y)
	for i, name := range c.Names {
		if texts[i] != "" {
			l.pic.Add(picture.Group{ID: l.id("area", name), Class: "area " + kindClass(i), Focus: true, Numbers: texts[i],
				Shapes: []picture.Shape{{Class: "bar", Path: p.area(steps, i), Fill: l.fill(i, false)}}})
		}
	}
	for i := range steps {
		from, to := p.x.at(steps[i].From), p.x.at(steps[i].To)
		l.pic.Add(picture.Group{ID: l.id("step", ""), Class: "step", Numbers: steps[i].Text, Shapes: []picture.Shape{{Class: "hit", X: from, Y: p.top, W: max(to-from, 1), H: p.bottom - p.top}}})
	}
	if len(steps) == 0 {
		l.nothing((p.left+p.right)/2, (p.top+p.bottom)/2)
	}
}

func kindClass(n int) string { return fmt.Sprintf("kind-%d", n%picture.Textures) }

// below returns what the quantities before one add up to, as far as they are known.
func (s *Step) below(quantity int) (sum float64) {
	for _, v := range s.Values[:min(quantity, len(s.Values))] {
		if v > 0 {
			sum += v
		}
	}
	return sum
}

// area returns the path around one quantity.
func (p *plot) area(steps []Step, quantity int) string {
	var b strings.Builder
	for from, to := 0, 0; from < len(steps); from = to {
		for to = from + 1; to < len(steps) && p.x.at(steps[to].From) <= p.x.at(steps[to-1].To); to++ {
		}
		run := steps[from:to]
		fmt.Fprintf(&b, "M%s %s", p.x.at(run[0].From), p.y.at(run[0].below(quantity)))
		for i := range run {
			fmt.Fprintf(&b, "V%sH%s", p.y.at(run[i].below(quantity+1)), p.x.at(run[i].To))
		}
		for _, s := range slices.Backward(run) {
			fmt.Fprintf(&b, "V%sH%s", p.y.at(s.below(quantity)), p.x.at(s.From))
		}
		b.WriteString("Z")
	}
	return b.String()
}

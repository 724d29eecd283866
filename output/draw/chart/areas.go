package chart

import (
	"fmt"
	"math"
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
	var steps []Step
	for _, s := range c.Steps {
		if !c.X.has(s.From) || !c.X.has(s.To) || s.From > s.To || len(s.Values) != len(c.Names) {
			l.left++
			continue
		}
		x.add(s.From)
		x.add(s.To)
		sum := 0.0
		for i := range s.Values {
			_, sum = c.from(&s, i)
		}
		y.add(sum)
		steps = append(steps, s)
	}
	var entries []entry
	for i, name := range c.Names {
		fill := l.fill(i, false)
		switch first, _, most := ends(steps, i); {
		case first == nil:
			name += ": unknown"
		case most.Values[i] == 0:
			name += ": none"
		}
		entries = append(entries, entry{class: fmt.Sprintf("kind-%d", i%picture.Textures), text: name, shapes: func(x, y picture.Px) []picture.Shape {
			return []picture.Shape{{Class: "swatch", X: x, Y: y, W: 260, H: 140, Fill: fill}}
		}})
	}
	l.legend(entries)
	p := l.framed(&c.X, &c.Y, x, y)
	for i, name := range c.Names {
		l.area(c, &p, steps, i, name)
	}
	for i := range steps {
		s := &steps[i]
		from, to := p.x.at(s.From), p.x.at(s.To)
		l.pic.Add(picture.Group{ID: l.id("step", ""), Class: "step", Numbers: s.Text, Shapes: []picture.Shape{{Class: "hit", X: from, Y: p.top, W: max(to-from, 1), H: p.bottom - p.top}}})
	}
	if len(steps) == 0 {
		l.nothing((p.left+p.right)/2, (p.top+p.bottom)/2)
	}
}

// from returns where a quantity begins and ends in the sum of a step.
func (c *Areas) from(s *Step, quantity int) (low, high float64) {
	for i, v := range s.Values[:quantity+1] {
		low = high
		if c.Y.has(v) && v > 0 {
			high += v
		} else if i == quantity {
			return low, low
		}
	}
	return low, high
}

// ends returns the steps in which a quantity was known at first, at last, and was most; nil where it was in none.
func ends(steps []Step, quantity int) (first, last, most *Step) {
	for i := range steps {
		s := &steps[i]
		if math.IsNaN(s.Values[quantity]) {
			continue
		}
		if last = s; first == nil {
			first, most = s, s
		}
		if s.Values[quantity] > most.Values[quantity] {
			most = s
		}
	}
	return first, last, most
}

// area places one quantity, and says what it was at first, at last and at most.
func (l *layout) area(c *Areas, p *plot, steps []Step, quantity int, name string) {
	first, last, most := ends(steps, quantity)
	if first == nil || most.Values[quantity] <= 0 {
		return // the legend says so
	}
	var path strings.Builder
	low := func(s *Step) picture.Px {
		at, _ := c.from(s, quantity)
		return p.y.at(at)
	}
	for from := 0; from < len(steps); {
		to := from + 1
		for to < len(steps) && p.x.at(steps[to].From) <= p.x.at(steps[to-1].To) {
			to++
		}
		run := steps[from:to]
		from = to
		fmt.Fprintf(&path, "M%s %s", p.x.at(run[0].From), low(&run[0]))
		for i := range run {
			_, high := c.from(&run[i], quantity)
			fmt.Fprintf(&path, "V%sH%s", p.y.at(high), p.x.at(run[i].To))
		}
		for i := len(run) - 1; i >= 0; i-- {
			fmt.Fprintf(&path, "V%sH%s", low(&run[i]), p.x.at(run[i].From))
		}
		path.WriteString("Z")
	}
	at := func(s *Step) string { return c.Y.text(s.Values[quantity]) }
	l.pic.Add(picture.Group{ID: l.id("area", name), Class: fmt.Sprintf("area kind-%d", quantity%picture.Textures), Focus: true,
		Numbers: fmt.Sprintf("%s: %s at first, %s at last, at most %s", name, at(first), at(last), at(most)),
		Shapes:  []picture.Shape{{Class: "bar", Path: path.String(), Fill: l.fill(quantity, false)}}})
}

package timeline

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/capture"
	"example.org/homenode/numa"
	"example.org/homenode/output/draw/picture"
	"example.org/homenode/rules/finding"
)

// A layout is the state of placing shapes.
type layout struct {
	*picture.Picture
	o      *Options
	rec    *capture.Recording
	span   picture.Span
	behind int          // number of groups that are drawn behind the panels
	top    picture.Px   // of the first panel; grid and gaps extend from here to the axis
	marks  []picture.Px // of events; lines mark them in all panels
	legend []picture.Entry
}

// newLayout begins the drawing of a host, or of VM v of it: title, events and findings.
func newLayout(rec *capture.Recording, o *Options, v *capture.VM, facts ...string) *layout {
	l := &layout{Picture: &picture.Picture{ID: HostID(rec), Class: "timeline", Width: pictureWidth, Margin: margin, Letter: letter, Y: margin}, o: o, rec: rec, span: spanOf(rec)}
	name, subject := rec.Host, rec.Host
	about := func(f *finding.Finding) bool { return l.about(f) && f.VM == "" }
	if v != nil {
		l.ID, name = VMID(rec, v), o.label(v)
		subject = name + " on " + rec.Host
		about = func(f *finding.Finding) bool { return l.aboutVM(f, v) }
	}
	l.Title = o.title(subject + " over time")
	l.Heading(o.title(name), strings.Join(append(facts, l.span.Title()), " · "))
	l.behind, l.top = len(l.Groups), l.Y
	l.events(v)
	l.found(about)
	return l
}

// finish adds the axis below the panels, the hover areas over all panels, and the sentences below. sum describes the steps of
// a hover area.
func (l *layout) finish(steps []step, sum func([]step) string, sentences []string) *picture.Picture {
	bottom := l.Y - panelGap + 60
	l.axis(gapsOf(steps), bottom)
	l.slices(steps, bottom, sum)
	l.moment(bottom)
	l.NumbersY = l.Y + 60
	l.Y += 190
	for i := range l.legend {
		l.legend[i].ID = fmt.Sprintf("%s__legend-%d", l.ID, i)
	}
	l.Legend(l.legend...)
	if l.o.Simulated {
		sentences = append([]string{"Simulated by the model of the NUMA scheduler: nothing here was observed."}, sentences...)
	}
	l.Caption(l.ID, sentences...)
	l.Height = l.Y + margin
	return l.Picture
}

func (l *layout) explain(class, fill, text string) {
	l.legend = append(l.legend, picture.Swatch("", class, fill, text))
}

// add adds a group whose ID is below that of the drawing.
func (l *layout) add(id, class, numbers string, shapes ...picture.Shape) {
	l.Add(picture.Group{ID: l.ID + "__" + id, Class: class, Focus: true, Numbers: numbers, Shapes: shapes})
}

// scale returns the scale of the next panel.
func (l *layout) scale(height picture.Px, most float64) picture.Scale {
	return picture.Scale{High: most, From: l.Y + height, To: l.Y}
}

// head returns the name of a panel and its totals, to the left of the axis.
func (l *layout) head(name string, facts ...string) []picture.Shape {
	shapes := []picture.Shape{{Class: "name", X: margin, Y: l.Y + 110, Text: picture.Cut(name, headWidth, boldLetter)}}
	for i, f := range facts {
		shapes = append(shapes, picture.Shape{Class: "facts", X: margin, Y: l.Y + 110 + picture.Px(i+1)*130, Text: picture.Cut(f, headWidth, letter)})
	}
	return shapes
}

// heading adds the line above related panels.
func (l *layout) heading(name, text string) {
	l.add(name, "heading", "", picture.Shape{Class: "name", X: margin, Y: l.Y + 110, Text: text})
	l.Y += 170
}

// panel adds a quantity over time: its name and facts on the left, the floor, labels and lines of its scale, and the shapes
// on it. numbers are shown on hover.
func (l *layout) panel(id, name string, facts []string, s picture.Scale, marks []picture.Tick, numbers string, shapes ...picture.Shape) {
	all := append(l.head(name, facts...), across("floor", s.From))
	for i, m := range marks {
		y := s.At(m.Value)
		if i > 0 {
			all = append(all, across("gridline", y))
		}
		if m.Label != "" && (len(marks) <= 4 || i%2 == 0) {
			all = append(all, picture.Shape{Class: "amount", X: plotLeft - 60, Y: y + 35, Text: m.Label})
		}
	}
	l.add(id, "panel", numbers, append(all, shapes...)...)
	l.Y = s.From + panelGap
}

// across returns a line across the plot.
func across(class string, y picture.Px) picture.Shape {
	return picture.Shape{Class: class, X: plotLeft, Y: y, W: plotRight - plotLeft}
}

// curve returns the steps of a curve. of returns the bounds of each step; ok is false if they are unknown.
func curve(s *picture.Span, steps []step, of func(bucket int) (low, high picture.Px, ok bool)) (out []picture.Step) {
	for _, one := range steps {
		low, high, ok := of(one.bucket)
		if !ok {
			continue
		}
		x, w := s.Box(one.from, one.to)
		if n := len(out); n > 0 {
			last := &out[n-1]
			if last.To >= x && last.Low == low && last.High == high {
				last.To = x + w
				continue
			}
			last.To = min(last.To, x) // last was widened to the minimum visible width
		}
		out = append(out, picture.Step{From: x, To: x + w, Low: low, High: high})
	}
	return out
}

// rising returns the steps of a curve that extends from the floor of a scale to a value.
func (l *layout) rising(s picture.Scale, steps []step, of func(bucket int) (float64, bool)) []picture.Step {
	return curve(&l.span, steps, func(i int) (picture.Px, picture.Px, bool) {
		v, ok := of(i)
		return s.From, s.At(v), ok
	})
}

// measured draws a quantity: the area below its mean, its mean and, if thin is set, a thin line for its worst value.
func (l *layout) measured(s picture.Scale, steps []step, ground string, thin bool, of func(bucket int) (mean, worst float64, ok bool)) []picture.Shape {
	mean := l.rising(s, steps, func(i int) (float64, bool) { v, _, ok := of(i); return v, ok })
	out := []picture.Shape{{Class: ground, Path: picture.Area(mean)}}
	if thin {
		out = append(out, picture.Shape{Class: "worst", Path: picture.Line(l.rising(s, steps, func(i int) (float64, bool) { _, v, ok := of(i); return v, ok }))})
	}
	return append(out, picture.Shape{Class: "curve", Path: picture.Line(mean)})
}

// counts adds a panel with the number of events in each step, as ticks of this height.
func (l *layout) counts(steps []step, all []int64, sum int64, name, each string) {
	most := max(1, slices.Max(append([]int64{0}, all...)))
	s := l.scale(240, float64(most))
	facts, numbers := "none", name+": none"
	var shapes []picture.Shape
	if sum > 0 {
		numbers = fmt.Sprintf("%s: %d, at most %d in %s", name, sum, most, each)
		facts = strconv.FormatInt(sum, 10) + " in all"
		shapes = append(shapes, picture.Shape{Class: "amount", X: plotLeft - 60, Y: s.To + 70, Text: strconv.FormatInt(most, 10)})
	}
	for i, n := range all {
		if n > 0 {
			y := min(s.At(float64(n)), s.From-50)
			shapes = append(shapes, picture.Shape{Class: "event", X: l.span.X(steps[i].from), Y: y, H: s.From - y})
		}
	}
	l.panel("migrations", "migrations", []string{facts}, s, nil, numbers, shapes...)
}

// limit draws the threshold of a rule as a line, with its value on the right.
func limit(s picture.Scale, value float64) []picture.Shape {
	if value <= 0 || value > s.High {
		return nil
	}
	y := s.At(value)
	return []picture.Shape{across("limit", y), {Class: "tick", X: plotRight + 50, Y: y + 35, Text: percent(value)}}
}

// about reports whether the finding is about the host or one of its VMs. The inventory can have a different name for the
// host.
func (l *layout) about(f *finding.Finding) bool {
	return f.Host == l.rec.Host || numa.SameHost(f.Host, l.rec.Host)
}

// aboutVM reports whether the finding is about a VM of the host.
func (l *layout) aboutVM(f *finding.Finding, v *capture.VM) bool {
	return f.VM == v.Name && f.GID == v.GID && f.Nth == v.Nth && l.about(f)
}

// axis adds the time labels and, behind the panels, grid lines and gaps.
func (l *layout) axis(gaps []step, bottom picture.Px) {
	back := picture.Group{ID: l.ID + "__grid", Class: "grid"}
	labels := []picture.Shape{across("floor", bottom), {Class: "facts", X: margin, Y: bottom + 130, Text: "UTC"}}
	for _, t := range l.span.Ticks(12) {
		x := l.span.X(picture.Moment(t.Value))
		back.Shapes = append(back.Shapes, picture.Shape{Class: "gridline", X: x, Y: l.top, H: bottom - l.top})
		class := "facts middle"
		if t.Day {
			class += " date"
		}
		labels = append(labels, picture.Shape{Class: class, X: x, Y: bottom + 130, Text: t.Label})
	}
	for _, x := range l.marks {
		back.Shapes = append(back.Shapes, picture.Shape{Class: "story", X: x, Y: l.top, H: bottom - l.top})
	}
	behind := []picture.Group{back}
	for i, g := range gaps {
		x, w := l.span.Box(g.from, g.to)
		one := picture.Group{ID: fmt.Sprintf("%s__gap-%d", l.ID, i), Class: "gap", Focus: true,
			Numbers: "no ticks from " + l.span.FromTo(g.from, g.to), Shapes: []picture.Shape{{Class: "block", X: x, Y: l.top, W: w, H: bottom - l.top}}}
		if w > 520 {
			one.Shapes = append(one.Shapes, picture.Shape{Class: "facts middle", X: x + w/2, Y: l.top + (bottom-l.top)/2, Text: "no ticks"})
		}
		behind = append(behind, one)
	}
	if len(gaps) > 0 {
		l.explain("gap", "", "no ticks")
	}
	l.Groups = slices.Insert(l.Groups, l.behind, behind...)
	l.add("clock", "clock", "", labels...)
	l.Y = bottom + 300
}

// slices adds the hover areas over all panels. sum describes the steps in one.
func (l *layout) slices(steps []step, bottom picture.Px, sum func([]step) string) {
	width := l.span.Step(60)
	for from, to := 0, 0; from < len(steps); from = to {
		end := steps[from].from.Truncate(width).Add(width)
		for to = from + 1; to < len(steps) && steps[to].from.Before(end) && steps[to].from.Equal(steps[to-1].to); to++ {
		}
		x, w := l.span.Box(steps[from].from, steps[to-1].to)
		if text := sum(steps[from:to]); text != "" {
			l.Add(picture.Group{ID: fmt.Sprintf("%s__slice-%d", l.ID, steps[from].bucket), Class: "slice",
				Numbers: l.span.FromTo(steps[from].from, steps[to-1].to) + ": " + text, Shapes: []picture.Shape{{Class: "hit", X: x, Y: l.top, W: w, H: bottom - l.top}}})
		}
	}
}

package timeline

import (
	"fmt"
	"strings"

	"homenode/capture"
	"homenode/finding"
	"homenode/numa"
	"homenode/output/svg"
)

// A layout is the state of the placing pass.
type layout struct {
	pic  *picture
	span span
	rec  *capture.Recording
	y    svg.Px
	top  svg.Px // of the first panel: grid and gaps reach from here to the axis

	behind int      // groups before it stand behind the panels
	marks  []svg.Px // of events, where lines go through all panels
	legend []legend
}

type legend struct{ class, fill, text string }

func newLayout(rec *capture.Recording, id, title, facts string) *layout {
	l := &layout{pic: &picture{id: id, title: title, nodes: -1}, span: spanOf(rec), rec: rec, y: margin}
	most := int((pictureWidth - 2*margin) / titleLetter)
	name := svg.Cut(title, most*2/3)
	facts = svg.Cut(facts, int((pictureWidth-2*margin-svg.Px(len([]rune(name)))*titleLetter)/letter))
	l.pic.add(group{id: id + "__title", class: "title", shapes: []shape{{class: "name", x: margin, y: l.y + 160, text: name, after: facts}}})
	l.y += 280
	return l
}

// head places the name of a panel and what it says in sum, left of the axis.
func (l *layout) head(name string, facts ...string) []shape {
	shapes := []shape{{class: "name", x: margin, y: l.y + 110, text: svg.Cut(name, int((plotLeft-2*margin)/boldLetter))}}
	for i, f := range facts {
		shapes = append(shapes, shape{class: "facts", x: margin, y: l.y + 110 + svg.Px(i+1)*130, text: svg.Cut(f, int((plotLeft-2*margin)/letter))})
	}
	return shapes
}

// frame returns floor, labels and lines of a scale.
func (l *layout) frame(s scale, marks []mark) []shape {
	shapes := []shape{{class: "floor", x: plotLeft, y: s.bottom, w: plotRight - plotLeft}}
	for i, m := range marks {
		y := s.y(m.value)
		if i > 0 {
			shapes = append(shapes, shape{class: "gridline", x: plotLeft, y: y, w: plotRight - plotLeft})
		}
		if m.label != "" && (len(marks) <= 4 || i%2 == 0) {
			shapes = append(shapes, shape{class: "amount", x: plotLeft - 60, y: y + 35, text: m.label})
		}
	}
	return shapes
}

// limit places the line of a limit that rules judge by, with its value at the right.
func (l *layout) limit(s scale, value float64, label string) []shape {
	if value <= 0 || value > s.most {
		return nil
	}
	y := s.y(value)
	return []shape{
		{class: "limit", x: plotLeft, y: y, w: plotRight - plotLeft},
		{class: "tick", x: plotRight + 50, y: y + 35, text: label},
	}
}

// about reports whether the finding is about the host or one of its VMs; the inventory can
// have another name for it.
func (l *layout) about(f *finding.Finding) bool {
	return f.Host == l.rec.Host || numa.SameHost(f.Host, l.rec.Host)
}

// aboutVM reports whether the finding is about a VM of the host.
func (l *layout) aboutVM(f *finding.Finding, v *capture.VM) bool {
	return f.VM == v.Name && f.GID == v.GID && f.Nth == v.Nth && l.about(f)
}

// found places the findings about a subject over the time that they held, in as many rows
// as they need.
func (l *layout) found(id string, o *Options, about func(*finding.Finding) bool) {
	const rowHeight = svg.Px(170)
	var ends []svg.Px // of each row
	var groups []group
	l.top = l.y
	for i := range o.Findings {
		f := &o.Findings[i]
		if !about(f) || f.From.IsZero() {
			continue
		}
		x, w := l.span.box(f.From, f.To)
		label := svg.Px(len(f.Rule))*boldLetter + 60
		row := 0
		for row < len(ends) && ends[row] > x {
			row++
		}
		if row == len(ends) {
			ends = append(ends, 0)
		}
		y := l.y + svg.Px(row)*rowHeight
		shapes := []shape{{class: "bar", x: x, y: y, w: w, h: rowHeight - 30}}
		text := shape{class: "name", x: x + 30, y: y + 105, text: f.Rule}
		end := x + w
		if w < label {
			text.class, text.x, end = "name beside", x+w+30, x+w+label
			if end > pictureWidth {
				text.class, text.x, end = "name before", x-30, x+w
			}
		}
		ends[row] = end + 40
		groups = append(groups, group{
			id: fmt.Sprintf("%s__finding-%d", id, len(groups)), class: "spell " + f.Severity.String(), focus: true,
			numbers: fmt.Sprintf("%s, %s: %s", f.Rule, l.when(f), f.Message), shapes: append(shapes, text),
		})
	}
	if len(groups) == 0 {
		return
	}
	l.pic.add(group{id: id + "__found", class: "panel", shapes: l.head("found")})
	l.pic.groups = append(l.pic.groups, groups...)
	l.y += svg.Px(len(ends))*rowHeight + panelGap
}

// when writes the time of a finding; a moment once.
func (l *layout) when(f *finding.Finding) string {
	from, to := l.span.clock(f.From), l.span.clock(f.To)
	if from == to {
		return "at " + from
	}
	return from + " to " + to
}

// axis places the labels of time, and behind the panels its lines and the gaps; id is
// that of the drawing.
func (l *layout) axis(gaps []step) {
	id := l.pic.id
	bottom := l.y - panelGap + 60
	back := group{id: id + "__grid", class: "grid"}
	labels := group{id: id + "__clock", class: "clock", shapes: []shape{
		{class: "floor", x: plotLeft, y: bottom, w: plotRight - plotLeft}, {class: "facts", x: margin, y: bottom + 130, text: "UTC"},
	}}
	for _, t := range l.span.ticks(12) {
		x := l.span.x(t.at)
		back.shapes = append(back.shapes, shape{class: "gridline", x: x, y: l.top, h: bottom - l.top})
		class := "time"
		if t.midnight {
			class = "time date"
		}
		labels.shapes = append(labels.shapes, shape{class: class, x: x, y: bottom + 130, text: t.label})
	}
	for _, x := range l.marks {
		back.shapes = append(back.shapes, shape{class: "story", x: x, y: l.top, h: bottom - l.top})
	}
	var behind []group
	for i, g := range gaps {
		x, w := l.span.box(g.from, g.to)
		one := group{id: fmt.Sprintf("%s__gap-%d", id, i), class: "gap", focus: true,
			numbers: fmt.Sprintf("no ticks from %s to %s", l.span.clock(g.from), l.span.clock(g.to)),
			shapes:  []shape{{class: "block", x: x, y: l.top, w: w, h: bottom - l.top}}}
		if w > 520 {
			one.shapes = append(one.shapes, shape{class: "facts", x: x + w/2, y: l.top + (bottom-l.top)/2, text: "no ticks"})
		}
		behind = append(behind, one)
	}
	if len(gaps) > 0 {
		l.legend = append(l.legend, legend{"gap", "", "no ticks"})
	}
	front := l.pic.groups[l.behind:]
	l.pic.groups = append(append(append([]group{}, l.pic.groups[:l.behind]...), append([]group{back}, behind...)...), front...)
	l.pic.add(labels)
	l.y = bottom + 2*lineHeight
}

// foot places the line of numbers, the legend and the sentences below.
func (l *layout) foot(sentences ...string) {
	l.pic.numbersY = l.y + 60
	l.y += lineHeight + 40
	x := margin
	for i, e := range l.legend {
		wide := 260 + svg.Px(len([]rune(e.text)))*letter
		if x > margin && x+wide > pictureWidth-margin {
			x = margin
			l.y += lineHeight
		}
		m := shape{class: "swatch", x: x, y: l.y + 15, w: 180, h: 110, fill: e.fill}
		if strings.HasSuffix(e.class, "line") {
			m = shape{class: "curve", x: x, y: l.y + 70, w: 180}
		}
		l.pic.add(group{id: fmt.Sprintf("%s__legend-%d", l.pic.id, i), class: "legend " + e.class,
			shapes: []shape{m, {class: "facts", x: x + 240, y: l.y + 110, text: e.text}}})
		x += wide + 240
	}
	if len(l.legend) > 0 {
		l.y += lineHeight + 30
	}
	caption := group{id: l.pic.id + "__caption", class: "caption"}
	for _, s := range sentences {
		for _, text := range svg.Wrap(s, int((pictureWidth-2*margin)/letter)) {
			caption.shapes = append(caption.shapes, shape{class: "facts", x: margin, y: l.y + 110, text: text})
			l.y += lineHeight
		}
	}
	if len(caption.shapes) > 0 {
		l.pic.add(caption)
	}
	l.pic.height = l.y + margin
}

// slices places the stretches that can be pointed at, over all panels; sum adds up the
// steps of one and says what they hold.
func (l *layout) slices(steps []step, bottom svg.Px, sum func([]step) string) {
	width := l.span.stepFor(60)
	for from := 0; from < len(steps); {
		start := steps[from].from.Truncate(width)
		to := from + 1
		for to < len(steps) && steps[to].from.Before(start.Add(width)) && steps[to].from.Equal(steps[to-1].to) {
			to++
		}
		x, w := l.span.box(steps[from].from, steps[to-1].to)
		if text := sum(steps[from:to]); text != "" {
			l.pic.add(group{id: fmt.Sprintf("%s__slice-%d", l.pic.id, steps[from].bucket), class: "slice",
				numbers: l.span.clock(steps[from].from) + " to " + l.span.clock(steps[to-1].to) + ": " + text,
				shapes:  []shape{{class: "block", x: x, y: l.top, w: w, h: bottom - l.top}}})
		}
		from = to
	}
}

package timeline

import (
	"fmt"
	"slices"
	"strings"

	"homenode/capture"
	"homenode/internal/texttab"
	"homenode/numa"
	"homenode/output/draw/picture"
	"homenode/rules/finding"
)

// A layout is the state of the placing pass.
type layout struct {
	pic    *picture.Picture
	span   span
	rec    *capture.Recording
	y      picture.Px
	nodes  int        // highest node that is drawn as a colour; -1 for none
	remote bool       // remote memory is drawn
	top    picture.Px // of the first panel: grid and gaps reach from here to the axis

	behind int          // groups before it stand behind the panels
	marks  []picture.Px // of events, where lines go through all panels
	legend []legend
}

type legend struct{ class, fill, text string }

func newLayout(rec *capture.Recording, id, title, facts string) *layout {
	l := &layout{pic: &picture.Picture{ID: id, Class: "timeline", Title: title, Width: pictureWidth, NumbersX: margin, Letter: letter}, nodes: -1, span: spanOf(rec), rec: rec, y: margin}
	most := int((pictureWidth - 2*margin) / titleLetter)
	name := texttab.Cut(title, most*2/3)
	facts = texttab.Cut(facts, int((pictureWidth-2*margin-picture.Px(len([]rune(name)))*titleLetter)/letter))
	l.pic.Add(picture.Group{ID: id + "__title", Class: "title", Shapes: []picture.Shape{{Class: "name", X: margin, Y: l.y + 160, Text: name, After: facts}}})
	l.y += 280
	return l
}

// head places the name of a panel and its totals, left of the axis.
func (l *layout) head(name string, facts ...string) []picture.Shape {
	shapes := []picture.Shape{{Class: "name", X: margin, Y: l.y + 110, Text: texttab.Cut(name, int((plotLeft-2*margin)/boldLetter))}}
	for i, f := range facts {
		shapes = append(shapes, picture.Shape{Class: "facts", X: margin, Y: l.y + 110 + picture.Px(i+1)*130, Text: texttab.Cut(f, int((plotLeft-2*margin)/letter))})
	}
	return shapes
}

// frame returns floor, labels and lines of a scale.
func (l *layout) frame(s scale, marks []mark) []picture.Shape {
	shapes := []picture.Shape{{Class: "floor", X: plotLeft, Y: s.bottom, W: plotRight - plotLeft}}
	for i, m := range marks {
		y := s.y(m.value)
		if i > 0 {
			shapes = append(shapes, picture.Shape{Class: "gridline", X: plotLeft, Y: y, W: plotRight - plotLeft})
		}
		if m.label != "" && (len(marks) <= 4 || i%2 == 0) {
			shapes = append(shapes, picture.Shape{Class: "amount", X: plotLeft - 60, Y: y + 35, Text: m.label})
		}
	}
	return shapes
}

// panel places a quantity over time: its name and facts at the left, the frame of its scale,
// and the shapes on it. numbers are shown when it is pointed at.
func (l *layout) panel(id, name string, facts []string, s scale, marks []mark, numbers string, shapes ...picture.Shape) {
	all := append(l.head(name, facts...), l.frame(s, marks)...)
	l.pic.Add(picture.Group{ID: l.pic.ID + "__" + id, Class: "panel", Focus: true, Numbers: numbers, Shapes: append(all, shapes...)})
	l.y = s.bottom + panelGap
}

// rising returns the segments from the floor of a scale to the value of each step.
func (l *layout) rising(s scale, steps []step, value func(bucket int) (float64, bool)) []segment {
	return curve(&l.span, steps, func(i int) (picture.Px, picture.Px, bool) {
		v, ok := value(i)
		return s.bottom, s.y(v), ok
	})
}

// filled and drawn are the ground below a curve and the curve itself.
func filled(class string, all []segment) picture.Shape {
	return picture.Shape{Class: class, Path: area(all)}
}
func drawn(class string, all []segment) picture.Shape {
	return picture.Shape{Class: class, Path: line(all)}
}

// limit places the line of a limit that rules judge by, with its value at the right.
func (l *layout) limit(s scale, value float64) []picture.Shape {
	if value <= 0 || value > s.most {
		return nil
	}
	y := s.y(value)
	return []picture.Shape{
		{Class: "limit", X: plotLeft, Y: y, W: plotRight - plotLeft},
		{Class: "tick", X: plotRight + 50, Y: y + 35, Text: percent(value)},
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
func (l *layout) found(o *Options, about func(*finding.Finding) bool) {
	const rowHeight = picture.Px(170)
	var rows picture.Rows
	var groups []picture.Group
	l.top = l.y
	for i := range o.Findings {
		f := &o.Findings[i]
		if !about(f) || f.From.IsZero() {
			continue
		}
		x, w := l.span.box(f.From, f.To)
		label := picture.Px(len(f.Rule))*boldLetter + 60
		row := rows.Free(x)
		y := l.y + picture.Px(row)*rowHeight
		shapes := []picture.Shape{{Class: "bar", X: x, Y: y, W: w, H: rowHeight - 30}}
		text := picture.Shape{Class: "name", X: x + 30, Y: y + 105, Text: f.Rule}
		end := x + w
		if w < label {
			text.Class, text.X, end = "name beside", x+w+30, x+w+label
			if end > pictureWidth {
				text.Class, text.X, end = "name before", x-30, x+w
			}
		}
		rows.Fill(row, end+40)
		groups = append(groups, picture.Group{
			ID: fmt.Sprintf("%s__finding-%d", l.pic.ID, len(groups)), Class: "spell " + f.Severity.String(), Focus: true,
			Numbers: fmt.Sprintf("%s, %s: %s", f.Rule, l.when(f), f.Message), Shapes: append(shapes, text),
		})
	}
	if len(groups) == 0 {
		return
	}
	l.pic.Add(picture.Group{ID: l.pic.ID + "__found", Class: "panel", Shapes: l.head("found")})
	l.pic.Groups = append(l.pic.Groups, groups...)
	l.y += picture.Px(rows.Len())*rowHeight + panelGap
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
	id := l.pic.ID
	bottom := l.y - panelGap + 60
	back := picture.Group{ID: id + "__grid", Class: "grid"}
	labels := picture.Group{ID: id + "__clock", Class: "clock", Shapes: []picture.Shape{
		{Class: "floor", X: plotLeft, Y: bottom, W: plotRight - plotLeft}, {Class: "facts", X: margin, Y: bottom + 130, Text: "UTC"},
	}}
	for _, t := range l.span.ticks(12) {
		x := l.span.x(t.at)
		back.Shapes = append(back.Shapes, picture.Shape{Class: "gridline", X: x, Y: l.top, H: bottom - l.top})
		class := "time"
		if t.midnight {
			class = "time date"
		}
		labels.Shapes = append(labels.Shapes, picture.Shape{Class: class, X: x, Y: bottom + 130, Text: t.label})
	}
	for _, x := range l.marks {
		back.Shapes = append(back.Shapes, picture.Shape{Class: "story", X: x, Y: l.top, H: bottom - l.top})
	}
	var behind []picture.Group
	for i, g := range gaps {
		x, w := l.span.box(g.from, g.to)
		one := picture.Group{ID: fmt.Sprintf("%s__gap-%d", id, i), Class: "gap", Focus: true,
			Numbers: fmt.Sprintf("no ticks from %s to %s", l.span.clock(g.from), l.span.clock(g.to)),
			Shapes:  []picture.Shape{{Class: "block", X: x, Y: l.top, W: w, H: bottom - l.top}}}
		if w > 520 {
			one.Shapes = append(one.Shapes, picture.Shape{Class: "facts", X: x + w/2, Y: l.top + (bottom-l.top)/2, Text: "no ticks"})
		}
		behind = append(behind, one)
	}
	if len(gaps) > 0 {
		l.legend = append(l.legend, legend{"gap", "", "no ticks"})
	}
	l.pic.Groups = slices.Insert(l.pic.Groups, l.behind, append([]picture.Group{back}, behind...)...)
	l.pic.Add(labels)
	l.y = bottom + 2*lineHeight
}

// foot places the line of numbers, the legend and the sentences below.
func (l *layout) foot(sentences ...string) {
	l.pic.NumbersY = l.y + 60
	l.y += lineHeight + 40
	x := margin
	for i, e := range l.legend {
		wide := 260 + picture.Wide(e.text, letter)
		if x > margin && x+wide > pictureWidth-margin {
			x = margin
			l.y += lineHeight
		}
		m := picture.Shape{Class: "swatch", X: x, Y: l.y + 15, W: 180, H: 110, Fill: e.fill}
		if strings.HasSuffix(e.class, "line") {
			m = picture.Shape{Class: "curve", X: x, Y: l.y + 70, W: 180}
		}
		l.pic.Add(picture.Group{ID: fmt.Sprintf("%s__legend-%d", l.pic.ID, i), Class: "legend " + e.class,
			Shapes: []picture.Shape{m, {Class: "facts", X: x + 240, Y: l.y + 110, Text: e.text}}})
		x += wide + 240
	}
	if len(l.legend) > 0 {
		l.y += lineHeight + 30
	}
	if caption := picture.Lines("facts", sentences, margin, l.y+110, pictureWidth-2*margin, letter, lineHeight); len(caption) > 0 {
		l.pic.Add(picture.Group{ID: l.pic.ID + "__caption", Class: "caption", Shapes: caption})
		l.y += picture.Px(len(caption)) * lineHeight
	}
	l.pic.Height = l.y + margin
	l.pic.Patterns = l.patterns()
}

// patterns returns the fills that the picture uses: of home nodes, and of remote memory. A node
// beyond the textures takes the one of its number modulo their count.
func (l *layout) patterns() (out []picture.Pattern) {
	for n := 0; n <= min(l.nodes, picture.Textures-1); n++ {
		out = append(out, picture.Texture("node", n))
	}
	if l.remote {
		out = append(out, picture.Pattern{Name: "remote", Class: "remote", Size: 5, Tilted: true, Marks: "M0 0V5"})
	}
	return out
}

// slices places the stretches that can be pointed at, over all panels; sum adds up the
// steps of one and says what they hold.
func (l *layout) slices(steps []step, bottom picture.Px, sum func([]step) string) {
	width := l.span.stepFor(60)
	for from := 0; from < len(steps); {
		start := steps[from].from.Truncate(width)
		to := from + 1
		for to < len(steps) && steps[to].from.Before(start.Add(width)) && steps[to].from.Equal(steps[to-1].to) {
			to++
		}
		x, w := l.span.box(steps[from].from, steps[to-1].to)
		if text := sum(steps[from:to]); text != "" {
			l.pic.Add(picture.Group{ID: fmt.Sprintf("%s__slice-%d", l.pic.ID, steps[from].bucket), Class: "slice",
				Numbers: l.span.clock(steps[from].from) + " to " + l.span.clock(steps[to-1].to) + ": " + text,
				Shapes:  []picture.Shape{{Class: "block", X: x, Y: l.top, W: w, H: bottom - l.top}}})
		}
		from = to
	}
}

package chart

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strconv"

	"homenode/internal/words"
	"homenode/output/draw/picture"
	"homenode/output/draw/topo"
)

// Options say how Draw writes.
type Options struct {
	// Inline leaves the style and the paper out: the page that the charts stand in has them.
	// It also leaves out the ids of the shapes in a group.
	Inline bool
}

// Style is the style sheet of all charts. It follows the reader's preference for dark or
// light, and prints in grey.
//
//go:embed chart.css
var Style string

// Draw writes the charts below each other as one svg element, whose id is that of the first
// chart. All other ids begin with the id of their chart; names stand in them escaped as
// those of package svg are.
//
// Values that have no place are left out and counted in a line below the chart: what is
// not a number or infinite, beyond 1e±100, below 0 in a bar, 0 or less on a logarithmic
// axis. Draw returns an error for charts without id, with the id of another, or of no kind.
func Draw(w io.Writer, charts []Chart, o Options) error {
	if err := check(charts); err != nil {
		return err
	}
	p := &picture.Picture{ID: charts[0].ID, Class: "chart", Title: charts[0].Title, Width: width, NumbersX: margin, Letter: letter, Inline: o.Inline}
	if !o.Inline {
		p.Style = Style
	}
	l := &layout{pic: p}
	for i := range charts {
		l.chart(&charts[i])
	}
	p.Height = l.y
	l.patterns()
	return picture.Write(w, p)
}

func check(charts []Chart) error {
	if len(charts) == 0 {
		return errors.New("no charts to draw")
	}
	seen := map[string]bool{}
	for i := range charts {
		c := &charts[i]
		switch {
		case c.ID == "" || topo.ShapeID(c.ID) != c.ID || !asciiLetter(c.ID[0]):
			return fmt.Errorf("chart %d: found id %q, want a letter, then letters, digits and hyphens", i, c.ID)
		case seen[c.ID]:
			return fmt.Errorf("chart %d: found id %q, which another chart has", i, c.ID)
		case c.Hosts != nil && len(charts) > 1:
			return fmt.Errorf("chart %s: hosts stand alone", c.ID)
		case kinds(c) != 1:
			return fmt.Errorf("chart %s: want either lines, areas, bars, heat or hosts", c.ID)
		case c.Heat != nil && !c.Heat.even():
			return fmt.Errorf("chart %s: want a cell for each row and column", c.ID)
		}
		seen[c.ID] = true
	}
	return nil
}

// kinds counts what a chart is to draw.
func kinds(c *Chart) (n int) {
	for _, there := range []bool{c.Lines != nil, c.Areas != nil, c.Bars != nil, c.Heat != nil, c.Hosts != nil} {
		if there {
			n++
		}
	}
	return n
}

func asciiLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// Sizes of the drawing. It is narrow so that its letters stay legible in a column of a page.
const (
	width       = picture.Px(7600)
	margin      = picture.Px(120)
	lineHeight  = picture.Px(170)
	titleHeight = picture.Px(220)
	titleLetter = picture.Px(94) // mean width of a letter at 16 px, bold
	letter      = picture.Px(68) // and at 12 px
	small       = picture.Px(62) // and at 11 px, mostly digits
	bold        = picture.Px(70) // and at 11 px, bold
	plotHeight  = picture.Px(3200)
)

// layout is the state of the placing pass.
type layout struct {
	pic   *picture.Picture
	y     picture.Px
	of    *Chart
	ids   map[string]int // how often an id was asked for
	left  int            // values without a place
	fills [2][picture.Textures]bool
}

func (l *layout) chart(c *Chart) {
	l.of, l.ids, l.left = c, map[string]int{}, 0
	l.y += margin
	first := len(l.pic.Groups)
	title := picture.Lines("name", []string{c.Title}, margin, l.y+titleHeight-70, width-2*margin, titleLetter, titleHeight)
	l.pic.Add(picture.Group{ID: c.ID + "__title", Class: "title", Shapes: title})
	l.y += picture.Px(len(title))*titleHeight + 60
	switch {
	case c.Lines != nil:
		l.lines(c.Lines)
	case c.Areas != nil:
		l.areas(c.Areas)
	case c.Bars != nil:
		l.bars(c.Bars)
	case c.Hosts != nil:
		l.hosts(c.Hosts)
	default:
		l.heat(c.Heat)
	}
	numbers := l.y + 110
	l.y += lineHeight
	var below []string
	if l.left > 0 {
		below = append(below, fmt.Sprintf("Not drawn: %s without a place on the axis (not a number, infinite, or below what it begins with).", words.Plural(l.left, "value")))
	}
	if c.Note != "" {
		below = append(below, c.Note)
	}
	if caption := picture.Lines("facts", below, margin, l.y+110, width-2*margin, letter, lineHeight); len(caption) > 0 {
		l.pic.Add(picture.Group{ID: c.ID + "__caption", Class: "caption", Shapes: caption})
		l.y += picture.Px(len(caption)) * lineHeight
	}
	for i := range l.pic.Groups[first:] {
		l.pic.Groups[first+i].NumbersY = numbers
	}
	l.y += margin
}

// id returns an id below that of the chart, its own also when names are alike.
func (l *layout) id(kind, name string) string {
	id := l.of.ID + "__" + kind
	if name != "" {
		id += "-" + topo.ShapeID(name)
	}
	l.ids[id]++
	if n := l.ids[id]; n > 1 {
		return fmt.Sprintf("%s__%d", id, n)
	}
	return id
}

// An entry explains a look.
type entry struct {
	class, text string
	shapes      func(x, y picture.Px) []picture.Shape // the sample, 260 wide and 140 high
}

// legend places the entries, in as many lines as they need.
func (l *layout) legend(entries []entry) {
	if len(entries) == 0 {
		return
	}
	x := margin
	for _, e := range entries {
		text := picture.Cut(e.text, width-2*margin-320, letter)
		w := 320 + picture.Wide(text, letter)
		if x > margin && x+w > width-margin {
			x = margin
			l.y += lineHeight
		}
		l.pic.Add(picture.Group{ID: l.id("legend", e.text), Class: "legend " + e.class,
			Shapes: append(e.shapes(x, l.y), picture.Shape{Class: "facts", X: x + 320, Y: l.y + 110, Text: text})})
		x += w + 200
	}
	l.y += lineHeight + 60
}

// patterns names the fills that were used.
func (l *layout) patterns() {
	for soft := range l.fills {
		for n, used := range l.fills[soft] {
			switch {
			case !used:
			case soft == 1:
				l.pic.Patterns = append(l.pic.Patterns, picture.Pattern{Name: fmt.Sprintf("soft-%d", n), Class: fmt.Sprintf("soft kind-%d", n), Size: 6, Tilted: true, Marks: "M0 0V6"})
			default:
				l.pic.Patterns = append(l.pic.Patterns, picture.Texture("kind", n))
			}
		}
	}
}

// fill returns the name of the fill of a kind.
func (l *layout) fill(kind int, soft bool) string {
	kind %= picture.Textures
	if soft {
		l.fills[1][kind] = true
		return fmt.Sprintf("soft-%d", kind)
	}
	l.fills[0][kind] = true
	return strconv.Itoa(kind)
}

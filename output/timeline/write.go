package timeline

import (
	"fmt"
	"io"
	"strings"

	"homenode/output/svg"
)

// A picture is all shapes at their places.
type picture struct {
	id, title string
	height    svg.Px
	nodes     int    // highest node that is drawn as a colour; -1 for none
	remote    bool   // remote memory is drawn
	numbersY  svg.Px // of the line that shows the numbers of what is pointed at
	groups    []group
}

func (p *picture) add(g group) { p.groups = append(p.groups, g) }

// A group is the shapes of one thing. With numbers it can be pointed at and then shows
// them; with focus also by keyboard.
type group struct {
	id, class string
	numbers   string
	focus     bool
	shapes    []shape
}

// A shape is a path when that is set, a text when that is, a line of no height or width, or
// else a rectangle.
type shape struct {
	class      string
	x, y, w, h svg.Px
	text       string
	after      string // more text on the same line, softer
	path       string
	fill       string // a pattern of the picture
}

// textures are the patterns that tell the home nodes apart without colour, by node; a node
// beyond them takes the one of its number modulo their count. None looks like the hatching
// of remote memory.
var textures = [...]string{
	"", "M0 3H6", "M1.5 1.5h1.5v1.5h-1.5z", "M3 0V6", "M0 3H6M3 0V6", "M0 0 6 6", "M1 1.5h2M4 4.5h2", "M1 3h4M3 1v4",
}

// write writes the picture; it keeps the first error.
func write(w io.Writer, p *picture, o Options) error {
	out := writer{w: w, ids: !o.Inline, nth: map[string]int{}}
	id := svg.Escape(p.id)
	out.printf(`<svg xmlns="http://www.w3.org/2000/svg" class="timeline" id="%s" viewBox="0 0 %s %s" width="%s" height="%s" role="group" aria-labelledby="%s__name">`+"\n",
		id, pictureWidth, p.height, pictureWidth, p.height, id)
	out.printf("<title id=\"%s__name\">%s</title>\n", id, svg.Escape(p.title))
	if !o.Inline {
		out.printf("<style>\n%s</style>\n", Style)
	}
	out.patterns(p)
	if !o.Inline {
		out.printf(`<rect id="%s__paper" class="paper" width="%s" height="%s"/>`+"\n", id, pictureWidth, p.height)
	}
	for i := range p.groups {
		out.group(p, &p.groups[i])
	}
	out.printf("</svg>\n")
	return out.err
}

type writer struct {
	w   io.Writer
	err error
	ids bool
	nth map[string]int // shapes of each class in the group
}

func (o *writer) printf(format string, args ...any) {
	if o.err == nil {
		_, o.err = fmt.Fprintf(o.w, format, args...)
	}
}

// patterns writes those that the picture uses.
func (o *writer) patterns(p *picture) {
	id := svg.Escape(p.id)
	o.printf("<defs>\n")
	for n := 0; n <= min(p.nodes, len(textures)-1); n++ {
		o.printf(`<pattern id="%s__fill-%d" class="node-%d" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6"/>`, id, n, n)
		if textures[n] != "" {
			o.printf(`<path d="%s"/>`, textures[n])
		}
		o.printf("</pattern>\n")
	}
	if p.remote {
		o.printf(`<pattern id="%s__fill-remote" class="remote" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="5" height="5"/><path d="M0 0V5"/></pattern>`+"\n", id)
	}
	o.printf("</defs>\n")
}

func (o *writer) group(p *picture, g *group) {
	o.printf(`<g id="%s" class="%s"`, svg.Escape(g.id), g.class)
	if n := svg.Escape(g.numbers); n != "" {
		if g.focus {
			o.printf(` tabindex="0" role="img" aria-label="%s"`, n)
		}
		o.printf("><title>%s</title>", n)
	} else {
		o.printf(">")
	}
	clear(o.nth)
	for i := range g.shapes {
		o.shape(p, g, &g.shapes[i])
	}
	if g.numbers != "" {
		o.printf(`<text%s class="numbers" x="%s" y="%s">%s</text>`, o.id(g, "numbers"), margin, p.numbersY,
			svg.Escape(svg.Cut(g.numbers, int((pictureWidth-2*margin)/letter))))
	}
	o.printf("</g>\n")
}

// id returns the id attribute of the next shape of this class in the group: the group's id
// and the class, with a number from the second one on.
func (o *writer) id(g *group, class string) string {
	if !o.ids {
		return ""
	}
	class = strings.ReplaceAll(class, " ", "-")
	o.nth[class]++
	if n := o.nth[class]; n > 1 {
		class = fmt.Sprintf("%s-%d", class, n)
	}
	return fmt.Sprintf(` id="%s__%s"`, svg.Escape(g.id), class)
}

func (o *writer) shape(p *picture, g *group, s *shape) {
	fill := ""
	if s.fill != "" {
		fill = fmt.Sprintf(` fill="url(#%s__fill-%s)"`, svg.Escape(p.id), s.fill)
	}
	id := o.id(g, s.class)
	switch {
	case s.path != "":
		o.printf(`<path%s class="%s" d="%s"%s/>`, id, s.class, s.path, fill)
	case s.after != "":
		o.printf(`<text%s class="%s" x="%s" y="%s">%s<tspan class="facts" dx="12">%s</tspan></text>`, id, s.class, s.x, s.y, svg.Escape(s.text), svg.Escape(s.after))
	case s.text != "":
		o.printf(`<text%s class="%s" x="%s" y="%s">%s</text>`, id, s.class, s.x, s.y, svg.Escape(s.text))
	case s.w == 0 || s.h == 0:
		o.printf(`<line%s class="%s" x1="%s" y1="%s" x2="%s" y2="%s"/>`, id, s.class, s.x, s.y, s.x+s.w, s.y+s.h)
	default:
		o.printf(`<rect%s class="%s" x="%s" y="%s" width="%s" height="%s"%s/>`, id, s.class, s.x, s.y, s.w, s.h, fill)
	}
}

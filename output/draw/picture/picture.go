// Package picture writes pictures as SVG whose shapes have their places already. Every
// shape has a class and an id, labels are escaped, and what can be pointed at shows its
// numbers. The same picture gives the same bytes.
package picture

import (
	"fmt"
	"io"
	"strings"

	"homenode/internal/texttab"
)

// A Picture is all shapes at their places.
type Picture struct {
	ID, Class, Title string
	Style            string // the style sheet; "" when the page has it
	Width, Height    Px
	NumbersX         Px // of the line that shows the numbers of what is pointed at
	NumbersY         Px // of groups that say no other
	Letter           Px // mean width of a letter of that line
	Patterns         []Pattern
	Groups           []Group
	// Inline leaves out the paper behind the picture and the ids of the shapes in a group,
	// for pages that hold many pictures.
	Inline bool
}

// Add places a group above all others.
func (p *Picture) Add(g Group) { p.Groups = append(p.Groups, g) }

// A Pattern fills shapes, to tell them apart without colour.
type Pattern struct {
	Name, Class string
	Size        int    // of the square that is repeated
	Tilted      bool   // by 45 degrees
	Marks       string // a path on the ground; "" for none
	Drawn       string // elements that stand for ground and marks; "" for none
}

// A Group is the shapes of one thing. With numbers it can be pointed at and then shows
// them; with focus also by keyboard.
type Group struct {
	ID, Class string
	Numbers   string
	NumbersY  Px // where; 0 for the picture's place
	Focus     bool
	Link      string // the address of a page about it; "" for none. It has the focus then
	Shapes    []Shape
}

// A Shape is a path when that is set, a text when that is, a line of no height or width, or
// else a rectangle.
type Shape struct {
	Class      string
	X, Y, W, H Px
	Text       string
	After      string // more text on the same line, softer
	Path       string
	Fill       string // the name of a pattern
}

// Write writes the picture as one svg element; it returns the first error of w.
func Write(w io.Writer, p *Picture) error {
	out := writer{w: w, ids: !p.Inline, nth: map[string]int{}}
	id := escape(p.ID)
	out.printf(`<svg xmlns="http://www.w3.org/2000/svg" class="%s" id="%s" viewBox="0 0 %s %s" width="%s" height="%s" role="group" aria-labelledby="%s__name">`+"\n",
		p.Class, id, p.Width, p.Height, p.Width, p.Height, id)
	out.printf("<title id=\"%s__name\">%s</title>\n", id, escape(p.Title))
	if p.Style != "" {
		out.printf("<style>\n%s</style>\n", p.Style)
	}
	out.patterns(p)
	if !p.Inline {
		out.printf(`<rect id="%s__paper" class="paper" width="%s" height="%s"/>`+"\n", id, p.Width, p.Height)
	}
	for i := range p.Groups {
		out.group(p, &p.Groups[i])
	}
	out.printf("</svg>\n")
	return out.err
}

// writer is the pass that writes; it keeps the first error.
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

func (o *writer) patterns(p *Picture) {
	o.printf("<defs>\n")
	for i := range p.Patterns {
		t := &p.Patterns[i]
		tilt := ""
		if t.Tilted {
			tilt = ` patternTransform="rotate(45)"`
		}
		o.printf(`<pattern id="%s__fill-%s" class="%s" width="%d" height="%d" patternUnits="userSpaceOnUse"%s>`, escape(p.ID), t.Name, t.Class, t.Size, t.Size, tilt)
		switch {
		case t.Drawn != "":
			o.printf("%s", t.Drawn)
		case t.Marks != "":
			o.printf(`<rect width="%d" height="%d"/><path d="%s"/>`, t.Size, t.Size, t.Marks)
		default:
			o.printf(`<rect width="%d" height="%d"/>`, t.Size, t.Size)
		}
		o.printf("</pattern>\n")
	}
	o.printf("</defs>\n")
}

func (o *writer) group(p *Picture, g *Group) {
	if g.Link != "" {
		o.printf(`<a href="%s" aria-label="%s">`, escape(g.Link), escape(g.Numbers))
		defer o.printf("</a>\n")
	}
	o.printf(`<g id="%s" class="%s"`, escape(g.ID), g.Class)
	if n := escape(g.Numbers); n != "" {
		if g.Focus && g.Link == "" {
			o.printf(` tabindex="0" role="img" aria-label="%s"`, n)
		}
		o.printf("><title>%s</title>", n)
	} else {
		o.printf(">")
	}
	clear(o.nth)
	for i := range g.Shapes {
		o.shape(p, g, &g.Shapes[i])
	}
	if g.Numbers != "" {
		y := g.NumbersY
		if y == 0 {
			y = p.NumbersY
		}
		o.printf(`<text%s class="numbers" x="%s" y="%s">%s</text>`, o.id(g, "numbers"), p.NumbersX, y,
			escape(texttab.Cut(g.Numbers, int((p.Width-2*p.NumbersX)/p.Letter))))
	}
	o.printf("</g>\n")
}

// id returns the id attribute of the next shape of this class in the group: the group's id
// and the class, with a number from the second one on.
func (o *writer) id(g *Group, class string) string {
	if !o.ids {
		return ""
	}
	class = strings.ReplaceAll(class, " ", "-")
	o.nth[class]++
	if n := o.nth[class]; n > 1 {
		class = fmt.Sprintf("%s-%d", class, n)
	}
	return fmt.Sprintf(` id="%s__%s"`, escape(g.ID), class)
}

func (o *writer) shape(p *Picture, g *Group, s *Shape) {
	fill := ""
	if s.Fill != "" {
		fill = fmt.Sprintf(` fill="url(#%s__fill-%s)"`, escape(p.ID), s.Fill)
	}
	id := o.id(g, s.Class)
	switch {
	case s.Path != "":
		o.printf(`<path%s class="%s" d="%s"%s/>`, id, s.Class, s.Path, fill)
	case s.After != "":
		o.printf(`<text%s class="%s" x="%s" y="%s">%s<tspan class="facts" dx="12">%s</tspan></text>`, id, s.Class, s.X, s.Y, escape(s.Text), escape(s.After))
	case s.Text != "":
		o.printf(`<text%s class="%s" x="%s" y="%s">%s</text>`, id, s.Class, s.X, s.Y, escape(s.Text))
	case s.W == 0 || s.H == 0:
		o.printf(`<line%s class="%s" x1="%s" y1="%s" x2="%s" y2="%s"/>`, id, s.Class, s.X, s.Y, s.X+s.W, s.Y+s.H)
	default:
		o.printf(`<rect%s class="%s" x="%s" y="%s" width="%s" height="%s"%s/>`, id, s.Class, s.X, s.Y, s.W, s.H, fill)
	}
}

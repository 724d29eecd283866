// Package picture is the kit of all drawings: shapes at their places, scales, curves, fills, legends
// and captions, one style sheet with its light, dark and printed theme, and the one writer of SVG.
// Every shape has a class and an id, labels are escaped, and what can be pointed at shows its
// numbers. The same picture gives the same bytes.
package picture

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Style is the style sheet of all pictures. It follows the reader's preference for dark or light,
// and prints in grey.
//
//go:embed picture.css
var Style string

// A Picture is all shapes at their places.
type Picture struct {
	ID, Class, Title string
	Prefix           string // of all ids, so that a page can have a picture twice
	Width, Height    Px
	Margin           Px // left and right of texts
	Letter           Px // mean width of a letter
	Y                Px // where the next part begins
	NumbersY         Px // of the line that shows the numbers of groups that say no other place
	Groups           []Group
}

// Add places a group above all others.
func (p *Picture) Add(g Group) { p.Groups = append(p.Groups, g) }

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
	Fill       string // one of fills
}

// Write writes the picture as one svg element; it returns the first error of w. Inside a page it
// leaves out what the page has once for all its pictures, the style and the paper, and the ids of
// the shapes in a group, which would make the page half as large again.
//
// An id says what is drawn, not where: that of the picture, then parts joined by two underscores,
// as host-esx01__vm-vm-12__client-0__block. It is the same in every run, whatever else is drawn.
func Write(w io.Writer, p *Picture, inside bool) error {
	out := writer{w: w, p: p, ids: !inside, nth: map[string]int{}}
	id := out.name(p.ID)
	out.printf(`<svg xmlns="http://www.w3.org/2000/svg" class="picture %s" id="%s" viewBox="0 0 %s %s" width="%s" height="%s" role="group" aria-labelledby="%s__name">`+"\n",
		p.Class, id, p.Width, p.Height, p.Width, p.Height, id)
	out.printf("<title id=\"%s__name\">%s</title>\n", id, escape(p.Title))
	if !inside {
		out.printf("<style>\n%s</style>\n", Style)
	}
	out.fills()
	if !inside {
		out.printf(`<rect id="%s__paper" class="paper" width="%s" height="%s"/>`+"\n", id, p.Width, p.Height)
	}
	for i := range p.Groups {
		out.group(&p.Groups[i])
	}
	out.printf("</svg>\n")
	return out.err
}

// writer is the pass that writes; it keeps the first error.
type writer struct {
	w   io.Writer
	p   *Picture
	err error
	ids bool
	nth map[string]int // shapes of each class in the group
}

func (o *writer) printf(format string, args ...any) {
	if o.err == nil {
		_, o.err = fmt.Fprintf(o.w, format, args...)
	}
}

// name returns an id of the picture as it is written.
func (o *writer) name(id string) string { return escape(o.p.Prefix + id) }

// fills writes the patterns that shapes are filled with.
func (o *writer) fills() {
	var used []string
	for i := range o.p.Groups {
		for _, s := range o.p.Groups[i].Shapes {
			if s.Fill != "" && !slices.Contains(used, s.Fill) {
				used = append(used, s.Fill)
			}
		}
	}
	if used == nil {
		return
	}
	o.printf("<defs>\n")
	for _, fill := range used {
		class, h := pattern(fill)
		tilt := ""
		if h.tilt {
			tilt = ` patternTransform="rotate(45)"`
		}
		o.printf(`<pattern id="%s__fill-%s" class="%s" width="%d" height="%[4]d" patternUnits="userSpaceOnUse"%s><rect width="%[4]d" height="%[4]d"/><path d="%[6]s"/></pattern>`+"\n",
			o.name(o.p.ID), fill, class, h.size, tilt, h.marks)
	}
	o.printf("</defs>\n")
}

func (o *writer) group(g *Group) {
	numbers := escape(g.Numbers)
	if g.Link != "" {
		o.printf(`<a href="%s" aria-label="%s">`, escape(g.Link), numbers)
		defer o.printf("</a>\n")
	}
	o.printf(`<g id="%s" class="%s"`, o.name(g.ID), g.Class)
	if numbers != "" {
		if g.Focus && g.Link == "" {
			o.printf(` tabindex="0" role="img" aria-label="%s"`, numbers)
		}
		o.printf("><title>%s</title>", numbers)
	} else {
		o.printf(">")
	}
	clear(o.nth)
	for i := range g.Shapes {
		o.shape(g, &g.Shapes[i])
	}
	if g.Numbers != "" {
		y := g.NumbersY
		if y == 0 {
			y = o.p.NumbersY
		}
		o.shape(g, &Shape{Class: "numbers", X: o.p.Margin, Y: y, Text: Cut(g.Numbers, o.p.Inner(), o.p.Letter)})
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
	return fmt.Sprintf(` id="%s__%s"`, o.name(g.ID), class)
}

func (o *writer) shape(g *Group, s *Shape) {
	fill, after := "", ""
	if s.Fill != "" {
		fill = fmt.Sprintf(` fill="url(#%s__fill-%s)"`, o.name(o.p.ID), s.Fill)
	}
	if s.After != "" {
		after = `<tspan class="facts" dx="12">` + escape(s.After) + "</tspan>"
	}
	id := o.id(g, s.Class)
	switch {
	case s.Path != "":
		o.printf(`<path%s class="%s" d="%s"%s/>`, id, s.Class, s.Path, fill)
	case s.Text != "" || s.After != "":
		o.printf(`<text%s class="%s" x="%s" y="%s">%s%s</text>`, id, s.Class, s.X, s.Y, escape(s.Text), after)
	case s.W == 0 || s.H == 0:
		o.printf(`<line%s class="%s" x1="%s" y1="%s" x2="%s" y2="%s"/>`, id, s.Class, s.X, s.Y, s.X+s.W, s.Y+s.H)
	default:
		o.printf(`<rect%s class="%s" x="%s" y="%s" width="%s" height="%s"%s/>`, id, s.Class, s.X, s.Y, s.W, s.H, fill)
	}
}

// Inner is the width between the margins.
func (p *Picture) Inner() Px { return p.Width - 2*p.Margin }

// Uses reports whether a shape has the fill.
func (p *Picture) Uses(fill string) bool {
	return slices.ContainsFunc(p.Groups, func(g Group) bool {
		return slices.ContainsFunc(g.Shapes, func(s Shape) bool { return s.Fill == fill })
	})
}

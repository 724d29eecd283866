// Package picture is the library for all drawings: shapes, scales, curves, fills, legends and
// captions, one style sheet with light, dark and print themes, and the only SVG writer. Every shape
// has a class and an ID, labels are escaped, and hovering over a group shows its numbers. The output
// is deterministic.
package picture

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Style is the style sheet of all pictures. It follows the reader's preference for dark or light,
// and prints in greyscale.
//
//go:embed picture.css
var Style string

// A Picture is a drawing with all shapes positioned.
type Picture struct {
	ID, Class, Title string
	Prefix           string // prefix of all IDs, so that a page can contain a picture twice
	Width, Height    Px
	Margin           Px // to the left and right of texts
	Letter           Px // mean width of a character
	Y                Px // start of the next part
	NumbersY         Px // of the line that shows the numbers of groups without a NumbersY
	Groups           []Group
}

// Add adds a group on top of all others.
func (p *Picture) Add(g Group) { p.Groups = append(p.Groups, g) }

// A Group is the shapes of one object. If Numbers is set, hovering shows them; if Focus is set,
// keyboard focus does too.
type Group struct {
	ID, Class string
	Numbers   string
	NumbersY  Px // position of Numbers; 0 for that of the picture
	Focus     bool
	Link      string // address of a page about it; "" for none. A link is focusable
	Shapes    []Shape
}

// A Shape is a path if Path is set, a text if Text is set, a line if its height or width is zero,
// and a rectangle otherwise.
type Shape struct {
	Class      string
	X, Y, W, H Px
	Text       string
	After      string // further text on the same line, in a softer colour
	Path       string
	Fill       string // a fill returned by Fill, or a hatch
}

// Write writes the picture as one svg element, and returns the first error of w. Inside a page it
// omits the style and the background, which the page has once for all pictures. It also omits the
// IDs of shapes in a group, which would increase the size of the page by half.
//
// An ID identifies the object, not its position: it is the ID of the picture followed by parts
// joined by two underscores, such as host-esx01__vm-vm-12__client-0__block. It is stable between
// runs, and independent of other objects in the drawing.
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

// A writer writes a picture and stores the first error.
type writer struct {
	w   io.Writer
	p   *Picture
	err error
	ids bool
	nth map[string]int // number of shapes of each class in the current group
}

func (o *writer) printf(format string, args ...any) {
	if o.err == nil {
		_, o.err = fmt.Fprintf(o.w, format, args...)
	}
}

// name returns an ID with the prefix of the picture, escaped.
func (o *writer) name(id string) string { return escape(o.p.Prefix + id) }

// fills writes the pattern definitions of the fills in use.
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

// id returns the id attribute of the next shape of this class in the group. It is the group's ID and
// the class, with a number from the second shape on.
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

// Inner returns the width between the margins.
func (p *Picture) Inner() Px { return p.Width - 2*p.Margin }

// Uses reports whether a shape has the fill.
func (p *Picture) Uses(fill string) bool {
	return slices.ContainsFunc(p.Groups, func(g Group) bool {
		return slices.ContainsFunc(g.Shapes, func(s Shape) bool { return s.Fill == fill })
	})
}

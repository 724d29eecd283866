package svg

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"homenode/internal/texttab"
)

// writer is the pass that writes shapes; it keeps the first error.
type writer struct {
	w   io.Writer
	err error
	ids bool           // of the shapes in a group, beside those of the groups
	nth map[string]int // shapes of each class in the group
}

func (o *writer) printf(format string, args ...any) {
	if o.err == nil {
		_, o.err = fmt.Fprintf(o.w, format, args...)
	}
}

// String returns the length in pixels.
func (p Px) String() string {
	if p%10 == 0 {
		return strconv.Itoa(int(p / 10))
	}
	return strconv.FormatFloat(float64(p)/10, 'f', 1, 64)
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")

// Escape makes s text or an attribute value; what XML cannot hold is replaced.
func Escape(s string) string {
	return escaper.Replace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\uFFFE' || r == '\uFFFF' {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD")))
}

func (o *writer) picture(p *picture, opt Options) {
	id := Escape(p.id)
	o.printf(`<svg xmlns="http://www.w3.org/2000/svg" class="topo" id="%s" viewBox="0 0 %s %s" width="%s" height="%s" role="group" aria-labelledby="%s__name">`+"\n",
		id, p.width, p.height, p.width, p.height, id)
	o.printf("<title id=\"%s__name\">%s</title>\n", id, Escape(p.title))
	if !opt.Inline {
		o.printf("<style>\n%s</style>\n", Style)
	}
	o.printf("<defs>\n")
	o.printf(`<pattern id="%s__remote" class="remote" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6"/><line y2="6"/></pattern>`+"\n", id)
	o.printf(`<pattern id="%s__spread" class="spread" width="5" height="5" patternUnits="userSpaceOnUse"><circle cx="1.5" cy="1.5" r="1.1"/></pattern>`+"\n", id)
	o.printf("</defs>\n")
	if !opt.Inline {
		o.printf(`<rect id="%s__paper" class="paper" width="%s" height="%s"/>`+"\n", id, p.width, p.height)
	}
	numbersY := p.numbersY()
	for i := range p.groups {
		o.group(p, &p.groups[i], numbersY)
	}
	o.printf("</svg>\n")
}

// numbersY returns where the numbers of a focused group appear: the free line
// above the legend or caption.
func (p *picture) numbersY() Px {
	y := p.height - margin
	for i := range p.groups {
		g := &p.groups[i]
		if strings.HasPrefix(g.class, "legend") || g.class == "caption" {
			y = min(y, g.shapes[len(g.shapes)-1].y-110)
		}
	}
	return y - 60
}

func (o *writer) group(p *picture, g *group, numbersY Px) {
	if g.numbers == "" {
		o.printf(`<g id="%s" class="%s">`, Escape(g.id), g.class)
	} else {
		n := Escape(g.numbers)
		o.printf(`<g id="%s" class="%s" tabindex="0" role="img" aria-label="%s"><title>%s</title>`, Escape(g.id), g.class, n, n)
	}
	clear(o.nth)
	for i := range g.shapes {
		o.shape(p, g, &g.shapes[i])
	}
	if g.numbers != "" {
		o.printf(`<text%s class="numbers" x="%s" y="%s">%s</text>`, o.id(g, "numbers"), margin, numbersY, Escape(texttab.Cut(g.numbers, int((p.width-2*margin)/letter))))
	}
	o.printf("</g>\n")
}

// id returns the id attribute of the next shape of this class in the group: the
// group's id and the class, with a number from the second one on.
func (o *writer) id(g *group, class string) string {
	if !o.ids {
		return ""
	}
	o.nth[class]++
	if n := o.nth[class]; n > 1 {
		class = fmt.Sprintf("%s-%d", class, n)
	}
	return fmt.Sprintf(` id="%s__%s"`, Escape(g.id), class)
}

func (o *writer) shape(p *picture, g *group, s *shape) {
	switch {
	case s.after != "":
		o.printf(`<text%s class="%s" x="%s" y="%s">%s<tspan class="facts" dx="12">%s</tspan></text>`, o.id(g, s.class), s.class, s.x, s.y, Escape(s.text), Escape(s.after))
	case s.text != "":
		o.printf(`<text%s class="%s" x="%s" y="%s">%s</text>`, o.id(g, s.class), s.class, s.x, s.y, Escape(s.text))
	case s.class == "line":
		o.printf(`<line%s class="line" x1="%s" y1="%s" x2="%s" y2="%s"/>`, o.id(g, s.class), s.x, s.y, s.x+s.w, s.y)
	case s.h > 0 && s.w > 0:
		o.printf(`<rect%s class="%s" x="%s" y="%s" width="%s" height="%s"`, o.id(g, s.class), s.class, s.x, s.y, s.w, s.h)
		if s.fill != "" {
			o.printf(` fill="url(#%s__%s)"`, Escape(p.id), s.fill)
		}
		o.printf("/>")
	}
}

// columns returns the width of s in mean letters; wide East Asian characters
// count as two, marks that stand on another character as none.
func columns(s string) int {
	return texttab.Width(s)
}

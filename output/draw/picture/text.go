package picture

import (
	"fmt"
	"strconv"
	"strings"

	"homenode/internal/texttab"
)

// Px is a length in tenths of a pixel: whole numbers give the same bytes on every
// processor.
type Px int

// String returns the length in pixels.
func (p Px) String() string {
	if p%10 == 0 {
		return strconv.Itoa(int(p / 10))
	}
	return strconv.FormatFloat(float64(p)/10, 'f', 1, 64)
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")

// escape makes s text or an attribute value; what XML cannot hold is replaced.
func escape(s string) string {
	return escaper.Replace(strings.Map(func(r rune) rune {
		if texttab.Hidden(r) || r == '\uFFFE' || r == '\uFFFF' {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD")))
}

// Cut shortens a text to a width, with letters of a mean width.
func Cut(s string, to, letter Px) string { return texttab.Cut(s, max(int(to/letter), 1)) }

// Wide returns the width of a text with letters of a mean width.
func Wide(s string, letter Px) Px { return Px(texttab.Width(s)) * letter }

// Lines returns sentences as lines of a width below each other, y being the base of the first.
func Lines(class string, sentences []string, x, y, to, letter, lineHeight Px) (shapes []Shape) {
	for _, s := range sentences {
		for _, line := range texttab.Wrap(s, int(to/letter)) {
			shapes = append(shapes, Shape{Class: class, X: x, Y: y + Px(len(shapes))*lineHeight, Text: Cut(line, to, letter)})
		}
	}
	return shapes
}

// Rows places labels in as many rows as they need so that none touches another.
type Rows struct {
	ends []Px // of each row
}

// Len returns the number of rows.
func (r *Rows) Len() int { return len(r.ends) }

// Free returns the first row where nothing is right of x; it may be one more than there are.
func (r *Rows) Free(x Px) int {
	for row, end := range r.ends {
		if end <= x {
			return row
		}
	}
	return len(r.ends)
}

// Fill says that a row is taken up to x.
func (r *Rows) Fill(row int, x Px) {
	if row == len(r.ends) {
		r.ends = append(r.ends, 0)
	}
	r.ends[row] = x
}

// marks tell the fills of a drawing apart without colour.
var marks = [...]string{
	"", "M0 3H6", "M1.5 1.5h1.5v1.5h-1.5z", "M3 0V6", "M0 3H6M3 0V6", "M0 0 6 6", "M1 1.5h2M4 4.5h2", "M1 3h4M3 1v4",
}

// Textures is the number of fills that look different.
const Textures = len(marks)

// Texture returns the fill number n, whose class is that of its kind: node-3.
func Texture(kind string, n int) Pattern {
	return Pattern{Name: strconv.Itoa(n), Class: fmt.Sprintf("%s-%d", kind, n), Size: 6, Marks: marks[n]}
}

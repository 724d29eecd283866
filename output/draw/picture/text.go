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

// LineHeight is how far lines of text are apart.
const LineHeight = Px(170)

// Mean widths of letters: at 11 px, and bold at 16 px.
const (
	Letter      = Px(61)
	titleLetter = Px(94)
)

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

// ID returns the ID of an object as part of the ID of a shape: letters, digits, dots and
// hyphens stay, any other byte becomes _xx. Different IDs stay different.
func ID(id string) string {
	var b strings.Builder
	for i := range len(id) {
		c := id[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '-' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "_%02x", c)
		}
	}
	return b.String()
}

// Cut shortens a text to a width, with letters of a mean width.
func Cut(s string, to, letter Px) string { return texttab.Cut(s, max(int(to/letter), 1)) }

// Wide returns the width of a text with letters of a mean width.
func Wide(s string, letter Px) Px { return Px(texttab.Width(s)) * letter }

package picture

import (
	"fmt"
	"strconv"
	"strings"

	"example.org/homenode/internal/texttab"
)

// Px is a length in tenths of a pixel. Integers give the same output on every processor.
type Px int

// LineHeight is the distance between lines of text.
const LineHeight = Px(170)

// Mean widths of characters: at 11 px, and bold at 16 px.
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

// escape escapes s for use as text or an attribute value. It replaces characters that are
// invalid in XML.
func escape(s string) string {
	return escaper.Replace(strings.Map(func(r rune) rune {
		if texttab.Hidden(r) || r == '\uFFFE' || r == '\uFFFF' {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD")))
}

// ID converts the ID of an object to a part of the ID of a shape. It keeps letters, digits,
// dots and hyphens, and replaces any other byte by _xx, so that different IDs remain different.
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

// Cut shortens a text to a width, for characters with this mean width.
func Cut(s string, to, letter Px) string { return texttab.Cut(s, max(int(to/letter), 1)) }

// Wide returns the width of a text, for characters with this mean width.
func Wide(s string, letter Px) Px { return Px(texttab.Width(s)) * letter }

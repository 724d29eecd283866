package texttab

import (
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Hidden reports whether a character would move a cursor, hide text or change its direction: the
// controls C0 and C1, delete, and the format characters of Unicode.
func Hidden(r rune) bool {
	return r < ' ' || r == '\u007f' || r > '\u007f' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029')
}

// EscapedJSON returns a writer of JSON text that escapes hidden characters as \u009b: they occur
// only in strings, and nothing is lost. White space stays.
func EscapedJSON(w io.Writer) io.Writer {
	return &hider{w: w, hide: func(out []byte, r rune) []byte {
		if high, low := utf16.EncodeRune(r); high != unicode.ReplacementChar {
			return fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		}
		return fmt.Appendf(out, `\u%04x`, r)
	}}
}

// Cleaned returns a writer of text that replaces hidden characters, as Clean does. White
// space stays.
func Cleaned(w io.Writer) io.Writer {
	return &hider{w: w, hide: func(out []byte, _ rune) []byte { return utf8.AppendRune(out, unicode.ReplacementChar) }}
}

// A hider replaces hidden characters.
type hider struct {
	w    io.Writer
	hide func(out []byte, r rune) []byte
	rest []byte // the beginning of a character
	out  []byte
}

func (h *hider) Write(p []byte) (int, error) {
	in := p
	if len(h.rest) > 0 {
		in = append(h.rest, p...)
	}
	h.out = h.out[:0]
	for len(in) > 0 && utf8.FullRune(in) {
		r, n := utf8.DecodeRune(in)
		if Hidden(r) && r != '\n' && r != '\r' && r != '\t' {
			h.out = h.hide(h.out, r)
		} else {
			h.out = append(h.out, in[:n]...)
		}
		in = in[n:]
	}
	h.rest = append([]byte(nil), in...)
	if _, err := h.w.Write(h.out); err != nil {
		return 0, err
	}
	return len(p), nil
}

package xmlscan

import (
	"bytes"
	"unicode/utf8"

	"example.org/homenode/source/xmlref"
)

// special are the bytes that need decoding: entities, carriage returns, the end of CDATA, control
// characters, and everything beyond ASCII.
var special = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= 0x80 || c < 0x20 && c != '\t' && c != '\n'
	}
	t['&'], t[']'] = true, true
	return t
}()

func isPlain(b []byte) bool { return plainLength(b) == len(b) }

// plainLength returns the length of the beginning of b without special bytes.
func plainLength(b []byte) int {
	for i, c := range b {
		if special[c] {
			return i
		}
	}
	return len(b)
}

// decode appends the decoded text of a piece of the document to out.
func (s *Scanner) decode(raw, out []byte) ([]byte, error) {
	if !s.cdata && bytes.Contains(raw, []byte("]]>")) {
		return nil, s.fail(s.pos, "found ]]> outside CDATA")
	}
	for i := 0; i < len(raw); {
		if n := plainLength(raw[i:]); n > 0 {
			out = append(out, raw[i:i+n]...)
			i += n
			continue
		}
		switch c := raw[i]; {
		case c == '&' && !s.cdata:
			end := bytes.IndexByte(raw[i:min(len(raw), i+12)], ';')
			r, ok := xmlref.Character(raw[i+1 : i+max(end, 1)])
			if !ok || !inRange(r) {
				return nil, s.fail(s.pos, "found %.12q, want an entity of XML", raw[i:])
			}
			out = utf8.AppendRune(out, r)
			i += end + 1
		case c == '\r': // like all line ends
			out = append(out, '\n')
			if i++; i < len(raw) && raw[i] == '\n' {
				i++
			}
		case c < utf8.RuneSelf:
			if !inRange(rune(c)) {
				return nil, s.fail(s.pos, "found the control character %#02x", c)
			}
			out = append(out, c)
			i++
		default:
			r, n := utf8.DecodeRune(raw[i:])
			if r == utf8.RuneError && n == 1 || !inRange(r) {
				return nil, s.fail(s.pos, "found bytes that are not UTF-8, or no character of XML")
			}
			out = append(out, raw[i:i+n]...)
			i += n
		}
	}
	return out, nil
}

// inRange reports whether r is a character of XML 1.0.
func inRange(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= 0x20 && r <= 0xD7FF || r >= 0xE000 && r <= 0xFFFD || r >= 0x10000 && r <= 0x10FFFF
}

// value returns the decoded value of an attribute.
func (s *Scanner) value(raw []byte) ([]byte, error) {
	if isPlain(raw) {
		return raw, nil
	}
	s.cdata = false
	b, err := s.decode(raw, s.text[:0])
	s.text = b
	return b, err
}

// checkValue checks that the value of an attribute is well-formed.
func (s *Scanner) checkValue(raw []byte) error {
	_, err := s.value(raw)
	return err
}

// XSI is the namespace of the attribute that names the type of an element.
const XSI = "http://www.w3.org/2001/XMLSchema-instance"

// Type returns the value of xsi:type of the last Start, nil without one.
func (s *Scanner) Type() ([]byte, error) {
	for _, a := range s.attrs {
		if string(a.local) == "type" && len(a.prefix) > 0 {
			if s.lookup(a.prefix) == XSI {
				return s.value(a.raw)
			}
			return nil, s.fail(s.pos, "found the attribute %.40q of an unknown namespace", a.prefix)
		}
	}
	return nil, nil
}

// Attr returns the value of the last Start's attribute without a prefix; nil when it is missing.
func (s *Scanner) Attr(name string) ([]byte, error) {
	for _, a := range s.attrs {
		if len(a.prefix) == 0 && string(a.local) == name {
			return s.value(a.raw)
		}
	}
	return nil, nil
}

// Only reports whether the last Start has no attributes except these two, which may be empty,
// xsi:type and namespace declarations.
func (s *Scanner) Only(name, other string) bool {
	for _, a := range s.attrs {
		switch {
		case len(a.prefix) == 0 && (string(a.local) == name || string(a.local) == other || string(a.local) == "xmlns"):
		case string(a.prefix) == "xmlns":
		case string(a.local) == "type" && len(a.prefix) > 0 && s.lookup(a.prefix) == XSI:
		default:
			return false
		}
	}
	return true
}

// Namespace returns the namespace of the last Start.
func (s *Scanner) Namespace() string { return s.lookup(s.local[:max(0, s.name-1)]) }

// lookup returns the namespace of a prefix, and the prefix itself without one.
func (s *Scanner) lookup(prefix []byte) string {
	for i := len(s.scopes) - 1; i >= 0; i-- {
		if s.scopes[i].prefix == string(prefix) {
			return s.scopes[i].uri
		}
	}
	return string(prefix)
}

// declarations returns the namespaces in force as attributes.
func (s *Scanner) declarations() string {
	var b []byte
	for i, c := range s.scopes {
		hidden := false
		for _, later := range s.scopes[i+1:] {
			hidden = hidden || later.prefix == c.prefix
		}
		if hidden {
			continue
		}
		b = append(b, " xmlns"...)
		if c.prefix != "" {
			b = append(append(b, ':'), c.prefix...)
		}
		b = append(b, `="`...)
		for j := range len(c.uri) {
			switch x := c.uri[j]; x {
			case '"':
				b = append(b, "&#34;"...)
			case '&':
				b = append(b, "&amp;"...)
			case '<':
				b = append(b, "&lt;"...)
			default:
				b = append(b, x)
			}
		}
		b = append(b, '"')
	}
	return string(b)
}

// intern returns b as a string, the same one for the same bytes: few names and namespaces are
// repeated in every element.
func (s *Scanner) intern(b []byte) string {
	if v, ok := s.strung[string(b)]; ok {
		return v
	}
	if len(s.strung) > 100 { // more than any server declares: an attack
		clear(s.strung)
	}
	v := string(b)
	s.strung[v] = v
	return v
}

// Attributed reports whether the last Start has attributes.
func (s *Scanner) Attributed() bool { return len(s.attrs) > 0 }

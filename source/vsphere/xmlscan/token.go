package xmlscan

import (
	"bytes"
	"io"
	"strings"
)

// token parses one tag or piece of text; comments are skipped.
func (s *Scanner) token() (Kind, error) {
	if s.empty {
		s.empty = false
		s.local, s.name = nil, 0
		s.pop()
		return End, nil
	}
	for {
		if s.pos == s.end {
			if err := s.more(); err != nil {
				if err == io.ErrUnexpectedEOF && len(s.starts) == 0 && s.seen {
					return EOF, nil
				}
				return 0, err
			}
		}
		if s.buf[s.pos] != '<' {
			return s.readText()
		}
		if err := s.need(2); err != nil {
			return 0, err
		}
		switch s.buf[s.pos+1] {
		case '/':
			return s.readEnd()
		case '?':
			if err := s.readDeclaration(); err != nil {
				return 0, err
			}
		case '!':
			k, err := s.readSpecial()
			if k != 0 || err != nil {
				return k, err
			}
		default:
			return s.readStart()
		}
	}
}

// readText parses the text up to the next tag.
func (s *Scanner) readText() (Kind, error) {
	i, err := s.find(0, "<")
	switch {
	case len(s.starts) == 0:
		if err != nil && err != io.ErrUnexpectedEOF {
			return 0, err
		}
		if err != nil {
			i = s.end - s.pos
		}
		if strings.Trim(string(s.buf[s.pos:s.pos+i]), " \t\r\n") != "" {
			return 0, s.fail(s.pos, "found text outside the root element")
		}
	case err != nil:
		return 0, err
	}
	s.chunk, s.cdata = s.buf[s.pos:s.pos+i], false
	s.pos += i
	return chardata, nil
}

// readSpecial parses a comment or CDATA.
func (s *Scanner) readSpecial() (Kind, error) {
	if err := s.need(4); err != nil {
		return 0, err
	}
	if string(s.buf[s.pos+2:s.pos+4]) == "--" {
		i, err := s.find(4, "--")
		if err == nil {
			err = s.need(i + 3)
		}
		if err != nil {
			return 0, err
		}
		if s.buf[s.pos+i+2] != '>' {
			return 0, s.fail(s.pos+i, "found -- inside a comment")
		}
		s.pos += i + 3
		return 0, nil
	}
	const open = "<![CDATA["
	if err := s.need(len(open)); err != nil {
		return 0, err
	}
	if string(s.buf[s.pos:s.pos+len(open)]) != open || len(s.starts) == 0 {
		return 0, s.fail(s.pos, "found a document type or the like, want elements and text")
	}
	i, err := s.find(len(open), "]]>")
	if err != nil {
		return 0, err
	}
	s.chunk, s.cdata = s.buf[s.pos+len(open):s.pos+i], true
	s.pos += i + 3
	return chardata, nil
}

// readDeclaration parses <?xml ...?> at the very beginning; the encoding must be UTF-8.
func (s *Scanner) readDeclaration() error {
	i, err := s.find(2, "?>")
	if err != nil {
		return err
	}
	d := string(s.buf[s.pos+2 : s.pos+i])
	if s.base+int64(s.pos) != 0 || !strings.HasPrefix(d, "xml ") {
		return s.fail(s.pos, "found a processing instruction")
	}
	switch strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(d[3:]), "'", `"`), `"utf-8"`, `"UTF-8"`) {
	case `version="1.0"`, `version="1.0" encoding="UTF-8"`, `version="1.0" encoding="UTF-8" standalone="yes"`:
	default:
		return s.fail(s.pos, "found the declaration %.60q, want version 1.0 and UTF-8", d)
	}
	s.pos += i + 2
	return nil
}

// readEnd parses an end tag, which must match the open element.
func (s *Scanner) readEnd() (Kind, error) {
	i, err := s.find(2, ">")
	if err != nil {
		return 0, err
	}
	if len(s.starts) == 0 {
		return 0, s.fail(s.pos, "found an end tag, want the root element")
	}
	name := s.buf[s.pos+2 : s.pos+i]
	for n := len(name); n > 0 && isBlank(name[n-1]); n-- {
		name = name[:n-1]
	}
	if open := s.names[s.starts[len(s.starts)-1]:]; !bytes.Equal(name, open) {
		return 0, s.fail(s.pos, "found </%.40s>, want </%.40s>", name, open)
	}
	s.local, s.name = name, bytes.IndexByte(name, ':')+1
	s.pos += i + 1
	s.pop()
	return End, nil
}

// pop closes the innermost element.
func (s *Scanner) pop() {
	last := len(s.starts) - 1
	s.names, s.starts = s.names[:s.starts[last]], s.starts[:last]
	for n := len(s.scopes); n > 0 && s.scopes[n-1].depth > last; n-- {
		s.scopes = s.scopes[:n-1]
	}
}

// tagEnd returns the end of the tag at pos: the place of its >, relative to pos. A > may occur in
// the value of an attribute.
func (s *Scanner) tagEnd() (int, error) {
	for from, values := 1, 0; ; values++ {
		if values > maxAttrs { // each looks as far as to the next >
			return 0, s.fail(s.pos, "found more than %d attributes", maxAttrs)
		}
		end, err := s.find(from, ">")
		if err != nil {
			return 0, err
		}
		quoted := bytes.IndexByte(s.buf[s.pos+from:s.pos+end], '"')
		if single := bytes.IndexByte(s.buf[s.pos+from:s.pos+end], '\''); single >= 0 && (quoted < 0 || single < quoted) {
			quoted = single
		}
		if quoted < 0 {
			return end, nil
		}
		quoted += from
		closing, err := s.find(quoted+1, quotes[s.buf[s.pos+quoted] == '"'])
		if err != nil {
			return 0, err
		}
		from = closing + 1
	}
}

var quotes = map[bool]string{true: `"`, false: "'"}

// readStart parses a start tag with its attributes.
func (s *Scanner) readStart() (Kind, error) {
	i, err := s.tagEnd()
	if err != nil {
		return 0, err
	}
	if s.seen && len(s.starts) == 0 {
		return 0, s.fail(s.pos, "found a second root element")
	}
	if len(s.starts) == MaxDepth {
		return 0, s.fail(s.pos, "found more than %d levels of elements", MaxDepth)
	}
	tag := s.buf[s.pos+1 : s.pos+i]
	if n := len(tag); n > 0 && tag[n-1] == '/' {
		s.empty, tag = true, tag[:n-1]
	}
	n, colon := nameLength(tag)
	if n == 0 {
		return 0, s.fail(s.pos, "found %.20q, want the name of an element", tag)
	}
	s.local, s.name, s.attrs = tag[:n], colon, s.attrs[:0]
	s.starts = append(s.starts, len(s.names))
	s.names = append(s.names, tag[:n]...)
	s.seen = true
	if n < len(tag) {
		if err := s.readAttrs(tag[n:]); err != nil {
			return 0, err
		}
	}
	s.pos += i + 1
	return Start, nil
}

// readAttrs parses the attributes of a start tag and declares its namespaces.
func (s *Scanner) readAttrs(rest []byte) error {
	for {
		trimmed := trimBlanks(rest)
		if len(trimmed) == 0 {
			return nil
		}
		n, colon := nameLength(trimmed)
		if n == 0 || len(trimmed) == len(rest) || len(s.attrs) == maxAttrs {
			return s.fail(s.pos, "found %.20q, want an attribute", trimmed)
		}
		a := attr{prefix: trimmed[:max(0, colon-1)], local: trimmed[colon:n]}
		value := trimBlanks(trimmed[n:])
		if len(value) > 0 && value[0] == '=' {
			value = trimBlanks(value[1:])
		} else {
			value = nil
		}
		if len(value) == 0 || value[0] != '"' && value[0] != '\'' {
			return s.fail(s.pos, "found an attribute without a quoted value")
		}
		end := bytes.IndexByte(value[1:], value[0]) // checked by tagEnd
		if end < 0 || bytes.IndexByte(value[1:1+end], '<') >= 0 {
			return s.fail(s.pos, "found < in the value of an attribute")
		}
		a.raw, rest = value[1:1+end], value[end+2:]
		for _, b := range s.attrs {
			if bytes.Equal(a.local, b.local) && bytes.Equal(a.prefix, b.prefix) {
				return s.fail(s.pos, "found the attribute %.40q twice", a.local)
			}
		}
		s.attrs = append(s.attrs, a)
		if err := s.declare(a); err != nil {
			return err
		}
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// trimBlanks returns b without the blanks at its beginning.
func trimBlanks(b []byte) []byte {
	for len(b) > 0 && isBlank(b[0]) {
		b = b[1:]
	}
	return b
}

// declare records a namespace declaration.
func (s *Scanner) declare(a attr) error {
	var prefix []byte
	switch {
	case string(a.prefix) == "xmlns":
		prefix = a.local
	case len(a.prefix) > 0 || string(a.local) != "xmlns":
		return s.checkValue(a.raw)
	}
	uri, err := s.value(a.raw)
	if err != nil {
		return err
	}
	if len(prefix) > 0 && len(uri) == 0 {
		return s.fail(s.pos, "found a prefix for no namespace")
	}
	s.scopes = append(s.scopes, scope{len(s.starts), s.intern(prefix), s.intern(uri)})
	return nil
}

// nameLength returns the length of the name at the beginning of b and that of its
// prefix with the colon; 0 when there is none.
func nameLength(b []byte) (n, prefix int) {
	for ; n < len(b); n++ {
		c := b[n]
		switch {
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_':
		case n > prefix && ('0' <= c && c <= '9' || c == '-' || c == '.'):
		case c == ':' && n > 0 && prefix == 0:
			prefix = n + 1
		case n == prefix || c == ':' || c >= 0x80:
			return 0, 0
		default:
			return n, prefix
		}
	}
	if n == prefix {
		return 0, 0
	}
	return n, prefix
}

package tables

import (
	"bytes"
	"fmt"
	"io"

	"example.org/homenode/source/xmlref"
)

// A scanner splits XML into tags and the text between them, both borrowed until the next call.
// It does not know elements: the caller checks the nesting of tags. Only UTF-8 is supported.
type scanner struct {
	r        io.Reader
	buf      []byte
	from, to int   // unread part of buf
	err      error // of r
}

const (
	window   = 64 << 10
	maxToken = 4 << 20 // bytes of a text and the tag behind it; a cell has 32,767 characters
	maxTag   = 16 << 10
	cdata    = "![CDATA["
)

// next returns the text up to the next tag, and the tag. It returns io.EOF if no tag follows.
func (s *scanner) next() (text []byte, t tag, err error) {
	open, err := s.find(0, '<')
	if err != nil {
		return nil, t, err
	}
	end := open
	for {
		if end, err = s.find(end+1, '>'); err != nil {
			return nil, t, err
		}
		inner := s.buf[s.from+open+1 : s.from+end]
		if whole(inner) {
			text = s.buf[s.from : s.from+open]
			s.from += end + 1
			return text, parseTag(inner), nil
		}
		if len(inner) > maxTag && inner[0] != '!' {
			return nil, t, fmt.Errorf("damaged workbook: found a tag of more than %d bytes", maxTag)
		}
	}
}

// whole reports whether the final > ends the tag, and is not part of a value, comment or CDATA.
func whole(tag []byte) bool {
	switch {
	case len(tag) == 0 || tag[0] != '!':
		return bytes.Count(tag, []byte(`"`))%2 == 0
	case bytes.HasPrefix(tag, []byte("!--")):
		return len(tag) >= len("!----") && bytes.HasSuffix(tag, []byte("--"))
	case bytes.HasPrefix(tag, []byte(cdata)):
		return bytes.HasSuffix(tag, []byte("]]"))
	}
	return true
}

// find returns the index of c relative to s.from, starting at offset.
func (s *scanner) find(offset int, c byte) (int, error) {
	for {
		if s.from+offset < s.to {
			if i := bytes.IndexByte(s.buf[s.from+offset:s.to], c); i >= 0 {
				return offset + i, nil
			}
			offset = s.to - s.from
		}
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
}

// skip skips everything up to the end of mark; false if there is no mark.
func (s *scanner) skip(mark []byte) bool {
	for {
		if i := bytes.Index(s.buf[s.from:s.to], mark); i >= 0 {
			s.from += i + len(mark)
			return true
		}
		if rest := s.to - s.from; rest >= len(mark) {
			s.from = s.to - len(mark) + 1
		}
		if s.fill() != nil {
			return false
		}
	}
}

// fill reads more data.
func (s *scanner) fill() error {
	if s.err != nil {
		return s.err
	}
	if s.from > 0 {
		copy(s.buf, s.buf[s.from:s.to])
		s.from, s.to = 0, s.to-s.from
	}
	if s.to == len(s.buf) {
		if len(s.buf) >= maxToken {
			return fmt.Errorf("damaged workbook: found a text of more than %d bytes", maxToken)
		}
		s.buf = append(s.buf, make([]byte, max(window, len(s.buf)))...)
	}
	n, err := s.r.Read(s.buf[s.to:])
	s.to += n
	s.err = err
	if n > 0 {
		return nil
	}
	return err
}

// content appends the text of an element up to its end: <v>2048</v> of a cell,
// <is><t>db01</t></is>, and the <t> of each run of a rich text. It skips formulas and phonetic
// hints.
func (s *scanner) content(to []byte, of tagKind) ([]byte, error) {
	texts, hints := 0, 0 // number of open elements
	for {
		text, t, err := s.next()
		if err == nil && texts > 0 && hints == 0 {
			if to, err = xmlref.Decode(to, text); err != nil {
				err = fmt.Errorf("damaged workbook: %w", err)
			}
		}
		step := 1
		if t.end {
			step = -1
		}
		switch {
		case err != nil:
			return to, err
		case t.kind == of && t.end:
			return to, nil
		case t.kind == cellTag || t.kind == stringTag || t.kind == rowTag || t.kind == sheetTag || t.kind == stringsTag:
			return to, fmt.Errorf("damaged workbook: found <%s> before the end of a text", t.text)
		case t.empty:
		case t.kind == textTag:
			texts += step
		case t.kind == hintTag:
			hints += step
		case t.kind == literalTag && texts > 0 && hints == 0:
			to = append(to, bytes.TrimSuffix(t.text[len(cdata):], []byte("]]"))...)
		}
	}
}

// drain reads the rest of the part to verify its checksum; it returns io.EOF if the checksum
// matches.
func (s *scanner) drain() error {
	s.from = s.to
	for s.err == nil {
		s.from = s.to
		if err := s.fill(); err != nil {
			return err
		}
	}
	return s.err
}

// A tag is the used part of a tag: the element that it begins or ends.
type tag struct {
	kind  tagKind
	end   bool   // </c>
	empty bool   // <c/>
	text  []byte // between < and >
}

type tagKind uint8

const (
	otherTag tagKind = iota
	rowTag
	cellTag
	textTag    // <v> of a cell, <t> of a shared or inline string
	hintTag    // <rPh>, a phonetic hint
	stringTag  // <si>
	sheetTag   // <sheetData>
	stringsTag // <sst>
	commentTag // also <!DOCTYPE and <?xml
	literalTag // CDATA
)

// parseTag parses a tag, whose element may have a namespace prefix: x:c.
func parseTag(text []byte) tag {
	t := tag{text: text}
	if len(text) == 0 {
		return t
	}
	switch text[0] {
	case '!', '?':
		t.kind = commentTag
		if bytes.HasPrefix(text, []byte(cdata)) {
			t.kind = literalTag
		}
		return t
	case '/':
		t.end = true
		text = text[1:]
	}
	if n := len(text) - 1; n >= 0 && text[n] == '/' {
		t.empty = true
		text = text[:n]
	}
	if i := bytes.IndexAny(text, " \t\r\n"); i >= 0 {
		text = text[:i]
	}
	if i := bytes.IndexByte(text, ':'); i >= 0 {
		text = text[i+1:]
	}
	switch string(text) {
	case "c":
		t.kind = cellTag
	case "v", "t":
		t.kind = textTag
	case "row":
		t.kind = rowTag
	case "rPh":
		t.kind = hintTag
	case "si":
		t.kind = stringTag
	case "sheetData":
		t.kind = sheetTag
	case "sst":
		t.kind = stringsTag
	}
	return t
}

// attribute returns the value of an attribute, nil if there is none.
func attribute(tag []byte, name string) []byte {
	for rest := tag; ; {
		i := bytes.IndexByte(rest, '=')
		if i < 0 || i+2 > len(rest) {
			return nil
		}
		key := bytes.TrimRight(rest[:i], " \t\r\n")
		value := bytes.TrimLeft(rest[i+1:], " \t\r\n")
		if len(value) == 0 {
			return nil
		}
		end := bytes.IndexByte(value[1:], value[0])
		if end < 0 || value[0] != '"' && value[0] != '\'' {
			return nil
		}
		if len(key) > len(name) && string(key[len(key)-len(name):]) == name && isBlank(key[len(key)-len(name)-1]) {
			return value[1 : end+1]
		}
		rest = value[end+2:]
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// digits parses a number of up to 9 digits.
func digits(b []byte) (n int, ok bool) {
	for _, c := range b {
		if c < '0' || c > '9' || n > 99_999_999 {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, len(b) > 0
}

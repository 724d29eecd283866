// Package xmlscan parses the XML that SOAP services write: elements, attributes, text, CDATA and
// comments in UTF-8. It is a pull scanner over a window of the input that allocates nothing per
// element. It is stricter than encoding/xml: every accepted input has the same result there.
// Document types, and so custom entities, processing instructions and names beyond ASCII are errors.
package xmlscan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Bounds for input from an unknown server. Answers of vSphere nest some 30 levels deep; the largest
// text of a VM is an OVF environment of some 100 KB.
const (
	MaxDepth  = 200
	MaxWindow = 16 << 20 // bytes of one tag or text, or of one element returned by Raw
	maxAttrs  = 64
)

// The two ways in which well-formed XML differs from the caller's expectation; the caller may
// return to a mark and parse the element in another way.
var (
	ErrElement = errors.New("found an element, want text")
	ErrText    = errors.New("found text, want an element")
)

// A SyntaxError is the place of input that is malformed, or beyond the subset or the bounds of this package.
type SyntaxError struct {
	Offset int64 // in bytes from the beginning of the input
	Msg    string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("XML at byte %d: %s", e.Offset, e.Msg) }

// A Kind is a kind of token.
type Kind uint8

// The tokens that Next returns.
const (
	Start Kind = iota + 1 // a start tag; an empty-element tag is a Start and an End
	End
	EOF      // after the root element
	chardata // text or CDATA
)

// A Scanner parses XML. Slices that it returns are valid until its next call.
type Scanner struct {
	r    io.Reader
	buf  []byte // the window: buf[pos:end] is unread
	pos  int
	end  int
	base int64 // offset of buf[0] in the input
	mark int   // start of the input needed by Restore and Raw; -1 for none

	names  []byte // of the open elements, one after the other
	starts []int  // the start of each in names
	scopes []scope
	seen   bool // the root element has been opened
	empty  bool // the End of an empty-element tag is pending

	name   int    // length of the prefix of the last Start or End with its colon
	local  []byte // its name with the prefix
	attrs  []attr
	chunk  []byte // of the last chardata
	cdata  bool
	text   []byte // scratch for text that is not in one piece
	strung map[string]string
}

// A scope is a namespace declaration of an open element.
type scope struct {
	depth       int
	prefix, uri string
}

type attr struct{ prefix, local, raw []byte }

// A Mark is a position to return to.
type Mark struct {
	names, starts, scopes int
	seen, empty           bool
}

const firstWindow = 64 << 10

// New returns a scanner of r.
func New(r io.Reader) *Scanner {
	return &Scanner{r: r, buf: make([]byte, firstWindow), mark: -1, strung: make(map[string]string)}
}

// Reset starts parsing r from its beginning. It keeps the window.
func (s *Scanner) Reset(r io.Reader) {
	*s = Scanner{r: r, buf: s.buf, mark: -1, strung: s.strung,
		names: s.names[:0], starts: s.starts[:0], scopes: s.scopes[:0], attrs: s.attrs[:0], text: s.text[:0]}
}

func (s *Scanner) fail(at int, format string, a ...any) error {
	return &SyntaxError{s.base + int64(at), fmt.Sprintf(format, a...)}
}

// more reads further input into the window. Input before the mark or, without one, before pos, is
// dropped: positions are relative to pos across a call.
func (s *Scanner) more() error {
	keep := s.pos
	if s.mark >= 0 {
		keep = s.mark
	}
	if keep > 0 {
		copy(s.buf, s.buf[keep:s.end])
		s.base += int64(keep)
		s.pos, s.end = s.pos-keep, s.end-keep
		if s.mark >= 0 {
			s.mark = 0
		}
	}
	if s.end == len(s.buf) {
		if len(s.buf) >= MaxWindow {
			return s.fail(s.pos, "found more than %d MB in one piece", MaxWindow>>20)
		}
		larger := make([]byte, 2*len(s.buf))
		copy(larger, s.buf[:s.end])
		s.buf = larger
	}
	for range 100 {
		n, err := s.r.Read(s.buf[s.end:])
		if s.end += n; n > 0 {
			return nil
		}
		if err == io.EOF {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// need makes n bytes from pos available.
func (s *Scanner) need(n int) error {
	for s.end-s.pos < n {
		if err := s.more(); err != nil {
			return err
		}
	}
	return nil
}

// find returns the first place of the text, relative to pos, at or after from.
func (s *Scanner) find(from int, what string) (int, error) {
	for {
		if from < s.end-s.pos {
			var i int
			if len(what) == 1 {
				i = bytes.IndexByte(s.buf[s.pos+from:s.end], what[0])
			} else {
				i = bytes.Index(s.buf[s.pos+from:s.end], []byte(what))
			}
			if i >= 0 {
				return from + i, nil
			}
			from = max(from, s.end-s.pos-len(what)+1)
		}
		if err := s.more(); err != nil {
			return 0, err
		}
	}
}

// Next returns the next tag; comments and blanks between tags are skipped, other text is ErrText.
func (s *Scanner) Next() (Kind, error) {
	for {
		k, err := s.token()
		if err != nil || k != chardata {
			return k, err
		}
		for _, c := range s.chunk {
			if !isBlank(c) {
				return 0, ErrText
			}
		}
	}
}

// Name returns the name of the last Start or End without its prefix.
func (s *Scanner) Name() []byte { return s.local[s.name:] }

// Skip skips to the End of the open element.
func (s *Scanner) Skip() error {
	depth := len(s.starts)
	for {
		k, err := s.token()
		if err != nil {
			return err
		}
		switch {
		case k == chardata:
			if _, err := s.decode(s.chunk, s.text[:0]); err != nil {
				return err
			}
		case k == End && len(s.starts) < depth:
			return nil
		}
	}
}

// Text returns the text of the open element, up to and with its End.
func (s *Scanner) Text() ([]byte, error) {
	if !s.empty {
		text, ok, err := s.plainText()
		if ok || err != nil {
			return text, err
		}
	}
	all := s.text[:0]
	for {
		k, err := s.token()
		if err != nil {
			return nil, err
		}
		switch k {
		case chardata:
			if all, err = s.decode(s.chunk, all); err != nil {
				return nil, err
			}
			s.text = all
		case End:
			return all, nil
		default:
			return nil, ErrElement
		}
	}
}

// plainText returns the text when nothing but the end tag follows it.
func (s *Scanner) plainText() (text []byte, ok bool, err error) {
	i, err := s.find(0, "<")
	if err != nil {
		return nil, false, err
	}
	name := s.names[s.starts[len(s.starts)-1]:]
	if err := s.need(i + len(name) + 3); err != nil {
		return nil, false, nil // token finds the fault
	}
	tag := s.buf[s.pos+i : s.pos+i+len(name)+3]
	if tag[1] != '/' || tag[len(tag)-1] != '>' || !bytes.Equal(tag[2:len(tag)-1], name) {
		return nil, false, nil
	}
	text = s.buf[s.pos : s.pos+i]
	if !isPlain(text) {
		s.cdata = false
		if text, err = s.decode(text, s.text[:0]); err != nil {
			return nil, false, err
		}
		s.text = text
	}
	s.pos += i + len(tag)
	s.local, s.name = nil, 0
	s.pop()
	return text, true, nil
}

// Mark marks the place before the next token. There is one mark at a time; Release removes it.
func (s *Scanner) Mark() Mark {
	s.mark = s.pos
	return Mark{len(s.names), len(s.starts), len(s.scopes), s.seen, s.empty}
}

// Release releases the input since the mark.
func (s *Scanner) Release() { s.mark = -1 }

// Restore returns to the mark, which must be in an element that is still open.
func (s *Scanner) Restore(m Mark) {
	s.pos, s.seen, s.empty = s.mark, m.seen, m.empty
	s.names, s.starts, s.scopes = s.names[:m.names], s.starts[:m.starts], s.scopes[:m.scopes]
}

// Raw reads the next element to its end and returns it unparsed, with the namespace declarations in
// force as attributes: ` xmlns:xsi="..."`.
func (s *Scanner) Raw(m Mark) (declarations string, element []byte, err error) {
	s.Restore(m)
	declarations = s.declarations()
	if k, err := s.Next(); err != nil {
		return "", nil, err
	} else if k != Start {
		return "", nil, s.fail(s.pos, "found the end of an element, want an element")
	}
	if err := s.Skip(); err != nil {
		return "", nil, err
	}
	return declarations, s.buf[s.mark:s.pos], nil
}

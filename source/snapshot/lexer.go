package snapshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// A SyntaxError says where a snapshot is malformed.
type SyntaxError struct {
	File      string
	Line, Col int    // from 1; Col in bytes
	Path      string // of the value: vms[12].memory
	Msg       string
}

// Error returns file:line:col: path: message.
func (e *SyntaxError) Error() string {
	s := fmt.Sprintf("%s:%d:%d: ", e.File, e.Line, e.Col)
	if e.Path != "" {
		s += e.Path + ": "
	}
	return s + e.Msg
}

// in puts part before the path of a SyntaxError: the caller knows where its value
// stands, the callee does not need to.
func in(part string, err error) error {
	if err == nil {
		return nil
	}
	var e *SyntaxError
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case e.Path == "" || e.Path[0] == '[':
		e.Path = part + e.Path
	default:
		e.Path = part + "." + e.Path
	}
	return err
}

// inItem is in for the i-th item of a list.
func inItem(i int, err error) error {
	if err == nil {
		return nil
	}
	return in("["+strconv.Itoa(i)+"]", err)
}

// position is where a token starts.
type position struct{ line, col int }

// lexer reads JSON token by token. encoding/json is not enough here: it takes the
// last of two equal keys, keys in any case of letters, and unknown keys inside a
// Fact, it does not say where a wrong value stands, and it decodes every Fact
// twice, which makes it six times slower.
type lexer struct {
	name      string
	r         io.Reader
	err       error // of r; io.EOF at the end
	buf       []byte
	pos, end  int   // buf[pos:end] is read and not yet taken
	base      int64 // offset of buf[0] in the input
	line      int
	lineStart int64    // offset of the first byte of the line
	at        position // of the token that peek found
	text      []byte   // scratch of strings that do not lie in buf as they are
	interned  map[string]string
}

const bufferSize = 64 << 10

func newLexer(name string, r io.Reader) *lexer {
	l := &lexer{name: name, r: r, buf: make([]byte, bufferSize), line: 1, interned: map[string]string{}}
	const bom = "\ufeff" // some editors of Windows write one
	for l.end < len(bom) && l.fill() {
	}
	if bytes.HasPrefix(l.buf[:l.end], []byte(bom)) {
		l.pos = len(bom)
	}
	return l
}

// fill makes room and reads more; it reports false at the end of the input.
func (l *lexer) fill() bool {
	if l.err != nil {
		return false
	}
	copy(l.buf, l.buf[l.pos:l.end])
	l.base += int64(l.pos)
	l.end -= l.pos
	l.pos = 0
	n, err := io.ReadAtLeast(l.r, l.buf[l.end:], 1)
	l.end += n
	if n == 0 {
		l.err = err
	}
	return n > 0
}

// peek skips blanks and returns the first byte of the next token; 0, which starts
// none, at the end.
func (l *lexer) peek() byte {
	for {
		for l.pos < l.end {
			switch c := l.buf[l.pos]; c {
			case '\n':
				l.line++
				l.lineStart = l.base + int64(l.pos) + 1
			case ' ', '\t', '\r':
			default:
				l.at = l.here()
				return c
			}
			l.pos++
		}
		if !l.fill() {
			l.at = l.here()
			return 0
		}
	}
}

func (l *lexer) here() position {
	return position{l.line, int(l.base+int64(l.pos)-l.lineStart) + 1}
}

// fail returns the error of the token that peek found.
func (l *lexer) fail(format string, args ...any) error {
	return l.failAt(l.at, format, args...)
}

func (l *lexer) failAt(at position, format string, args ...any) error {
	return &SyntaxError{l.name, at.line, at.col, "", fmt.Sprintf(format, args...)}
}

// wanted returns the error of a token that is not what is wanted.
func (l *lexer) wanted(what string) error {
	c := l.peek()
	if l.pos == l.end {
		return l.ended()
	}
	found := string(rune(c))
	switch {
	case c == '"':
		s, err := l.str()
		if err != nil {
			return err
		}
		found = strconv.Quote(shorten(string(s)))
	case c <= ' ' || c >= 0x7f:
		found = fmt.Sprintf("byte %#02x", c)
	case wordByte(c):
		found = shorten(string(l.word()))
	}
	return l.fail("found %s, want %s", found, what)
}

// ended returns the error of an input that ends too early.
func (l *lexer) ended() error {
	if l.err != nil && l.err != io.EOF {
		return fmt.Errorf("%s: %w", l.name, l.err)
	}
	return l.failAt(l.here(), "found the end of the file: it is cut short")
}

func shorten(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}

// take takes the one byte c.
func (l *lexer) take(c byte, what string) error {
	if l.peek() != c || l.pos == l.end {
		return l.wanted(what)
	}
	l.pos++
	return nil
}

// str takes a string; the bytes are valid until the next call.
func (l *lexer) str() ([]byte, error) {
	if err := l.take('"', "a string"); err != nil {
		return nil, err
	}
	for i := l.pos; i < l.end; i++ {
		c := l.buf[i]
		if c == '"' {
			s := l.buf[l.pos:i]
			l.pos = i + 1
			return s, nil
		}
		if c == '\\' || c < ' ' || c >= utf8.RuneSelf {
			break
		}
	}
	return l.longStr()
}

// longStr takes the rest of a string that has escapes, is not ASCII or does not lie
// in the buffer as a whole.
func (l *lexer) longStr() ([]byte, error) {
	at := l.at // of the opening quote; errors inside the string name their own place
	l.text = append(l.text[:0], '"')
	plain := true
	for {
		if l.pos == l.end && !l.fill() {
			return nil, l.ended()
		}
		c := l.buf[l.pos]
		switch {
		case c == '"':
			l.pos++
			return l.unquote(at, plain)
		case c < ' ':
			return nil, l.failAt(l.here(), "found byte %#02x in a string", c)
		case c == '\\':
			plain = false
			l.text = append(l.text, c)
			l.pos++
			if l.pos == l.end && !l.fill() {
				return nil, l.ended()
			}
			c = l.buf[l.pos]
			if c < ' ' {
				return nil, l.failAt(l.here(), "found byte %#02x in a string", c)
			}
		}
		l.text = append(l.text, c)
		l.pos++
	}
}

func (l *lexer) unquote(at position, plain bool) ([]byte, error) {
	if plain && utf8.Valid(l.text) {
		return l.text[1:], nil
	}
	var s string
	if err := json.Unmarshal(append(l.text, '"'), &s); err != nil {
		return nil, l.failAt(at, "found a string with an escape that JSON does not have")
	}
	return append(l.text[:0], s...), nil
}

// intern returns s as a string. The same few property paths and values stand behind
// most facts of a fleet; the bounds keep a fleet of distinct ones from doubling.
func (l *lexer) intern(s []byte) string {
	const mostLen, mostStrings = 64, 8192
	if t, ok := l.interned[string(s)]; ok {
		return t
	}
	t := string(s)
	if len(t) <= mostLen && len(l.interned) < mostStrings {
		l.interned[t] = t
	}
	return t
}

func wordByte(c byte) bool {
	return c == '-' || c == '+' || c == '.' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// word takes what stands before the next blank or delimiter.
func (l *lexer) word() []byte {
	l.text = l.text[:0]
	l.peek()
	for {
		for l.pos < l.end {
			c := l.buf[l.pos]
			if !wordByte(c) {
				return l.text
			}
			l.text = append(l.text, c)
			l.pos++
		}
		if !l.fill() {
			return l.text
		}
	}
}

// literal takes a number, true, false or null; wanted says which. None of them ends
// a file: one that does may be cut.
func (l *lexer) literal(want string) ([]byte, error) {
	if !wordByte(l.peek()) {
		return nil, l.wanted(want)
	}
	w := l.word()
	if l.pos == l.end {
		return nil, l.ended()
	}
	return w, nil
}

// keyword takes the word, or returns the error of what stands there instead.
func (l *lexer) keyword(word, want string) error {
	w, err := l.literal(want)
	if err == nil && string(w) != word {
		err = l.fail("found %s, want %s", shorten(string(w)), want)
	}
	return err
}

func (l *lexer) unknownKey(key []byte) error {
	return l.fail("found %q, which no snapshot has here", shorten(string(key)))
}

// object takes an object and calls field after each key and colon.
func (l *lexer) object(what string, field func(key []byte) error) error {
	return l.sequence('{', '}', what, func(int) error {
		if l.peek() != '"' {
			return l.wanted("a key")
		}
		key, err := l.str()
		if err != nil {
			return err
		}
		return field(key)
	})
}

// colon takes what stands between a key and its value.
func (l *lexer) colon() error { return l.take(':', "a colon") }

// sequence takes items between two delimiters, with commas between them.
func (l *lexer) sequence(first, last byte, what string, item func(i int) error) error {
	if err := l.take(first, what); err != nil {
		return err
	}
	if l.peek() == last {
		l.pos++
		return nil
	}
	for i := 0; ; i++ {
		if err := item(i); err != nil {
			return err
		}
		switch l.peek() {
		case ',':
			l.pos++
		case last:
			l.pos++
			return nil
		default:
			return l.wanted("a comma or " + string(rune(last)))
		}
	}
}

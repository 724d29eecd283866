// Package text reads the lines of saved, pasted and mailed text files: with LF, CRLF or bare
// CR, in UTF-8 or UTF-16, with or without a byte order mark.
package text

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// MaxLine is the maximum length of a line in bytes; the rest of a longer one is skipped.
const MaxLine = 1 << 20

// HeadSize is the number of bytes that are used to detect the format of a file and its line
// ends.
const HeadSize = 64 << 10

// Lines reads a file line by line, as bufio.Scanner does.
type Lines struct {
	in   *bufio.Reader
	end  byte
	line []byte // slice of the buffer of in, or of long
	long []byte
	n    int
	cut  bool
	open bool // the line has no end
	err  error
	late error // from looking ahead: returned after the lines before it
}

// NewLines returns a reader of the lines of r. Lines end with LF, CRLF or, if the beginning of
// the file has CR only, with CR. The text is UTF-16 if there is such a byte order mark.
func NewLines(r io.Reader) *Lines {
	size := HeadSize
	if b, ok := r.(*bytes.Reader); ok { // very many small files are looked at
		size = min(b.Len()+1, HeadSize)
	}
	l := &Lines{in: bufio.NewReaderSize(r, size), end: '\n'}
	head, err := l.in.Peek(3)
	l.keep(err)
	switch {
	case bytes.HasPrefix(head, []byte{0xEF, 0xBB, 0xBF}):
		_, err = l.in.Discard(3)
		l.keep(err)
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE}), bytes.HasPrefix(head, []byte{0xFE, 0xFF}):
		utf8 := transform.NewReader(l.in, unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder())
		l.in, size = bufio.NewReaderSize(utf8, HeadSize), HeadSize
	}
	head, err = l.in.Peek(size)
	l.keep(err)
	if bytes.IndexByte(head, '\n') < 0 && bytes.IndexByte(head, '\r') >= 0 {
		l.end = '\r'
	}
	return l
}

func (l *Lines) keep(err error) {
	if err != nil && err != io.EOF && l.late == nil {
		l.late = err
	}
}

// Scan advances to the next line; false at the end or after an error.
func (l *Lines) Scan() bool {
	if l.err != nil {
		return false
	}
	l.cut = false
	line, err := l.in.ReadSlice(l.end)
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = l.readLong(line)
	}
	if err == io.EOF && l.late != nil {
		err = l.late
	}
	if err != nil && (err != io.EOF || len(line) == 0) {
		l.err = err
		return false
	}
	if err == nil || len(line) > 0 {
		line = bytes.TrimSuffix(line, []byte{l.end})
		line = bytes.TrimSuffix(line, []byte{'\r'})
	}
	l.line, l.n, l.open = line, l.n+1, err != nil
	return true
}

// readLong collects a line that is longer than the buffer.
func (l *Lines) readLong(first []byte) ([]byte, error) {
	l.long = append(l.long[:0], first...)
	for {
		part, err := l.in.ReadSlice(l.end)
		if room := MaxLine - len(l.long); len(part) > room {
			l.cut = true
			l.long = append(l.long, part[:room]...)
		} else {
			l.long = append(l.long, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l.long, err
		}
	}
}

// Bytes returns the line without its line end; it is valid until the next Scan.
func (l *Lines) Bytes() []byte { return l.line }

// Text returns the line without its line end.
func (l *Lines) Text() string { return string(l.line) }

// Line returns the line number, from 1.
func (l *Lines) Line() int { return l.n }

// Cut reports whether the line was longer than MaxLine, so that its rest was skipped.
func (l *Lines) Cut() bool { return l.cut }

// Open reports whether the line has no line end: it is the last one, and may be truncated.
func (l *Lines) Open() bool { return l.open }

// Err returns the first error other than the end of the file.
func (l *Lines) Err() error {
	if l.err == nil || l.err == io.EOF {
		return nil
	}
	return fmt.Errorf("line %d: %w", l.n+1, l.err)
}

// Decoded returns the beginning of a file as UTF-8, with LF line ends.
func Decoded(head []byte) []byte {
	lines := NewLines(bytes.NewReader(head))
	var out []byte
	for lines.Scan() {
		out = append(append(out, lines.Bytes()...), '\n')
	}
	return out
}

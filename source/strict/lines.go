package strict

import (
	"bytes"
	"io"

	"example.org/homenode/numa"
)

// Lines is a reader that maps offsets to lines, which a decoder does not. It keeps the line starts since the last requested place.
type Lines struct {
	r      io.Reader
	err    error // of r; io.EOF at the end
	read   int64
	line   int     // number of the line of the last place, from 1
	start  int64   // offset of its first byte
	starts []int64 // offsets of the following lines
}

// NewLines returns a reader of r.
func NewLines(r io.Reader) *Lines { return &Lines{r: r, line: 1} }

// Read implements io.Reader and records the starts of lines.
func (l *Lines) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	for i := 0; ; {
		k := bytes.IndexByte(p[i:n], '\n')
		if k < 0 {
			break
		}
		i += k + 1
		l.starts = append(l.starts, l.read+int64(i))
	}
	l.read += int64(n)
	l.err = err
	return n, err
}

// Size returns the number of bytes that were read, and the last error.
func (l *Lines) Size() (int64, error) { return l.read, l.err }

// Place returns the line and column of an offset, which must not be before the line of the last one.
func (l *Lines) Place(offset int64) (line, col int) {
	for len(l.starts) > 0 && l.starts[0] <= offset {
		l.line, l.start, l.starts = l.line+1, l.starts[0], l.starts[1:]
	}
	return l.line, int(offset-l.start) + 1
}

// Error returns an error with the place of an offset.
func (l *Lines) Error(name string, offset int64, msg string) error {
	line, col := l.Place(offset)
	return &numa.SyntaxError{File: name, Line: line, Col: col, Msg: msg}
}

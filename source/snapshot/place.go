package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"example.org/homenode/numa"
	"example.org/homenode/source/strict"
)

// A lineReader maps offsets to lines, which the decoder does not. It keeps the line starts
// since the last requested position.
type lineReader struct {
	r      io.Reader
	err    error // of r; io.EOF at the end
	read   int64
	line   int     // number of the line of the last position, from 1
	start  int64   // offset of its first byte
	starts []int64 // offsets of the following lines
}

// Read implements io.Reader and records the starts of lines.
func (l *lineReader) Read(p []byte) (int, error) {
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

type position struct{ line, col int }

// position returns the line and column of an offset, which must not be before the line of the
// last one.
func (l *lineReader) position(offset int64) position {
	for len(l.starts) > 0 && l.starts[0] <= offset {
		l.line, l.start, l.starts = l.line+1, l.starts[0], l.starts[1:]
	}
	return position{l.line, int(offset-l.start) + 1}
}

// locate converts an error of the decoder to a numa.SyntaxError.
func (r *reader) locate(err error) error {
	if r.lines.err != nil && r.lines.err != io.EOF {
		return fmt.Errorf("%s: %w", r.name, r.lines.err)
	}
	offset, msg := strict.Explain(err, "snapshot")
	if errors.Is(err, io.ErrUnexpectedEOF) {
		offset = r.lines.read
	}
	at := r.lines.position(offset)
	return &numa.SyntaxError{File: r.name, Line: at.line, Col: at.col, Msg: msg}
}

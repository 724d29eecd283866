package snapshot

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.org/homenode/numa"
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
	var offset int64
	var pointer jsontext.Pointer
	var msg string
	var syntactic *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case errors.As(err, &syntactic):
		offset, pointer, msg = syntactic.ByteOffset, syntactic.JSONPointer, syntactic.Err.Error()
	case errors.As(err, &semantic):
		offset, pointer, msg = semantic.ByteOffset, semantic.JSONPointer, message(semantic)
	}
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		msg, pointer = fmt.Sprintf("found %.40q twice", pointer.LastToken()), pointer.Parent()
	case errors.Is(err, json.ErrUnknownName):
		msg, pointer = fmt.Sprintf("found %.40q, which no snapshot has here", pointer.LastToken()), pointer.Parent()
	case errors.Is(err, io.ErrUnexpectedEOF):
		msg, offset = "found the end of the file: it is cut short", r.lines.read
	}
	if pointer != "" { // /vms/12/memory is vms[12].memory
		path := regexp.MustCompile(`/(\d+)`).ReplaceAllString(string(pointer), "[$1]")
		msg = fmt.Sprintf("%.100s: %s", strings.TrimPrefix(strings.ReplaceAll(path, "/", "."), "."), msg)
	}
	at := r.lines.position(offset)
	return &numa.SyntaxError{File: r.name, Line: at.line, Col: at.col, Msg: msg}
}

// message describes the value found and the type expected, where json would name a Go type.
func message(e *json.SemanticError) string {
	if e.Err != nil && !errors.Is(e.Err, strconv.ErrRange) && !errors.Is(e.Err, strconv.ErrSyntax) {
		return fmt.Sprintf("%.200s", e.Err) // it may quote the file
	}
	return fmt.Sprintf("found %.40s, want %s", cmp.Or(string(e.JSONValue), e.JSONKind.String()), map[reflect.Kind]string{
		reflect.String: "a string", reflect.Bool: "true or false", reflect.Int: "a whole number", reflect.Int64: "a whole number",
		reflect.Slice: "a list", reflect.Struct: "an object", reflect.Uint32: "a release such as 7.0 U3",
	}[e.GoType.Kind()])
}

package numa

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// A SyntaxError is the place and the fault of a malformed input.
type SyntaxError struct {
	File      string // or the flag or the quoted text; empty until the caller sets it
	Line, Col int    // from 1, Col in bytes; 0 for the whole file, or the whole line
	Msg       string // the text found and the one expected
}

// Error returns file:line:col: message.
func (e *SyntaxError) Error() string { return Place(e.File, e.Line, e.Col) + ": " + e.Msg }

// Place returns file:line:col without zero parts, or "file: column 9" for a text without lines.
func Place(file string, line, col int) string {
	switch {
	case line == 0 && col > 0 && file == "":
		return fmt.Sprintf("column %d", col)
	case line == 0 && col > 0:
		return fmt.Sprintf("%s: column %d", file, col)
	case line == 0:
		return file
	case col == 0:
		return fmt.Sprintf("%s:%d", file, line)
	}
	return fmt.Sprintf("%s:%d:%d", file, line, col)
}

// Located adds the place to the error of reading the file or folder at a path; the text contains it once.
func Located(at string, err error) error {
	if err == nil || strings.HasPrefix(err.Error(), at) || strings.HasPrefix(err.Error(), filepath.ToSlash(filepath.Clean(at))) {
		return err
	}
	if e, ok := errors.AsType[*SyntaxError](err); ok {
		return &SyntaxError{File: at, Line: e.Line, Col: e.Col, Msg: e.Msg}
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return fmt.Errorf("%s: %w", at, err)
}

// NoteOf converts the error of reading the file or folder at a path to a note, whose place includes the path; before is prefixed to its text.
func NoteOf(at, before string, err error) Note {
	err = Located(at, err)
	if e, ok := errors.AsType[*SyntaxError](err); ok {
		return Note{At: Place(e.File, e.Line, e.Col), Text: before + e.Msg}
	}
	return Note{At: at, Text: before + strings.TrimPrefix(err.Error(), at+": ")}
}

package word

import (
	"bytes"
	"errors"
	"fmt"

	"golang.org/x/tools/txtar"

	"example.org/homenode/numa"
)

// section is the section of a txtar file with the lines of a scenario, story or incident.
const section = "in"

// Section returns the lines of the text in data, and the line number of the first: the section
// "-- in --" of a txtar archive, or the whole text. The error is a *numa.SyntaxError with the
// name.
func Section(name string, data []byte) (text []byte, first int, err error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // some Windows editors write a byte order mark
	ar := txtar.Parse(data)
	if len(ar.Files) == 0 {
		return data, 1, nil
	}
	line := 1 + bytes.Count(ar.Comment, []byte("\n"))
	missing := Located(Errorf(1, "found no section %q", section), name, line)
	for _, f := range ar.Files {
		if f.Name == section && first > 0 {
			return nil, 0, Located(Errorf(1, "found section %q twice", section), name, line)
		}
		if line++; f.Name == section {
			text, first = f.Data, line
		}
		line += bytes.Count(f.Data, []byte("\n"))
	}
	if first == 0 {
		return nil, 0, missing
	}
	return text, first, nil
}

// Errorf returns the error for a word at the column. The caller adds the file and the line with
// Located.
func Errorf(col int, format string, args ...any) error {
	return &numa.SyntaxError{Col: col, Msg: fmt.Sprintf(format, args...)}
}

// Located adds the file and the line to an error of Errorf. Other errors are unchanged.
func Located(err error, file string, line int) error {
	var e *numa.SyntaxError
	if errors.As(err, &e) && e.File == "" {
		return &numa.SyntaxError{File: file, Line: line, Col: e.Col, Msg: e.Msg}
	}
	return err
}

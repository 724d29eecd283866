package numa

import "fmt"

// A SyntaxError says where an input is malformed.
type SyntaxError struct {
	File      string // or the flag that the text stands in
	Line, Col int    // from 1, Col in bytes; 0 for the whole file, or the whole line
	Msg       string // what was found and what was expected
}

// Error returns file:line:col: message.
func (e *SyntaxError) Error() string { return Place(e.File, e.Line, e.Col) + ": " + e.Msg }

// Place returns file:line:col, without what is 0.
func Place(file string, line, col int) string {
	switch {
	case line == 0:
		return file
	case col == 0:
		return fmt.Sprintf("%s:%d", file, line)
	}
	return fmt.Sprintf("%s:%d:%d", file, line, col)
}

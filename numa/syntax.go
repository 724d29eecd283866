package numa

import "fmt"

// A SyntaxError says where an input is malformed.
type SyntaxError struct {
	File      string // or the flag or the quoted text; empty until the caller fills it in
	Line, Col int    // from 1, Col in bytes; 0 for the whole file, or the whole line
	Msg       string // what was found and what was expected
}

// Error returns file:line:col: message.
func (e *SyntaxError) Error() string { return Place(e.File, e.Line, e.Col) + ": " + e.Msg }

// Place returns file:line:col without what is 0, or "file: column 9" for a text without lines.
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

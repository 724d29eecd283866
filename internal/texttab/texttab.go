// Package texttab prints tables with aligned columns; it is the only one that
// does. It also holds what text from strangers passes on its way to a terminal.
package texttab

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// A Table collects rows and prints them with aligned columns. The zero value is
// empty. Columns named in Right are aligned to the right; the last column is
// never padded.
type Table struct {
	Right  map[int]bool
	Indent string
	rows   [][]string
}

// Row adds a row. Cells are cleaned: colours come from Paint alone.
func (t *Table) Row(cells ...string) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = Line(cell)
	}
	t.rows = append(t.rows, row)
}

// Len returns the number of rows.
func (t *Table) Len() int { return len(t.rows) }

// Paint gives a cell of the last row a colour: the numbers of an ANSI sequence,
// such as "1;31".
func (t *Table) Paint(column int, code string) {
	row := t.rows[len(t.rows)-1]
	row[column] = "\x1b[" + code + "m" + row[column] + "\x1b[0m"
}

// Clean returns s for display: what would move a cursor, hide text or turn its
// direction is replaced, and so is invalid UTF-8. Names come from strangers.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// Line returns s for display on one line: line breaks and tabs become blanks.
func Line(s string) string { return Clean(oneLine.Replace(s)) }

// WriteTo prints the table; two blanks stand between columns.
func (t *Table) WriteTo(w io.Writer) (int64, error) {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Width(cell))
		}
	}
	var b strings.Builder
	for _, row := range t.rows {
		var line strings.Builder
		line.WriteString(t.Indent)
		for i, cell := range row {
			if i > 0 {
				line.WriteString("  ")
			}
			pad := strings.Repeat(" ", widths[i]-Width(cell))
			if t.Right[i] {
				line.WriteString(pad + cell)
			} else {
				line.WriteString(cell + pad)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
		b.WriteByte('\n')
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

// Width returns how many columns of a terminal s takes: none for colour sequences,
// combining marks and control characters, two for wide East Asian characters.
func Width(s string) int {
	n := 0
	for i := 0; i < len(s); {
		if end := sequence(s[i:]); end > 0 {
			i += end
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Cc) {
			continue
		}
		switch width.LookupRune(r).Kind() {
		case width.EastAsianWide, width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}

// sequence returns the length of the colour sequence that s starts with, ESC [
// numbers m; 0 when it starts with none.
func sequence(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c == 'm':
			return i + 1
		case c != ';' && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}

// oneLine keeps a cell in its row: names may hold line breaks and tabs.
var oneLine = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ")

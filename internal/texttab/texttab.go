// Package texttab prints tables with aligned columns; it is the only one that does.
package texttab

import (
	"io"
	"strings"

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

// Row adds a row.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

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

// Width returns how many columns of a terminal s takes. Colour sequences take none,
// wide East Asian characters two.
func Width(s string) int {
	n := 0
	for i := 0; i < len(s); {
		if s[i] == '\x1b' {
			if end := strings.IndexByte(s[i:], 'm'); end >= 0 {
				i += end + 1
				continue
			}
		}
		p, size := width.LookupString(s[i:])
		switch p.Kind() {
		case width.EastAsianWide, width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
		i += max(size, 1)
	}
	return n
}

// Package texttab prints tables with aligned columns; it is the only package that does. It also
// cleans untrusted text for a terminal.
package texttab

import (
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// A Table collects rows and prints them with aligned columns. The zero value is empty. Columns
// named in Right are aligned to the right; the last column is never padded.
type Table struct {
	Right  map[int]bool
	Indent string
	// Width is the largest width of the table in terminal columns: cells are wrapped, the widest
	// columns first, until it fits. 0 means no limit.
	Width int
	rows  [][]cell
}

type cell struct{ text, code string }

// least is the minimum width of a column of words.
const least = 8

// Row adds a row. Cells are cleaned: only Paint adds colours.
func (t *Table) Row(cells ...string) {
	row := make([]cell, len(cells))
	for i, text := range cells {
		row[i].text = Line(text)
	}
	t.rows = append(t.rows, row)
}

// Paint sets the colour of a cell of the last row: the numbers of an ANSI sequence, such as "1;31".
func (t *Table) Paint(column int, code string) { t.rows[len(t.rows)-1][column].code = code }

// Clean returns s for display: invalid UTF-8 and characters that would move a cursor, hide text or
// change its direction are replaced. Names are untrusted.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if Hidden(r) {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// Line returns s for display on one line: line breaks and tabs become blanks.
func Line(s string) string { return Clean(oneLine.Replace(s)) }

// WriteTo prints the table with two blanks between columns.
func (t *Table) WriteTo(w io.Writer) (int64, error) {
	widths := t.widths()
	var b strings.Builder
	for _, row := range t.rows {
		lines, most := make([][]string, len(row)), 1
		for i, c := range row {
			lines[i] = Wrap(c.text, widths[i])
			most = max(most, len(lines[i]))
		}
		for k := range most {
			var line strings.Builder
			line.WriteString(t.Indent)
			for i, c := range row {
				if i > 0 {
					line.WriteString("  ")
				}
				text := ""
				if k < len(lines[i]) {
					text = lines[i][k]
				}
				pad := strings.Repeat(" ", max(0, widths[i]-Width(text)))
				if c.code != "" && text != "" {
					text = "\x1b[" + c.code + "m" + text + "\x1b[0m"
				}
				if t.Right[i] {
					line.WriteString(pad + text)
				} else {
					line.WriteString(text + pad)
				}
			}
			b.WriteString(strings.TrimRight(line.String(), " "))
			b.WriteByte('\n')
		}
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

// Fits reports whether the table is within its Width.
func (t *Table) Fits() bool {
	all := len(t.Indent) - 2
	for _, n := range t.widths() {
		all += n + 2
	}
	return t.Width == 0 || all <= t.Width
}

// widths returns the width of each column, within the width of the table where possible: no column
// is narrower than its longest word or, for words only, than least.
func (t *Table) widths() []int {
	var widths, floor []int
	for _, row := range t.rows {
		for i, c := range row {
			if i == len(widths) {
				widths, floor = append(widths, 0), append(floor, 0)
			}
			widths[i] = max(widths[i], Width(c.text))
			for _, word := range wordsOf(c.text) {
				floor[i] = max(floor[i], min(Width(word), 2*least))
			}
		}
	}
	if t.Width == 0 {
		return widths
	}
	all := len(t.Indent) - 2
	for _, n := range widths {
		all += n + 2
	}
	narrow := func(floor func(int) int) {
		for ; all > t.Width; all-- {
			widest := -1
			for i, n := range widths {
				if n > floor(i) && (widest < 0 || n > widths[widest]) {
					widest = i
				}
			}
			if widest < 0 {
				return
			}
			widths[widest]--
		}
	}
	narrow(func(i int) int { return max(floor[i], least) })
	whole := slices.Clone(widths)
	narrow(func(i int) int { // long words are broken where that makes the table fit
		if t.Right[i] {
			return widths[i]
		}
		return least
	})
	if all > t.Width {
		return whole
	}
	return widths
}

// Wrap breaks s at blanks into lines of at most n columns; a longer word is broken where necessary.
func Wrap(s string, n int) []string {
	if Width(s) <= n || n <= 0 {
		return []string{s}
	}
	var lines []string
	line := ""
	for _, word := range wordsOf(s) {
		if line != "" && Width(line)+1+Width(word) > n {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
		for Width(line) > n {
			head := fitting(line, n)
			lines, line = append(lines, head), line[len(head):]
		}
	}
	return append(lines, line)
}

// wordsOf splits a text at blanks; a number keeps its unit.
func wordsOf(s string) []string {
	var out []string
	for word := range strings.SplitSeq(s, " ") {
		if n := len(out) - 1; n >= 0 && units[strings.TrimRight(word, ".,;:)")] && out[n] != "" && out[n][len(out[n])-1] >= '0' && out[n][len(out[n])-1] <= '9' {
			out[n] += " " + word
			continue
		}
		out = append(out, word)
	}
	return out
}

// units follow a number and a blank.
var units = map[string]bool{"%": true, "KB": true, "MB": true, "GB": true, "TB": true, "KiB": true, "MiB": true, "GiB": true, "MHz": true, "GHz": true, "ms": true, "s": true, "min": true, "h": true}

// Cut shortens s to so many columns, with an ellipsis.
func Cut(s string, n int) string {
	switch {
	case Width(s) <= n:
		return s
	case n <= 0:
		return ""
	}
	kept := 0
	for i, r := range s {
		if kept += Width(string(r)); kept >= n {
			return s[:i] + "…"
		}
	}
	return s
}

// fitting returns the beginning of s that fits n columns, at least one letter.
func fitting(s string, n int) string {
	for i, r := range s {
		if n -= Width(string(r)); n < 0 && i > 0 {
			return s[:i]
		}
	}
	return s
}

// Width returns the number of terminal columns of s: none for colour sequences, combining marks and
// control characters, two for wide East Asian characters.
func Width(s string) int {
	n := 0
	for i := 0; i < len(s); {
		if c := s[i]; c >= ' ' && c < 0x7f { // most text
			n++
			i++
			continue
		}
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

// sequence returns the length of the colour sequence at the start of s, ESC [ numbers m; 0 without one.
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

// oneLine replaces line breaks and tabs, so that a cell stays in its row.
var oneLine = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ")

// Package texttab prints tables with aligned columns; it is the only one that
// does. It also holds what text from strangers passes on its way to a terminal.
package texttab

import (
	"io"
	"slices"
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
	// Width is how many columns of a terminal the table may take: cells are wrapped, the
	// widest columns first, until it fits. 0 means no limit.
	Width int
	rows  [][]cell
}

type cell struct{ text, code string }

// least is how narrow a column of words becomes at least.
const least = 8

// Row adds a row. Cells are cleaned: colours come from Paint alone.
func (t *Table) Row(cells ...string) {
	row := make([]cell, len(cells))
	for i, text := range cells {
		row[i].text = Line(text)
	}
	t.rows = append(t.rows, row)
}

// Paint gives a cell of the last row a colour: the numbers of an ANSI sequence,
// such as "1;31".
func (t *Table) Paint(column int, code string) { t.rows[len(t.rows)-1][column].code = code }

// Clean returns s for display: what would move a cursor, hide text or turn its
// direction is replaced, and so is invalid UTF-8. Names come from strangers.
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

// WriteTo prints the table; two blanks stand between columns.
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

// Fits reports whether the table is as narrow as its Width asks.
func (t *Table) Fits() bool {
	all := len(t.Indent) - 2
	for _, n := range t.widths() {
		all += n + 2
	}
	return t.Width == 0 || all <= t.Width
}

// widths returns the width of each column, within the width of the table where that can be:
// no column is narrower than its longest word or, of words only, than least.
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

// Wrap breaks s at blanks into lines of at most n columns; a word that is longer is broken
// where it has to be.
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

// wordsOf returns what stands between blanks; a number keeps its unit.
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

// units are written behind a number and a blank.
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

// fitting returns the beginning of s that fits n columns, a letter at least.
func fitting(s string, n int) string {
	for i, r := range s {
		if n -= Width(string(r)); n < 0 && i > 0 {
			return s[:i]
		}
	}
	return s
}

// Width returns how many columns of a terminal s takes: none for colour sequences,
// combining marks and control characters, two for wide East Asian characters.
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

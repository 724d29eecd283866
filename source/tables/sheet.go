package tables

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// xlsxRows yields the rows of one sheet while its part is decompressed; of the XML it uses only
// rows, cells and their values. An export of 10,000 VMs has 1,500,000 cells, most of them in
// unused columns: these are skipped up to their end tags. If a part ends before its rows, or
// its checksum is wrong, next returns an error.
type xlsxRows struct {
	sheet   string
	xml     scanner
	strings *sharedStrings
	begun   bool   // <sheetData> was read
	row     int    // number of the last row
	wanted  []bool // by column; nil means all
	cells   []string
	text    []byte // of the cells in a row
	spans   []span // place of each cell in text
	close   []byte // end tag of a cell
}

// A span is the text of one cell of a row.
type span struct{ column, from, to int }

// unread replaces the content of a cell in an unused column.
const unread = "…"

// The limits of Excel, for the columns of CSV too: each header is compared with all that are known.
const (
	maxRows    = 1 << 20
	maxColumns = 1 << 14
)

// want sets the columns needed from the next row on; the others are not parsed.
func (x *xlsxRows) want(columns []int) {
	x.wanted = make([]bool, slices.Max(append(columns, 0))+1)
	for _, c := range columns {
		if c >= 0 {
			x.wanted[c] = true
		}
	}
}

// decimal returns the point: numeric cells are stored with it in any locale.
func (x *xlsxRows) decimal() byte { return '.' }

// next returns the next row that is not empty. A sheet that was saved again may contain empty
// rows up to the Excel limit.
func (x *xlsxRows) next() ([]string, int, error) {
	for {
		found, err := x.nextRow()
		if err == nil && found {
			return x.cells, x.row, nil
		}
		if err == io.EOF {
			return nil, 0, io.EOF
		}
		if err != nil {
			return nil, 0, fmt.Errorf("sheet %s: %w", x.sheet, err)
		}
	}
}

// damaged is the error for a sheet without an XML structure of rows.
func (x *xlsxRows) damaged(found []byte) error {
	return fmt.Errorf("damaged workbook: found %s after row %d", quote(strings.ToValidUTF8(string(found), "\uFFFD")), x.row)
}

// strange returns the error for an unexpected tag, or text before it; nil for blanks and
// comments.
func (x *xlsxRows) strange(text []byte, t *tag) error {
	switch {
	case len(bytes.TrimSpace(text)) > 0:
		return x.damaged(text)
	case t.kind != commentTag:
		return x.damaged(append(append([]byte("<"), t.text...), '>'))
	}
	return nil
}

// tag returns the next tag and the text before it. The end of the part is an error.
func (x *xlsxRows) tag() (text []byte, t tag, err error) {
	if text, t, err = x.xml.next(); err == io.EOF {
		err = errCut
	}
	return text, t, err
}

var errCut = errors.New("damaged workbook: the sheet is cut off")

// nextRow reads a row into x.cells. It returns false for a row without values, and io.EOF after
// the last one.
func (x *xlsxRows) nextRow() (found bool, err error) {
	for {
		text, t, err := x.tag()
		switch {
		case err != nil:
			return false, err
		case !x.begun:
			if x.begun = t.kind == sheetTag; x.begun && t.empty {
				return false, x.xml.drain()
			}
		case len(bytes.TrimSpace(text)) > 0:
			return false, x.damaged(text)
		case t.kind == rowTag && !t.end:
			if err := x.number(t.text); err != nil || t.empty {
				return false, err
			}
			return x.readRow(t.text)
		case t.kind == sheetTag && t.end:
			return false, x.xml.drain()
		default:
			if err := x.strange(nil, &t); err != nil {
				return false, err
			}
		}
	}
}

// number sets the row number from the tag; without one it is the previous number plus 1.
func (x *xlsxRows) number(tag []byte) error {
	n := x.row + 1
	if r := attribute(tag, "r"); r != nil {
		var ok bool
		if n, ok = digits(r); !ok || n <= x.row {
			return x.damaged(append([]byte("<"), tag...))
		}
	}
	if n > maxRows {
		return fmt.Errorf("damaged workbook: it has more than %d rows", maxRows)
	}
	x.row = n
	return nil
}

// readRow reads the cells up to the end of the row.
func (x *xlsxRows) readRow(row []byte) (found bool, err error) {
	prefix, _, _ := bytes.Cut(row, []byte("row"))
	x.close = append(append(append(x.close[:0], "</"...), prefix...), "c>"...)
	x.cells, x.text, x.spans = x.cells[:0], x.text[:0], x.spans[:0]
	column := -1
	for {
		text, t, err := x.tag()
		switch {
		case err != nil:
			return false, err
		case len(bytes.TrimSpace(text)) > 0:
			return false, x.damaged(text)
		case t.kind == cellTag && !t.end:
			if column, err = x.column(t.text, column); err != nil {
				return false, err
			}
			if t.empty {
				continue
			}
			if err := x.readCell(t.text, column); err != nil {
				return false, err
			}
		case t.kind == rowTag && t.end:
			return x.finish(), nil
		default:
			if err := x.strange(nil, &t); err != nil {
				return false, err
			}
		}
	}
}

// column returns the column of a cell from its reference, such as AB12; without one it is the
// column after the previous cell.
func (x *xlsxRows) column(tag []byte, before int) (int, error) {
	n := 0
	for _, c := range attribute(tag, "r") {
		if c |= 0x20; c < 'a' || c > 'z' || n > maxColumns {
			break
		}
		n = n*26 + int(c-'a') + 1
	}
	if n == 0 {
		n = before + 2
	}
	if n > maxColumns {
		return 0, x.damaged(append([]byte("<"), tag...))
	}
	return n - 1, nil
}

// readCell reads a cell up to its end.
func (x *xlsxRows) readCell(cell []byte, column int) error {
	if x.wanted != nil && (column >= len(x.wanted) || !x.wanted[column]) {
		x.set(column, unread)
		if !x.xml.skip(x.close) {
			return errCut
		}
		return nil
	}
	shared, from := string(attribute(cell, "t")) == "s", len(x.text)
	var err error
	if x.text, err = x.xml.content(x.text, cellTag); err != nil {
		if err == io.EOF {
			return errCut
		}
		return fmt.Errorf("row %d: %w", x.row, err)
	}
	if len(x.text) == from {
		return nil
	}
	if !shared {
		x.spans = append(x.spans, span{column, from, len(x.text)})
		return nil
	}
	n, ok := digits(bytes.TrimSpace(x.text[from:]))
	if !ok || n >= len(x.strings.ends) {
		return fmt.Errorf("row %d: damaged workbook: found the shared string %s of %d", x.row, quote(string(x.text[from:])), len(x.strings.ends))
	}
	x.set(column, x.strings.at(n))
	x.text = x.text[:from]
	return nil
}

// set stores the text of a cell in the row.
func (x *xlsxRows) set(column int, text string) {
	for len(x.cells) <= column {
		x.cells = append(x.cells, "")
	}
	x.cells[column] = text
}

// finish converts the texts of a row to strings that share one allocation. It reports whether
// any cell has text.
func (x *xlsxRows) finish() bool {
	if !utf8.Valid(x.text) {
		for i := range x.spans {
			s := &x.spans[i]
			x.set(s.column, unescape(strings.ToValidUTF8(string(x.text[s.from:s.to]), "\uFFFD")))
		}
	} else {
		all := string(x.text)
		for _, s := range x.spans {
			x.set(s.column, unescape(all[s.from:s.to]))
		}
	}
	return slices.ContainsFunc(x.cells, func(c string) bool { return c != "" })
}

// sharedStrings are the texts that cells refer to by number.
type sharedStrings struct {
	text string
	ends []uint32
}

func (s *sharedStrings) at(n int) string {
	from := uint32(0)
	if n > 0 {
		from = s.ends[n-1]
	}
	return unescape(s.text[from:s.ends[n]])
}

// readStrings reads the part with the shared strings.
func readStrings(r io.Reader) (*sharedStrings, error) {
	s := &sharedStrings{}
	xml := scanner{r: r}
	var all []byte
	for {
		_, t, err := xml.next()
		if err == nil && t.kind == stringTag && !t.end && !t.empty {
			all, err = xml.content(all, stringTag)
		}
		switch {
		case err == io.EOF:
			return nil, fmt.Errorf("damaged workbook: %s is cut off", stringsPart)
		case err != nil:
			return nil, fmt.Errorf("%s: %w", stringsPart, err)
		case t.kind == stringTag && !t.end:
			s.ends = append(s.ends, uint32(len(all))) // fits: maxPart is smaller
		case t.kind == stringsTag && (t.end || t.empty):
			if err := xml.drain(); err != io.EOF {
				return nil, fmt.Errorf("%s: damaged: %w", stringsPart, err)
			}
			if s.text = string(all); !utf8.ValidString(s.text) {
				return nil, fmt.Errorf("damaged workbook: %s is not UTF-8", stringsPart)
			}
			return s, nil
		}
	}
}

// unescape decodes characters that XML does not allow, which Excel writes as _x000D_.
func unescape(s string) string {
	if !strings.Contains(s, "_x") {
		return s
	}
	var b strings.Builder
	for {
		i := strings.Index(s, "_x")
		if i < 0 || len(s) < i+7 {
			b.WriteString(s)
			return b.String()
		}
		n, err := strconv.ParseUint(s[i+2:i+6], 16, 16)
		if err != nil || s[i+6] != '_' {
			b.WriteString(s[:i+2])
			s = s[i+2:]
			continue
		}
		b.WriteString(s[:i])
		b.WriteRune(rune(n))
		s = s[i+7:]
	}
}

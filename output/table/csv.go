package table

import (
	"bufio"
	"encoding/csv"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CSV writes tables one below the other, according to RFC 4180: commas, CRLF line ends, UTF-8.
// There is no byte order mark, because most programs would make it a part of the first column's
// name; spreadsheets can use XLSX.
//
// A spreadsheet evaluates a cell that begins with = + - or @ as a formula, and names are
// untrusted: see Guard.
func CSV(w io.Writer, tables ...Table) error {
	out := csv.NewWriter(bufio.NewWriterSize(w, 64<<10))
	out.UseCRLF = true
	var record []string
	for _, t := range tables {
		record = record[:0]
		for _, c := range t.Columns {
			record = append(record, Text(c.Name).guarded())
		}
		if err := out.Write(record); err != nil {
			return err
		}
		for row := range t.Rows {
			record = record[:0]
			for _, c := range row {
				record = append(record, c.guarded())
			}
			if err := out.Write(record); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

// guarded returns the cell in the form of a CSV file.
func (c Cell) guarded() string {
	if c.kind == textCell {
		return Guard(c.text)
	}
	return c.String()
}

// Guard adds the prefix ' to a text that a spreadsheet would evaluate as a formula: one that
// begins with = + - or @, also after blanks or in their full-width forms. It also adds ' to a
// text that begins with '. To reverse it, remove one leading ' from every text that has one.
// (OWASP, “CSV Injection”)
func Guard(s string) string {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }))
	if strings.HasPrefix(s, "'") || strings.ContainsRune("=+-@＝＋－＠", first) {
		return "'" + s
	}
	return s
}

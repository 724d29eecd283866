package table

import (
	"bufio"
	"encoding/csv"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CSV writes tables below each other as RFC 4180 describes: commas, lines that end in CRLF,
// UTF-8. There is no byte order mark: it would become part of the first column's name in
// most programs, and XLSX is there for spreadsheets.
//
// A spreadsheet runs a cell that begins with = + - or @ as a formula, and names
// come from strangers: Guard says what is done about it.
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

// guarded returns the cell as it stands in a CSV file.
func (c Cell) guarded() string {
	if c.kind == textCell {
		return Guard(c.text)
	}
	return c.String()
}

// Guard puts ' in front of a text that a spreadsheet would run as a formula, that
// is one that begins with = + - or @, also after blanks and in their full-width
// forms, and of one that itself begins with '. To reverse it, remove one leading '
// from every text that has one. (OWASP, “CSV Injection”)
func Guard(s string) string {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }))
	if strings.HasPrefix(s, "'") || strings.ContainsRune("=+-@＝＋－＠", first) {
		return "'" + s
	}
	return s
}

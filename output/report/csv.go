package report

import (
	"bufio"
	"encoding/csv"
	"io"
	"strings"
	"unicode"
)

// CSV writes a table as RFC 4180 describes: commas, lines that end in CRLF, UTF-8.
// There is no byte order mark: it would become part of the first column's name in
// most programs, and who opens the table in a spreadsheet has XLSX for that.
//
// A spreadsheet takes a cell that begins with = + - or @ for a formula, and names
// come from strangers: Guard says what is done about it.
func CSV(w io.Writer, t Table) error {
	b := bufio.NewWriterSize(w, 64<<10)
	out := csv.NewWriter(b)
	out.UseCRLF = true
	record := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		record[i] = c.Name
	}
	if err := out.Write(record); err != nil {
		return err
	}
	for row := range t.Rows {
		for i, c := range row {
			record[i] = c.String()
			if _, number := c.Number(); !number {
				record[i] = Guard(record[i])
			}
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return err
	}
	return b.Flush()
}

// Guard puts ' in front of a text that a spreadsheet would take for a formula, that
// is one that begins with = + - or @, also after blanks and in their full-width
// forms, and of one that itself begins with '. To reverse it, remove one leading '
// from every text that has one. (OWASP, “CSV Injection”)
func Guard(s string) string {
	rest := strings.TrimLeftFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
	if strings.HasPrefix(s, "'") || startsFormula(rest) {
		return "'" + s
	}
	return s
}

func startsFormula(s string) bool {
	for _, r := range s {
		return strings.ContainsRune("=+-@＝＋－＠", r)
	}
	return false
}

// Package xlsx writes tables as one Excel workbook in the style of an RVTools export: a sheet per topic, a frozen header with a filter, numbers as
// numbers, True and False as text, memory in MB. The parts follow ECMA-376, 5th edition, part 1 (SpreadsheetML) and part 2 (packages); tests read them
// with excelize.
package xlsx

import (
	"archive/zip"
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"example.org/homenode/internal/texttab"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/output/table"
)

// sheetName returns the name of a table's sheet: "Findings", "VMs".
func sheetName(table string) string {
	if table == "vms" {
		return "VMs"
	}
	if table == "" {
		return "Sheet"
	}
	return texttab.Cut(strings.ToUpper(table[:1])+table[1:], 31) // Excel's limit
}

const (
	head     = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	ns       = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
	office   = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	packages = "http://schemas.openxmlformats.org/package/2006"
	part     = "application/vnd.openxmlformats-officedocument.spreadsheetml."
	// styles has the styles of cells: 0 is the default, 1 the header, 2 a time in UTC.
	styles = head + `<styleSheet xmlns="` + ns + `"><numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd\ hh:mm:ss"/></numFmts>` +
		`<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>` +
		`<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders>` +
		`<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="3"><xf xfId="0"/><xf xfId="0" fontId="1" applyFont="1" applyAlignment="1"><alignment vertical="top"/></xf>` +
		`<xf xfId="0" numFmtId="164" applyNumberFormat="1"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`
)

// Write writes the tables as a workbook with one sheet per table. It streams the rows, and the output is deterministic. Texts are inline strings, which
// Excel never evaluates as formulas.
func Write(w io.Writer, tables []table.Table) error {
	z := &book{zip: zip.NewWriter(w)}
	var types, sheets, rels, names strings.Builder
	for i, t := range tables {
		n, name := strconv.Itoa(i+1), escaped(sheetName(t.Name))
		types.WriteString(`<Override PartName="/xl/worksheets/sheet` + n + `.xml" ContentType="` + part + `worksheet+xml"/>`)
		sheets.WriteString(`<sheet name="` + name + `" sheetId="` + n + `" r:id="rId` + n + `"/>`)
		rels.WriteString(`<Relationship Id="rId` + n + `" Type="` + office + `/worksheet" Target="worksheets/sheet` + n + `.xml"/>`)
		names.WriteString(`<definedName name="_xlnm._FilterDatabase" localSheetId="` + strconv.Itoa(i) + `" hidden="1">'` + name + `'!$A$1:$` + column(len(t.Columns)) + `$` + strconv.Itoa(t.Len+1) + `</definedName>`)
	}
	// Parts are ordered by name; some readers expect the content types first.
	z.text("[Content_Types].xml", `<Types xmlns="`+packages+`/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>`+
		`<Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="`+part+`sheet.main+xml"/>`+
		`<Override PartName="/xl/styles.xml" ContentType="`+part+`styles+xml"/>`+types.String()+`</Types>`)
	z.text("_rels/.rels", `<Relationships xmlns="`+packages+`/relationships"><Relationship Id="rId1" Type="`+office+`/officeDocument" Target="xl/workbook.xml"/></Relationships>`)
	z.text("xl/_rels/workbook.xml.rels", `<Relationships xmlns="`+packages+`/relationships">`+rels.String()+
		`<Relationship Id="rId`+strconv.Itoa(len(tables)+1)+`" Type="`+office+`/styles" Target="styles.xml"/></Relationships>`)
	z.text("xl/styles.xml", strings.TrimPrefix(styles, head))
	z.text("xl/workbook.xml", `<workbook xmlns="`+ns+`" xmlns:r="`+office+`"><sheets>`+sheets.String()+`</sheets><definedNames>`+names.String()+`</definedNames></workbook>`)
	for i, t := range tables {
		if err := z.sheet("xl/worksheets/sheet"+strconv.Itoa(i+1)+".xml", t); err != nil {
			return fmt.Errorf("sheet %s: %w", sheetName(t.Name), err)
		}
	}
	if z.err != nil {
		return z.err
	}
	return z.zip.Close()
}

// A book writes the parts of a workbook until the first error.
type book struct {
	zip *zip.Writer
	err error
}

// text writes a part.
func (z *book) text(name, text string) {
	var w io.Writer
	if z.err == nil {
		w, z.err = z.zip.Create(name)
	}
	if z.err == nil {
		_, z.err = io.WriteString(w, head+text)
	}
}

// sheet writes the part of a table.
func (z *book) sheet(name string, t table.Table) error {
	if z.err != nil {
		return z.err
	}
	if t.Len >= mostRows {
		return fmt.Errorf("found %d rows, want at most %d below the header: write CSV instead", t.Len, mostRows-1)
	}
	part, err := z.zip.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(part, 64<<10)
	last := column(len(t.Columns)) + strconv.Itoa(t.Len+1)
	fmt.Fprintf(w, head+`<worksheet xmlns="%s"><dimension ref="A1:%s"/><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols>`, ns, last)
	for i, c := range t.Columns {
		fmt.Fprintf(w, `<col min="%d" max="%[1]d" width="%d" customWidth="1"/>`, i+1, c.Width+2) // 2 more for the filter button
	}
	_, _ = w.WriteString(`</cols><sheetData><row r="1">`) // Flush returns a write error
	for i, c := range t.Columns {
		inline(w, column(i+1)+"1", 1, c.Name)
	}
	_, _ = w.WriteString("</row>")
	row := 1
	for cells := range t.Rows {
		row++
		n := strconv.Itoa(row)
		_, _ = w.WriteString(`<row r="` + n + `">`)
		for i, c := range cells {
			writeCell(w, column(i+1)+n, c)
		}
		_, _ = w.WriteString("</row>")
	}
	if row != t.Len+1 {
		return fmt.Errorf("found %d rows, the table announced %d", row-1, t.Len)
	}
	fmt.Fprintf(w, `</sheetData><autoFilter ref="A1:%s"/></worksheet>`, last)
	return w.Flush()
}

// column returns the name of column n, from 1: A, Z, AA.
func column(n int) string {
	name := ""
	for ; n > 0; n = (n - 1) / 26 {
		name = string(rune('A'+(n-1)%26)) + name
	}
	return name
}

// epoch is day 0 of Excel's dates, valid from March 1900 on.
var epoch = time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)

// writeCell writes a cell: a number, a time as a date, a text, or nothing for unknown.
func writeCell(w *bufio.Writer, at string, c table.Cell) {
	if t, ok := c.Time(); ok {
		days := float64(t.Unix()-epoch.Unix())/86400 + float64(t.Nanosecond())/86400e9
		_, _ = w.WriteString(`<c r="` + at + `" s="2"><v>` + strconv.FormatFloat(days, 'f', -1, 64) + `</v></c>`)
		return
	}
	if n, ok := c.Number(); ok {
		_, _ = w.WriteString(`<c r="` + at + `"><v>` + strconv.FormatFloat(n, 'f', -1, 64) + `</v></c>`)
		return
	}
	if s := c.String(); s != "" {
		inline(w, at, 0, short(s))
	}
}

// inline writes a text with a style.
func inline(w *bufio.Writer, at string, style int, s string) {
	_, _ = w.WriteString(`<c r="` + at + `" s="` + strconv.Itoa(style) + `" t="inlineStr"><is><t xml:space="preserve">` + escaped(s) + `</t></is></c>`)
}

// escape matches a text that begins with an Excel escape sequence, such as _x000D_.
var escape = pattern.Of(`^_x[0-9A-Fa-f]{4}_`)

// escaped escapes s for the XML of a part.
func escaped(s string) string {
	var b strings.Builder
	for i := strings.Index(s, "_x"); i >= 0; i = strings.Index(s, "_x") {
		_ = xml.EscapeText(&b, []byte(s[:i])) // writing to a Builder never fails
		if escape.MatchString(s[i:]) {
			b.WriteString("_x005F")
		}
		b.WriteByte('_')
		s = s[i+1:]
	}
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}

// mostRows limits the rows of a sheet, mostUnits the UTF-16 units of a cell (Excel specifications and limits, Microsoft, 2026).
const mostRows, mostUnits = 1 << 20, 32767

// short truncates s to mostUnits.
func short(s string) string {
	const mark = " …"
	if len(s) <= mostUnits { // no text has more UTF-16 units than bytes
		return s
	}
	units := 0
	for i, r := range s {
		if units += utf16.RuneLen(r); units > mostUnits {
			rest := []rune(s[:i])
			return strings.TrimRight(string(rest[:len(rest)-len(mark)]), " ") + mark
		}
	}
	return s
}

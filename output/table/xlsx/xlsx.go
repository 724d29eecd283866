// Package xlsx writes tables as one Excel workbook, with the habits of an RVTools export:
// a sheet for each topic, a frozen header with a filter, numbers as numbers, True and
// False as text, memory in MiB. It is apart from package table so that programs that
// write CSV alone do not link excelize.
package xlsx

import (
	"errors"
	"fmt"

	"io"
	"strings"
	"unicode/utf16"

	"github.com/xuri/excelize/v2"

	"homenode/internal/texttab"
	"homenode/output/table"
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

// Write writes the tables as a workbook, a sheet each. Rows are streamed: of a
// large sheet excelize keeps 16 MB in memory and the rest in a temporary file.
// The same tables give the same bytes. Texts are never formulas: they are written
// as inline strings.
func Write(w io.Writer, tables []table.Table) (err error) {
	f := excelize.NewFile()
	defer func() { err = errors.Join(err, f.Close()) }() // removes the temporary files
	header, err := f.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true}, Alignment: &excelize.Alignment{Vertical: "top"}})
	if err != nil {
		return err
	}
	format := dateFormat
	date, err := f.NewStyle(&excelize.Style{CustomNumFmt: &format})
	if err != nil {
		return err
	}
	for i, t := range tables {
		name := sheetName(t.Name)

		if i == 0 {
			err = f.SetSheetName("Sheet1", name)
		} else {
			_, err = f.NewSheet(name)
		}
		if err == nil {
			err = writeSheet(f, name, t, header, date)
		}
		if err != nil {
			return fmt.Errorf("sheet %s: %w", name, err)
		}
	}
	f.SetZipWriter(func(w io.Writer) excelize.ZipWriter { return newSortedZip(w) })
	return f.Write(w)
}

func writeSheet(f *excelize.File, name string, t table.Table, header, date int) error {
	last, err := excelize.CoordinatesToCellName(len(t.Columns), t.Len+1)
	if err != nil {
		return err
	}
	// Before the stream begins: it writes the filter that the sheet then has.
	if err := f.AutoFilter(name, "A1:"+last, nil); err != nil {
		return err
	}
	s, err := f.NewStreamWriter(name)
	if err != nil {
		return err
	}
	for i, c := range t.Columns {
		if err := s.SetColWidth(i+1, i+1, float64(c.Width)+2); err != nil { // 2: the button of the filter
			return err
		}
	}
	if err := s.SetPanes(&excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"}); err != nil {
		return err
	}
	cells := make([]any, len(t.Columns))
	for i, c := range t.Columns {
		cells[i] = excelize.Cell{StyleID: header, Value: c.Name}
	}
	if err := s.SetRow("A1", cells); err != nil {
		return err
	}
	row := 1
	for r := range t.Rows {
		row++
		for i, c := range r {
			cells[i] = valueOf(c, date)
		}
		if err := s.SetRow(fmt.Sprintf("A%d", row), cells); err != nil {
			return err
		}
	}
	if row != t.Len+1 {
		return fmt.Errorf("has %d rows, said %d", row-1, t.Len)
	}
	return s.Flush()
}

// dateFormat shows times, which are UTC.
const dateFormat = "yyyy-mm-dd hh:mm:ss"

// valueOf returns what excelize writes for a cell, a time in the style date; nothing for
// unknown.
func valueOf(c table.Cell, date int) any {
	if t, ok := c.Time(); ok {
		return excelize.Cell{StyleID: date, Value: t}
	}
	if n, ok := c.Number(); ok {
		return n
	}
	if s := c.String(); s != "" {
		return short(s)
	}
	return nil
}

// short cuts s to what a cell can hold, in the UTF-16 units that Excel counts.
func short(s string) string {
	const mark = " …"
	if len(s) <= excelize.TotalCellChars { // no text has more units than bytes
		return s
	}
	units := 0
	for i, r := range s {
		if units += utf16.RuneLen(r); units > excelize.TotalCellChars {
			rest := []rune(s[:i])
			return strings.TrimRight(string(rest[:len(rest)-len(mark)]), " ") + mark
		}
	}
	return s
}

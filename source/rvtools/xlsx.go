package rvtools

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"

	"homenode/numa"
)

// The parts of a workbook that are read besides its sheets.
const (
	workbookPart     = "xl/workbook.xml"
	workbookRelsPart = "xl/_rels/workbook.xml.rels"
	stringsPart      = "xl/sharedStrings.xml"
)

// rootRels tells excelize where the workbook is.
const rootRels = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
	`<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="` + workbookPart + `"/>` +
	`</Relationships>`

// readWorkbook reads the .xlsx in zr. excelize loads every part of a workbook,
// mistakes a damaged part for a short one and spills large ones to disk. So it is
// given a workbook with the few sheets that are needed, each verified before,
// and xlsxRows checks that it read to the end.
func readWorkbook(file, base string, zr *zip.Reader) (*numa.Fleet, error) {
	parts := map[string]*zip.File{}
	for _, f := range zr.File {
		parts[strings.ToLower(zipName(f))] = f
	}
	names, targets, err := sheetParts(parts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	keep := []string{workbookPart, workbookRelsPart, stringsPart}
	for _, s := range columns {
		if target := targets[strings.ToLower(s.name)]; target != "" {
			keep = append(keep, target)
		}
	}
	small, err := repack(parts, keep)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	book, err := excelize.OpenReader(small, excelize.Options{
		RawCellValue:      true, // 2048 in any number format of the cell
		UnzipSizeLimit:    maxTotal,
		UnzipXMLSizeLimit: maxTotal, // never spill to disk
	})
	if err != nil {
		return nil, fmt.Errorf("%s: damaged workbook: %w", file, err)
	}
	defer book.Close()
	x := &export{path: file, base: base, sheets: names, open: map[string]openSheet{}}
	for _, name := range names {
		target := targets[strings.ToLower(name)]
		x.open[strings.ToLower(name)] = func() (rowReader, error) { return newXLSXRows(book, name, target) }
	}
	return x.fleet()
}

// sheetParts returns the names of the sheets and, by name in lower case, the
// parts that hold them.
func sheetParts(parts map[string]*zip.File) (names []string, targets map[string]string, err error) {
	var book struct {
		Sheets []struct {
			Name string `xml:"name,attr"`
			ID   string `xml:"id,attr"`
		} `xml:"sheets>sheet"`
	}
	var rels struct {
		Relationships []struct {
			ID     string `xml:"Id,attr"`
			Target string `xml:"Target,attr"`
		} `xml:"Relationship"`
	}
	if err := decodePart(parts, workbookPart, &book); err != nil {
		return nil, nil, err
	}
	if err := decodePart(parts, workbookRelsPart, &rels); err != nil {
		return nil, nil, err
	}
	byID := map[string]string{}
	for _, r := range rels.Relationships {
		target := strings.TrimPrefix(r.Target, "/")
		if target == r.Target { // relative to the workbook
			target = path.Join(path.Dir(workbookPart), target)
		}
		byID[r.ID] = target
	}
	targets = map[string]string{}
	for _, s := range book.Sheets {
		key := strings.ToLower(s.Name)
		if _, ok := targets[key]; ok {
			return nil, nil, fmt.Errorf("damaged workbook: it holds sheet %s twice", s.Name)
		}
		names = append(names, s.Name)
		targets[key] = byID[s.ID]
	}
	return names, targets, nil
}

func decodePart(parts map[string]*zip.File, name string, v any) error {
	f := parts[strings.ToLower(name)]
	if f == nil {
		return fmt.Errorf("damaged workbook: no %s", name)
	}
	b, err := unpack(f)
	if err != nil {
		return err
	}
	if err := xml.Unmarshal(b, v); err != nil {
		return fmt.Errorf("damaged workbook: %s: %w", name, err)
	}
	return nil
}

// repack returns a zip of the named parts, those that exist, after it has
// verified their sizes and checksums.
func repack(parts map[string]*zip.File, keep []string) (*bytes.Buffer, error) {
	var b bytes.Buffer
	var total uint64
	w := zip.NewWriter(&b)
	root, err := w.Create("_rels/.rels")
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(root, rootRels); err != nil {
		return nil, err
	}
	for _, name := range keep {
		f := parts[strings.ToLower(name)]
		if f == nil {
			continue // excelize has defaults; a missing sheet is noticed by its reader
		}
		if total += f.UncompressedSize64; total > maxTotal {
			return nil, fmt.Errorf("the workbook unpacks to more than %v: refused", numa.Bytes(maxTotal))
		}
		if err := unpackTo(io.Discard, f); err != nil {
			return nil, err
		}
		if err := w.Copy(f); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return &b, w.Close()
}

// xlsxRows yields the rows of one sheet up to the last one with a value; a
// saved-again sheet can go on with empty rows to 1,048,576.
type xlsxRows struct {
	sheet string
	rows  *excelize.Rows
	row   int
	last  int // the last row with a value; 0 when not known
}

func newXLSXRows(book *excelize.File, sheet, part string) (*xlsxRows, error) {
	content, _ := book.Pkg.Load(part)
	b, ok := content.([]byte)
	if !ok {
		return nil, fmt.Errorf("sheet %s: damaged workbook: no part %q", sheet, part)
	}
	last, err := lastRow(b)
	if err != nil {
		return nil, fmt.Errorf("sheet %s: %w", sheet, err)
	}
	rows, err := book.Rows(sheet)
	if err != nil {
		return nil, fmt.Errorf("sheet %s: %w", sheet, err)
	}
	return &xlsxRows{sheet: sheet, rows: rows, last: last}, nil
}

// next returns the next row that is not empty.
func (x *xlsxRows) next() ([]string, int, error) {
	for x.last == 0 || x.row < x.last {
		if !x.rows.Next() {
			if err := x.rows.Error(); err != nil {
				return nil, 0, fmt.Errorf("sheet %s, row %d: %w", x.sheet, x.row+1, err)
			}
			if x.row < x.last {
				return nil, 0, fmt.Errorf("sheet %s is damaged after row %d: its last value is in row %d", x.sheet, x.row, x.last)
			}
			break
		}
		x.row++
		cells, err := x.rows.Columns()
		if err != nil {
			return nil, 0, fmt.Errorf("sheet %s, row %d: %w", x.sheet, x.row, err)
		}
		if len(cells) > 0 {
			return cells, x.row, nil
		}
	}
	return nil, 0, io.EOF
}

// decimal returns the point: a numeric cell is stored with one in any locale.
func (x *xlsxRows) decimal() byte { return '.' }

const noRow = -1 // no row has a value

// lastRow returns the number of the last row with a value in the XML of a sheet,
// noRow when there is none, or 0 when the rows are not numbered. XML that ends before its rows do is an
// error.
func lastRow(b []byte) (int, error) {
	end := bytes.LastIndex(b, []byte("sheetData>"))
	if end < 0 && bytes.Contains(b, []byte("sheetData/>")) {
		return noRow, nil
	}
	if open := bytes.LastIndexByte(b[:max(end, 0)], '<'); open < 0 || b[open+1] != '/' {
		return 0, fmt.Errorf("damaged workbook: the sheet is cut off")
	}
	b = b[:end]
	// A value ends in </v> or </is>, maybe with a name space before the v.
	value := max(bytes.LastIndex(b, []byte("v>")), bytes.LastIndex(b, []byte("is>")))
	if value < 0 {
		return noRow, nil
	}
	b = b[:value]
	for {
		i := bytes.LastIndex(b, []byte("row "))
		if i < 0 {
			return 0, nil
		}
		tag := b[i:]
		b = b[:i]
		if open := bytes.LastIndexByte(b, '<'); open >= 0 && (open == i-1 || b[i-1] == ':' && !bytes.ContainsAny(b[open+1:], " />")) {
			tag, _, _ = bytes.Cut(tag, []byte(">"))
			_, r, ok := bytes.Cut(tag, []byte(` r="`))
			if !ok {
				return 0, nil
			}
			r, _, _ = bytes.Cut(r, []byte(`"`))
			n, err := strconv.Atoi(string(r))
			if err != nil || n < 1 {
				return 0, nil
			}
			return n, nil
		}
	}
}

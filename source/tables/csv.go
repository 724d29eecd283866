package tables

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"homenode/internal/bounded"
	"homenode/numa"
)

// A csvFile is one sheet of a CSV export.
type csvFile struct {
	name string // with folders, for messages
	read func() ([]byte, error)
}

// csvName matches RVTools_tabvInfo.csv; merge tools drop the prefix.
var csvName = regexp.MustCompile(`(?i)^(?:rvtools_)?(?:tab)?(d?v[a-z_]+)\.csv$`)

// csvSheet returns the sheet that the CSV file of this name holds.
func csvSheet(base string) (sheet string, ok bool) {
	m := csvName.FindStringSubmatch(base)
	if m == nil {
		return "", false
	}
	return m[1], true
}

// folderCSVs lists the CSVs of an export in folder.
func folderCSVs(folder string) ([]csvFile, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var files []csvFile
	for _, e := range entries {
		if _, ok := csvSheet(e.Name()); !ok || e.IsDir() {
			continue
		}
		files = append(files, csvFile{e.Name(), func() ([]byte, error) {
			return bounded.File(filepath.Join(folder, e.Name()), maxPart)
		}})
	}
	return files, nil
}

// readCSVs reads an export of CSV files. Errors name the export as file, notes
// and origins as base.
func readCSVs(file, base string, files []csvFile) (*numa.Fleet, error) {
	x := &export{path: file, base: base, open: map[string]openSheet{}}
	seen := map[string]string{}
	for _, f := range files {
		sheet, ok := csvSheet(path.Base(f.name))
		if !ok {
			continue
		}
		key := strings.ToLower(sheet)
		if first, ok := seen[key]; ok {
			return nil, fmt.Errorf("%s: holds sheet %s twice, in %s and %s: read one export at a time", file, sheet, first, f.name)
		}
		seen[key] = f.name
		x.sheets = append(x.sheets, sheet)
		x.open[key] = func() (rowReader, error) {
			b, err := f.read()
			if err != nil {
				return nil, err
			}
			return newCSVRows(path.Base(f.name), b)
		}
	}
	return x.fleet()
}

// csvRows yields the rows of one CSV.
type csvRows struct {
	file  string
	r     *csv.Reader
	row   int
	point byte
}

// newCSVRows returns the rows of the CSV in b, which it may change. RVTools
// writes the list separator and the encoding of the Windows it runs on.
func newCSVRows(file string, b []byte) (*csvRows, error) {
	b, _, err := transform.Bytes(unicode.BOMOverride(encoding.Nop.NewDecoder()), b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if i := bytes.IndexByte(b, 0); i >= 0 {
		line := 1 + bytes.Count(b[:i], []byte("\n"))
		col := i - bytes.LastIndexByte(b[:i], '\n')
		return nil, &numa.SyntaxError{File: file, Line: line, Col: col, Msg: "found a NUL byte, want text: save as UTF-8, or as UTF-16 with a byte order mark"}
	}
	if bytes.IndexByte(b, '\n') < 0 { // lines end in a bare CR
		b = bytes.ReplaceAll(b, []byte("\r"), []byte("\n"))
	}
	r := csv.NewReader(bytes.NewReader(b))
	r.Comma = separator(b)
	r.FieldsPerRecord = -1 // a short or long row is still a row
	r.ReuseRecord = true
	point := byte('.')
	if r.Comma == ';' {
		point = ','
	}
	return &csvRows{file: file, r: r, point: point}, nil
}

// separator returns the character that stands most often between the headers.
func separator(b []byte) rune {
	header, _, _ := bytes.Cut(b, []byte("\n"))
	counts := map[byte]int{}
	quoted := false
	for _, c := range header {
		if c == '"' {
			quoted = !quoted
		} else if !quoted {
			counts[c]++
		}
	}
	best := byte(',')
	for _, c := range []byte{';', '\t'} {
		if counts[c] > counts[best] {
			best = c
		}
	}
	return rune(best)
}

// next returns the next row. A row whose fields hold line breaks counts as one;
// lines without anything do not count.
func (c *csvRows) next() ([]string, int, error) {
	cells, err := c.r.Read()
	if err == io.EOF {
		return nil, 0, io.EOF
	}
	if err != nil {
		return nil, 0, c.syntaxError(err)
	}
	c.row++
	for i, s := range cells {
		if !utf8.ValidString(s) {
			cells[i] = strings.ToValidUTF8(s, "\uFFFD")
		}
	}
	return cells, c.row, nil
}

func (c *csvRows) decimal() byte { return c.point }

// want changes nothing: a row is cut into its fields to find its end.
func (c *csvRows) want([]int) {}

func (c *csvRows) syntaxError(err error) error {
	var p *csv.ParseError
	if !errors.As(err, &p) {
		return fmt.Errorf("%s: %w", c.file, err)
	}
	switch {
	case p.Err == csv.ErrBareQuote:
		return &numa.SyntaxError{File: c.file, Line: p.Line, Col: p.Column, Msg: `found a " inside a field without quotes, want it doubled in a quoted field`}
	case p.Err == csv.ErrQuote && p.StartLine != p.Line:
		return &numa.SyntaxError{File: c.file, Line: p.Line, Col: p.Column, Msg: fmt.Sprintf(`a " is not closed: the row starts on line %d`, p.StartLine)}
	case p.Err == csv.ErrQuote:
		return &numa.SyntaxError{File: c.file, Line: p.Line, Col: p.Column, Msg: `found a lone " in a quoted field, want it doubled or followed by a separator`}
	}
	return &numa.SyntaxError{File: c.file, Line: p.Line, Col: p.Column, Msg: p.Err.Error()}
}

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
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"homenode/internal/bounded"
	"homenode/numa"
	"homenode/numa/pattern"
	"homenode/source/text"
)

// A file is one file with tables.
type file struct {
	at   string // its path, for messages
	name string // with folders
	read func() ([]byte, error)
}

// sheetName matches RVTools_tabvInfo, which is how RVTools names the file of a sheet, and inside some workbooks the sheet.
var sheetName = pattern.Of(`(?i)^(rvtools_tab|rvtools_|tab)?(d?v[a-z_]+)`)

// rvtoolsSheet returns the sheet of RVTools that a sheet or a file goes by, and whether no other program names it so.
func rvtoolsSheet(base string) (sheet string, sure bool) {
	m := sheetName.FindStringSubmatch(base)
	if m == nil {
		return "", false
	}
	return m[2], m[1] != ""
}

// isTable reports whether a file with this name may hold tables.
func isTable(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".csv", ".tsv", ".json":
		return !Passing(name)
	}
	return false
}

// folderFiles lists the files of a folder that may hold tables. Of an export of RVTools only its own count.
func folderFiles(folder string) ([]file, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var files []file
	for _, e := range entries {
		if e.Type().IsRegular() && isTable(e.Name()) { // a pipe may have no end
			files = append(files, file{filepath.Join(folder, e.Name()), e.Name(), func() ([]byte, error) { return tableIn(filepath.Join(folder, e.Name())) }})
		}
	}
	return ofRVTools(files), nil
}

// ofRVTools returns the files that RVTools wrote; all when there are none.
func ofRVTools(files []file) []file {
	var own []file
	for _, f := range files {
		if _, sure := rvtoolsSheet(path.Base(f.name)); sure {
			own = append(own, f)
		}
	}
	if own != nil {
		return own
	}
	return files
}

// sheets returns the tables of a file. alone says that it is the only one of its export.
func (f *file) sheets(alone bool) ([]*sheet, error) {
	base := path.Base(f.name)
	at := base
	if alone {
		at = ""
	}
	b, err := f.read()
	if err != nil {
		return nil, err
	}
	if isJSON(b) || len(bytes.TrimSpace(b)) == 0 && strings.EqualFold(path.Ext(base), ".json") {
		return f.ofJSON(base, at, b)
	}
	open := func() (rowReader, error) {
		b, err := f.read()
		if err != nil {
			return nil, err
		}
		return newCSVRows(base, b)
	}
	s := &sheet{file: f.at, name: base, at: at, open: open}
	name, sure := rvtoolsSheet(strings.TrimSuffix(base, path.Ext(base)))
	if k := kindNamed(name); sure {
		if s.name, s.at, s.kind = name, name, k; k != nil {
			s.at = k.name
		}
		return []*sheet{s}, nil
	}
	return []*sheet{s}, s.recognise(kindNamed(name))
}

// isJSON reports whether a text begins as JSON, whatever its file is called.
func isJSON(b []byte) bool {
	b, err := decoded(b[:min(len(b), text.HeadSize)])
	b = bytes.TrimLeft(b, " \t\r\n")
	return err == nil && len(b) > 0 && (b[0] == '{' || b[0] == '[')
}

// recognise reads the header of a sheet to tell its kind; named is the one that its name means.
func (s *sheet) recognise(named *kind) error {
	rows, err := s.open()
	if err != nil {
		return err
	}
	if s.header, err = headerOf(rows, named); err != nil {
		return err
	}
	s.header = slices.Clone(s.header)
	if named != nil && !named.generic() {
		if at, _ := named.places(s.header); at[named.columns[0].id()].index >= 0 {
			s.name, s.at, s.kind = named.name, named.name, named
			return nil
		}
	}
	if s.kind = kindOf(s.header); s.kind != nil && !s.kind.generic() {
		s.at = s.kind.name
	}
	return nil
}

// readFiles reads an export of several files. Errors name the export as path, notes and origins as base.
func readFiles(path, base string, files []file) (*numa.Fleet, error) {
	x := &export{path: path, base: base, several: len(files) > 1}
	seen := map[string]string{}
	for _, f := range files {
		sheets, err := f.sheets(len(files) == 1)
		if err = x.damaged(f.at, err); err != nil {
			return nil, err
		}
		for _, s := range sheets {
			if s.kind != nil && !s.kind.generic() {
				if first, ok := seen[s.kind.name]; ok {
					return nil, fmt.Errorf("%s: holds sheet %s twice, in %s and %s: read one export at a time", path, s.name, first, f.name)
				}
				seen[s.kind.name] = f.name
			}
		}
		x.sheets = append(x.sheets, sheets...)
	}
	return x.fleet()
}

// csvRows yields the rows of one CSV.
type csvRows struct {
	file  string
	r     *csv.Reader
	row   int
	point byte

	ansi bool  // it was no UTF-8
	size int64 // where a last row ends that has no line end; -1 when it has one
	last int   // fields of the last row
	cut  error // says that the last row seems to be cut off
}

// newCSVRows returns the rows of the CSV in b, which it may change. RVTools
// writes the list separator and the encoding of the Windows it runs on.
func newCSVRows(file string, b []byte) (*csvRows, error) {
	if err := shortLines(file, bytes.NewReader(b)); err != nil { // before it is copied
		return nil, err
	}
	b, err := decoded(b)
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
	ansi := !utf8.Valid(b)
	if ansi {
		if b, err = charmap.Windows1252.NewDecoder().Bytes(b); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	b = bytes.TrimRight(b, "\x1a") // an end of DOS
	comma := rune(0)
	var skipped int
	for { // what Excel and Export-Csv of PowerShell 5 put before the header
		line, rest, _ := bytes.Cut(b, []byte("\n"))
		line = bytes.TrimSpace(line)
		if len(line) == len("sep=;") && bytes.EqualFold(line[:4], []byte("sep=")) {
			comma = rune(line[4])
		} else if !bytes.HasPrefix(line, []byte("#TYPE ")) {
			break
		}
		b, skipped = rest, skipped+1
	}
	size := int64(len(b))
	if bytes.HasSuffix(bytes.TrimRight(b, " \t"), []byte("\n")) {
		size = -1
	}
	r := csv.NewReader(bytes.NewReader(b))
	if r.Comma = comma; comma != ';' && comma != ',' && comma != '|' {
		r.Comma = separator(b)
	}
	r.TrimLeadingSpace = r.Comma != '\t' // "a", "b"
	r.FieldsPerRecord = -1               // a short or long row is still a row
	r.ReuseRecord = true
	point := byte('.')
	if r.Comma == ';' {
		point = ','
	}
	return &csvRows{file: file, r: r, row: skipped, point: point, ansi: ansi, size: size}, nil
}

// decoded returns a text as UTF-8 that a byte order mark says to be another Unicode.
func decoded(b []byte) ([]byte, error) {
	b, _, err := transform.Bytes(unicode.BOMOverride(encoding.Nop.NewDecoder()), b)
	return b, err
}

// separator returns what divides the headers, which may stand below a title.
func separator(b []byte) rune {
	rest := b
	for range maxTitle {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		if r := separatorOf(line); kindOf(strings.Split(string(line), string(r))) != nil {
			return r
		}
	}
	return separatorOf(b)
}

// mostLine bounds a line of a CSV file, in bytes.
const mostLine = 32 << 20

// shortLines returns an error for a line of the CSV in r that is too long. Lines end in LF, CR or both.
func shortLines(file string, r io.Reader) error {
	b := make([]byte, 64<<10)
	long, feeds, returns := 0, 0, 0
	for {
		n, err := r.Read(b)
		for _, c := range b[:n] {
			switch long++; c {
			case '\n':
				long, feeds = 0, feeds+1
			case '\r':
				long, returns = 0, returns+1
			}
			if long > mostLine {
				return &numa.SyntaxError{File: file, Line: 1 + max(feeds, returns), Msg: fmt.Sprintf("found a line of more than %d MB", mostLine>>20)}
			}
		}
		if err != nil {
			return nil // whoever reads it says it
		}
	}
}

// tableIn returns the contents of a file with a table. A CSV file with a line that is too long is refused before it is in memory.
func tableIn(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && info.Mode().IsRegular() && info.Size() > mostLine && !isJSONFile(path) {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		if err := errors.Join(shortLines(path, f), f.Close()); err != nil {
			return nil, err
		}
	}
	return bounded.File(path, maxPart)
}

// isJSONFile reports whether a file begins as JSON.
func isJSONFile(path string) bool {
	b, err := head(path)
	return err == nil && isJSON(b)
}

// separatorOf returns the character that stands most often between the headers of the first line.
func separatorOf(b []byte) rune {
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
	for _, c := range []byte{';', '\t', '|'} {
		if counts[c] > counts[best] {
			best = c
		}
	}
	return rune(best)
}

// next returns the next row. A row whose fields hold line breaks counts as one;
// lines without anything do not count. Where the file ends in a row, its last field is unknown.
func (c *csvRows) next() ([]string, int, error) {
	cells, err := c.r.Read()
	if err == io.EOF {
		return nil, 0, io.EOF
	}
	if err != nil {
		return nil, 0, c.syntaxError(err)
	}
	c.row++
	if c.r.InputOffset() == c.size && len(cells) < c.last {
		line, _ := c.r.FieldPos(0)
		c.cut = cutOff{&numa.SyntaxError{File: c.file, Line: line, Msg: fmt.Sprintf("the last row has %d fields, the row before it %d, and no line end: the file seems to be cut off", len(cells), c.last)}}
		cells[len(cells)-1] = ""
	}
	c.last = len(cells)
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

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
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"example.org/homenode/internal/bounded"
	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/text"
)

// A file is one file that contains tables.
type file struct {
	at   string // its path, for messages
	name string // including folders
	read func() ([]byte, error)
}

// sheetName matches RVTools_tabvInfo, the name that RVTools gives to the file of a sheet and, in some workbooks, to the sheet.
var sheetName = pattern.Of(`(?i)^(rvtools_tab|rvtools_|tab)?(d?v[a-z_]+)`)

// rvtoolsSheet returns the RVTools sheet that a sheet or file name stands for; sure means that only RVTools uses such names. People
// append to the name: RVTools_tabvInfo_vc01.
func rvtoolsSheet(base string) (sheet string, sure bool) {
	m := sheetName.FindStringSubmatch(strings.TrimSpace(base))
	if m == nil {
		return "", false
	}
	sheet, _, _ = strings.Cut(m[2], "_")
	return sheet, m[1] != ""
}

// isTable reports whether a file with this name may contain tables.
func isTable(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".csv", ".tsv", ".json":
		return !Passing(name)
	}
	return false
}

// folderFiles lists the files of a folder that may contain tables. If there are files of an RVTools export, it returns only those.
func folderFiles(folder string) ([]file, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var files []file
	for _, e := range entries {
		if e.Type().IsRegular() && isTable(e.Name()) { // reading a pipe may never end
			files = append(files, file{filepath.Join(folder, e.Name()), e.Name(), func() ([]byte, error) { return tableIn(filepath.Join(folder, e.Name())) }})
		}
	}
	return ofRVTools(files), nil
}

// ofRVTools returns the RVTools files, or all files if there are none.
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

// sheets returns the tables of a file. alone means that it is the only file of its export.
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
	switch k := kindNamed(name); {
	case sure && k != nil:
		s.name, s.at, s.kind = name, k.name, k
	case sure && s.recognise(nil) != nil: // it is damaged, and not needed according to its name
		s.kind = nil
	case !sure:
		return []*sheet{s}, s.recognise(k)
	}
	return []*sheet{s}, nil
}

// isJSON reports whether a text begins as JSON, regardless of the file name.
func isJSON(b []byte) bool {
	b, err := decoded(b[:min(len(b), text.HeadSize)])
	b = bytes.TrimLeft(b, " \t\r\n")
	return err == nil && len(b) > 0 && (b[0] == '{' || b[0] == '[')
}

// recognise reads the header of a sheet to determine its kind; named is the kind according to its name.
func (s *sheet) recognise(named *kind) error {
	rows, err := s.open()
	if err != nil {
		return err
	}
	if s.header, s.below, err = headerOf(rows, named); err != nil {
		return err
	}
	s.kind = kindOf(s.header)
	if named != nil && !named.generic() {
		at, _ := named.places(s.header)
		other := s.kind != nil && s.kind.generic() && named.name != "vInfo" && s.kind.matches(s.header) > named.matches(s.header) // a person named it so
		if at[named.columns[0].id()].index >= 0 && !other {
			s.name, s.at, s.kind = named.name, named.name, named
			return nil
		}
	}
	if s.kind != nil && !s.kind.generic() {
		s.at = s.kind.name
	}
	return nil
}

// readFiles reads an export of several files. Errors contain path, notes and origins contain base.
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
					return nil, &Unknown{path, fmt.Sprintf("the sheet %s twice, in %s and %s: put the files of each export into a folder of their own, and name the folders", s.kind.name, first, f.name)}
				}
				seen[s.kind.name] = f.name
			}
		}
		x.sheets = append(x.sheets, sheets...)
	}
	return x.fleet()
}

// csvRows yields the rows of a CSV file.
type csvRows struct {
	file  string
	r     *csv.Reader
	row   int
	point byte

	ansi bool  // it was not UTF-8
	size int64 // offset of the end of a last row without a line end; -1 if it has one
	last int   // number of fields in the last row
	cut  error // not nil if the last row seems to be truncated
}

// newCSVRows returns the rows of the CSV data in b, which it may modify. RVTools uses the list separator and the encoding of its
// Windows.
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
	if bytes.IndexByte(b, '\n') < 0 { // line ends are bare CR
		b = bytes.ReplaceAll(b, []byte("\r"), []byte("\n"))
	}
	ansi := !utf8.Valid(b)
	if ansi {
		if b, err = charmap.Windows1252.NewDecoder().Bytes(b); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	b = bytes.TrimRight(b, "\x1a") // a DOS end-of-file character
	comma := rune(0)
	var skipped int
	for { // lines that Excel and Export-Csv of PowerShell 5 write before the header
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
	if err := fewColumns(file, b, r.Comma); err != nil {
		return nil, err
	}
	r.TrimLeadingSpace = r.Comma != '\t' // "a", "b"
	r.FieldsPerRecord = -1               // a short or long row is accepted
	r.ReuseRecord = true
	point := byte('.')
	if r.Comma == ';' {
		point = ','
	}
	return &csvRows{file: file, r: r, row: skipped, point: point, ansi: ansi, size: size}, nil
}

// decoded converts a text with the byte order mark of another Unicode encoding to UTF-8.
func decoded(b []byte) ([]byte, error) {
	b, _, err := transform.Bytes(unicode.BOMOverride(encoding.Nop.NewDecoder()), b)
	return b, err
}

// separators are the characters that may separate cells.
const separators = ",;\t|"

// separator returns the character that separates the headers, which may be below a title: the one that gives most columns of a kind, since programs
// write a | inside their headers too.
func separator(b []byte) rune {
	rest := b
	for i := 0; i < maxTitle && len(rest) > 0; i++ { // an archive may have a million empty files
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		best, most := rune(0), 0
		for _, r := range separators {
			if n := bytes.Count(line, []byte(string(r))); n == 0 || n >= maxColumns {
				continue
			}
			header := strings.Split(string(line), string(r))
			if k := kindOf(header); k != nil && k.matches(header) > most {
				best, most = r, k.matches(header)
			}
		}
		if best != 0 {
			return best
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

// fewColumns returns an error for a row of more columns than a table has, before it is split into cells.
func fewColumns(file string, b []byte, comma rune) error {
	quoted, cells, line := false, 1, 1
	for _, c := range b {
		switch {
		case c == '"':
			quoted = !quoted
		case c == '\n':
			line++
			if !quoted {
				cells = 1
			}
		case rune(c) == comma && !quoted:
			if cells++; cells > maxColumns {
				return &numa.SyntaxError{File: file, Line: line, Msg: fmt.Sprintf("found a row of more than %d columns", maxColumns)}
			}
		}
	}
	return nil
}

// tableIn returns the contents of a file with a table. A CSV file with a line that is too long is refused before it is in memory.
func tableIn(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && info.Mode().IsRegular() && info.Size() > mostLine && !isJSON(bounded.Head(path, text.HeadSize)) {
		f, err := bounded.Open(path)
		if err != nil {
			return nil, err
		}
		if err := errors.Join(shortLines(path, f), f.Close()); err != nil {
			return nil, err
		}
	}
	return bounded.File(path, maxPart)
}

// separatorOf returns the most frequent separator in the first line that has one.
func separatorOf(b []byte) rune {
	header, rest, more := bytes.Cut(b, []byte("\n"))
	for more && !bytes.ContainsAny(header, separators) {
		header, rest, more = bytes.Cut(rest, []byte("\n"))
	}
	var counts [256]int
	quoted := false
	for _, c := range header {
		if c == '"' {
			quoted = !quoted
		} else if !quoted {
			counts[c]++
		}
	}
	best := byte(',')
	for _, c := range []byte(separators) {
		inside := c == '|' && counts[best] > 0 && header[0] != '|' && !bytes.Contains(header, []byte("| ")) // of the names of Aria Operations
		if counts[c] > counts[best] && !inside {
			best = c
		}
	}
	return rune(best)
}

// next returns the next row. A row with line breaks in its fields counts as one; empty lines do not count. If the file ends within a
// row, its last field is unknown.
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

// want does nothing: a row has to be split into its fields to find its end.
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

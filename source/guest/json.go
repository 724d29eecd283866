package guest

import (
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"

	"homenode/source/text"
)

// jsonSection reads lscpu -J and lscpu -e -J. It gathers the lines until the braces
// close; what follows may be another output.
type jsonSection struct {
	v       *View
	json    strings.Builder
	starts  []int // where each line begins in json
	nesting text.Nesting
	done    bool
}

// take gathers a line. The blanks before it are lost, so that columns are counted
// anew: see place.
func (s *jsonSection) take(l text.Line) bool {
	if s.done {
		return l.Text == ""
	}
	s.starts = append(s.starts, s.json.Len())
	s.json.WriteString(strings.Repeat(" ", l.Col-1))
	s.json.WriteString(l.Text)
	s.json.WriteByte('\n')
	s.nesting.Add(l.Text)
	s.done = s.nesting.Depth <= 0
	return true
}

func (s *jsonSection) again(text.Line) bool { return s.done }

// A field is one entry of lscpu -J; the children came with util-linux 2.37.
type field struct {
	Field    string
	Data     *string
	Children []field
}

func (s *jsonSection) end() {
	var doc struct {
		Lscpu []field
		CPUs  []map[string]any
	}
	d := json.NewDecoder(strings.NewReader(s.json.String()))
	if err := d.Decode(&doc); err != nil {
		s.damaged(err)
		return
	}
	if doc.CPUs != nil {
		s.v.Form, s.v.file.Format = LscpuRows, LscpuRows
		s.rows(doc.CPUs)
		return
	}
	if doc.Lscpu == nil {
		s.v.file.Warn(s.v.Line, 0, `found neither "lscpu" nor "cpus"`)
		return
	}
	keys := &lscpu{v: s.v}
	s.fields(keys, doc.Lscpu, 0)
	keys.end()
}

// damaged says where and how the JSON is not lscpu's.
func (s *jsonSection) damaged(err error) {
	offset, what := s.json.Len()-1, err.Error()
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = int(syntax.Offset) - 1
	case errors.As(err, &wrong):
		offset, what = int(wrong.Offset)-1, "found a "+wrong.Value
	}
	n, col := s.place(max(offset, 0))
	s.v.file.Warn(n, col, "not JSON as lscpu writes it: %s", what)
}

// fields reads entries and their children. A value is looked for in the text after
// the value before it, to know its place; from is where to look.
func (s *jsonSection) fields(keys *lscpu, fields []field, from int) int {
	for _, f := range fields {
		key := strings.TrimSuffix(f.Field, ":")
		l := text.Line{}
		if f.Data != nil {
			l.Text = *f.Data
		}
		from = s.after(from, quoted(f.Field))
		if f.Data != nil {
			from = s.after(from, quoted(*f.Data))
			l.N, l.Col = s.place(from - len(quoted(*f.Data)) + 1)
		} else {
			l.N, l.Col = s.place(from)
		}
		keys.field(key, l.After(0))
		from = s.fields(keys, f.Children, from)
	}
	return from
}

// rows reads lscpu -e -J: one object a CPU, keys named for the columns.
func (s *jsonSection) rows(cpus []map[string]any) {
	from := 0
	for _, row := range cpus {
		from = s.after(from, "{")
		names := make([]string, 0, len(row))
		for name := range row {
			names = append(names, name)
		}
		sort.Strings(names)
		n, _ := s.place(from)
		cells := make([]text.Line, len(names))
		for i, name := range names {
			cells[i] = text.Line{N: n}
			if row[name] != nil {
				cells[i].Text = fmt.Sprint(row[name])
			}
		}
		if len(cells) > 0 {
			s.v.row(names, cells)
		}
		from = s.after(from, "}")
	}
	s.v.fromCPUs()
}

// after returns the place in the text after the next what, or from when there is
// none: lscpu escapes in its own way.
func (s *jsonSection) after(from int, what string) int {
	if i := strings.Index(s.json.String()[from:], what); i >= 0 {
		return from + i + len(what)
	}
	return from
}

func quoted(s string) string { return `"` + s + `"` }

// place returns the line and column of an offset in the text.
func (s *jsonSection) place(offset int) (n, col int) {
	i := max(sort.SearchInts(s.starts, offset+1)-1, 0)
	return s.v.Line + i, max(offset-s.starts[i], 0) + 1
}

package guest

import (
	"strings"

	"example.org/homenode/source/jsontree"
	"example.org/homenode/source/text"
)

// jsonSection reads lscpu -J and lscpu -e -J. It collects the lines up to the closing brace;
// another output may follow.
type jsonSection struct {
	v       *View
	lines   []text.Line
	nesting text.Nesting
	done    bool
}

func (s *jsonSection) take(l text.Line) bool {
	if s.done {
		return l.Text == ""
	}
	s.lines = append(s.lines, l)
	s.nesting.Add(l.Text)
	s.done = s.nesting.Depth <= 0
	return true
}

func (s *jsonSection) again(text.Line) bool { return s.done }

func (s *jsonSection) end() {
	doc, err := jsontree.Lines(s.lines)
	cpus, keys := doc.At("cpus"), doc.At("lscpu")
	switch {
	case err != nil:
		s.v.file.Warn(err.Line, err.Col, "not JSON as lscpu writes it: %s", err.Msg)
	case cpus.Kind == jsontree.List:
		s.v.Form, s.v.file.Format = LscpuRows, LscpuRows
		s.rows(cpus.List())
	case keys.Kind == jsontree.List:
		l := &lscpu{v: s.v}
		s.fields(l, keys.List())
		l.end()
	default:
		s.v.file.Warn(s.v.Line, 0, `found neither "lscpu" nor "cpus"`)
	}
}

// fields reads entries of lscpu -J; their children came with util-linux 2.37.
func (s *jsonSection) fields(keys *lscpu, fields []*jsontree.Value) {
	for _, f := range fields {
		name := f.At("field")
		if name.Kind != jsontree.String {
			s.v.file.Warn(f.Line, f.Col, `not JSON as lscpu writes it: found no "field" with a name`)
			continue
		}
		data := f.At("data")
		if data.Kind == 0 {
			data = name // name of a group
		}
		l := data.Cell()
		if data == name {
			l.Text = ""
		}
		keys.field(strings.TrimSuffix(name.Text, ":"), l.After(0))
		s.fields(keys, f.At("children").List())
	}
}

// rows reads lscpu -e -J: one object for each CPU, with the column names as keys.
func (s *jsonSection) rows(cpus []*jsontree.Value) {
	for _, row := range cpus {
		cells := make([]text.Line, len(row.Keys))
		for i, value := range row.List() {
			cells[i] = value.Cell()
		}
		if len(cells) > 0 {
			s.v.row(row.Keys, cells)
		}
	}
	s.v.fromCPUs()
}

package fetchstats

import (
	"bytes"
	"fmt"
	"slices"
)

// A schema is one CounterInfo: the fields of each type of row, which differ by release.
type schema struct {
	line  int
	types map[string][]field
	at    map[string]map[string]int // by type: the index of a field
}

// A field is one "name,type" of CounterInfo.
type field struct {
	name string
	kind string
}

// kinds are the types of fields. CSTR is one of a few constant words, STR is free.
var kinds = []string{"U32", "U64", "S32", "S64", "B", "STR", "CSTR"}

// needed are the required fields of an answer.
var needed = map[string][]string{
	"Server":     {"TimeStampInUsec", "Time"},
	"SchedGroup": {"GroupID", "IsVM", "VMName"},
}

// schemaRow parses "|Type|name,ctype|…|"; false for any other line.
func schemaRow(line []byte) (name string, fields []field, ok bool) {
	if i := bytes.IndexByte(line, ','); i < 0 || bytes.Count(line[:i], []byte("|")) != 2 {
		return "", nil, false // most rows end here
	}
	cells := cut(line, nil)
	if len(cells) < 2 {
		return "", nil, false
	}
	for _, c := range cells[1:] {
		i := bytes.LastIndexByte(c, ',')
		if i <= 0 || !slices.Contains(kinds, string(c[i+1:])) {
			return "", nil, false
		}
		fields = append(fields, field{string(c[:i]), string(c[i+1:])})
	}
	return string(cells[0]), fields, true
}

// add adds one line of the CounterInfo.
func (s *schema) add(name string, fields []field) {
	if s.types == nil {
		s.types, s.at = map[string][]field{}, map[string]map[string]int{}
	}
	at := map[string]int{}
	for i, f := range fields {
		at[f.name] = i
	}
	s.types[name], s.at[name] = fields, at
}

// lacks returns a missing type or field that every answer needs; empty when all are present.
func (s *schema) lacks() string {
	for _, name := range []string{"Server", "SchedGroup"} {
		for _, f := range needed[name] {
			if _, ok := s.at[name][f]; !ok {
				return name + "." + f
			}
		}
	}
	return ""
}

// same reports whether both schemas are equal.
func (s *schema) same(other *schema) bool {
	if len(s.types) != len(other.types) {
		return false
	}
	for name, fields := range s.types {
		if !slices.Equal(fields, other.types[name]) {
			return false
		}
	}
	return true
}

// misfit explains why the rows cannot be of this schema; empty when they can. Rows without free
// text have exactly its fields; a name can contain the field separator.
func (s *schema) misfit(rows []row) string {
	for _, r := range rows {
		fields, known := s.types[r.name]
		n := bytes.Count(r.text, []byte("|")) - 1
		if bytes.HasSuffix(r.text, []byte("|")) {
			n--
		}
		free := slices.ContainsFunc(fields, func(f field) bool { return f.kind == "STR" })
		switch {
		case !known:
			return fmt.Sprintf("line %d: found a row %s, which CounterInfo does not have", r.line, r.name)
		case n != len(fields) && !(free && n > len(fields)):
			return fmt.Sprintf("line %d: found a row %s of %d fields, CounterInfo has %d", r.line, r.name, n, len(fields))
		}
	}
	return ""
}

// cut splits "|a|b|" into a and b, reusing cells. The last | is optional.
func cut(line []byte, cells [][]byte) [][]byte {
	cells = cells[:0]
	if len(line) == 0 || line[0] != '|' {
		return cells
	}
	rest := line[1:]
	for {
		i := bytes.IndexByte(rest, '|')
		if i < 0 {
			if len(rest) > 0 {
				cells = append(cells, rest)
			}
			return cells
		}
		cells, rest = append(cells, rest[:i]), rest[i+1:]
	}
}

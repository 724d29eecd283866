package tables

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"homenode/internal/alike"
	"homenode/numa"
)

// A rowReader yields the rows of one sheet, the header being the first.
type rowReader interface {
	// next returns the cells of the next row, valid until the next call, and its
	// number from 1, or io.EOF.
	next() (cells []string, row int, err error)
	// want says which columns of the following rows are needed; of others the text does not matter.
	want(columns []int)
	// decimal returns the decimal point of numbers in the sheet, '.' or ','.
	decimal() byte
}

// openSheet opens one sheet of an export.
type openSheet func() (rowReader, error)

// maxCell is the most characters a cell of Excel holds; more is damage.
const maxCell = 32767

// A table is one sheet with its columns found.
type table struct {
	sheet   string
	notes   *notes
	rows    rowReader
	at      map[string]place // by the name of the column
	headers []string         // all of the first row

	cells   []string
	row     int
	where   string // "vCPU row 14 ", the beginning of each origin
	subject string // whom the row is about, "host esx14", for notes
	err     error
}

// A place is where a column of a sheet stands.
type place struct {
	index  int    // in a row; -1 for a column that the sheet lacks
	header string // as the file spells it, quoted
}

// newTable reads the header of a sheet.
func newTable(sheet string, rows rowReader, n *notes) (*table, error) {
	t := &table{sheet: sheet, notes: n, rows: rows, at: map[string]place{}}
	for _, c := range columnsOf(sheet) {
		t.at[c.names[0]] = place{index: -1}
	}
	header, _, err := rows.next()
	if err == io.EOF {
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	at := map[string][]int{}
	for i, h := range header {
		at[normal(h)] = append(at[normal(h)], i)
	}
	t.headers = slices.Clone(header)
	for _, c := range columnsOf(sheet) {
		for _, name := range c.names {
			found := at[normal(name)]
			if len(found) == 0 {
				continue
			}
			i, which := found[0], "first"
			if c.last {
				i, which = found[len(found)-1], "last"
			}
			quoted := `"` + strings.TrimSpace(header[i]) + `"`
			t.at[c.names[0]] = place{i, quoted}
			if len(found) > 1 {
				n.add("sheet "+sheet, fmt.Sprintf("column %s stands %d times: the %s is read", quoted, len(found), which))
			}
			break
		}
	}
	var wanted []int
	for _, p := range t.at {
		wanted = append(wanted, p.index)
	}
	rows.want(wanted)
	return t, nil
}

// place returns where a column of the mapping stands.
func (t *table) place(name string) place {
	p, ok := t.at[name]
	if !ok {
		panic("rvtools: no column " + name + " for sheet " + t.sheet)
	}
	return p
}

// has reports whether the sheet has the column.
func (t *table) has(name string) bool { return t.place(name).index >= 0 }

// noteMissing notes which facts are unknown because their columns are missing.
func (t *table) noteMissing() {
	var names, facts []string
	for _, c := range columnsOf(t.sheet) {
		if c.fact != "" && !t.has(c.names[0]) {
			names = append(names, strconv.Quote(c.names[0]))
			facts = append(facts, c.fact)
		}
	}
	if names != nil {
		t.notes.add("sheet "+t.sheet, fmt.Sprintf("no column %s: unknown for all: %s", strings.Join(names, ", "), strings.Join(facts, ", ")))
		if t.sheet == "vHost" && !t.has("ESX Version") {
			t.notes.add("sheet vHost", "no column states the release, unknown for all hosts: no VM is judged without it; release=8.0U3 in --assume-host can")
		}
	}
}

// alike returns the headers that may be meant by a missing column, quoted, for the end of
// a note; those of columns that are read are none.
func (t *table) alike(names []string) string {
	var free []string
	read := map[string]bool{}
	for _, p := range t.at {
		read[p.header] = true
	}
	for _, h := range t.headers {
		if h = strings.TrimSpace(h); len(h) <= maxHeader && !read[`"`+h+`"`] {
			free = append(free, h)
		}
	}
	for _, name := range names {
		for _, word := range []string{name, strings.TrimSuffix(name, "s")} {
			if found := alike.Names(word, free); len(word) > 2 && found != nil {
				return "; alike: " + quote(found[0])
			}
		}
	}
	return ""
}

// maxHeader is the length of the longest header that can be a misspelt one.
const maxHeader = 60

// scan advances to the next row with any content.
func (t *table) scan() bool {
	for t.err == nil {
		t.cells, t.row, t.err = t.rows.next()
		for _, c := range t.cells {
			if c != "" {
				t.where = t.sheet + " row " + strconv.Itoa(t.row) + " "
				t.subject = ""
				return true
			}
		}
	}
	return false
}

// done returns the error that ended the rows, if any.
func (t *table) done() error {
	if t.err == io.EOF {
		return nil
	}
	return t.err
}

// text returns the trimmed content of a column, "" when there is none.
func (t *table) text(f string) string {
	i := t.place(f).index
	if i < 0 || i >= len(t.cells) {
		return ""
	}
	s := t.cells[i]
	if len(s) > maxCell {
		t.bad(f, fmt.Sprintf("found a text of %d bytes, want at most %d", len(s), maxCell))
		return ""
	}
	// Cells of a row share memory with all others; what is kept is cut out.
	return strings.Clone(strings.TrimSpace(s))
}

// bad notes a cell that is not what it should be.
func (t *table) bad(f string, what string) {
	subject := t.subject
	if subject == "" {
		subject = "the row"
	}
	t.notes.cell(t.sheet, t.row, t.place(f).header, what+": ignored for "+subject)
}

// stringFact returns the text of a column as a fact.
func (t *table) stringFact(f string) numa.Fact[string] {
	s := t.text(f)
	if s == "" {
		return numa.Fact[string]{}
	}
	return numa.ReadAt(s, t.where+t.place(f).header)
}

// intFact returns a whole number from least to most. An empty cell and -1 are
// missing values.
func (t *table) intFact(f string, least, most int64) numa.Fact[int64] {
	s := t.text(f)
	if s == "" || s == "-1" {
		return numa.Fact[int64]{}
	}
	n, ok := parseInt(s, t.rows.decimal())
	switch {
	case !ok:
		t.bad(f, "found "+quote(s)+", want a number")
	case n < least || n > most:
		t.bad(f, fmt.Sprintf("found %s, want %d to %d", quote(s), least, most))
	default:
		return numa.ReadAt(n, t.where+t.place(f).header)
	}
	return numa.Fact[int64]{}
}

// count returns a number of things, up to most.
func (t *table) count(f string, most int64) numa.Fact[int] {
	n := t.intFact(f, 1, most)
	return numa.Fact[int]{Value: int(n.Value), Origin: n.Origin}
}

// bytes returns an amount of memory, which RVTools gives in MiB; headers of 3.x
// say MB and mean the same.
func (t *table) bytes(f string, least, most numa.Bytes) numa.Fact[numa.Bytes] {
	n := t.intFact(f, int64(least/numa.MiB), int64(most/numa.MiB))
	return numa.Fact[numa.Bytes]{Value: numa.Bytes(n.Value) * numa.MiB, Origin: n.Origin}
}

// boolFact returns True or False.
func (t *table) boolFact(f string) numa.Fact[bool] {
	s := t.text(f)
	if s == "" {
		return numa.Fact[bool]{}
	}
	v, ok := parseBool(s)
	if !ok {
		t.bad(f, "found "+quote(s)+", want True or False")
		return numa.Fact[bool]{}
	}
	return numa.ReadAt(v, t.where+t.place(f).header)
}

// vcenter returns the key of the vCenter that the row comes from, "" if unknown.
func (t *table) vcenter() string {
	if id := t.text("VI SDK UUID"); id != "" {
		return strings.ToLower(id)
	}
	return strings.ToLower(t.text("VI SDK Server"))
}

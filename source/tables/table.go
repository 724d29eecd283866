package tables

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/homenode/internal/alike"
	"example.org/homenode/internal/outside"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
)

// A rowReader yields the rows of one sheet; the first is the header.
type rowReader interface {
	// next returns the cells of the next row, valid until the next call, and its number from 1, or io.EOF.
	next() (cells []string, row int, err error)
	// want sets the columns needed from the following rows; the text of others is undefined.
	want(columns []int)
	// decimal returns the decimal point of numbers in the sheet, '.' or ','.
	decimal() byte
}

// openSheet opens one sheet of an export.
type openSheet func() (rowReader, error)

// A sheet is one table of an export.
type sheet struct {
	file   string // its path, for messages; empty for a sheet of a workbook
	name   string // as spelled in the file
	at     string // name of the sheet in notes and origins: "vCPU"; empty for the only table of a file
	kind   *kind
	header []string // the row that looks most like a header
	below  int      // its number; 0 if it was not read
	found  string   // description of a sheet of another kind, for a message
	part   bool     // it adds facts to VMs of other tables, and has none of its own
	open   openSheet
}

// place returns the name of the sheet in notes.
func (s *sheet) place() string {
	if s.at == "" || s.kind == nil || kindNamed(s.at) == nil && strings.Contains(s.at, ".") {
		return s.at
	}
	return "sheet " + s.at
}

// maxCell is the maximum number of characters in an Excel cell; a longer one means damage.
const maxCell = 32767

// A table is one sheet with its columns identified.
type table struct {
	*sheet
	notes   *notes
	rows    rowReader
	columns map[string]place // by column ID
	headers []string         // the complete header

	cells   []string
	points  map[string]byte // decimal points, by column and separator
	mixed   map[string]bool // whether numbers of a column contradict each other, by column
	row     int
	where   string // "vCPU row 14 ", the prefix of each origin
	subject string // object of the row, "host esx14", for notes
	short   tally  // rows of a CSV with fewer fields than headers
	long    tally  // rows with more, whose values are below wrong headers
	shifted bool   // the current row is in short or long
	again   tally  // rows that are the header again, as in files that were joined
	another tally  // rows that are another header
	err     error
}

// A place is the place of a column in a sheet.
type place struct {
	index  int    // in a row; -1 if the sheet lacks the column
	header string // as spelled in the file, quoted
	unit   string // of amounts; empty if neither a header nor a rule defines it
}

// newTable reads the header of a sheet.
func newTable(s *sheet, rows rowReader, n *notes) (*table, error) {
	t := &table{sheet: s, notes: n, rows: rows}
	header, err := s.headerIn(rows)
	if err != nil {
		return nil, err
	}
	t.headers = header
	var repeated map[string]int
	t.columns, repeated = s.kind.places(header)
	if !t.has("ESX Version") && t.has("version") {
		t.columns["ESX Version"] = t.columns["version"]
	}
	if of := inMegabytes(header, t.place("Memory")); of != "" && s.kind.name == vmTable.name {
		fact := outside.Of(of)
		n.add(s.place(), "column "+t.place("Memory").header+" has no unit: "+fact.Cite(time.Time{}))
	}
	if cores := t.place(coresKey); cores.index >= 0 && !t.has("CPUs") {
		if t.has("Sockets") {
			n.add(s.place(), "column "+cores.header+" beside sockets may be the cores of a VM or of a socket: not read")
		} else {
			t.columns["CPUs"] = cores
		}
	}
	if hot := t.place("CPU hot add"); s.kind.generic() && squash(hot.header) == "hotadd" && t.has("Memory") && !t.has("CPUs") && !t.has("Sockets") && !t.has("Cores p/s") {
		t.columns["memory hot add"], t.columns["CPU hot add"] = hot, place{index: -1}
	}
	for i := range s.kind.columns {
		c := &s.kind.columns[i]
		if k := repeated[c.id()]; k > 0 {
			which := "first"
			if c.last {
				which = "last"
			}
			n.add(s.place(), fmt.Sprintf("column %s stands %d times: the %s is read", t.columns[c.id()].header, k+1, which))
		}
	}
	one, many := "column is not", "columns are not"
	if _, ok := rows.(*jsonRows); ok {
		one, many = "key is not", "keys are not"
	}
	if names := s.kind.unknown(header); s.kind.generic() && names != nil && !slices.ContainsFunc(header, func(h string) bool { return strings.EqualFold(h, "self.value") }) { // a whole API object has hundreds
		n.add(s.place(), fmt.Sprintf("%s understood, and so not read: %s", words.Verb(len(names), one, many), words.Few(names)))
	}
	t.wantColumns()
	return t, nil
}

// wantColumns tells the rows which columns are read.
func (t *table) wantColumns() {
	var wanted []int
	for _, p := range t.columns {
		wanted = append(wanted, p.index)
	}
	t.rows.want(wanted)
}

// maxTitle is the maximum number of title rows above the header.
const maxTitle = 10

// headerIn reads the rows up to the header.
func (s *sheet) headerIn(rows rowReader) (header []string, err error) {
	if header = s.header; s.below == 0 {
		header, _, err = headerOf(rows, s.kind)
	}
	for row := 0; row < s.below && err == nil; {
		_, row, err = rows.next()
	}
	return header, err
}

// headerOf returns the header and its row: the first or, below a title or the names of groups, the first that matches. A sheet without rows has none.
func headerOf(rows rowReader, k *kind) (first []string, at int, err error) {
	var above []string
	found := false // a header that may be the names of groups above another one
	for range maxTitle {
		cells, row, err := rows.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, 0, err
		}
		if found && strings.ContainsAny(strings.Join(cells, ""), "0123456789") {
			break // it is data
		}
		header := slices.Clone(cells)
		grouped, apart := below(above, header)
		if of := kindOf(grouped); apart || of != nil && of.matches(grouped) > of.matches(header) {
			header = grouped
		}
		matches := apart || kindOf(header) != nil || k != nil && k.matches(header) > 0
		if matches && (found || k != nil || !slices.Contains(header, "")) {
			return header, row, nil
		}
		if above = header; matches || first == nil || k == nil && !found && len(header) > len(first) {
			first, at, found = header, row, matches
		}
	}
	return first, at, nil
}

// below returns a header with the names of the groups above it where both together are known: Count below CPU is CPU Count. Names that stand several times,
// and those of a host beside a VM, get them too; apart reports whether there are such.
func below(above, header []string) (joined []string, apart bool) {
	joined = slices.Clone(header)
	group, groups, times, ofVMs := "", 0, map[string]int{}, namesVM(above)
	for _, h := range header {
		times[squash(h)]++
	}
	for i := range min(len(above), len(header)) {
		if name := strings.TrimSpace(above[i]); name != "" {
			group, groups = name, groups+1
		}
		both, several := group+" "+header[i], times[squash(header[i])] > 1 || ofVMs && squash(group) == "host"
		if header[i] != "" && (several || vmTable.knows(both) || hostTable.knows(both) && !vmTable.knows(header[i])) {
			joined[i], apart = both, apart || several
		}
	}
	return joined, apart && groups > 1 && slices.Contains(above, "") && (vmTable.identifies(joined) || hostTable.identifies(joined))
}

// place returns the place of a column.
func (t *table) place(name string) place {
	p, ok := t.columns[name]
	if !ok {
		p.index = -1 // not a column of this kind
	}
	return p
}

// has reports whether the sheet has the column.
func (t *table) has(name string) bool { return t.place(name).index >= 0 }

// derives reports whether the columns of a table state a fact without a column of its own.
func (t *table) derives(id string) bool {
	of := map[string][]string{"CPUs": {"Sockets", "Cores p/s"}, "Cores p/s": {"CPUs", "Sockets"}, "# Cores": {"# CPU", "Cores per CPU"}}[id]
	return of != nil && !slices.ContainsFunc(of, func(id string) bool { return !t.has(id) })
}

// noteMissing adds notes about the facts that are unknown because all of the tables lack their columns.
func (n *notes) noteMissing(tables []*table) {
	i := slices.IndexFunc(tables, func(t *table) bool { return t.kind.generic() })
	if len(tables) == 0 {
		return
	}
	t := tables[max(i, 0)]
	var names, facts []string
	for i := range t.kind.columns {
		c := &t.kind.columns[i]
		states := func(t *table) bool { return t.has(c.id()) || t.derives(c.id()) }
		if c.fact != "" && !slices.ContainsFunc(tables, states) {
			names = append(names, strconv.Quote(c.title()))
			facts = append(facts, c.fact)
		}
	}
	if names == nil {
		return
	}
	text := "no column " + strings.Join(names, ", ") + ": unknown for all: " + strings.Join(facts, ", ")
	if t.kind.generic() {
		text = "no column states, and so unknown for all: " + strings.Join(facts, ", ")
	}
	place := ""
	if !t.kind.generic() {
		place = "sheet " + t.kind.name // of several sheets, one note
	} else if len(tables) == 1 {
		place = t.sheet.place()
	}
	n.add(place, text)
	if slices.Contains(facts, "release and build") {
		n.add(place, "no column states the release, unknown for all hosts: no VM is judged without it; --assume-host can")
	}
}

// alike returns the headers that may be misspellings of a missing column, quoted, for the end of a note. Columns that are read are
// excluded.
func (t *table) alike(name string) string {
	var free []string
	read := map[string]bool{}
	for _, p := range t.columns {
		read[p.header] = true
	}
	for _, h := range t.headers {
		if h = strings.TrimSpace(h); len(h) <= maxHeader && !read[`"`+h+`"`] {
			free = append(free, h)
		}
	}
	for _, word := range []string{name, strings.TrimSuffix(name, "s")} {
		if found := alike.Names(word, free); len(word) > 2 && found != nil {
			return "; alike: " + quote(found[0])
		}
	}
	return ""
}

// maxHeader is the maximum length of a header that can be a misspelling.
const maxHeader = 60

// scan advances to the next row that is neither empty nor a header.
func (t *table) scan() bool {
	for t.err == nil {
		t.cells, t.row, t.err = t.rows.next()
		if !slices.ContainsFunc(t.cells, func(c string) bool { return c != "" }) || t.headerRow() {
			continue
		}
		t.where, t.subject = strings.TrimPrefix(t.at+" row "+strconv.Itoa(t.row)+" ", " "), ""
		if _, ok := t.rows.(*csvRows); ok {
			t.measure()
		}
		if p, ok := t.rows.(interface{ place() string }); ok {
			t.where = p.place()
		}
		return true
	}
	return false
}

// headerRow reports whether the current row is the header again, or another one: below it, the columns are those that it names. People join files and
// copy sheets below each other.
func (t *table) headerRow() bool {
	cell := func(i int) string { return strings.TrimSpace(t.cells[i]) }
	key := t.place(t.kind.columns[0].id()).index
	if _, ok := t.rows.(*jsonRows); ok || key < 0 || key >= len(t.cells) || len(t.headers) < 2 || !strings.EqualFold(cell(key), strings.TrimSpace(t.headers[key])) {
		return t.otherTable()
	}
	which, same := "row "+strconv.Itoa(t.row), 0
	for _, p := range t.columns {
		if p.index >= 0 && p.index < len(t.cells) && cell(p.index) == strings.TrimSpace(t.headers[p.index]) {
			same++
		}
	}
	if same == t.kind.matches(t.headers) {
		t.again.add(which)
		return true
	}
	header := t.whole()
	if t.kind.matches(header) < leastHeader {
		return false
	}
	t.another.add(which)
	t.headers = header
	t.columns, _ = t.kind.places(header)
	t.wantColumns()
	return true
}

// otherTable reports whether the current row of a text is the header of another table, as pages have below their first: nothing from there on is read.
func (t *table) otherTable() bool {
	value := func(c string) bool { return c != "" && !vmTable.knows(c) && !hostTable.knows(c) }
	if _, text := t.rows.(*csvRows); !text || !t.kind.generic() || slices.ContainsFunc(t.cells, value) || max(vmTable.matches(t.cells), hostTable.matches(t.cells)) < leastHeader {
		return false
	}
	t.notes.add(t.sheet.place(), fmt.Sprintf("row %d is the header of another table: neither it nor the rows below are read; save that table as a file of its own", t.row))
	t.err = io.EOF
	return true
}

// leastHeader is the minimum number of known columns in a row that is another header, and no VM or host of such a name.
const leastHeader = 3

// whole returns all cells of the current row, also those of columns that are not read.
func (t *table) whole() []string {
	rows, err := t.open()
	for err == nil {
		var cells []string
		var row int
		if cells, row, err = rows.next(); row == t.row {
			return slices.Clone(cells)
		}
	}
	return nil // it was read before: no result
}

// measure compares the number of fields in the current row of a CSV with that of the headers. A row with more fields, as after an unquoted
// comma in a remark, is ambiguous: then all values but the name are unknown.
func (t *table) measure() {
	which := "row " + strconv.Itoa(t.row)
	t.shifted = len(t.cells) > len(t.headers)
	switch {
	case t.shifted:
		t.long.add(which)
		name := t.place(t.kind.columns[0].id()).index
		cells := make([]string, len(t.headers))
		if name >= 0 {
			cells[name] = t.cells[name]
		}
		t.cells = cells
	case len(t.cells) < len(t.headers) && t.kind.generic():
		t.short.add(which)
	}
}

// done returns the error that ended the rows, if any, and adds notes about anomalies of the file.
func (t *table) done() error {
	t.notes.tallied(t.sheet.place(), t.again, "row is", "rows are", "the header again: left out")
	t.notes.tallied(t.sheet.place(), t.another, "row is", "rows are", "another header: the rows below are read by it")
	if c, ok := t.rows.(*csvRows); ok && t.err == io.EOF {
		headers := len(t.headers)
		t.notes.tallied(t.sheet.place(), t.long, "row has", "rows have", fmt.Sprintf("more fields than the %d headers, such as by a separator without quotes in a remark: all of it but the name is unknown", headers))
		t.notes.tallied(t.sheet.place(), t.short, "row has", "rows have", fmt.Sprintf("fewer fields than the %d headers: they may be in the wrong columns", headers))
		if c.ansi {
			t.notes.add(t.sheet.place(), "the file is no UTF-8: read as Windows-1252")
		}
		if c.cut != nil {
			return c.cut
		}
	}
	if t.err == io.EOF {
		return nil
	}
	return t.err
}

// text returns the trimmed content of a column, "" if there is none.
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
	if c, ok := t.rows.(*csvRows); ok && c.r.Comma == '|' { // of Markdown, with its emphasis
		s = strings.Trim(s, "*` ")
	}
	// Cells of a row share memory with all others; values that are kept are copied.
	return strings.Clone(strings.TrimSpace(s))
}

// bad adds a note about an invalid cell.
func (t *table) bad(f string, what string) {
	t.notes.cell(t.sheet.place(), t.row, t.place(f).header, what+": ignored for "+cmp.Or(t.subject, "the row"))
}

// stringFact returns the text of a column as a fact.
func (t *table) stringFact(f string) numa.Fact[string] {
	s := t.text(f)
	if _, ok := t.rows.(*jsonRows); s == "" || ok && s[0] == '[' && json.Valid([]byte(s)) { // a list is not a text
		return numa.Fact[string]{}
	}
	return numa.ReadAt(s, t.origin(f))
}

// intFact parses a whole number from least to most. An empty cell and -1 are missing values.
func (t *table) intFact(f string, least, most int64) numa.Fact[int64] {
	s := t.text(f)
	if s == "" || minusOne(s) {
		return numa.Fact[int64]{}
	}
	v, problem := t.numberAt(f, counted.ReplaceAllString(s, "$1"), func(v float64, _ string) bool {
		return v == math.Trunc(v) && v >= float64(least) && v <= float64(most)
	})
	if problem == "" && v != math.Trunc(v) {
		problem = "want a number"
	}
	n := int64(v)
	switch {
	case problem != "":
		t.bad(f, "found "+quote(s)+", "+problem)
	case n < least || n > most:
		t.bad(f, fmt.Sprintf("found %s, want %d to %d", quote(s), least, most))
	default:
		return numa.ReadAt(n, t.origin(f))
	}
	return numa.Fact[int64]{}
}

// counted matches a number of processors with its noun.
var counted = pattern.Of(`(?i)^(\d+) ?(v?cpus?|v?cores?|kerne|sockets?)$`)

// count parses a number of things, up to most.
func (t *table) count(f string, most int64) numa.Fact[int] {
	n := t.intFact(f, 1, most)
	return numa.Fact[int]{Value: int(n.Value), Origin: n.Origin}
}

// bytes parses an amount of memory. It is unknown if a column in another unit contradicts it by more than the rounding of either.
func (t *table) bytes(f string, least, most numa.Bytes) numa.Fact[numa.Bytes] {
	n := t.amount(f, float64(least), float64(most), float64(numa.MiB))
	other := t.amount(f+again, float64(least), float64(most), float64(numa.MiB))
	if d := math.Abs(n.Value - other.Value); n.Known() && other.Known() && d >= float64(numa.GiB) && d > max(n.Value, other.Value)/10 {
		t.bad(f, fmt.Sprintf("%s and %s contradict each other: found %s and %s", t.place(f).header, t.place(f+again).header, numa.Bytes(n.Value), numa.Bytes(other.Value)))
		return numa.Fact[numa.Bytes]{}
	}
	if t.text(f) == "" {
		n = other
	}
	return numa.Fact[numa.Bytes]{Value: numa.Bytes(n.Value), Origin: n.Origin}
}

// mhz parses a frequency in MHz.
func (t *table) mhz(f string, least, most int) numa.Fact[int] {
	n := t.amount(f, float64(least)*1e6, float64(most)*1e6, 1e6)
	return numa.Fact[int]{Value: int(n.Value / 1e6), Origin: n.Origin}
}

// amount parses an amount of memory in bytes or a frequency in Hz, rounded to a multiple of step. The unit is that of the cell, else that
// of the column; without either, the amount is unknown. An empty cell is a missing value, and -1 too if the column may be unlimited.
func (t *table) amount(f string, least, most, step float64) numa.Fact[float64] {
	s := t.text(f)
	if s == "" || minusOne(s) && plausibleFrom[f] == 0 {
		return numa.Fact[float64]{}
	}
	p := t.place(f)
	digits, unit := splitUnit(strings.ToLower(s))
	unit = cmp.Or(unit, p.unit)
	n, problem := t.numberAt(f, strings.TrimSpace(digits), t.plausible(f, most, step))
	size := units[unit]
	v := math.Round(n*size/step) * step
	switch {
	case problem != "":
		t.bad(f, "found "+quote(s)+", "+problem)
	case size == 0 && n != 0:
		t.bad(f, "found "+quote(s)+" without a unit, want one in the cell or the header, such as "+map[bool]string{true: `"MHz"`, false: `"Memory MB"`}[step == 1e6])
	case v < least || v > most:
		from := fmt.Sprintf("%d to", int64(least/size))
		if least > 0 && least < size {
			from = "more than 0, up to"
		}
		t.bad(f, fmt.Sprintf("found %s, want %s %d", quote(s), from, int64(most/size)))
	default:
		return numa.ReadAt(v, t.origin(f))
	}
	return numa.Fact[float64]{}
}

// boolFact parses True or False.
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
	return numa.ReadAt(v, t.origin(f))
}

// vcenter returns the key of the vCenter of the row, "" if unknown.
func (t *table) vcenter() string {
	return t.notes.vcenters.key(strings.ToLower(t.text("VI SDK UUID")), t.text("VI SDK Server"))
}

// origin returns the place of the value of a column in the current row.
func (t *table) origin(f string) string {
	header := t.place(f).header
	if _, ok := t.rows.(*jsonRows); ok {
		header = strings.Trim(header, `"`)
	}
	return t.where + header
}

// rowPlace returns the name of the current row in notes.
func (t *table) rowPlace() string {
	return strings.TrimPrefix(fmt.Sprintf("%s, row %d", t.sheet.place(), t.row), ", ")
}

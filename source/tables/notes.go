package tables

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"homenode/internal/words"
	"homenode/numa"
)

// maxCellNotes is how many cells of one column are noted one by one: a column
// of the wrong kind must not yield a note for each of 10,000 VMs.
const maxCellNotes = 5

// notes collects the notes of one export.
type notes struct {
	base  string // name of the export
	vms   string // the sheet that lists the VMs, and the one of the hosts; empty for tables of other programs
	hosts string
	list  []numa.Note
	cells map[string]int // bad cells by sheet and column
	order []string       // the keys of cells as they came

	said     map[numa.Note]bool
	vcenters *vcenters

	shared map[string]*sharedColumn // by fact: those that a column of either of two sheets tells
}

// A sharedColumn is a fact that columns of several sheets tell: it is unknown when all
// lack them.
type sharedColumn struct {
	found  bool
	sheets []string // that lack it
	names  []string // of the column in each, quoted
	alike  string   // headers that may be meant
}

// sharedFacts are the facts that columns of several sheets tell.
var sharedFacts = []struct {
	fact, column string
}{{"vCPU count", "CPUs"}, {"memory of the VMs", "Memory"}}

// share notes whether a sheet has the column of a shared fact.
func (n *notes) share(t *table) {
	for _, f := range sharedFacts {
		i := slices.IndexFunc(t.kind.columns, func(c column) bool { return c.id() == f.column })
		if i < 0 {
			continue
		}
		if n.shared == nil {
			n.shared = map[string]*sharedColumn{}
		}
		if n.shared[f.fact] == nil {
			n.shared[f.fact] = &sharedColumn{}
		}
		s, title := n.shared[f.fact], t.kind.columns[i].title()
		if s.found = s.found || t.has(f.column); !t.has(f.column) {
			s.sheets, s.names = append(s.sheets, t.sheet.place()), append(s.names, strconv.Quote(title))
			s.alike = cmp.Or(s.alike, t.alike(title))
		}
	}
}

// noteShared notes the facts that no sheet tells.
func (n *notes) noteShared() {
	for _, f := range sharedFacts {
		if s := n.shared[f.fact]; s != nil && !s.found {
			n.add(strings.Join(s.sheets, ", "), fmt.Sprintf("no column %s: unknown for all: %s%s", strings.Join(slices.Compact(s.names), ", "), f.fact, s.alike))
		}
	}
}

// add notes text about a place in the export, or about all of it.
func (n *notes) add(place, text string) {
	at := n.base
	if place != "" {
		at += ": " + place
	}
	if note := (numa.Note{At: at, Text: text}); !n.said[note] { // each document of a file says it
		n.list, n.said[note] = append(n.list, note), true
	}
}

// cell notes a bad cell.
func (n *notes) cell(sheet string, row int, header, text string) {
	key := strings.TrimPrefix(fmt.Sprintf("%s, column %s", sheet, header), ", ")
	if n.cells[key] == 0 {
		n.order = append(n.order, key)
	}
	n.cells[key]++
	if n.cells[key] <= maxCellNotes {
		n.add(strings.TrimPrefix(fmt.Sprintf("%s, row %d, column %s", sheet, row, header), ", "), text)
	}
}

// all returns the notes, with a last one for each column of which not every bad
// cell is noted.
func (n *notes) all() []numa.Note {
	for _, key := range n.order {
		if more := n.cells[key] - maxCellNotes; more > 0 {
			n.add(key, fmt.Sprintf("%s and ignored", words.Verb(more, "more cell is unreadable", "more cells are unreadable")))
		}
	}
	return n.list
}

// A tally counts the objects that one note is about, and names the first.
type tally struct {
	count int
	first string
}

func (t *tally) add(name string) {
	if t.count == 0 {
		t.first = name
	}
	t.count++
}

// tallied notes what is said of the objects of a tally, if it has any.
func (n *notes) tallied(place string, t tally, one, many, what string) {
	if t.count > 0 {
		n.add(place, fmt.Sprintf("%s %s (first: %s)", words.Verb(t.count, one, many), what, quote(t.first)))
	}
}

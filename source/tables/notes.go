package tables

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
)

// maxCellNotes is the maximum number of notes about single cells of a column: a column of the
// wrong kind must not result in a note for each of 10,000 VMs.
const maxCellNotes = 5

// notes collects the notes of one export.
type notes struct {
	base  string // name of the export
	vms   string // the names of the sheets with VMs and with hosts; empty for tables of other programs
	hosts string
	list  []numa.Note
	cells map[string]int // bad cells by sheet and column
	order []string       // keys of cells in the order of insertion

	said     map[numa.Note]bool
	vcenters *vcenters
	differ   map[string]tally // by name of fact: VMs whose rows state it differently

	shared map[string]*sharedColumn // by fact: facts that either of two sheets may contain
}

// A sharedColumn is a fact with columns in several sheets: it is unknown if all of them lack
// it.
type sharedColumn struct {
	found  bool
	sheets []string // sheets without it
	names  []string // column names in these sheets, quoted
	alike  string   // similar headers, possibly misspelt
}

// sharedFacts are the facts with columns in several sheets.
var sharedFacts = []struct {
	fact, column string
}{{"vCPU count", "CPUs"}, {"memory of the VMs", "Memory"}}

// share records whether a sheet has the column of a shared fact.
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
		if s.found = s.found || t.has(f.column) || t.derives(f.column); !t.has(f.column) {
			s.sheets, s.names = append(s.sheets, t.sheet.place()), append(s.names, strconv.Quote(title))
			s.alike = cmp.Or(s.alike, t.alike(title))
		}
	}
}

// noteShared adds notes about the facts that no sheet contains.
func (n *notes) noteShared() {
	for _, f := range sharedFacts {
		if s := n.shared[f.fact]; s != nil && !s.found {
			n.add(strings.Join(s.sheets, ", "), fmt.Sprintf("no column %s: unknown for all: %s%s", strings.Join(slices.Compact(s.names), ", "), f.fact, s.alike))
		}
	}
}

// add adds a note about a place in the export, or about all of it.
func (n *notes) add(place, text string) {
	at := n.base
	if place != "" {
		at += ": " + place
	}
	if note := (numa.Note{At: at, Text: text}); !n.said[note] { // each document of a file results in the same note
		n.list, n.said[note] = append(n.list, note), true
	}
}

// cell adds a note about a bad cell.
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

// all returns the notes, with a final one for each column with more bad cells than notes.
func (n *notes) all() []numa.Note {
	for _, key := range n.order {
		if more := n.cells[key] - maxCellNotes; more > 0 {
			n.add(key, fmt.Sprintf("%s: ignored", words.Verb(more, "more cell is unreadable or contradicts others", "more cells are unreadable or contradict others")))
		}
	}
	return n.list
}

// A tally counts the objects of one note, and keeps the first names.
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

// tallied adds a note about the objects of a tally, if there are any.
func (n *notes) tallied(place string, t tally, one, many, what string) {
	if t.count > 0 {
		n.add(place, fmt.Sprintf("%s %s (first: %s)", words.Verb(t.count, one, many), what, quote(t.first)))
	}
}

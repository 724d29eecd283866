package report

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"homenode/finding"
	"homenode/internal/texttab"
	"homenode/numa"
	"homenode/rules"
)

// A Table is the row model of one topic: what CSV, XLSX and Markdown print. Its
// texts are clean and have one line; they are not escaped for any
// format.
type Table struct {
	Name    string // in lower case: what --table takes
	Columns []Column
	Len     int // number of rows
	// Rows yields the rows in their order, a cell for each column. The row is
	// borrowed: clone it to keep it.
	Rows iter.Seq[[]Cell]
}

// A Column is one column of a Table.
type Column struct {
	Name  string // with the unit, such as "Memory MiB"
	Width int    // in letters, for formats that have widths
}

// A Cell is a text, a number, a yes or no, or unknown. The zero value is unknown.
type Cell struct {
	kind   cellKind
	text   string
	number float64
	time   time.Time
}

type cellKind uint8

const (
	unknownCell cellKind = iota
	textCell
	numberCell
	timeCell
)

// Time returns the time in the cell, in UTC; false when it holds none.
func (c Cell) Time() (time.Time, bool) { return c.time, c.kind == timeCell }

// Number returns the number in the cell; false when it holds none.
func (c Cell) Number() (n float64, ok bool) { return c.number, c.kind == numberCell }

// String returns the cell as text: a number in its shortest form, "" for unknown.
func (c Cell) String() string {
	if c.kind == numberCell {
		return strconv.FormatFloat(c.number, 'f', -1, 64)
	}
	return c.text
}

var lineBreaks = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ")

// noncharacters are what no XML file can hold and Clean leaves.
var noncharacters = strings.NewReplacer("\ufffe", "\ufffd", "\uffff", "\ufffd")

// clean returns s on one line, for display and for every format.
func clean(s string) string { return noncharacters.Replace(texttab.Clean(lineBreaks.Replace(s))) }

// textOf returns a cell with s; an empty text is unknown.
func textOf(s string) Cell {
	if s == "" {
		return Cell{}
	}
	return Cell{kind: textCell, text: clean(s)}
}

func numberOf[T int | int32 | float64](n T) Cell { return Cell{kind: numberCell, number: float64(n)} }

// yesNo returns True or False, as RVTools writes them.
func yesNo(b bool) Cell {
	if b {
		return Cell{kind: textCell, text: "True"}
	}
	return Cell{kind: textCell, text: "False"}
}

// mib returns an amount in MiB, the unit of RVTools.
func mib(b numa.Bytes) Cell { return numberOf(float64(b) / float64(numa.MiB)) }

// percentOf returns a share as a percentage with two decimals, as esxtop's N%L.
func percentOf(share float64) Cell { return numberOf(float64(int(share*10000+0.5)) / 100) }

// cellOf returns the cell of a fact; unknown stays unknown.
func cellOf[T any](f numa.Fact[T], cell func(T) Cell) Cell {
	if !f.Known() {
		return Cell{}
	}
	return cell(f.Value)
}

func joined(texts []string) Cell { return textOf(strings.Join(texts, "; ")) }

// TableNames lists the tables that Tables returns, in their order.
func TableNames() []string {
	var names []string
	for _, t := range Tables(&rules.Result{Fleet: &numa.Fleet{}}, "") {
		names = append(names, t.Name)
	}
	return names
}

// Tables returns the judged fleet as tables. version is that of homenode.
func Tables(r *rules.Result, version string) []Table {
	x := newIndex(r)
	j := judgedFleet(x)
	return []Table{findingTable(j), vmTable(x), hostTable(x), clusterTable(x), observationTable(x), suppressedTable(j), ruleTable(j), noteTable(j), aboutTable(x, j, version)}
}

// index finds what was said about a VM or host.
type index struct {
	*rules.Result
	byVM   map[string][]*finding.Finding // by ID of the VM
	byHost map[string][]*finding.Finding // about the host itself, by its ID
	at     map[string]string             // where a VM or host was read, by "vm " or "host " and its ID
	notes  map[string][]string           // by where they were read
	shared map[string]int                // VMs and hosts that were read at one place
}

func newIndex(r *rules.Result) *index {
	x := &index{Result: r, byVM: map[string][]*finding.Finding{}, byHost: map[string][]*finding.Finding{},
		at: map[string]string{}, notes: map[string][]string{}, shared: map[string]int{}}
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.VMID != "" {
			x.byVM[f.VMID] = append(x.byVM[f.VMID], f)
		} else {
			x.byHost[f.HostID] = append(x.byHost[f.HostID], f)
		}
	}
	for i := range r.Fleet.Hosts {
		h := &r.Fleet.Hosts[i]
		x.at["host "+h.ID] = h.At
		x.shared[h.At]++
	}
	for i := range r.Fleet.VMs {
		v := &r.Fleet.VMs[i]
		x.at["vm "+v.ID] = v.At
		x.shared[v.At]++
	}
	for _, n := range slices.Concat(r.Fleet.Notes, r.Unjudged, r.PolicyNotes) {
		x.notes[n.At] = append(x.notes[n.At], n.Text)
	}
	return x
}

// notesAt returns the notes about the one object that was read at this place.
func (x *index) notesAt(at string) []string {
	if at == "" || x.shared[at] > 1 {
		return nil
	}
	return x.notes[at]
}

// findingAt returns where the subject of the finding was read.
func (x *index) findingAt(f *finding.Finding) string {
	if f.VMID != "" {
		return x.at["vm "+f.VMID]
	}
	return x.at["host "+f.HostID]
}

// timeOf returns a moment as RFC 3339 in UTC; the zero time is unknown.
func timeOf(t time.Time) Cell {
	if t.IsZero() {
		return Cell{}
	}
	return Cell{kind: timeCell, text: t.UTC().Format(time.RFC3339), time: t.UTC()}
}

// gidOf returns the scheduler group of a VM, unknown when it is below 0.
func gidOf(gid int64, vm bool) Cell {
	if !vm || gid < 0 {
		return Cell{}
	}
	return numberOf(float64(gid))
}

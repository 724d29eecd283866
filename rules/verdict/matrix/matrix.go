// Package matrix compares the layouts of the VMs of a cluster on each kind of its hosts: the
// VMs that change, and whether they get better or worse.
package matrix

import (
	"cmp"
	"fmt"
	"slices"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/rule"
)

// A Matrix contains the layouts of the VMs of a cluster on each kind of its hosts. Its labels
// contain no control characters.
type Matrix struct {
	Title   string      `json:"cluster"`
	Event   vnuma.Event `json:"-"`
	Columns []Column    `json:"columns"`
	Rows    []Row       `json:"rows"`
	Same    int         `json:"leftOut"` // VMs that are left out: not wide, and the same on every host

	unjudged []string // the hosts without a prediction
}

// A Column is a group of hosts that give every VM the same layout, or one host.
type Column struct {
	*rule.Kind        // with the hosts of the column; used for the JSON
	Name       string // esx11–14
	Shape      string // 2×20 cores, 7.0 U3

	of *rule.Kind // of the cluster
}

// A Row is a VM, or several that are alike on every host.
type Row struct {
	VMs   []*rule.VM `json:"-"`
	Names []string   `json:"vms"`
	IDs   []string   `json:"ids"`
	Label string     `json:"-"` // sql01, or web01 +39
	VCPUs int        `json:"vcpus"`
	Home  int        `json:"-"` // index in Columns of its host; -1 for none
	Cells []Cell     `json:"cells"`
}

// A Cell is a VM on a host.
type Cell struct {
	Layout *vnuma.Layout `json:"-"` // nil if the VM does not power on
	Text   string        `json:"-"` // short form: = if it is the same as at home
	Mark   Mark          `json:"mark"`
	Short  string        `json:"short,omitempty"` // also if it is the same as at home
	VPDs   []int         `json:"vpds,omitempty"`
	PPDs   []int         `json:"ppds,omitempty"`
	Far    float64       `json:"farShare"`
}

// A Mark is the result of comparing a layout with that on the VM's own host.
type Mark uint8

// The marks of cells.
const (
	Home  Mark = iota
	Alike      // the same layout
	Worse      // more remote memory, or a guest that sees fewer of its nodes
	Better
	Other  // another layout, neither better nor worse
	Absent // the VM does not run there
)

var markSigns = [...]string{Home: "●", Alike: "=", Worse: "▼", Better: "▲", Other: "≠", Absent: "–"}

// String returns the symbol of the mark.
func (m Mark) String() string { return markSigns[m] }

var markWords = [...]string{"home", "same", "worse", "better", "other", "absent"}

// Word returns the mark as a word.
func (m Mark) Word() string { return markWords[m] }

// MarshalText writes the mark as a word.
func (m Mark) MarshalText() ([]byte, error) { return []byte(m.Word()), nil }

// Options control the contents of a matrix.
type Options struct {
	Hosts   bool        // a column per host instead of per kind
	All     bool        // every VM, each in a row of its own
	Event   vnuma.Event // PowerCycle, or VMotionIn: the guest keeps its nodes
	Choices vnuma.Choices
}

// Of returns the matrix of a cluster: VMs that change first, then wide ones, larger ones before
// smaller ones.
func Of(c *rule.Cluster, o Options) *Matrix {
	m := &Matrix{Title: texttab.Clean(c.Title()), Event: o.Event, Columns: []Column{}, Rows: []Row{}}
	for _, k := range c.Kinds {
		if !o.Hosts {
			m.Columns = append(m.Columns, columnOf(k, k.Hosts))
			continue
		}
		for _, h := range k.Hosts {
			m.Columns = append(m.Columns, columnOf(k, []*numa.Host{h}))
		}
	}
	for _, h := range c.Unjudged() {
		m.unjudged = append(m.unjudged, texttab.Clean(h.Name))
	}
	for _, v := range c.VMs {
		m.add(v, o)
	}
	slices.SortStableFunc(m.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(b.VCPUs, a.VCPUs), cmp.Compare(a.Label, b.Label))
	})
	return m
}

func columnOf(k *rule.Kind, hosts []*numa.Host) Column {
	shape := fmt.Sprintf("%d×%d cores", k.Machine.Nodes, k.Machine.Cores)
	if k.Machine.MemoryKnown() {
		shape += " " + numa.Bytes(k.Machine.NodeMemory).String()
	}
	return Column{&rule.Kind{Machine: k.Machine, Hosts: hosts}, texttab.Clean(rule.HostNames(hosts)), shape + " " + k.Machine.Release.String(), k}
}

// add adds a VM, or counts it if another row is equal or it needs no row.
func (m *Matrix) add(v *rule.VM, o Options) {
	r := Row{VMs: []*rule.VM{v}, Names: []string{v.Name}, IDs: []string{v.ID}, Label: texttab.Clean(v.Name), VCPUs: int(v.Guest.VCPUs), Home: -1}
	for i := range m.Columns {
		if c := &m.Columns[i]; r.Home < 0 && v.Home == c.of && (!o.Hosts || c.Hosts[0] == v.Host) {
			r.Home = i
		}
	}
	home := &v.On[0].Layout
	for i := range m.Columns {
		r.Cells = append(r.Cells, cellOf(v, m.Columns[i].of, i == r.Home, home, o))
	}
	if o.All {
		m.Rows = append(m.Rows, r)
		return
	}
	if !r.Changes() && !r.wide() && !r.refused() {
		m.Same++
		return
	}
	for i := range m.Rows {
		if was := &m.Rows[i]; was.like(&r) {
			was.VMs, was.Names, was.IDs = append(was.VMs, v), append(was.Names, v.Name), append(was.IDs, v.ID)
			was.Label = fmt.Sprintf("%s +%d", texttab.Clean(was.VMs[0].Name), len(was.VMs)-1)
			return
		}
	}
	m.Rows = append(m.Rows, r)
}

func cellOf(v *rule.VM, k *rule.Kind, isHome bool, home *vnuma.Layout, o Options) Cell {
	i := slices.IndexFunc(v.On, func(on rule.On) bool { return on.Kind == k })
	if i < 0 || v.TiedTo() != nil && !isHome {
		return Cell{Text: Absent.String(), Mark: Absent}
	}
	l := &v.On[i].Layout
	if l.Refused.Any() {
		return Cell{Text: Absent.String(), Mark: Absent}
	}
	if o.Event == vnuma.VMotionIn && k != v.Home && v.Home != nil {
		moved := v.Moved(k, o.Choices)
		l = &moved
	}
	c := Cell{Layout: l, Mark: markOf(l, home, isHome), Short: rule.Short(l), VPDs: l.VPDs.Sizes(), PPDs: l.PPDs.Sizes(), Far: l.FarShare()}
	c.Text = c.Short
	if c.Mark == Alike && v.Home != nil { // without a home there is nothing to compare with: show the shape
		c.Text = Alike.String()
	}
	return c
}

func markOf(l, home *vnuma.Layout, isHome bool) Mark {
	switch c := l.Compare(home); {
	case isHome:
		return Home
	case l.Same(home):
		return Alike
	case c > 0:
		return Worse
	case c < 0:
		return Better
	}
	return Other
}

// Changes reports whether a VM of the row gets another layout on some host.
func (r *Row) Changes() bool {
	return slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.Mark != Home && c.Mark != Alike && (c.Mark != Absent || !r.refused()) })
}

// refused reports whether the VM does not power on on its own host.
func (r *Row) refused() bool { return r.VMs[0].On[0].Layout.Refused.Any() }

// rank is the sort key of rows: VMs that change first, then wide ones.
func (r *Row) rank() (n int) {
	if !r.Changes() {
		n += 2
	}
	if !r.wide() {
		n++
	}
	return n
}

func (r *Row) wide() bool { return r.VMs[0].On[0].Layout.Wide() }

// like reports whether both rows are equal.
func (r *Row) like(o *Row) bool {
	return r.VCPUs == o.VCPUs && r.Home == o.Home && slices.EqualFunc(r.Cells, o.Cells, func(a, b Cell) bool { return a.Text == b.Text && a.Mark == b.Mark })
}

// Label returns the text of the cell, with a symbol if it differs from home.
func (c *Cell) Label() string {
	if c.Mark == Alike || c.Mark == Absent {
		return c.Text
	}
	return c.Mark.String() + " " + c.Text
}

// Verdict reports the number of VMs in the matrices that get another layout on some host of
// their cluster, and the number for which it is worse.
func Verdict(all []*Matrix) []string {
	var hosts []string
	for _, m := range all {
		hosts = append(hosts, m.unjudged...)
	}
	verdict := changes(all)
	if hosts != nil {
		verdict = append(verdict, fmt.Sprintf("%s not judged: %s.", words.Verb(len(hosts), "host is", "hosts are"), words.Few(hosts)))
	}
	return verdict
}

func changes(all []*Matrix) []string {
	vms, change, worse, down := 0, 0, 0, 0
	after := "a power cycle"
	for _, m := range all {
		vms += m.Same
		if m.Event == vnuma.VMotionIn {
			after = "vMotion"
		}
		for i := range m.Rows {
			r := &m.Rows[i]
			vms += len(r.VMs)
			if r.Changes() {
				change += len(r.VMs)
			} else if r.refused() {
				down += len(r.VMs)
			}
			if slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.Mark == Worse }) {
				worse += len(r.VMs)
			}
		}
	}
	of := "of " + words.Plural(vms, "VM")
	verdict := []string{"None " + of + " gets another layout on another host of its cluster after " + after + "."}
	if change > 0 {
		verdict = []string{
			fmt.Sprintf("%s on some host of the cluster after %s, or cannot run there.", words.Verb(change, of+" gets another layout", of+" get another layout"), after),
			words.Verb(worse, "gets", "get") + " a worse one.",
		}
	}
	if down > 0 {
		verdict = append(verdict, words.Verb(down, "VM powers", "VMs power")+" on on no host of the cluster.")
	}
	return verdict
}

package topo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"homenode/esxi/vnuma"
	"homenode/internal/texttab"
	"homenode/numa"
	"homenode/rules/rule"
)

// A Matrix is the VMs of a cluster on each kind of its hosts. Its labels hold no
// control characters.
type Matrix struct {
	ID      string // of the drawing
	Title   string
	Event   vnuma.Event
	Columns []Column
	Rows    []Row
	Same    int // VMs that are left out: not wide, and the same on every host
}

// A Column is hosts that give every VM the same layout, or one host.
type Column struct {
	Kind  *rule.Kind
	Hosts []*numa.Host
	Name  string // esx11–14
	Shape string // 2×20 cores, 7.0 U3
}

// A Row is a VM, or several that are alike on every host.
type Row struct {
	VMs   []*rule.VM
	Label string // sql01, or web01 +39
	VCPUs int
	Home  int // index in Columns of the host it is on; -1 when it is on none
	Cells []Cell
}

// A Cell is a VM on a host.
type Cell struct {
	Layout *vnuma.Layout // nil where the VM does not run: its virtual hardware is too new
	Text   string        // in short: = where it is the same as at home
	Mark   Mark
}

// A Mark says how a layout compares with that on the VM's own host.
type Mark uint8

// The marks of cells.
const (
	Home  Mark = iota
	Alike      // the same layout
	Worse      // more memory far away, or a guest that sees less of its nodes
	Better
	Other  // another layout, neither better nor worse
	Absent // the VM does not run there
)

var markSigns = [...]string{Home: "●", Alike: "=", Worse: "▼", Better: "▲", Other: "≠", Absent: "–"}

// String returns the sign of the mark.
func (m Mark) String() string { return markSigns[m] }

var markWords = [...]string{"home", "same", "worse", "better", "other", "absent"}

// MarshalText writes the mark as a word.
func (m Mark) MarshalText() ([]byte, error) { return []byte(markWords[m]), nil }

// MatrixOptions say what a matrix shows.
type MatrixOptions struct {
	Hosts   bool        // a column for each host, not for each kind
	All     bool        // every VM, each in a row of its own
	Event   vnuma.Event // PowerCycle, or VMotionIn: the guest keeps its nodes
	Choices vnuma.Choices
}

// OfCluster returns the matrix of a cluster: VMs that change first, then wide ones,
// larger ones before smaller.
func OfCluster(c *rule.Cluster, o MatrixOptions) *Matrix {
	m := &Matrix{Title: texttab.Clean(c.Name), Event: o.Event}
	if c.Name == "" && len(c.Hosts) > 0 {
		m.Title = texttab.Clean(c.Hosts[0].Name) + " (standalone)"
	}
	m.ID = "matrix-" + ShapeID(m.Title)
	for _, k := range c.Kinds {
		if !o.Hosts {
			m.Columns = append(m.Columns, columnOf(k, k.Hosts))
			continue
		}
		for _, h := range k.Hosts {
			m.Columns = append(m.Columns, columnOf(k, []*numa.Host{h}))
		}
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
	if k.Machine.NodeMemory > 0 {
		shape += " " + numa.Bytes(k.Machine.NodeMemory).String()
	}
	return Column{k, hosts, texttab.Clean(rule.HostNames(hosts)), shape + " " + k.Machine.Release.String()}
}

// add adds a VM, or counts it where another row or none says the same.
func (m *Matrix) add(v *rule.VM, o MatrixOptions) {
	r := Row{VMs: []*rule.VM{v}, Label: texttab.Clean(v.Name), VCPUs: int(v.Guest.VCPUs), Home: -1}
	for i := range m.Columns {
		if c := &m.Columns[i]; r.Home < 0 && v.Home == c.Kind && (!o.Hosts || c.Hosts[0] == v.Host) {
			r.Home = i
		}
	}
	home := &v.On[0].Layout
	for i := range m.Columns {
		r.Cells = append(r.Cells, cellOf(v, m.Columns[i].Kind, i == r.Home, home, o))
	}
	if o.All {
		m.Rows = append(m.Rows, r)
		return
	}
	if !r.changes() && !r.wide() {
		m.Same++
		return
	}
	for i := range m.Rows {
		if was := &m.Rows[i]; was.like(&r) {
			was.VMs = append(was.VMs, v)
			was.Label = fmt.Sprintf("%s +%d", texttab.Clean(was.VMs[0].Name), len(was.VMs)-1)
			return
		}
	}
	m.Rows = append(m.Rows, r)
}

func cellOf(v *rule.VM, k *rule.Kind, isHome bool, home *vnuma.Layout, o MatrixOptions) Cell {
	i := slices.IndexFunc(v.On, func(on rule.On) bool { return on.Kind == k })
	if i < 0 {
		return Cell{nil, Absent.String(), Absent}
	}
	l := &v.On[i].Layout
	if o.Event == vnuma.VMotionIn && k != v.Home && v.Home != nil {
		moved := v.Moved(k, o.Choices)
		l = &moved
	}
	switch {
	case isHome:
		return Cell{l, rule.Short(l), Home}
	case l.Same(home) && v.Home == nil: // nothing to compare with: the shape says more
		return Cell{l, rule.Short(l), Alike}
	case l.Same(home):
		return Cell{l, Alike.String(), Alike}
	}
	mark := Other
	if c := l.Compare(home); c > 0 {
		mark = Worse
	} else if c < 0 {
		mark = Better
	}
	return Cell{l, rule.Short(l), mark}
}

func (r *Row) changes() bool {
	return slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.Mark != Home && c.Mark != Alike })
}

// rank is the order of rows: VMs that change first, then wide ones.
func (r *Row) rank() (n int) {
	if !r.changes() {
		n += 2
	}
	if !r.wide() {
		n++
	}
	return n
}

func (r *Row) wide() bool { return r.VMs[0].On[0].Layout.Wide() }

// like reports whether both rows say the same.
func (r *Row) like(o *Row) bool {
	return r.VCPUs == o.VCPUs && r.Home == o.Home && slices.EqualFunc(r.Cells, o.Cells, func(a, b Cell) bool { return a.Text == b.Text && a.Mark == b.Mark })
}

// Label returns the cell as text shows it: a sign where it differs from home.
func (c *Cell) Label() string {
	if c.Mark == Alike || c.Mark == Absent {
		return c.Text
	}
	return c.Mark.String() + " " + c.Text
}

// Caption says how to read the matrix and what it rests on, one sentence a line.
func (m *Matrix) Caption() []string {
	event := "after a power cycle on that host"
	if m.Event == vnuma.VMotionIn {
		event = "after vMotion to that host: the guest keeps its nodes"
	}
	return []string{
		"Each cell: the VM alone " + event + ". Predicted, not observed.",
		"● home, = the same as at home, ▼ worse, ▲ better, ≠ other, – its virtual hardware is too new.",
		"2×16: 2 clients of 16 vCPU; blind: the guest sees 1 node; sees: other nodes than clients; +50 %: memory on another node.",
	}
}

// LeftOut says which VMs have no row; "" when all have.
func (m *Matrix) LeftOut() string {
	if m.Same == 0 {
		return ""
	}
	return "Left out: " + rule.Plural(m.Same, "VM") + " of one client, the same on every host (--all)."
}

// Names lists the VMs of the row.
func (r *Row) Names() string {
	names := make([]string, len(r.VMs))
	for i, v := range r.VMs {
		names[i] = texttab.Clean(v.Name)
	}
	return strings.Join(names, ", ")
}

// Short returns the layout in short form, also where it is the same as at home.
func (c *Cell) Short() string {
	if c.Layout == nil {
		return ""
	}
	return rule.Short(c.Layout)
}

// Package esxtop writes ticks as an esxtop batch CSV, in the form that ESXi writes and that
// perfmon, relog and esxtop viewers read: every field quoted, a comma after the last one, UTC.
// It does not use package table, which is for tables that people read: readers of esxtop need
// every name byte for byte. No field can begin a formula here: names of columns begin with \\,
// and fields are numbers, times or lists of NUMA nodes.
package esxtop

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa"
)

// A Writer writes the ticks of one host. Like esxtop, it takes the column names from the first
// two ticks. A quantity that both lack gets no column; two are needed because rates cover the
// time since the previous tick, and the first tick of a simulation has none. esxtop gives no
// column to a VM that is powered on later. The Writer then writes another header, as in a file
// to which a second capture was appended.
type Writer struct {
	w       *bufio.Writer
	held    *numa.Tick // the first tick until the second defines the columns; then nil
	columns []column
	vms     map[vmKey]bool // VMs that have columns
	err     error
}

type vmKey struct {
	gid  int64
	name string
}

// A column is one counter of the host (neither node nor vm is set), a node or a VM.
type column struct {
	path  string
	has   numa.Counters // without these the cell is empty, because 0 would be a value
	host  func(*numa.Tick) float64
	node  func(*numa.NodeTick) float64
	id    int // ID of the node
	vm    func(*numa.VMTick) string
	key   vmKey
	empty string // cell of a VM that is not running
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer {
	return &Writer{w: bufio.NewWriterSize(w, 1<<20)}
}

// Add writes one row. A header comes first if it is the first row or a VM has no columns. The
// first row is written with the second, or by Flush.
func (w *Writer) Add(t *numa.Tick) error {
	switch {
	case w.columns == nil && w.held == nil:
		w.held = clone(t)
		return w.err
	case w.held != nil:
		w.begin(t)
	}
	return w.row(t)
}

// begin writes the header from the first and the second tick, then the row of the first tick.
func (w *Writer) begin(second *numa.Tick) {
	held := w.held
	w.held = nil
	w.header(both(held, second))
	w.row(held)
}

func (w *Writer) row(t *numa.Tick) error {
	if w.unknownVM(t) {
		w.header(t)
	}
	w.field(t.Time.UTC().Format("01/02/2006 15:04:05"))
	for i := range w.columns {
		w.field(w.columns[i].value(t))
	}
	w.print("\n")
	return w.err
}

// clone returns a copy of a tick that shares no memory with it.
func clone(t *numa.Tick) *numa.Tick {
	c := *t
	c.Nodes, c.VMs = slices.Clone(t.Nodes), slices.Clone(t.VMs)
	c.Host = strings.Clone(t.Host)
	for i := range c.VMs {
		c.VMs[i].Name, c.VMs[i].OnNode = strings.Clone(c.VMs[i].Name), nil
	}
	return &c
}

// both returns a plus the counters that b has for the same nodes and VMs.
func both(a, b *numa.Tick) *numa.Tick {
	c := clone(a)
	c.Has |= b.Has
	for i := range c.Nodes {
		for k := range b.Nodes {
			if c.Nodes[i].ID == b.Nodes[k].ID {
				c.Nodes[i].Has |= b.Nodes[k].Has
			}
		}
	}
	has := map[vmKey]numa.Counters{}
	for i := range b.VMs {
		has[vmKey{b.VMs[i].GID, b.VMs[i].Name}] = b.VMs[i].Has
	}
	for i := range c.VMs {
		c.VMs[i].Has |= has[vmKey{c.VMs[i].GID, c.VMs[i].Name}]
	}
	return c
}

// Flush writes the pending first row and the buffer.
func (w *Writer) Flush() error {
	if w.held != nil {
		w.begin(w.held)
	}
	if w.err == nil {
		w.err = w.w.Flush()
	}
	return w.err
}

func (w *Writer) print(s string) {
	if w.err == nil {
		_, w.err = w.w.WriteString(s)
	}
}

func (w *Writer) field(s string) {
	w.print(`"`)
	w.print(s)
	w.print(`",`)
}

func (w *Writer) unknownVM(t *numa.Tick) bool {
	for i := range t.VMs {
		if !w.vms[vmKey{t.VMs[i].GID, t.VMs[i].Name}] {
			return true
		}
	}
	return false
}

func (w *Writer) header(t *numa.Tick) {
	w.columns, w.vms = columnsOf(t), map[vmKey]bool{}
	w.field("(PDH-CSV 4.0) (UTC)(0)")
	for i := range w.columns {
		w.field(`\\` + clean(t.Host) + `\` + w.columns[i].path)
	}
	for i := range t.VMs {
		w.vms[vmKey{t.VMs[i].GID, t.VMs[i].Name}] = true
	}
	w.print("\n")
}

// clean returns a name that is safe in a header: esxtop escapes nothing.
func clean(s string) string {
	return strings.NewReplacer(`"`, "'", "\n", " ", "\r", " ").Replace(s)
}

func (c *column) value(t *numa.Tick) string {
	switch {
	case c.host != nil:
		if t.Has&c.has != c.has {
			return ""
		}
		return number(c.host(t))
	case c.node != nil:
		for i := range t.Nodes {
			if n := &t.Nodes[i]; n.ID == c.id && n.Has&c.has != 0 {
				return number(c.node(n))
			}
		}
		return ""
	}
	for i := range t.VMs {
		if v := &t.VMs[i]; v.GID == c.key.gid && v.Name == c.key.name {
			if v.Has&c.has == 0 {
				return ""
			}
			return c.vm(v)
		}
	}
	return c.empty
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }

func mebibytes(b numa.Bytes) float64 { return float64(b) / float64(numa.MiB) }

// columnsOf returns the columns for the counters of the tick, in the order of ESXi.
func columnsOf(t *numa.Tick) []column {
	var out []column
	for _, c := range nodeLoads {
		for i := range t.Nodes {
			if n := &t.Nodes[i]; n.Has&c.has != 0 {
				out = append(out, column{path: fmt.Sprintf(`Numa Node(%d)\%s`, n.ID, c.name), has: c.has, node: c.value, id: n.ID})
			}
		}
	}
	for _, c := range hostCounters {
		if t.Has&c.has == c.has {
			out = append(out, column{path: `Memory\` + c.name, has: c.has, host: c.value})
		}
	}
	for i := range t.Nodes {
		for _, c := range nodeMemory {
			if n := &t.Nodes[i]; n.Has&c.has != 0 {
				out = append(out, column{path: fmt.Sprintf(`Numa Node(%d)\%s`, n.ID, c.name), has: c.has, node: c.value, id: n.ID})
			}
		}
	}
	for i := range t.VMs {
		out = append(out, cpuColumns(&t.VMs[i], i)...)
	}
	for i := range t.VMs {
		v := &t.VMs[i]
		for _, c := range memoryCounters {
			if v.Has&c.has != 0 {
				out = append(out, column{path: fmt.Sprintf(`Group Memory(%d:%s)\%s`, v.GID, clean(v.Name), c.name), has: c.has, vm: c.value, key: vmKey{v.GID, v.Name}, empty: c.empty})
			}
		}
	}
	return out
}

// cpuColumns returns the columns of the VM's group and of its vCPU worlds. World numbers are
// invented from the order of the VMs: a tick does not contain them.
func cpuColumns(v *numa.VMTick, i int) []column {
	var out []column
	key, name := vmKey{v.GID, v.Name}, clean(v.Name)
	for _, c := range cpuCounters {
		if v.Has&c.has != 0 {
			out = append(out, column{path: fmt.Sprintf(`Group Cpu(%d:%s)\%s`, v.GID, name, c.name), has: c.has, vm: func(v *numa.VMTick) string { return number(c.value(v)) }, key: key, empty: "0.00"})
		}
	}
	for n := range v.VCPUs {
		for _, c := range cpuCounters {
			if v.Has&c.has == 0 {
				continue
			}
			share := func(v *numa.VMTick) string { return number(c.value(v) / float64(max(1, v.VCPUs))) }
			path := fmt.Sprintf(`Vcpu(%d:%s:%d:vmx-vcpu-%d:%s)\%s`, v.GID, name, 2_000_000+i*1000+n, n, name, c.name)
			out = append(out, column{path: path, has: c.has, vm: share, key: key, empty: "0.00"})
		}
	}
	return out
}

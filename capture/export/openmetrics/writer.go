// Package openmetrics writes ticks as OpenMetrics text with the times of the capture, which
// promtool turns into blocks for Prometheus (docs/reference/openmetrics.md).
//
// The format requires all points of a metric together and all metrics of a family together, but
// ticks come in time order. So points go to a temporary file first, and Close reads them in the
// order of the format:
//
//	ticks ──► 64 points of each metric ──► spool ──► family by family, metric by metric ──► FILE
package openmetrics

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"example.org/homenode/internal/words"

	"example.org/homenode/capture/export/series"
	"example.org/homenode/internal/atomicfile"
	"example.org/homenode/numa"
)

// A Writer writes the ticks of any number of hosts. Memory grows with the number of metrics,
// not of ticks.
type Writer struct {
	path     string
	spool    *spool
	counters []series.Counter
	families [][]*metric // by counter, in the order of their first points
	hosts    map[string]*host
	vms      []*vm // of the current tick; nil is omitted
	ticks    int
	late     []*host // hosts with omitted ticks
	doubles  []*vm   // VMs omitted from ticks
	err      error
}

// A metric is one metric of a family.
type metric struct {
	labels string
	chain  chain
	last   int64   // time of the last point, milliseconds since 1970
	total  float64 // events so far
}

// A host is the state of one host.
type host struct {
	name    string
	labels  string
	any     bool
	last    time.Time
	late    int // omitted ticks
	metrics map[place]*metric
	vms     map[vmKey]*vm
}

type vmKey struct {
	gid  int64
	name string
}

// A vm is the state of one life of a VM.
type vm struct {
	vmKey
	host    *host
	labels  string
	tick    int // the last one that contains the VM
	double  int // the last one that contains several VMs of this key
	doubles int // number of such ticks
	homes   numa.NodeSet
	metrics []*metric // by counter, without the metrics of nodes
	onNode  map[place]*metric
}

// A place is a counter and a node; -1 means none.
type place struct{ counter, node int }

// New returns a Writer of the file at path, which Close creates atomically. The temporary file
// is in the same folder.
func New(path string) (*Writer, error) {
	s, err := newSpool(path)
	if err != nil {
		return nil, err
	}
	all := series.All()
	return &Writer{path: path, spool: s, counters: all, families: make([][]*metric, len(all)), hosts: map[string]*host{}}, nil
}

// Add writes the values of the tick. It omits a tick that is not later than the previous one of
// its host, and VMs that cannot be distinguished; Warnings lists them. The first error is
// final: later calls and Close return it again.
func (w *Writer) Add(t *numa.Tick) error {
	if w.err == nil {
		w.err = w.add(t)
	}
	return w.err
}

func (w *Writer) add(t *numa.Tick) error {
	at := t.Time.UnixMilli()
	if at < 0 {
		return fmt.Errorf("tick of host %s at %s: found a time before 1970", t.Host, t.Time.UTC().Format(time.RFC3339))
	}
	h := w.host(t.Host)
	if h.any && at <= h.last.UnixMilli() {
		if h.late == 0 {
			w.late = append(w.late, h)
		}
		h.late++
		return nil
	}
	h.any, h.last = true, t.Time
	w.ticks++
	w.look(h, t)
	for i, v := range w.vms {
		if v == nil || t.VMs[i].Has&numa.HasHomes == 0 {
			continue
		}
		if err := w.addHomes(v, t, t.VMs[i].Homes); err != nil {
			return err
		}
	}
	for v := range series.Values(t) {
		if v.Counter == series.HomeNodes || v.VM >= 0 && w.vms[v.VM] == nil {
			continue
		}
		m := w.metric(h, v)
		number := v.Number
		if w.counters[v.Counter].Events {
			m.total += number
			number = m.total
		}
		if err := w.point(m, t, number); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) host(name string) *host {
	name = text(name)
	h := w.hosts[name]
	if h == nil {
		h = &host{name: name, labels: string(AppendLabel(nil, "host", name)), metrics: map[place]*metric{}, vms: map[vmKey]*vm{}}
		w.hosts[name] = h
	}
	return h
}

// look fills w.vms with the VMs of the tick. Several VMs of one name without a group would give
// one metric several values at a time; they become nil.
func (w *Writer) look(h *host, t *numa.Tick) {
	w.vms = w.vms[:0]
	for i := range t.VMs {
		k := vmKey{t.VMs[i].GID, text(t.VMs[i].Name)}
		v := h.vms[k]
		if v == nil {
			k.name = strings.Clone(k.name)
			v = &vm{vmKey: k, host: h, labels: vmLabels(h, k), metrics: make([]*metric, len(w.counters)), onNode: map[place]*metric{}}
			h.vms[k] = v
		}
		if v.tick == w.ticks {
			v.double = w.ticks
		}
		v.tick = w.ticks
		w.vms = append(w.vms, v)
	}
	for i, v := range w.vms {
		if v.double != w.ticks {
			continue
		}
		w.vms[i] = nil
		if v.tick == w.ticks { // count the tick once
			v.tick = 0
			if v.doubles == 0 {
				w.doubles = append(w.doubles, v)
			}
			v.doubles++
		}
	}
}

func vmLabels(h *host, k vmKey) string {
	b := AppendLabel([]byte(h.labels), "vm", k.name)
	if k.gid >= 0 {
		b = AppendLabel(b, "gid", fmt.Sprint(k.gid))
	}
	return string(b)
}

// addHomes writes 1 for each home node and 0 for each other node, also for former home nodes:
// without the 0 Prometheus would continue with the last 1.
func (w *Writer) addHomes(v *vm, t *numa.Tick, homes numa.NodeSet) error {
	v.homes |= homes
	nodes := v.homes
	for i := range t.Nodes {
		nodes |= numa.SetOf(t.Nodes[i].ID)
	}
	for n := range nodes.All() {
		number := 0.0
		if homes.Has(n) {
			number = 1
		}
		if err := w.point(w.at(v.onNode, v.labels, place{series.HomeNodes, n}), t, number); err != nil {
			return err
		}
	}
	return nil
}

// metric returns the metric of the value, and creates it for its first point.
func (w *Writer) metric(h *host, v series.Value) *metric {
	switch {
	case v.VM < 0:
		return w.at(h.metrics, h.labels, place{v.Counter, v.Node})
	case v.Node >= 0:
		vm := w.vms[v.VM]
		return w.at(vm.onNode, vm.labels, place{v.Counter, v.Node})
	}
	vm := w.vms[v.VM]
	if vm.metrics[v.Counter] == nil {
		vm.metrics[v.Counter] = w.newMetric(v.Counter, vm.labels)
	}
	return vm.metrics[v.Counter]
}

func (w *Writer) at(metrics map[place]*metric, labels string, p place) *metric {
	m := metrics[p]
	if m == nil {
		if p.node >= 0 {
			labels = string(AppendLabel([]byte(labels), "node", fmt.Sprint(p.node)))
		}
		m = w.newMetric(p.counter, labels)
		metrics[p] = m
	}
	return m
}

func (w *Writer) newMetric(counter int, labels string) *metric {
	m := &metric{labels: labels, last: -1}
	w.families[counter] = append(w.families[counter], m)
	return m
}

func (w *Writer) point(m *metric, t *numa.Tick, number float64) error {
	at := t.Time.UnixMilli()
	if m.last == at {
		return fmt.Errorf("tick of host %s at %s: found {%s} twice", t.Host, t.Time.UTC().Format(time.RFC3339), m.labels)
	}
	m.last = at
	return w.spool.add(&m.chain, point{at, number}, w.families)
}

// Warnings lists omitted data, in the order of its first occurrence.
func (w *Writer) Warnings() []string {
	out := words.Texts(w.late, func(h *host) string {
		return fmt.Sprintf("host %s: OpenMetrics lacks ticks that are not later than the one before: %d", h.name, h.late)
	})
	for _, v := range w.doubles {
		out = append(out, fmt.Sprintf("host %s: OpenMetrics lacks VM %s at ticks that show several of this name and one or no scheduler group: %d", v.host.name, v.name, v.doubles))
	}
	return out
}

// Close writes the file.
func (w *Writer) Close() error {
	if w.err != nil {
		w.spool.remove()
		return w.err
	}
	err := atomicfile.Write(w.path, w.join)
	w.spool.remove()
	w.err = os.ErrClosed
	return err
}

// Abort removes the temporary file. After Close it does nothing.
func (w *Writer) Abort() {
	w.spool.remove()
	if w.err == nil {
		w.err = os.ErrClosed
	}
}

// join writes the families.
func (w *Writer) join(to io.Writer) error {
	if err := w.spool.flush(w.families); err != nil {
		return err
	}
	out := bufio.NewWriterSize(to, 256<<10)
	var line []byte
	for i, family := range w.families {
		if len(family) == 0 {
			continue
		}
		name := FamilyName(i, w.counters[i].Name)
		kind, help := HeadOf(&w.counters[i], i, "the capture began")
		if _, err := out.Write(AppendHead(line[:0], name, kind, w.counters[i].Unit, help)); err != nil {
			return err
		}
		if w.counters[i].Events {
			name += "_total"
		}
		for _, m := range family {
			line = append(append(append(line[:0], name...), '{'), m.labels...)
			line = append(line, "} "...)
			for p, err := range w.spool.points(&m.chain) {
				if err != nil {
					return err
				}
				if _, err := out.Write(append(appendPoint(line, p), '\n')); err != nil {
					return err
				}
			}
		}
	}
	if _, err := out.WriteString("# EOF\n"); err != nil {
		return err
	}
	return out.Flush()
}

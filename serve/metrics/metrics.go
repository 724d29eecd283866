// Package metrics writes the data of a Board as Prometheus's text or OpenMetrics, with the same names as in files
// (docs/reference/openmetrics.md).
package metrics

import (
	"io"
	"strconv"
	"time"

	"example.org/homenode/capture/export/openmetrics"
	"example.org/homenode/capture/export/series"
	"example.org/homenode/numa"
	"example.org/homenode/serve/board"
	"example.org/homenode/serve/collect"
)

// A Form is an exposition format.
type Form bool

// The exposition formats.
const (
	Text        Form = false // version 0.0.4
	OpenMetrics Form = true  // version 1.0.0
)

// ContentType returns the HTTP media type.
func (f Form) ContentType() string {
	if f == OpenMetrics {
		return "application/openmetrics-text; version=1.0.0; charset=utf-8"
	}
	return "text/plain; version=0.0.4; charset=utf-8"
}

// A Family is a metric of hosts, nodes and VMs.
type Family struct {
	Name string // name of its samples, with _total for a counter
	name string // of the family in OpenMetrics
	Kind string // counter or gauge
	Unit string // empty for a plain number
	Help string // one sentence, without a full stop

	total func(*numa.Moves) int64 // of events
}

// Families are the metrics of hosts: series.All in its order, then the locality.
var Families = families()

func families() (all []Family) {
	for i, c := range series.All() {
		kind, help := openmetrics.HeadOf(&c, i, "the collector saw the VM on this host first")
		name := openmetrics.FamilyName(i, c.Name)
		f := Family{Name: name, name: name, Kind: kind, Unit: c.Unit, Help: help, total: totals[c.Name]}
		if kind == "counter" {
			f.Name += "_total"
		}
		all = append(all, f)
	}
	const ratio = "homenode_vm_numa_local_ratio"
	return append(all, Family{Name: ratio, name: ratio, Kind: "gauge", Unit: "ratio", Help: "Locality (N%L): local memory of local and remote, absent without memory"})
}

// totals are the sums of migrations, by name of the counter.
var totals = map[string]func(*numa.Moves) int64{
	"vm_numa_migrations":               func(m *numa.Moves) int64 { return m.All },
	"vm_numa_balance_migrations":       func(m *numa.Moves) int64 { return m.Balance },
	"vm_numa_load_swap_migrations":     func(m *numa.Moves) int64 { return m.LoadSwap },
	"vm_numa_locality_migrations":      func(m *numa.Moves) int64 { return m.Locality },
	"vm_numa_locality_swap_migrations": func(m *numa.Moves) int64 { return m.LocalitySwap },
	"vm_numa_fairness_migrations":      func(m *numa.Moves) int64 { return m.Fairness },
}

// A Sample is one number of a host at its tick.
type Sample struct {
	Family int // index in Families
	VM     int // index in Tick.VMs; -1 for host and node
	Node   int // ID; -1 if the number is not about one node
	Number float64
}

// Each calls f with every sample of a host; the samples of a VM are contiguous.
func Each(h *board.Host, f func(Sample)) {
	current := -1
	for v := range series.Values(&h.Tick) {
		if v.VM >= 0 && v.VM != current {
			current = v.VM
			if share, ok := h.Tick.VMs[v.VM].Locality(); ok {
				f(Sample{len(Families) - 1, v.VM, -1, share})
			}
		}
		switch total := Families[v.Counter].total; {
		case v.Counter == series.HomeNodes:
			homes := h.Tick.VMs[v.VM].Homes
			nodes := homes
			for i := range h.Tick.Nodes {
				nodes |= numa.SetOf(h.Tick.Nodes[i].ID)
			}
			for n := range nodes.All() {
				f(Sample{v.Counter, v.VM, n, truth(homes.Has(n))})
			}
			continue
		case total != nil:
			v.Number = float64(total(&h.VMs[v.VM].Totals.Moves))
		}
		f(Sample{v.Counter, v.VM, v.Node, v.Number})
	}
}

// Labels returns the labels of a host, or of a VM on it, as pairs. A VM is identified by its ID, or by the scheduler group if the
// inventory has several VMs of its name.
func Labels(h *board.Host, vm int) []string {
	l := []string{"vcenter", h.VCenter, "cluster", h.Cluster, "host", h.Name}
	if vm < 0 {
		return l
	}
	l = append(l, "vm", h.Tick.VMs[vm].Name, "vm_id", h.VMs[vm].ID)
	if h.VMs[vm].ID == "" {
		l = append(l, "gid", strconv.FormatInt(h.Tick.VMs[vm].GID, 10))
	}
	return l
}

// A block is one family and its samples so far.
type block struct {
	Family
	group   int // of Groups
	samples []byte
}

// A Page is the output, family by family. It is reused to save memory.
type Page struct {
	form   Form
	hosts  []block  // parallel to Families
	own    []*block // in the order of their first samples
	byName map[string]*block
	labels []byte
	only   uint // groups that are taken, a bit for each; 0 for all
}

// NewPage returns an empty Page.
func NewPage(f Form) *Page {
	p := &Page{form: f, byName: map[string]*block{}, hosts: make([]block, len(Families))}
	for i := range Families {
		p.hosts[i].Family, p.hosts[i].group = Families[i], groupOf(Families[i].Name)
	}
	return p
}

// Reset empties the page and keeps its memory.
func (p *Page) Reset() {
	p.only = 0
	for i := range p.hosts {
		p.hosts[i].samples = p.hosts[i].samples[:0]
	}
	for _, f := range p.own {
		f.samples = f.samples[:0]
	}
}

// sample adds one sample with these labels; node is -1 for none.
func (p *Page) sample(f *block, labels []byte, node int, number float64) {
	b := append(append(f.samples, f.Name...), '{')
	b = append(b, labels...)
	if node >= 0 {
		b = append(strconv.AppendInt(append(b, `,node="`...), int64(node), 10), '"')
	}
	f.samples = append(openmetrics.AppendNumber(append(b, "} "...), number), '\n')
}

func appendLabels(b []byte, pairs []string) []byte {
	for i := 0; i+1 < len(pairs); i += 2 {
		b = openmetrics.AppendLabel(b, pairs[i], pairs[i+1])
	}
	return b
}

// AddHosts adds the metrics of hosts; vcenter selects one, empty for all.
func (p *Page) AddHosts(b *board.Board, vcenter string) {
	b.Each(func(h *board.Host) {
		if vcenter == "" || h.VCenter == vcenter {
			p.addHost(h)
		}
	})
}

func (p *Page) addHost(h *board.Host) {
	host := appendLabels(p.labels[:0], Labels(h, -1))
	p.labels = host
	var vm []byte
	current := -1
	Each(h, func(s Sample) {
		if !p.takes(p.hosts[s.Family].group) {
			return
		}
		labels := host
		if s.VM >= 0 {
			if s.VM != current {
				current, vm = s.VM, appendLabels(vm[:0], Labels(h, s.VM))
			}
			labels = vm
		}
		p.sample(&p.hosts[s.Family], labels, s.Node, s.Number)
	})
}

// Add adds a sample of one of the collector's own families. Labels are name and value pairs.
func (p *Page) Add(name, kind, unit, help string, number float64, labels ...string) {
	f := p.byName[name]
	if f == nil {
		f = &block{Family: Family{Name: name, name: name, Kind: kind, Unit: unit, Help: help}, group: groupOf(name)}
		if kind == "counter" {
			f.Name += "_total"
		}
		p.byName[name] = f
		p.own = append(p.own, f)
	}
	if p.takes(f.group) {
		p.sample(f, appendLabels(nil, labels), -1, number)
	}
}

// An Add adds one sample of one of the collector's own families, as Page.Add does.
type Add = func(name, kind, unit, help string, number float64, labels ...string)

// Status adds the collection status.
func Status(s *collect.Status, add Add) {
	v := s.Name
	add("homenode_vcenter_up", "gauge", "", "Whether there is a session with the vCenter", truth(s.Up), "vcenter", v)
	add("homenode_login", "counter", "", "Attempts to log in", float64(s.Logins), "vcenter", v, "result", "ok")
	add("homenode_login", "counter", "", "", float64(s.LoginsLost), "vcenter", v, "result", "failed")
	add("homenode_interval_seconds", "gauge", "seconds", "Time between two answers of a host", s.Every.Seconds(), "vcenter", v)
	for i := range s.Hosts {
		h := &s.Hosts[i]
		l := []string{"vcenter", v, "cluster", h.Cluster, "host", h.Name}
		if !h.Last.IsZero() {
			add("homenode_last_tick_timestamp_seconds", "gauge", "seconds", "When the host was seen last, by its clock", float64(h.Last.UnixMilli())/1000, l...)
			add("homenode_clock_skew_seconds", "gauge", "seconds", "Clock of the collector less that of the host, with the way of the answer", h.Skew.Round(time.Millisecond).Seconds(), l...)
			add("homenode_fetch_seconds", "gauge", "seconds", "Time that the last turn took", h.Took.Round(time.Millisecond).Seconds(), l...)
		}
		add("homenode_fetch_bytes", "counter", "bytes", "Bytes of answers", float64(h.Bytes), l...)
		add("homenode_fetch_failures", "counter", "", "Turns that brought nothing", float64(h.Failed), l...)
		add("homenode_turns_skipped", "counter", "", "Turns that a late answer took", float64(h.Skipped), l...)
		add("homenode_host_failing", "gauge", "", "Whether the last turn brought nothing", truth(h.Reason != ""), l...)
		add("homenode_host_maintenance", "gauge", "", "Whether the host is in maintenance", truth(h.Maintenance), l...)
	}
}

// truth returns 1 for true.
func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Alarms adds the open findings.
func Alarms(open []board.Alarm, add Add) {
	seen := map[string]bool{}
	for i := range open {
		a := &open[i]
		f := &a.Finding
		l := []string{"vcenter", a.VCenter, "cluster", f.Cluster, "host", f.Host, "vm", f.VM, "vm_id", f.VMID, "rule", f.Rule, "severity", f.Severity.String(), "topic", f.Topic}
		k := ""
		for _, s := range l {
			k += s + "\x00"
		}
		if !seen[k] { // findings of one rule about several hosts may have one name
			seen[k] = true
			add("homenode_finding", "gauge", "", "A finding that holds", 1, l...)
		}
	}
}

// WriteTo writes the page.
func (p *Page) WriteTo(w io.Writer) (n int64, err error) {
	write := func(b []byte) {
		if err == nil {
			var m int
			m, err = w.Write(b)
			n += int64(m)
		}
	}
	var head []byte
	one := func(f *block) {
		if len(f.samples) == 0 {
			return
		}
		name, unit := f.name, f.Unit
		if p.form == Text { // this format has no units, and names a counter by its samples
			name, unit = f.Name, ""
		}
		head = openmetrics.AppendHead(head[:0], name, f.Kind, unit, f.Help)
		write(head)
		write(f.samples)
	}
	for i := range p.hosts {
		one(&p.hosts[i])
	}
	for _, f := range p.own {
		one(f)
	}
	if p.form == OpenMetrics {
		write([]byte("# EOF\n"))
	}
	return n, err
}

// WithNode returns labels with that of a node; -1 for none.
func WithNode(labels []string, node int) []string {
	out := append([]string(nil), labels...)
	if node >= 0 {
		out = append(out, "node", strconv.Itoa(node))
	}
	return out
}

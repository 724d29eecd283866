// Package metrics writes what a Board shows as Prometheus's text or OpenMetrics, with the
// names that files have (docs/openmetrics.md).
package metrics

import (
	"io"
	"strconv"
	"time"

	"homenode/capture/export/openmetrics"
	"homenode/capture/export/series"
	"homenode/numa"
	"homenode/serve/board"
	"homenode/serve/collect"
)

// A Form is a form of exposition.
type Form bool

// The forms.
const (
	Text        Form = false // version 0.0.4
	OpenMetrics Form = true  // version 1.0.0
)

// ContentType returns it as HTTP says it.
func (f Form) ContentType() string {
	if f == OpenMetrics {
		return "application/openmetrics-text; version=1.0.0; charset=utf-8"
	}
	return "text/plain; version=0.0.4; charset=utf-8"
}

// A family is one family and its samples so far.
type family struct {
	name, kind, unit, help string
	total                  func(*numa.Moves) int64 // of events
	samples                []byte
}

// A Page is what is written, family by family. It is used again and again to save its memory.
type Page struct {
	form     Form
	counters []family // of series.All, in its order
	ratio    family
	own      []*family // in the order of their first samples
	byName   map[string]*family
	labels   []byte
	subject  []byte
}

// NewPage returns an empty Page.
func NewPage(f Form) *Page {
	p := &Page{form: f, byName: map[string]*family{}}
	for i, c := range series.All() {
		kind, help := openmetrics.HeadOf(&c, i, "the collector saw the VM on this host first")
		p.counters = append(p.counters, family{name: openmetrics.FamilyName(i, c.Name), kind: kind, unit: c.Unit, help: help, total: totals[c.Name]})
	}
	p.ratio = family{name: "homenode_vm_numa_local_ratio", kind: "gauge", unit: "ratio", help: "Locality (N%L): local memory of local and remote, absent without memory"}
	return p
}

// Reset empties the page and keeps its memory.
func (p *Page) Reset() {
	for i := range p.counters {
		p.counters[i].samples = p.counters[i].samples[:0]
	}
	p.ratio.samples = p.ratio.samples[:0]
	for _, f := range p.own {
		f.samples = f.samples[:0]
	}
}

// sample adds one sample with these labels.
func (p *Page) sample(f *family, labels []byte, number float64) {
	b := append(f.samples, f.name...)
	if f.kind == "counter" {
		b = append(b, "_total"...)
	}
	b = append(append(append(b, '{'), labels...), "} "...)
	f.samples = append(openmetrics.AppendNumber(b, number), '\n')
}

// AddHosts adds what the hosts show; vcenter narrows it to one, empty for all.
func (p *Page) AddHosts(b *board.Board, vcenter string) {
	b.Each(func(h *board.Host) {
		if vcenter == "" || h.VCenter == vcenter {
			p.addHost(h)
		}
	})
}

func (p *Page) addHost(h *board.Host) {
	l := openmetrics.AppendLabel(p.labels[:0], "vcenter", h.VCenter)
	l = openmetrics.AppendLabel(l, "cluster", h.Cluster)
	l = openmetrics.AppendLabel(l, "host", h.Name)
	p.labels = l
	base, current := len(l), -1
	subject := append(p.subject[:0], l...)
	for v := range series.Values(&h.Tick) {
		f := &p.counters[v.Counter]
		if v.VM >= 0 && v.VM != current {
			current = v.VM
			subject = appendVM(subject[:base], h, v.VM)
			if share, ok := h.Tick.VMs[v.VM].Locality(); ok {
				p.sample(&p.ratio, subject, share)
			}
		}
		labels := subject
		if v.VM < 0 {
			labels = subject[:base]
		}
		switch {
		case v.Counter == series.HomeNodes:
			p.addHomes(f, labels, &h.Tick, h.Tick.VMs[v.VM].Homes)
			continue
		case f.total != nil:
			v.Number = float64(f.total(&h.VMs[v.VM].Totals.Moves))
		}
		if v.Node >= 0 {
			n := len(labels)
			labels = appendNode(labels, v.Node)
			p.sample(f, labels, v.Number)
			subject = labels[:max(n, len(subject))]
			continue
		}
		p.sample(f, labels, v.Number)
	}
	p.subject = subject
}

// totals are what the migrations add up to, by name of the counter.
var totals = map[string]func(*numa.Moves) int64{
	"vm_numa_migrations":               func(m *numa.Moves) int64 { return m.All },
	"vm_numa_balance_migrations":       func(m *numa.Moves) int64 { return m.Balance },
	"vm_numa_load_swap_migrations":     func(m *numa.Moves) int64 { return m.LoadSwap },
	"vm_numa_locality_migrations":      func(m *numa.Moves) int64 { return m.Locality },
	"vm_numa_locality_swap_migrations": func(m *numa.Moves) int64 { return m.LocalitySwap },
	"vm_numa_fairness_migrations":      func(m *numa.Moves) int64 { return m.Fairness },
}

// appendVM appends the labels of a VM: its ID, or the scheduler group where the inventory does not tell
// which of several VMs it is.
func appendVM(b []byte, h *board.Host, i int) []byte {
	t := &h.Tick.VMs[i]
	b = openmetrics.AppendLabel(b, "vm", t.Name)
	b = openmetrics.AppendLabel(b, "vm_id", h.VMs[i].ID)
	if h.VMs[i].ID == "" {
		b = openmetrics.AppendLabel(b, "gid", strconv.FormatInt(t.GID, 10))
	}
	return b
}

func appendNode(b []byte, node int) []byte {
	return append(strconv.AppendInt(append(b, `,node="`...), int64(node), 10), '"')
}

func (p *Page) addHomes(f *family, labels []byte, t *numa.Tick, homes numa.NodeSet) {
	nodes := homes
	for i := range t.Nodes {
		nodes |= numa.SetOf(t.Nodes[i].ID)
	}
	for n := range nodes.All() {
		number := 0.0
		if homes.Has(n) {
			number = 1
		}
		p.sample(f, appendNode(labels[:len(labels):len(labels)], n), number)
	}
}

// Add adds a sample of a family of the collector's own. Labels come in pairs of name and value.
func (p *Page) Add(name, kind, unit, help string, number float64, labels ...string) {
	f := p.byName[name]
	if f == nil {
		f = &family{name: name, kind: kind, unit: unit, help: help}
		p.byName[name] = f
		p.own = append(p.own, f)
	}
	var l []byte
	for i := 0; i+1 < len(labels); i += 2 {
		l = openmetrics.AppendLabel(l, labels[i], labels[i+1])
	}
	p.sample(f, l, number)
}

// AddStatus adds how collecting goes.
func (p *Page) AddStatus(s *collect.Status) {
	up := 0.0
	if s.Up {
		up = 1
	}
	v := s.Name
	p.Add("homenode_vcenter_up", "gauge", "", "Whether there is a session with the vCenter", up, "vcenter", v)
	p.Add("homenode_login", "counter", "", "Attempts to log in", float64(s.Logins), "vcenter", v, "result", "ok")
	p.Add("homenode_login", "counter", "", "", float64(s.LoginsLost), "vcenter", v, "result", "failed")
	p.Add("homenode_interval_seconds", "gauge", "seconds", "Time between two answers of a host", s.Every.Seconds(), "vcenter", v)
	for i := range s.Hosts {
		h := &s.Hosts[i]
		l := []string{"vcenter", v, "cluster", h.Cluster, "host", h.Name}
		if !h.Last.IsZero() {
			p.Add("homenode_last_tick_timestamp_seconds", "gauge", "seconds", "When the host was seen last, by its clock", float64(h.Last.UnixMilli())/1000, l...)
			p.Add("homenode_clock_skew_seconds", "gauge", "seconds", "Clock of the collector less that of the host, with the way of the answer", h.Skew.Round(time.Millisecond).Seconds(), l...)
			p.Add("homenode_fetch_seconds", "gauge", "seconds", "Time that the last turn took", h.Took.Round(time.Millisecond).Seconds(), l...)
		}
		p.Add("homenode_fetch_bytes", "counter", "bytes", "Bytes of answers", float64(h.Bytes), l...)
		p.Add("homenode_fetch_failures", "counter", "", "Turns that brought nothing", float64(h.Failed), l...)
		p.Add("homenode_turns_skipped", "counter", "", "Turns that a late answer took", float64(h.Skipped), l...)
		failing := 0.0
		if h.Reason != "" {
			failing = 1
		}
		p.Add("homenode_host_failing", "gauge", "", "Whether the last turn brought nothing", failing, l...)
	}
}

// AddAlarms adds the findings that hold.
func (p *Page) AddAlarms(open []board.Alarm) {
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
			p.Add("homenode_finding", "gauge", "", "A finding that holds", 1, l...)
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
	one := func(f *family) {
		if len(f.samples) == 0 {
			return
		}
		name, unit := f.name, f.unit
		if p.form == Text {
			unit = "" // it knows no units, and a counter by the name of its samples
			if f.kind == "counter" {
				name += "_total"
			}
		}
		head = openmetrics.AppendHead(head[:0], name, f.kind, unit, f.help)
		write(head)
		write(f.samples)
	}
	for i := range p.counters {
		one(&p.counters[i])
	}
	one(&p.ratio)
	for _, f := range p.own {
		one(f)
	}
	if p.form == OpenMetrics {
		write([]byte("# EOF\n"))
	}
	return n, err
}

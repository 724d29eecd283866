package experiment

import (
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/internal/words"

	"example.org/homenode/numa"
)

// A quantity is a possible subject of a figure.
type quantity struct {
	name    string
	kind    kind
	what    string
	ofHost  bool // its subject is a host, not VMs
	ofNode  bool // it is written with a node: onNode:0
	one     bool // its subject is one VM
	stretch bool // it is only defined over a stretch of time
	// At most one of these is set: level for a level at a tick, summed over VMs; rate for a
	// change since the previous tick, with its weight. Both are nil for quantities that value
	// computes itself.
	level func(s *sample, node int) float64
	rate  func(s *sample) (x, weight float64)
}

var quantities = []quantity{
	{name: "homes", kind: kindNodes, what: "home nodes (NHN); - for a VM that is not managed", one: true},
	{name: "clients", kind: kindNumber, what: "NUMA clients, the lines of sched-stats -t numa-clients", level: func(s *sample, _ int) float64 { return float64(s.clients) }},
	{name: "nodes", kind: kindNumber, what: "how many nodes are home to any of the VMs"},
	{name: "crowd", kind: kindPercent, what: "share of the VMs whose home is the node that is home to most of them"},
	{name: "local", kind: kindBytes, what: "memory on home nodes (NLMEM)", level: func(s *sample, _ int) float64 { return float64(s.local) }},
	{name: "remote", kind: kindBytes, what: "memory elsewhere (NRMEM)", level: func(s *sample, _ int) float64 { return float64(s.remote) }},
	{name: "onNode", kind: kindBytes, what: "memory on a node (GST_ND)", ofNode: true, level: func(s *sample, n int) float64 { return float64(s.onNode[n]) }},
	{name: "locality", kind: kindPercent, what: "local ÷ (local + remote) (N%L)"},
	{name: "consumed", kind: kindBytes, what: "machine memory, without what is shared away", level: func(s *sample, _ int) float64 { return float64(s.consumed) }},
	{name: "large", kind: kindBytes, what: "memory in large pages", level: func(s *sample, _ int) float64 { return float64(s.large) }},
	{name: "shared", kind: kindBytes, what: "memory that page sharing saves", level: func(s *sample, _ int) float64 { return float64(s.shared) }},
	{name: "swapped", kind: kindBytes, what: "swapped memory", level: func(s *sample, _ int) float64 { return float64(s.swapped) }},
	{name: "free", kind: kindBytes, what: "free memory of a node of a host", ofHost: true, ofNode: true},
	{name: "moves", kind: kindNumber, what: "NUMA migrations (NMIG)", stretch: true},
	{name: "ready", kind: kindPercent, what: "ready time of a vCPU, mean", rate: func(s *sample) (float64, float64) { return s.ready, s.vcpus }},
	{name: "coStop", kind: kindPercent, what: "co-stop of a vCPU, mean", rate: func(s *sample) (float64, float64) { return s.coStop, s.vcpus }},
	{name: "run", kind: kindPercent, what: "run time of a vCPU, mean", rate: func(s *sample) (float64, float64) { return s.run, s.vcpus }},
	{name: "speed", kind: kindPercent, what: "performance index of the cost model", one: true},
	{name: "far", kind: kindPercent, what: "accesses to memory of another node than the vCPU's", one: true},
}

func quantityNamed(name string) *quantity {
	for i := range quantities {
		if quantities[i].name == name {
			return &quantities[i]
		}
	}
	return nil
}

func quantityNames() []string {
	return words.Texts(quantities, func(one quantity) string { return one.name })
}

// usage returns the syntax of the quantity.
func (q *quantity) usage() string {
	subject := "VM"
	if q.ofHost {
		subject = "HOST"
	}
	if q.ofNode {
		return q.name + ":NODE " + subject
	}
	return q.name + " " + subject
}

// value returns the value of one side of a want.
func (s *Side) value(traces []*trace) (value, error) {
	a, err := s.A.of(traces)
	if err != nil || s.Op == "" {
		return a, err
	}
	b, err := s.B.of(traces)
	if a.gigabytes = a.gigabytes || b.gigabytes; err != nil {
		return a, err
	}
	return combine(a, s.Op, b), nil
}

// of returns the value of a term. The error is about a VM that does not run at that time.
func (t *Term) of(traces []*trace) (value, error) {
	if t.quantity == nil {
		return t.value, nil
	}
	tr := traces[t.run]
	if t.quantity.ofHost {
		return t.hostValue(tr)
	}
	var all [][]sample
	for _, vm := range t.subjects {
		some := tr.between(vm, t.from, t.to, t.over)
		if len(some) == 0 {
			return value{}, fmt.Errorf("%s does not run at that time", tr.story.Fleet.VMs[vm].Name)
		}
		all = append(all, some)
	}
	switch q := t.quantity; {
	case q.name == "moves":
		n := int64(0)
		for _, s := range slices.Concat(all...) {
			n += s.moves
		}
		return exactly(q.kind, float64(n)), nil
	case q.rate != nil:
		return t.mean(all), nil
	case q.name == "speed", q.name == "far":
		return t.priced(all[0]), nil
	}
	return t.levels(all)
}

// mean returns the mean over the time and the vCPUs of all VMs.
func (t *Term) mean(all [][]sample) value {
	x, weight := 0.0, 0.0
	for _, s := range slices.Concat(all...) {
		one, w := t.quantity.rate(&s)
		x += one * s.since
		weight += w * s.since
	}
	if weight == 0 {
		return value{kind: t.quantity.kind, unknown: "no time has passed"}
	}
	return exactly(t.quantity.kind, 100*x/weight)
}

// priced returns the mean of the index over the moments for which it was computed.
func (t *Term) priced(some []sample) value {
	v, n := value{kind: t.quantity.kind, estimate: t.quantity.name == "speed"}, 0.0
	for i := range some {
		p := some[i].price
		if p == nil {
			continue
		}
		n++
		if v.estimate {
			v.low, v.middle, v.high = v.low+100*p.Low, v.middle+100*p.Value, v.high+100*p.High
		} else {
			v.low += 100 * p.Far
		}
	}
	if n == 0 {
		return value{kind: t.quantity.kind, unknown: "it did no work"}
	}
	v.low, v.middle, v.high = v.low/n, v.middle/n, v.high/n
	if !v.estimate {
		v.middle, v.high = v.low, v.low
	}
	return v
}

// levels evaluates every tick at which all of the VMs run.
func (t *Term) levels(all [][]sample) (value, error) {
	out := value{kind: t.quantity.kind}
	seen := 0
	for i := range all[0] {
		now := make([]*sample, 0, len(all))
		for _, some := range all {
			if j := slices.IndexFunc(some, func(s sample) bool { return s.at == all[0][i].at }); j >= 0 {
				now = append(now, &some[j])
			}
		}
		if len(now) < len(all) {
			continue
		}
		if t.quantity.kind == kindNodes {
			out.nodes = append(out.nodes, now[0].homes)
			seen++
			continue
		}
		x, ok := t.level(now)
		if !ok {
			return value{kind: out.kind, unknown: "it has no memory"}, nil
		}
		if seen == 0 || x < out.low {
			out.low = x
		}
		if seen == 0 || x > out.high {
			out.high = x
		}
		out.middle = (out.low + out.high) / 2
		seen++
	}
	if seen == 0 {
		return out, fmt.Errorf("%s do not run at the same time", t.name)
	}
	return out, nil
}

// level returns a level of some VMs at one tick.
func (t *Term) level(now []*sample) (x float64, ok bool) {
	switch q := t.quantity; q.name {
	case "nodes", "crowd":
		homes, most := map[string]int{}, 0
		var union numa.NodeSet
		for _, s := range now {
			union |= s.homes
			for n := range s.homes.All() {
				key := fmt.Sprint(s.host, n)
				homes[key]++
				most = max(most, homes[key])
			}
		}
		if q.name == "nodes" {
			return float64(len(homes)), true
		}
		return 100 * float64(most) / float64(len(now)), true
	case "locality":
		local, all := 0.0, 0.0
		for _, s := range now {
			local += float64(s.local)
			all += float64(s.local + s.remote)
		}
		return 100 * local / all, all > 0
	default:
		for _, s := range now {
			x += q.level(s, t.node)
		}
		return x, true
	}
}

func (t *Term) hostValue(tr *trace) (value, error) {
	out, seen := value{kind: t.quantity.kind}, false
	for _, h := range tr.hosts[t.subjects[0]] {
		if h.at < tr.at(t.from) || h.at > tr.at(t.to) {
			continue
		}
		if h.free == nil {
			return value{kind: out.kind, unknown: "the memory of the host is"}, nil
		}
		x := float64(h.free[t.node])
		if !seen || x < out.low {
			out.low = x
		}
		if !seen || x > out.high {
			out.high = x
		}
		out.middle, seen = (out.low+out.high)/2, true
	}
	if !seen {
		return out, fmt.Errorf("%s does not run at that time", t.name)
	}
	return out, nil
}

// Quantities lists the quantities of figures, one a line.
func Quantities() string {
	var b strings.Builder
	for i := range quantities {
		fmt.Fprintf(&b, "| `%s` | %s |\n", quantities[i].usage(), quantities[i].what)
	}
	return b.String()
}

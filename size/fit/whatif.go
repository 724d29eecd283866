package fit

import (
	"context"
	"fmt"
	"slices"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
)

// A Change is one alternative, with the new result of each type.
type Change struct {
	If    string  `json:"if"`
	Moved []Moved `json:"moved"` // types with a different answer
}

// A Moved is an answer before and after a change: VMs of a shape on a host, or hosts for all VMs.
type Moved struct {
	Type   string `json:"type"`
	Shape  string `json:"shape,omitempty"`
	Of     string `json:"of"` // VMs of a "host" or of the "cluster", the number of "hosts", of VMs that these "hold", or that are "wide"
	Before int    `json:"before"`
	After  int    `json:"after"`
	Spare  int    `json:"spare,omitempty"` // those of After that are spare hosts
}

// Changes computes alternative results of Fit; r is the present one. When ctx ends it omits the rest.
func Changes(ctx context.Context, a *Ask, r *Result) []Change {
	out := a.failed(r)
	for _, v := range a.variants(r) {
		after, err := Fit(ctx, &v.ask)
		if err != nil {
			continue // an invalid question is no alternative
		}
		if c := (Change{If: v.name, Moved: moved(r, after)}); len(c.Moved) > 0 || !v.advice {
			out = append(out, c)
		}
	}
	return out
}

// moved compares results by the name of the type.
func moved(before, after *Result) []Moved {
	out := []Moved{}
	for i := range before.Types {
		b := &before.Types[i]
		k := slices.IndexFunc(after.Types, func(t Outcome) bool { return t.Name == b.Name })
		if k < 0 {
			continue
		}
		if was, is := b.Mix, after.Types[k].Mix; was != nil && was.VMs != is.VMs { // hosts for other VMs do not compare
			out = append(out, Moved{Type: b.Name, Of: "hold", Before: was.VMs, After: is.VMs})
		} else if was != nil {
			if was.Total != is.Total {
				out = append(out, Moved{Type: b.Name, Of: "hosts", Before: was.Total, After: is.Total, Spare: after.Spare})
			}
			if was.Wide != is.Wide {
				out = append(out, Moved{Type: b.Name, Of: "wide", Before: was.Wide, After: is.Wide})
			}
		}
		for j := range b.Counts {
			was, is := b.Counts[j].VMs, after.Types[k].Counts[j].VMs
			if was != is {
				out = append(out, Moved{Type: b.Name, Shape: b.Counts[j].Shape, Of: "host", Before: was, After: is})
			}
		}
	}
	return out
}

// failed returns the effect of one more failed host on the cluster, or its cost.
func (a *Ask) failed(r *Result) []Change {
	c := Change{If: fmt.Sprintf("%s may fail instead of %d", words.Plural(a.Spare+1, "host"), a.Spare), Moved: []Moved{}}
	carries := false
	for i := range r.Types {
		t := &r.Types[i]
		if t.Mix != nil && t.Mix.Hosts > 0 { // else none carries a VM
			carries = true
			if more := t.Mix.total(a.Spare + 1); more != t.Mix.Total {
				c.Moved = append(c.Moved, Moved{Type: t.Name, Of: "hosts", Before: t.Mix.Total, After: more, Spare: a.Spare + 1})
			}
		}
		for j := range t.Counts {
			if n := &t.Counts[j]; a.Hosts > a.Spare+1 && n.VMs > 0 {
				c.Moved = append(c.Moved, Moved{Type: t.Name, Shape: n.Shape, Of: "cluster", Before: n.InCluster(a.Hosts - a.Spare), After: n.InCluster(a.Hosts - a.Spare - 1)})
			}
		}
	}
	if len(c.Moved) == 0 && !carries {
		return nil
	}
	return []Change{c}
}

// A variant is an Ask with one thing changed.
type variant struct {
	name   string
	ask    Ask
	advice bool // is shown only when it changes something
}

func (a *Ask) variants(r *Result) []variant {
	var out []variant
	add := func(name string, change func(*Ask)) {
		b := *a
		b.base = a
		b.Types, b.Shapes = slices.Clone(a.Types), slices.Clone(a.Shapes)
		change(&b)
		out = append(out, variant{name: name, ask: b})
	}
	if divided, all := a.divided(2); divided != nil {
		name := "every NUMA node is halved (SNC2, NPS2)"
		if !all {
			name = "NUMA nodes are halved where it can be (SNC2, NPS2)"
		}
		add(name, func(b *Ask) { b.Types = divided })
	}
	if a.Reserve > 0 {
		add("no reserve on the nodes", func(b *Ask) { b.Reserve = 0 })
	}
	add(fmt.Sprintf("%s vCPUs per core instead of %s", trim(2*a.PerCore), trim(a.PerCore)), func(b *Ask) { b.PerCore = 2 * a.PerCore })
	if today := trim(a.Density); a.Density > 0 && today != trim(a.PerCore) {
		add(fmt.Sprintf("%s vCPUs per core, the mean of today, instead of %s", today, trim(a.PerCore)), func(b *Ask) { b.PerCore = a.Density })
	}
	add("hosts with half as much memory again", func(b *Ask) {
		for i := range b.Types {
			b.Types[i].Host = scaled(b.Types[i].Host, 3, 2)
		}
	})
	for i := range a.Shapes {
		s := a.Shapes[i]
		for _, v := range r.rounded(i, s.VCPUs) {
			add(fmt.Sprintf("%d vCPUs instead of %d%s", v, s.VCPUs, a.of(s)), func(b *Ask) { b.Shapes[i] = s.resized(v, s.Memory) })
			out[len(out)-1].advice = true
		}
	}
	return out
}

// of returns the name of the shape where there are several.
func (a *Ask) of(s Shape) string {
	if len(a.Shapes) == 1 {
		return ""
	}
	return " for " + s.Name
}

// rounded returns the vCPU counts, a quarter smaller at most, that let one VM more fit the cores of a node.
func (r *Result) rounded(shape, vcpus int) []int {
	var out []int
	for i := range r.Types {
		t := &r.Types[i]
		if vcpus > t.NodeCores || len(t.Counts) <= shape || len(t.Counts[shape].Nodes) == 0 {
			continue
		}
		takes := t.Counts[shape].Nodes[0].VCPUs
		v := takes / (takes/vcpus + 1)
		if v > 0 && v < vcpus && 4*v >= 3*vcpus && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	slices.Reverse(out)
	return out
}

// divided returns the types with each node divided by k; nil when none can be. all is false when some types are unchanged.
func (a *Ask) divided(k int) (out []Type, all bool) {
	out = slices.Clone(a.Types)
	any, all := false, true
	for i := range out {
		h := &out[i].Host
		var nodes []numa.Node
		for _, n := range h.Nodes.Value {
			if n.Cores%k != 0 || n.Threads%k != 0 || !n.Memory.Known() {
				nodes = nil
				break
			}
			n.Cores, n.Threads = n.Cores/k, n.Threads/k
			n.Memory.Value /= numa.Bytes(k)
			for range k {
				n.ID = len(nodes)
				nodes = append(nodes, n)
			}
		}
		if len(nodes) > 0 && len(nodes) <= numa.MaxNodes {
			h.Nodes.Value, any = nodes, true
		} else {
			all = false
		}
	}
	if !any {
		return nil, false
	}
	return out, all
}

// scaled returns the host with its memory times a fraction.
func scaled(h numa.Host, times, by numa.Bytes) numa.Host {
	h.Memory.Value = h.Memory.Value / by * times
	h.Nodes.Value = slices.Clone(h.Nodes.Value)
	for i := range h.Nodes.Value {
		m := &h.Nodes.Value[i].Memory
		m.Value = m.Value / by * times
	}
	return h
}

// trim writes a ratio with three digits.
func trim(v float64) string { return unit.Digits(v, 3) }

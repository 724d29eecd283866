package ticks

import (
	"cmp"
	"slices"

	"example.org/homenode/numa"
	"example.org/homenode/source/hostcmd"
)

// hostOf returns the rounds of the host in the prompt, else of the file's host.
func (r *rounds) hostOf(o *hostcmd.Output) *hostRounds {
	name := o.Host.Name
	if name == "" {
		name = r.nameless(o)
		if r.j.opt.Host == "" && r.host == "" {
			r.once("host", o.Line, "the output does not name its host: it is called %s after the file", name)
		}
	}
	if o.Host.Name != "" {
		r.j.renamed(r.name, o.Line, name)
	}
	h := r.hosts[name]
	if h == nil {
		h = &hostRounds{name: name, names: map[int64]groupName{}}
		r.hosts[name] = h
		r.order = append(r.order, h)
	}
	return h
}

// nameless returns the name for the host of an output that does not name it: that of the job, or
// that of the file when the nodes differ from those of the earlier files.
func (r *rounds) nameless(o *hostcmd.Output) string {
	name := cmp.Or(r.host, r.j.name)
	total := totals(o)
	if total == nil || r.compared {
		return name
	}
	r.compared = true
	before, known := r.nodes[name]
	if !known {
		r.nodes[name] = total
		return name
	}
	if slices.EqualFunc(before, total, alike) {
		return name
	}
	other := hostName(r.name)
	if other == name {
		other = r.name
	}
	r.kinds.Warn("nodes", o.Line, 0, "the nodes are not those of the outputs before, which do not name their host either: this one is called %s", other)
	r.host, r.nodes[other] = other, total
	return other
}

// totals returns the memory of the nodes in an output; nil when it has none.
func totals(o *hostcmd.Output) (all []numa.Bytes) {
	switch list := o.Result.(type) {
	case *hostcmd.Screen:
		for _, n := range list.Nodes {
			all = append(all, n.Total)
		}
	case hostcmd.NodeLoads:
		for _, n := range list {
			if n.Total <= 0 {
				return nil
			}
			all = append(all, n.Total)
		}
	}
	return all
}

// alike reports whether two sizes can belong to one node: kernels of different releases reserve
// different parts, and a screen rounds.
func alike(a, b numa.Bytes) bool { return max(a, b)-min(a, b) <= max(a, b)/50 }

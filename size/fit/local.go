package fit

import (
	"fmt"
	"slices"

	"example.org/homenode/esxi/plan"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// An As is a layout that makes a VM local that is not local with its default clients: memory beyond
// a node with one client (rule book B-17) is remote only as long as the VM is not divided into
// virtual NUMA nodes (rule N005), and that of clients whose guest sees one node is interleaved until it sees theirs (N011).
type As struct {
	Rule  string   `json:"rule"` // what says so
	Nodes int      `json:"virtualNodes"`
	VCPUs int      `json:"vcpusOfEach"`
	Steps []string `json:"steps"` // to apply it, in the words of the vSphere Client
}

// String returns "2 virtual NUMA nodes of 12 vCPUs".
func (a *As) String() string {
	noun := "vCPUs"
	if a.VCPUs == 1 {
		noun = "vCPU"
	}
	return fmt.Sprintf("%d virtual NUMA nodes of %d %s", a.Nodes, a.VCPUs, noun)
}

// localAs returns the shape with the plan of its findings if that makes one VM of it local on the empty host, in virtual NUMA nodes of one size; else
// divided by hand into the fewest such nodes. It is false when none does, or when the reason is not memory that exceeds a node. More virtual nodes than
// the host has need at least two vCPUs each.
func (r *room) localAs(s *Shape, o *Options) (Shape, *As, bool) {
	if !r.beyondNode(s, o) {
		return *s, nil, false
	}
	g, rule := &s.Guest, "N005"
	if r.interleaved(s, o) {
		rule = "N011"
	}
	if best := plan.Best(g, []vnuma.Machine{r.machine}, o.Choices); best.Better {
		e, edited := best.Edit, *s
		if !s.described() && off(&e) && !off(&best.Needed) { // the rest is not worth a power-off: fix leaves it out too
			e = best.Needed
		}
		edited.Guest = e.Apply(*g)
		l := r.layout(&edited, o)
		if k := l.VPDs.Len(); e.Upgrade == 0 && k > 1 && l.VPDs.Max() == l.VPDs.Min() && r.holds(&edited, k, o) {
			return edited, &As{rule, k, l.VPDs.Max(), e.Steps(g, &r.machine)}, true
		}
	}
	for k := 2; k <= s.VCPUs; k++ {
		per := s.VCPUs / k
		if s.VCPUs%k != 0 || k > int(r.machine.Nodes) && per < 2 {
			continue
		}
		asIs, clear := plan.ByHand(g, per)
		for _, e := range []plan.Edit{asIs, clear} {
			edited := *s
			edited.Guest = e.Apply(*g)
			if r.holds(&edited, k, o) {
				return edited, &As{rule, k, per, e.Steps(g, &r.machine)}, true
			}
		}
	}
	return *s, nil, false
}

// off reports whether the edit has a part for which the VM has to be powered off.
func off(e *plan.Edit) bool {
	return e.HotAddOff || e.Shape != plan.Shape{} || e.PerNode > 0 && !e.Force
}

// beyondNode reports whether the shape's memory is too large for the nodes: it is partly remote on
// the host, or a client has more memory than any node.
func (r *room) beyondNode(s *Shape, o *Options) bool {
	if it, why := r.itemOf(s, o); why == "" {
		return it.spills
	}
	q, most := r.request(s, o), numa.Bytes(0)
	for _, n := range r.host.Nodes {
		most = max(most, n.Memory.Value)
	}
	return slices.ContainsFunc(r.clientsOf(&q, &s.Guest, o), func(c client) bool { return c.memory > most })
}

// interleaved reports whether a described shape has by default a virtual node that several clients carry: N%L counts its memory as local, and half of it or
// more is on another node than the vCPU that uses it (C-13, C-17).
func (r *room) interleaved(s *Shape, o *Options) bool {
	l := r.layout(s, o)
	_, spans := l.Spanning()
	return s.described() && spans
}

// holds reports whether one VM of the shape is local on the empty host with so many virtual nodes,
// each of them one client.
func (r *room) holds(s *Shape, nodes int, o *Options) bool {
	if _, ok := r.powersOn(s); !ok {
		return false
	}
	l := r.layout(s, o)
	if !l.Managed || l.VPDs.Len() != nodes || !l.PPDs.Equal(l.VPDs) {
		return false
	}
	it := r.item(s, o)
	return newBin(r).take(&it, (*bin).asPlaced)
}

// described reports whether the shape is only described: it is not deployed yet, so the best layout
// can be chosen. Shapes of a fleet count unchanged.
func (s *Shape) described() bool { return len(s.VMs) == 0 }

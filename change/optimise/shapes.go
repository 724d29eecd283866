package optimise

import (
	"math"
	"slices"

	"example.org/homenode/esxi/plan"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// A shapeKey contains everything that determines the shapes of a VM.
type shapeKey struct {
	guest vnuma.Guest
	home  int // kind
	nodes numa.NodeSet
	keeps bool
}

// shapesOf returns the shapes to try for a VM: the present one; the results of plan.Best for its own kind of
// host, for each other kind, and for all of them; and, if it does not fit a node, its vCPUs divided manually
// into two or more clients, up to the number of nodes of such a host. Shapes that are equal on all kinds are
// left out except the first, which needs the fewest changes. A VM that keeps its settings has the present one only.
func (b *builder) shapesOf(g *vnuma.Guest, home int, nodes numa.NodeSet, keeps bool) []Shape {
	key := shapeKey{*g, home, nodes, keeps}
	if s, ok := b.shapes[key]; ok {
		return s
	}
	list := []Shape{b.shape(g, plan.Edit{}, home, nodes)}
	if !keeps {
		for _, e := range b.edits(g, home) {
			s := b.shape(g, e, home, nodes)
			if !slices.ContainsFunc(list, func(o Shape) bool { return sameFits(o.Fits, s.Fits) }) {
				list = append(list, s)
			}
		}
	}
	b.shapes[key] = list
	return list
}

// edits returns the changes of configuration to try.
func (b *builder) edits(g *vnuma.Guest, home int) (out []plan.Edit) {
	order := append([]vnuma.Machine{b.machines[home]}, slices.Delete(slices.Clone(b.machines), home, home+1)...)
	tries := [][]vnuma.Machine{order[:1]}
	if len(order) > 1 {
		tries = append(tries, order)
		for i := range order[1:] {
			tries = append(tries, order[1+i:][:1])
		}
	}
	for _, machines := range tries {
		if p := plan.Best(g, machines, b.c.Choices); p.Better && !slices.Contains(out, p.Edit) {
			out = append(out, p.Edit)
		}
	}
	nodes := int32(0)
	for i := range b.machines {
		if m := &b.machines[i]; !holds(m, g) {
			nodes = max(nodes, m.Nodes)
		}
	}
	for k := int32(2); k <= nodes; k++ {
		if g.VCPUs%k != 0 || g.Hardware > 0 && g.Hardware < 8 {
			continue
		}
		_, e := plan.ByHand(g, int(g.VCPUs/k))
		e.FollowOff = false // the sockets are the nodes
		if !slices.Contains(out, e) && e.CanUse(g, &b.machines[home], b.c.Choices) {
			out = append(out, e)
		}
	}
	edited := func(e plan.Edit) *vnuma.Guest { n := e.Apply(*g); return &n }
	return slices.DeleteFunc(out, func(e plan.Edit) bool { return vnuma.Refuse(edited(e), &b.machines[home]).Any() })
}

// holds reports whether a VM fits one node: then it is not divided manually, because all its memory is local
// already ("sized smaller than the NUMA node", VMware, Performance Best Practices for vSphere 7.0, NUMA
// considerations).
func holds(m *vnuma.Machine, g *vnuma.Guest) bool {
	node, _ := m.CPUs(g)
	return g.VCPUs <= node && (!m.MemoryKnown() || g.Resident() <= m.NodeMemory)
}

// shape predicts the layout of the edited VM on each kind: a changed VM is powered on there, an unchanged one
// arrives by vMotion with its present virtual nodes (D-1).
func (b *builder) shape(g *vnuma.Guest, e plan.Edit, home int, nodes numa.NodeSet) Shape {
	edited := e.Apply(*g)
	s := Shape{Edit: e, Nodes: nodes}
	for k := range b.machines {
		m := &b.machines[k]
		c := vnuma.Case{Choices: b.c.Choices, Ran: e == (plan.Edit{}) && k == home} // it runs there
		if e == (plan.Edit{}) && k != home {
			c.Event, c.From = vnuma.VMotionIn, &b.machines[home]
		}
		l := vnuma.Predict(&edited, m, &c)
		f := Fit{Managed: l.Managed, OK: !l.Refused.Any()}
		for i := range l.PPDs.Len() {
			_, n := l.PPDs.Group(i)
			f.Clients = append(f.Clients, n)
			if l.Memory.Placement == vnuma.Interleaved {
				f.Memory = append(f.Memory, l.PartOf(i, (g.Resident()+int64(numa.MiB)-1)/int64(numa.MiB)))
			}
		}
		switch l.Memory.Placement {
		case vnuma.Anywhere, vnuma.Interleaved:
			f.Far = int64(math.Round(l.FarShare() * float64(g.Resident()/int64(numa.MiB))))
		}
		if hidden := int64(b.hidden[k]); hidden > 1 { // some of the local memory there is actually remote
			f.Far = max(f.Far, g.Resident()/int64(numa.MiB)*(hidden-1)/hidden)
		}
		s.Fits = append(s.Fits, f)
	}
	return s
}

func sameFits(a, b []Fit) bool {
	return slices.EqualFunc(a, b, func(x, y Fit) bool {
		return x.OK == y.OK && x.Managed == y.Managed && x.Far == y.Far && slices.Equal(x.Clients, y.Clients) && slices.Equal(x.Memory, y.Memory)
	})
}

// Package cost estimates the cost of a placement: the speed of a VM's work relative to the speed
// with all memory local and spread as its clients are.
//
// The inputs are few and published: idle latency and bandwidth between the nodes of a host type
// (rule book A-10), and benchmark losses with memory away from the vCPUs (experiments D and E).
// Published prints each of them beside the model's result. An Estimate has an interval and is
// marked when it lies outside the measured range.
package cost

import (
	"slices"

	"example.org/homenode/numa"
)

// A Distance is how far memory is from the core that accesses it.
type Distance uint8

// The distances. Near exists on hosts with several nodes in a package (SNC, COD, NPS).
const (
	Local Distance = iota // memory of the same node
	Near                  // of another node of the same package
	Far                   // of a node of another package
)

// distances is the number of distances.
const distances = 3

// String returns the word used in reports.
func (d Distance) String() string { return [...]string{"local", "near", "far"}[min(d, Far)] }

// A Path is the way from the cores of a node to memory at one distance.
type Path struct {
	Nanoseconds    numa.Fact[float64] // of one access on an idle host
	BytesPerSecond numa.Fact[float64] // all cores of one node together; unknown when not published
	// Share is the bandwidth relative to a node's own memory; for far memory, that of the link
	// between two packages. It is an assumption where none is published.
	Share numa.Fact[float64]
}

// A Machine holds the memory costs of a host type: a path per distance, and the nodes.
type Machine struct {
	ID    string // of the table's entry, such as "skylake"
	Name  string
	Paths [distances]Path
	Nodes []numa.Node // by ascending ID
	// Extrapolated is true when the figures were measured on another host type.
	Extrapolated bool
	Why          []string // sources and assumptions of the figures

	span []figures // published figures of similar hosts: an interval covers all of them
}

// figures are the numbers of a machine that enter an index.
type figures struct {
	ns    [distances]float64
	share [distances]float64
}

// For returns the costs of a host type, from its processor's brand string and the number of nodes
// per package. A processor without measurements gets the nearest measured family, a host without a
// processor gets the default; both are reported in Why.
func For(h *numa.Host) Machine {
	nodes, how := nodesOf(h)
	c := classify(h.CPUModel.Value)
	parts := nodesPerPackage(nodes)
	base := c.entry
	if parts > 1 && base == skylake {
		base, c.alike = skylakeSNC, []*entry{skylakeSNC} // the only one with published near memory
	}
	m := base.machine(parts)
	m.Nodes, m.Extrapolated = nodes, !c.exact
	m.Why = slices.Concat([]string{c.why + " Figures: " + base.source + "."}, how)
	m.span = spanOf(c.alike, parts, c.exact)
	if parts > 1 && base.ns[Near] == 0 {
		m.Extrapolated = true
		m.Why = append(m.Why, "Near memory of this family is not published: "+m.Paths[Near].Nanoseconds.Origin.Where+", and the interval reaches from local to far.")
	}
	if base.mb[Far] == 0 {
		m.Why = append(m.Why, "Bandwidth between packages is not published for this family: "+m.Paths[Far].Share.Origin.Where+".")
	}
	return m
}

// nodesPerPackage returns how many nodes the largest package has; nodes of unknown
// package have one of their own.
func nodesPerPackage(nodes []numa.Node) (most int) {
	count := map[int]int{}
	for i := range nodes {
		count[nodes[i].Package]++
	}
	most = 1
	for p, n := range count {
		if p >= 0 {
			most = max(most, n)
		}
	}
	return most
}

// nodesOf returns the nodes of a host with their packages, and how the packages were derived when
// the host does not report them.
func nodesOf(h *numa.Host) (nodes []numa.Node, how []string) {
	nodes = slices.Clone(h.Nodes.Value)
	packages := h.Packages.Or(0)
	switch {
	case len(nodes) == 0 && packages > 0:
		for i := range min(packages, numa.MaxNodes) {
			nodes = append(nodes, numa.Node{ID: i, Package: i, Cores: h.Cores.Or(0) / packages})
		}
		return nodes, []string{"The nodes of the host are not known: one for each package is assumed (A-3)."}
	case len(nodes) == 0:
		return []numa.Node{{ID: 0, Package: 0}, {ID: 1, Package: 1}}, []string{"The nodes of the host are not known: two packages of one node are assumed."}
	}
	for i := range nodes {
		if nodes[i].Package >= 0 {
			continue
		}
		if packages == 0 || len(nodes)%packages != 0 {
			for j := range nodes {
				nodes[j].Package = -1
			}
			return nodes, []string{"Which node is in which package is not known: all other nodes count as far."}
		}
		for j := range nodes { // consecutive, as ESXi numbers them
			nodes[j].Package = j / (len(nodes) / packages)
		}
		return nodes, []string{"Nodes are divided over the packages in their order (A-6)."}
	}
	return nodes, nil
}

// Distance returns how far memory of one node is from cores of another, by their indices
// in Nodes. A node of unknown package is far from all others.
func (m *Machine) Distance(from, to int) Distance {
	switch p := m.Nodes[from].Package; {
	case from == to:
		return Local
	case p >= 0 && p == m.Nodes[to].Package:
		return Near
	}
	return Far
}

// figures returns the numbers of the machine itself.
func (m *Machine) figures() (f figures) {
	for d := range m.Paths {
		f.ns[d] = m.Paths[d].Nanoseconds.Value
		f.share[d] = m.Paths[d].Share.Value
	}
	return f
}

package rule

import (
	"fmt"
	"slices"
	"strings"

	"homenode/esxi/vnuma"
	"homenode/internal/words"
	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/shape"
)

// A StatedVM is a VM of a KVM host: its definition states the layout, and nothing is predicted.
type StatedVM struct {
	*numa.VM
	Host   *numa.Host    // nil when no capabilities say what it has
	Faults []shape.Fault // of its shape
	Beside []*StatedVM   // the other VMs of the host, in the order of the fleet
	Cores  map[int]int   // the core of each logical CPU of the host, an index in its CoreCPUs
}

// Flat reports whether the definition states no NUMA nodes: the guest sees one, if it is a whole definition.
func (v *StatedVM) Flat() bool { return v.Stated.CellsAt == "" }

// Sizes writes the vCPUs of the cells that are there, and not only can be added: "2 × 12", "8 + 0".
func (v *StatedVM) Sizes() string {
	var sizes []int
	for i := range v.Stated.Cells {
		sizes = append(sizes, v.Stated.Present(i))
	}
	if len(sizes) == 1 {
		return fmt.Sprint(sizes[0])
	}
	return vnuma.SizesText(sizes)
}

// Largest returns the most cores and the most memory that a node of the host with cores has; false when its nodes are unknown.
func (v *StatedVM) Largest() (cores int, memory numa.Bytes, ok bool) {
	if v.Host == nil {
		return 0, 0, false
	}
	return v.largestOf(nil)
}

// largestOf is Largest among nodes; nil are all.
func (v *StatedVM) largestOf(nodes []int) (cores int, memory numa.Bytes, ok bool) {
	for _, n := range v.Host.Nodes.Value {
		if n.Cores > 0 && (nodes == nil || slices.Contains(nodes, n.ID)) {
			cores, memory = max(cores, n.Cores), max(memory, n.Memory.Value)
		}
	}
	return cores, memory, cores > 0
}

// A Room is the node that is to carry a cell: the largest of those that it may be on.
type Room struct {
	At      string // "node 0", "any node", "each of nodes 0-1"
	Within  bool   // the vCPUs of the cell are pinned inside this node
	Cores   int
	Threads int // logical CPUs
	Memory  numa.Bytes
}

// RoomOf returns the node that is to carry a cell: its vCPUs by pins, its memory by binding or else by pins. 0 is unknown, and no need of a cell
// without vCPUs.
func (v *StatedVM) RoomOf(cell int) Room {
	s := v.Stated
	runs := s.RunsOn(cell, v.Host)
	r := Room{At: "any node", Within: len(runs) == 1}
	if s.Present(cell) > 0 {
		r.Cores, r.Memory, _ = v.largestOf(runs)
	}
	if r.Within {
		if n := v.Host.Node(runs[0]); n != nil {
			r.Threads = n.Threads
		}
	}
	home := s.HomeOf(cell, v.Host)
	switch {
	case len(home) == 1:
		r.At = NodeList(home)
	case home != nil:
		r.At = "each of " + NodeList(home)
	}
	if home != nil {
		r.Memory = 0
		for _, id := range home {
			if n := v.Host.Node(id); n != nil {
				r.Memory = max(r.Memory, n.Memory.Value)
			}
		}
	}
	return r
}

// Needed returns the fewest nodes of the host that hold the vCPUs, a core each, and the memory of the VM; false when the nodes are
// unknown. It is more than the host has when that is too small.
func (v *StatedVM) Needed() (nodes int, ok bool) {
	cores, memory, ok := v.Largest()
	if !ok {
		return 0, false
	}
	nodes = (v.Stated.VCPUs + cores - 1) / cores
	if memory > 0 {
		nodes = max(nodes, int((v.Stated.Shape.Memory+memory-1)/memory))
	}
	return nodes, true
}

// Own returns the one logical CPU of the host that each vCPU with a CPU of its own is pinned to, by vCPU.
func (v *StatedVM) Own() map[int]int {
	out := map[int]int{}
	for _, p := range v.Stated.Pins {
		if cpus := v.Stated.CPUs[p.VCPU]; len(cpus) == 1 && v.Stated.There(p.VCPU) {
			out[p.VCPU] = cpus[0]
		}
	}
	return out
}

// A StatedPass is one rule's look at one VM whose layout is stated.
type StatedPass struct {
	Rule       *Rule
	VM         *StatedVM
	Thresholds map[string]float64 // that the configuration sets
	Findings   []finding.Finding
}

// Threshold returns the rule's threshold with this name: as the configuration sets it, else its default.
func (p *StatedPass) Threshold(name string) float64 { return p.Rule.threshold(name, p.Thresholds) }

// Faults returns what a check of package shape found, as texts.
func (p *StatedPass) Faults(checks ...string) (out []string) {
	for _, f := range p.VM.Faults {
		for _, c := range checks {
			if f.Check == c {
				out = append(out, f.Text)
			}
		}
	}
	return out
}

// Report adds a finding about the VM of the pass.
func (p *StatedPass) Report(f finding.Finding) {
	f.Rule, f.Title, f.VM, f.VMID = p.Rule.ID, p.Rule.Title, p.VM.Name, p.VM.ID
	if h := p.VM.Host; h != nil {
		f.Host, f.HostID = h.Name, h.ID
	}
	p.Findings = append(p.Findings, f)
}

// At returns a value of the definition as evidence, with the place that states it.
func (p *StatedPass) At(name, value, at string) finding.Evidence {
	if at == "" {
		return finding.Evidence{Name: name, Value: value, Origin: "derived: nothing is stated", At: p.VM.Stated.At}
	}
	return finding.Evidence{Name: name, Value: value, Origin: "read: " + at, At: at}
}

// Topology returns sockets and cores as evidence.
func (p *StatedPass) Topology() finding.Evidence {
	return p.At("topology", p.VM.Stated.Topology(), p.VM.Stated.TopologyAt)
}

// Cells returns the NUMA nodes of the guest as evidence.
func (p *StatedPass) Cells() finding.Evidence {
	return p.At("cells", p.VM.Sizes(), p.VM.Stated.CellsAt)
}

// Nodes returns the nodes of the host as evidence.
func (p *StatedPass) Nodes() finding.Evidence {
	h := p.VM.Host
	cores, memory, _ := p.VM.Largest()
	value := fmt.Sprintf("%d, of at most %d cores", len(h.Nodes.Value), cores)
	if memory > 0 {
		value += fmt.Sprintf(" and %s", memory)
	}
	return finding.Evidence{Name: "nodes of " + h.Name, Value: value, Origin: h.Nodes.Origin.String(), At: h.At}
}

// SizesText writes the vCPUs of the cells: "2 × 12", "5 + 4".
func SizesText(s *numa.Shape) string {
	sizes := s.Sizes()
	if len(sizes) == 1 {
		return fmt.Sprint(sizes[0])
	}
	return vnuma.SizesText(sizes)
}

// NodeList writes node numbers: "node 0", "nodes 0-1, 3".
func NodeList(ids []int) string {
	if len(ids) == 1 {
		return fmt.Sprint("node ", ids[0])
	}
	return "nodes " + words.Ranges(ids)
}

// OnNodes writes the memory on nodes of a host: "12 GB on node 0, 4 GB on node 1".
func OnNodes(list []numa.MemoryOnNode) string {
	return strings.Join(words.Texts(list, func(m numa.MemoryOnNode) string { return fmt.Sprintf("%s on node %d", m.Guest, m.Node) }), ", ")
}

// A Comparison is one thing that was seen of a guest beside what its definition states.
type Comparison struct {
	What         string
	Seen, Stated string
	Same         bool
}

// CompareStated puts what was seen inside a guest beside the layout that its definition states: nodes, sockets, and which vCPUs are in
// each node. What the observer does not tell is left out.
func CompareStated(s *numa.Stated, o *numa.Observation) (out []Comparison) {
	add := func(what, seen, stated string) { out = append(out, Comparison{what, seen, stated, seen == stated}) }
	nodes := 0
	for _, c := range s.Cells {
		if len(c.CPUs) > 0 || c.Memory > 0 {
			nodes++
		}
	}
	switch {
	case len(o.VPDs.Value) == s.VCPUs && s.VCPUs == s.Most():
		add("vCPUs of the nodes", groupsText(o.VPDs.Value), groupsText(s.Of()))
	case o.VPDCount.Known():
		add("NUMA nodes", fmt.Sprint(o.VPDCount.Value), fmt.Sprint(nodes))
	}
	if o.SocketCount.Known() && s.VCPUs == s.Most() {
		add("sockets", fmt.Sprint(o.SocketCount.Value), fmt.Sprint(s.Sockets))
	}
	return out
}

// groupsText writes the members of each group, the groups in the order of their first members: "0-3 | 4-7".
func groupsText(group []int) string {
	index, members := map[int]int{}, [][]int(nil)
	for i, g := range group {
		k, ok := index[g]
		if !ok {
			k = len(members)
			index[g] = k
			members = append(members, nil)
		}
		members[k] = append(members[k], i)
	}
	return strings.Join(words.Texts(members, words.Ranges), " | ")
}

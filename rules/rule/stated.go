package rule

import (
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/confront"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/shape"
)

// A StatedVM is a VM of a KVM host: its definition states the layout; there is no prediction.
type StatedVM struct {
	*numa.VM
	Host   *numa.Host    // nil without capabilities of the host
	Faults []shape.Fault // of its shape
	Beside []*StatedVM   // the other VMs of the host that start, in the order of the fleet; empty if it does not start itself
	Cores  map[int]int   // the core of each logical CPU of the host, an index in its CoreCPUs
}

// Starts reports whether the VM starts, according to its definition and its host: one that does not uses no resources of the others.
func (v *StatedVM) Starts() bool {
	s := v.Stated
	return s.Running || !slices.ContainsFunc(s.Strays, func(n numa.Stray) bool { return n.Refused }) &&
		!slices.ContainsFunc(v.Faults, func(f shape.Fault) bool { return f.Check == shape.Pages }) &&
		!v.Astray() && !slices.ContainsFunc(s.Pieces(), func(p numa.Piece) bool { return v.Host != nil && v.Host.Lacks(p.Page) })
}

// Astray reports whether memory is bound to a node that the host has not (K013): where it comes from is then unknown.
func (v *StatedVM) Astray() bool {
	return v.Host != nil && v.Host.Nodes.Known() && slices.ContainsFunc(v.Stated.Pieces(), func(p numa.Piece) bool {
		return slices.ContainsFunc(p.Bound.Nodes, func(n int) bool { return v.Host.Node(n) == nil })
	})
}

// Flat reports whether the definition states no NUMA nodes: the guest sees one, if the definition is complete.
func (v *StatedVM) Flat() bool { return v.Stated.CellsAt == "" }

// Sizes formats the number of vCPUs of the present cells, without those that can be added: "2 × 12", "8 + 0".
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

// Largest returns the maximum number of cores of a host node, or of logical CPUs if the platform assigns these, and the maximum memory of
// a node with cores for the pages of the VM; false if its nodes are unknown.
func (v *StatedVM) Largest() (cores int, memory numa.Bytes, ok bool) {
	if v.Host == nil {
		return 0, 0, false
	}
	r := v.largestOf(nil)
	if cores = r.Cores; v.Stated.Dedicated {
		cores = r.Threads
	}
	return cores, v.most(nil, v.Stated.Pieces()[0].Page), cores > 0
}

// largestOf returns the maximum numbers of cores and logical CPUs of a node with cores among nodes; nil means all.
func (v *StatedVM) largestOf(nodes []int) (r Room) {
	for _, n := range v.Host.Nodes.Value {
		if n.Cores > 0 && (nodes == nil || slices.Contains(nodes, n.ID)) {
			r.Cores, r.Threads = max(r.Cores, n.Cores), max(r.Threads, n.Threads)
		}
	}
	return r
}

// most returns the maximum memory of one of the nodes for pages of a size; nil means the nodes with cores.
func (v *StatedVM) most(nodes []int, page numa.Bytes) (most numa.Bytes) {
	for _, n := range v.Host.Nodes.Value {
		if nodes == nil && n.Cores > 0 || slices.Contains(nodes, n.ID) {
			room, _ := v.Host.Room(n.ID, page)
			most = max(most, room)
		}
	}
	return most
}

// A Room is the host node for a cell: the largest of those that it may be on.
type Room struct {
	Within  bool // the vCPUs of the cell are pinned inside this node
	Cores   int
	Threads int // logical CPUs
}

// RoomOf returns the host node for the vCPUs of a cell, according to their pins; without cores if it has none.
func (v *StatedVM) RoomOf(cell int) Room {
	runs := v.Stated.RunsOn(cell, v.Host)
	if v.Stated.Present(cell) == 0 {
		return Room{}
	}
	r := v.largestOf(runs)
	r.Within = len(runs) == 1
	return r
}

// MemoryOf returns the memory for the nodes of a piece: its own, and that of the other pieces of its cell on these nodes; the maximum of
// one of the nodes, 0 if it is unknown or not needed; and the nodes as text.
func (v *StatedVM) MemoryOf(p *numa.Piece) (memory, room numa.Bytes, at string) {
	home := v.Stated.Home(p, v.Host)
	for _, o := range v.Stated.Pieces() {
		if o.Cell == p.Cell && o.Page == p.Page && slices.Equal(v.Stated.Home(&o, v.Host), home) {
			memory += o.Memory
		}
	}
	at = "any node"
	switch {
	case len(home) == 1:
		at = NodeList(home)
	case home != nil:
		at = "each of " + NodeList(home)
	}
	if home != nil || v.Stated.Present(p.Cell) > 0 {
		room = v.most(home, p.Page)
	}
	return memory, room, at
}

// Sized reports whether cells are compared with single nodes: not if a single cell, which is not stated, may run on several (K011).
func (v *StatedVM) Sized() bool {
	return !v.Flat() || !v.Stated.Partial && v.RoomOf(0).Within
}

// Needed returns the minimum number of host nodes for the vCPUs, a core each, and the memory of the VM; false if the nodes are unknown.
// It is larger than the number of nodes if the host is too small.
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

// Own returns, for each vCPU with a CPU of its own, the logical CPU of the host to which it is pinned.
func (v *StatedVM) Own() map[int]int {
	out := map[int]int{}
	for _, p := range v.Stated.Pins {
		if cpus := v.Stated.CPUs[p.VCPU]; len(cpus) == 1 && v.Stated.There(p.VCPU) {
			out[p.VCPU] = cpus[0]
		}
	}
	return out
}

// Away returns the vCPUs of a cell that can run only far from the nodes to which a piece of its memory is bound (Host.Near), and the
// nodes that they may run on.
func (v *StatedVM) Away(piece *numa.Piece) (vcpus, on []int) {
	s := v.Stated
	for _, vcpu := range s.Cells[piece.Cell].CPUs {
		if piece.Bound.Nodes == nil || !s.There(vcpu) {
			continue
		}
		nodes, held := s.HeldOn(vcpu, v.Host)
		if held && len(nodes) > 0 && !slices.ContainsFunc(piece.Bound.Nodes, func(n int) bool { return v.Host.Near(n, nodes) }) {
			vcpus, on = append(vcpus, vcpu), append(on, nodes...)
		}
	}
	slices.Sort(on)
	return vcpus, slices.Compact(on)
}

// Spread returns how many of the nodes that a piece of memory is interleaved over are far from its vCPUs; 0 if all are, or they may run anywhere.
func (v *StatedVM) Spread(piece *numa.Piece) int {
	runs := v.Stated.RunsOn(piece.Cell, v.Host)
	far := slices.DeleteFunc(slices.Clone(piece.Bound.Nodes), func(n int) bool { return v.Host.Near(n, runs) })
	if piece.Bound.Mode != "interleave" || runs == nil || len(far) == len(piece.Bound.Nodes) {
		return 0
	}
	return len(far)
}

// Fixed reports whether each vCPU of a cell is pinned within one node.
func (v *StatedVM) Fixed(cell int) bool {
	s := v.Stated
	return !slices.ContainsFunc(s.Cells[cell].CPUs, func(vcpu int) bool {
		nodes, _ := s.HeldOn(vcpu, v.Host)
		return s.There(vcpu) && len(nodes) != 1
	})
}

// BeyondHost returns the advice for a VM with more memory than other VMs leave of its host, which fits in no layout; "" for any other.
func (v *StatedVM) BeyondHost() string {
	var all, free numa.Bytes
	page, needed := v.Stated.Pieces()[0].Page, v.Stated.Shape.Memory
	for i := range v.Host.Nodes.Value {
		n := &v.Host.Nodes.Value[i]
		if !n.Memory.Known() {
			return ""
		}
		all += n.Memory.Value
		free += v.leftOf(n, page, false)
	}
	switch {
	case needed <= free:
		return ""
	case needed > all:
		return fmt.Sprintf("Give the VM less memory, or run it on a larger host: it has %s, and %s has %s in all", needed, v.Host.Name, all)
	}
	return fmt.Sprintf("Give the VM less memory, or run it or others on another host: it has %s, and other VMs and huge pages leave %s of %s", needed, free, v.Host.Name)
}

// A StatedPass is the assessment of one VM with a stated layout by one rule.
type StatedPass struct {
	Rule       *Rule
	VM         *StatedVM
	Thresholds map[string]float64 // set in the configuration
	Findings   []finding.Finding
}

// Threshold returns the rule's threshold with this name: the value in the configuration, otherwise its default.
func (p *StatedPass) Threshold(name string) float64 { return p.Rule.threshold(name, p.Thresholds) }

// Faults returns the faults found by the checks of package shape, as texts.
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
	f.Rule, f.Title, f.VM, f.VMID, f.VCPUs = p.Rule.ID, p.Rule.Title, p.VM.Name, p.VM.ID, p.VM.VCPUs.Value
	f.Remote, _, _, _ = p.VM.Stated.RemoteOf(p.VM.Host, p.VM.MemoryOn())
	if h := p.VM.Host; h != nil {
		f.Host, f.HostID = h.Name, h.ID
	}
	p.Findings = append(p.Findings, f)
}

// At returns a value of the definition as evidence, with its position.
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
	cores := p.VM.largestOf(nil).Cores
	value := fmt.Sprintf("%d, of at most %d cores", len(h.Nodes.Value), cores)
	if memory := p.VM.most(nil, numa.DefaultPage); memory > 0 {
		value += fmt.Sprintf(" and %s", memory)
		if ordinary := p.VM.most(nil, 0); ordinary < memory {
			value += fmt.Sprintf(", %s beside huge pages", ordinary)
		}
	}
	return finding.Evidence{Name: "nodes of " + h.Name, Value: value, Origin: h.Nodes.Origin.String(), At: h.At}
}

// SizesText formats the number of vCPUs of the cells: "2 × 12", "5 + 4".
func SizesText(s *numa.Shape) string {
	sizes := s.Sizes()
	if len(sizes) == 1 {
		return fmt.Sprint(sizes[0])
	}
	return vnuma.SizesText(sizes)
}

// NodeList formats node numbers: "node 0", "nodes 0-1, 3".
func NodeList(ids []int) string {
	if len(ids) == 1 {
		return fmt.Sprint("node ", ids[0])
	}
	return "nodes " + words.Ranges(ids)
}

// OnNodes formats the memory on nodes of a host: "12 GB on node 0, 4 GB on node 1".
func OnNodes(list []numa.MemoryOnNode) string {
	return strings.Join(words.Texts(list, func(m numa.MemoryOnNode) string { return fmt.Sprintf("%s on node %d", m.Guest, m.Node) }), ", ")
}

// CompareStated compares an observation in a guest with the layout in its definition: nodes, sockets, and the vCPUs of each node.
// Properties that the observer does not report are left out.
func CompareStated(s *numa.Stated, o *numa.Observation) (out []confront.Field) {
	add := func(what, seen, stated string) {
		out = append(out, confront.Field{Name: what, Predicted: stated, Observed: seen, Agrees: seen == stated})
	}
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

// groupsText formats the members of each group, the groups in the order of their first members: "0-3 | 4-7".
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

// A Demand is memory of one page size that VMs of a host allocate from a set of its nodes and from no others.
type Demand struct {
	Memory numa.Bytes
	Own    numa.Bytes   // of the assessed VM
	Parts  []numa.Bytes // of cells and memory devices
	Names  []string     // names of the VMs, in the order of the fleet, the assessed one first
}

// DemandOn returns the memory of a VM, and of the VMs that run at the same time, that is bound to nodes; soft also counts what should come
// from them and may come from others: it is preferred there, or its vCPUs are pinned there. With nodes nil, which means the
// whole host, it returns the memory that QEMU allocates at the start and keeps: huge pages, and ordinary ones if that is stated. standard
// is the size of huge pages whose size is not stated.
func (v *StatedVM) DemandOn(nodes []int, page, standard numa.Bytes, soft bool) Demand {
	d := Demand{}
	d.add(v, v.takes(nodes, page, standard, soft))
	d.Own = d.Memory
	for _, other := range v.Beside {
		if other.Stated.Running == v.Stated.Running && (page == 0 || !other.Stated.Reserves) {
			d.add(other, other.takes(nodes, page, standard, soft))
		}
	}
	return d
}

func (d *Demand) add(v *StatedVM, parts []numa.Bytes) {
	if len(parts) > 0 {
		d.Parts, d.Names = append(d.Parts, parts...), append(d.Names, v.Name)
	}
	for _, memory := range parts {
		d.Memory += memory
	}
}

// Left returns the ordinary memory that no VM takes from a node with cores, 0 for another; those that run count for one that is off too, and
// not the reverse. It returns false if the memory of the node is unknown.
func (v *StatedVM) Left(n *numa.Node) (numa.Bytes, bool) {
	if n.Cores == 0 {
		return 0, n.Memory.Known()
	}
	return v.leftOf(n, 0, true), n.Memory.Known()
}

// leftOf returns the memory of a node for pages of a size that no VM takes, or with own false no other VM.
func (v *StatedVM) leftOf(n *numa.Node, page numa.Bytes, own bool) numa.Bytes {
	room, _ := v.Host.Room(n.ID, page)
	d, at := v.DemandOn([]int{n.ID}, page, page, true), []int{n.ID}
	if !own {
		d.Memory -= d.Own
	}
	for _, other := range v.Beside {
		if other.Stated.Running && !v.Stated.Running {
			d.add(other, other.takes(at, page, page, true))
		}
	}
	return max(0, room-d.Memory)
}

// takes returns the parts of a VM's memory that come only from these nodes; soft adds what should come from them.
func (v *StatedVM) takes(nodes []int, page, standard numa.Bytes, soft bool) (parts []numa.Bytes) {
	for _, p := range v.Stated.Pieces() {
		size := p.Page
		if size == numa.DefaultPage {
			size = standard
		}
		from := size > 0 || v.Stated.Taken
		if nodes != nil {
			home := v.Stated.Home(&p, v.Host)
			from = home != nil && (soft || p.Bound.Hard()) && !slices.ContainsFunc(home, func(n int) bool { return !slices.Contains(nodes, n) })
		}
		if size == page && from && p.Memory > 0 {
			parts = append(parts, p.Memory)
		}
	}
	return parts
}

// Sets returns the distinct sets of nodes to which memory of a page size is bound, or from which it should come; nil, which is the whole
// host, comes first.
func (v *StatedVM) Sets(page numa.Bytes) [][]int {
	out := [][]int{nil}
	for _, p := range v.Stated.Pieces() {
		home := v.Stated.Home(&p, v.Host)
		if p.Page == page && home != nil && !slices.ContainsFunc(out, func(o []int) bool { return o != nil && slices.Equal(o, home) }) {
			out = append(out, home)
		}
	}
	return out
}

// RoomOn returns the total memory on nodes of the host for pages of a size; nil means all nodes. It returns false if some is unknown.
func (v *StatedVM) RoomOn(nodes []int, page numa.Bytes) (sum numa.Bytes, ok bool) {
	for i := range v.Host.Nodes.Value {
		id := v.Host.Nodes.Value[i].ID
		if nodes != nil && !slices.Contains(nodes, id) {
			continue
		}
		room, known := v.Host.Room(id, page)
		if !known {
			return 0, false
		}
		sum += room
	}
	return sum, true
}

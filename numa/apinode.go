package numa

import (
	"cmp"
	"fmt"
	"slices"
)

// memoryTolerance is the share of a host's memory that its nodes may lack: the firmware keeps some, and the kernel about 1.5 MB.
const memoryTolerance = 0.02

// An APINode is a NUMA node as the vSphere API reports it (HostNumaNode).
type APINode struct {
	ID          int
	CPUs        []int
	Size, Range Bytes // memorySize, and memoryRangeLength, the only one before 8.0
}

// NodesOfAPI sets the nodes of the host. The API lists threads per node, not cores; all nodes of a host have the same number
// of threads per core. packages maps each thread to its package; tiered is true when ESX manages slower memory tiers. The
// notes report inconsistencies.
func (h *Host) NodesOfAPI(list []APINode, packages map[int]int, tiered bool) (notes []string) {
	if !h.Threads.Known() || !h.Cores.Known() {
		return nil
	}
	if len(list) == 0 {
		h.Nodes = h.oneNode()
		return nil
	}
	nodes := make([]Node, 0, len(list))
	var sum Bytes
	var ranges bool // some size is that of a memory range
	for _, n := range list {
		node := Node{ID: n.ID, Package: packageOf(n.CPUs, packages), Cores: len(n.CPUs) * h.Cores.Value / h.Threads.Value, Threads: len(n.CPUs)}
		switch {
		case n.Size > 0:
			node.Memory = ReadAt(n.Size, "hardware.numaInfo.numaNode.memorySize")
		case n.Range > 0:
			ranges = true
			node.Memory = ReadAt(n.Range, "hardware.numaInfo.numaNode.memoryRangeLength")
		}
		sum += node.Memory.Value
		nodes = append(nodes, node)
	}
	slices.SortFunc(nodes, func(a, b Node) int { return a.ID - b.ID })
	silent := unstated(nodes)
	switch {
	case silent != nil && h.Memory.Known() && !differs(sum, h.Memory.Value):
		for _, n := range silent { // the other nodes have all the memory, so these have none
			n.Memory = ReadAt(Bytes(0), "hardware.numaInfo.numaNode.memoryRangeLength")
		}
	case !h.Memory.Known() && tiered:
		for i := range nodes {
			nodes[i].Memory = Fact[Bytes]{}
		}
	case h.TierMemory.Value > 0 && differs(sum, h.Memory.Value):
		shareMemory(nodes, h.Memory.Value, "equal share of the DRAM, which the nodes with a slower memory tier do not add up to")
	case silent != nil:
		notes = append(notes, fmt.Sprintf("host %s states no memory for %d of its %d NUMA nodes: unknown", h.Name, len(silent), len(nodes)))
	case h.Memory.Known() && differs(sum, h.Memory.Value):
		notes = append(notes, fmt.Sprintf("host %s has %v of memory but its NUMA nodes %v together", h.Name, h.Memory.Value, sum))
		if ranges {
			shareMemory(nodes, h.Memory.Value, "equal share of hardware.memorySize, which memoryRangeLength of the nodes does not add up to")
		}
	}
	h.Nodes = ReadAt(nodes, "hardware.numaInfo.numaNode")
	return notes
}

// oneNode returns the node of a host that reports none.
func (h *Host) oneNode() Fact[[]Node] {
	n := Node{Package: -1, Cores: h.Cores.Value, Threads: h.Threads.Value}
	if h.Packages.Value == 1 {
		n.Package = 0
	}
	if h.Memory.Known() {
		n.Memory = DerivedFrom(h.Memory.Value, cmp.Or(h.Memory.Origin.Where, "memory of the host"))
	}
	return DerivedFrom([]Node{n}, "hardware.numaInfo.numNodes is 0: one node holds everything")
}

// unstated returns the nodes with unknown memory: an API that does not know the size reports 0.
func unstated(nodes []Node) []*Node {
	var silent []*Node
	for i := range nodes {
		if !nodes[i].Memory.Known() {
			silent = append(silent, &nodes[i])
		}
	}
	return silent
}

// shareMemory gives every node with cores the same share of the host's memory. This is needed before 8.0, where a node with
// several memory ranges reports the length of only one.
func shareMemory(nodes []Node, total Bytes, why string) {
	n := 0
	for i := range nodes {
		if nodes[i].Cores > 0 {
			n++
		}
	}
	for i := range nodes {
		if nodes[i].Cores > 0 {
			nodes[i].Memory = AssumedFor(total/Bytes(n), why)
		}
	}
}

func differs(sum, total Bytes) bool {
	d := float64(sum - total)
	return max(d, -d) > memoryTolerance*float64(total)
}

// packageOf returns the package of all threads of a node, and -1 when it has no threads or spans packages.
func packageOf(threads []int, packages map[int]int) int {
	found := -1
	for _, t := range threads {
		p, ok := packages[t]
		if !ok || found >= 0 && p != found {
			return -1
		}
		found = p
	}
	return found
}

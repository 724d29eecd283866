package vsphere

import (
	"slices"

	"github.com/vmware/govmomi/vim25/types"

	"homenode/numa"
)

// memoryTolerance is the share of a host's memory that its nodes may miss: the
// firmware keeps some, and the kernel about 1.5 MB.
const memoryTolerance = 0.02

// convertNodes reads the NUMA nodes. Cores are not stated per node, but threads
// are; all nodes of a host have the same number of threads per core.
func (inv *inventory) convertNodes(o *object, h *host) {
	info, ok := value[types.HostNumaInfo](o, "hardware.numaInfo")
	if !ok || !h.Threads.Known() || !h.Cores.Known() {
		return
	}
	if info.NumNodes == 0 || len(info.NumaNode) == 0 {
		n := numa.Node{Package: -1, Cores: h.Cores.Value, Threads: h.Threads.Value}
		if h.Packages.Value == 1 {
			n.Package = 0
		}
		if h.Memory.Known() {
			n.Memory = numa.DerivedFrom(h.Memory.Value, h.Memory.Origin.Where)
		}
		h.Nodes = numa.DerivedFrom([]numa.Node{n}, "hardware.numaInfo.numNodes is 0: one node holds everything")
		return
	}
	packages := packageOfThread(o)
	nodes := make([]numa.Node, 0, len(info.NumaNode))
	var sum numa.Bytes
	var ranges bool // some size is that of a memory range: the only one before 8.0
	for _, n := range info.NumaNode {
		node := numa.Node{
			ID:      int(n.TypeId),
			Package: packageOf(n.CpuID, packages),
			Cores:   len(n.CpuID) * h.Cores.Value / h.Threads.Value,
			Threads: len(n.CpuID),
		}
		for _, id := range n.PciId {
			if pci := numa.PCIAddress(id); pci != "" {
				h.attached = append(h.attached, numa.Attached{PCI: pci, Node: int(n.TypeId)})
			}
		}
		switch {
		case n.MemorySize > 0:
			node.Memory = numa.ReadAt(numa.Bytes(n.MemorySize), "hardware.numaInfo.numaNode.memorySize")
		case n.MemoryRangeLength > 0:
			ranges = true
			node.Memory = numa.ReadAt(numa.Bytes(n.MemoryRangeLength), "hardware.numaInfo.numaNode.memoryRangeLength")
		}
		sum += node.Memory.Value
		nodes = append(nodes, node)
	}
	slices.SortFunc(nodes, func(a, b numa.Node) int { return a.ID - b.ID })
	silent := unstated(nodes)
	switch {
	case silent != nil && h.Memory.Known() && !differs(sum, h.Memory.Value):
		for _, n := range silent { // the others have it all: none is true
			n.Memory = numa.ReadAt(numa.Bytes(0), "hardware.numaInfo.numaNode.memoryRangeLength")
		}
	case !h.Memory.Known() && tiered(o):
		for i := range nodes {
			nodes[i].Memory = numa.Fact[numa.Bytes]{}
		}
	case h.TierMemory.Value > 0 && differs(sum, h.Memory.Value):
		shareMemory(nodes, h.Memory.Value, "equal share of the DRAM, which the nodes with a slower memory tier do not add up to")
	case silent != nil:
		inv.note(o.ref, "host %s states no memory for %d of its %d NUMA nodes: unknown", h.Name, len(silent), len(nodes))
	case h.Memory.Known() && differs(sum, h.Memory.Value):
		inv.note(o.ref, "host %s has %v of memory but its NUMA nodes %v together", h.Name, h.Memory.Value, sum)
		if ranges {
			shareMemory(nodes, h.Memory.Value, "equal share of hardware.memorySize, which memoryRangeLength of the nodes does not add up to")
		}
	}
	h.Nodes = numa.ReadAt(nodes, "hardware.numaInfo.numaNode")
}

// unstated returns the nodes whose memory is unknown: a size of 0 is what an API
// that knows none leaves there.
func unstated(nodes []numa.Node) []*numa.Node {
	var silent []*numa.Node
	for i := range nodes {
		if !nodes[i].Memory.Known() {
			silent = append(silent, &nodes[i])
		}
	}
	return silent
}

// shareMemory gives every node with cores the same share of the host's memory, such as
// before 8.0 a node with several memory ranges states the length of one.
func shareMemory(nodes []numa.Node, total numa.Bytes, why string) {
	n := 0
	for i := range nodes {
		if nodes[i].Cores > 0 {
			n++
		}
	}
	for i := range nodes {
		if nodes[i].Cores > 0 {
			nodes[i].Memory = numa.AssumedFor(total/numa.Bytes(n), why)
		}
	}
}

func differs(sum, total numa.Bytes) bool {
	d := float64(sum - total)
	return max(d, -d) > memoryTolerance*float64(total)
}

// packageOfThread returns the package of each PCPU.
func packageOfThread(o *object) map[int16]int {
	list, _ := value[types.ArrayOfHostCpuPackage](o, "hardware.cpuPkg")
	packages := make(map[int16]int)
	for _, p := range list.HostCpuPackage {
		for _, thread := range p.ThreadId {
			packages[thread] = int(p.Index)
		}
	}
	return packages
}

// packageOf returns the package that all threads of a node are on, and -1 when
// it has no threads or spans packages.
func packageOf(threads []int16, packages map[int16]int) int {
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

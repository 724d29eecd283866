package vsphere

import (
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/numa"
)

// convertNodes reads the NUMA nodes.
func (inv *inventory) convertNodes(o *object, h *host) {
	info, ok := value[types.HostNumaInfo](o, "hardware.numaInfo")
	if !ok || !h.Threads.Known() || !h.Cores.Known() {
		return
	}
	if info.NumNodes == 0 {
		info.NumaNode = nil
	}
	nodes := make([]numa.APINode, 0, len(info.NumaNode))
	for _, n := range info.NumaNode {
		node := numa.APINode{ID: int(n.TypeId), Size: numa.Bytes(n.MemorySize), Range: numa.Bytes(n.MemoryRangeLength)}
		for _, id := range n.CpuID {
			node.CPUs = append(node.CPUs, int(id))
		}
		for _, id := range n.PciId {
			if pci := numa.PCIAddress(id); pci != "" {
				h.attached = append(h.attached, numa.Attached{PCI: pci, Node: int(n.TypeId)})
			}
		}
		nodes = append(nodes, node)
	}
	for _, why := range h.NodesOfAPI(nodes, packageOfThread(o), tiered(o)) {
		inv.note(o.ref, "%s", why)
	}
}

// packageOfThread returns the package of each PCPU.
func packageOfThread(o *object) map[int]int {
	list, _ := value[types.ArrayOfHostCpuPackage](o, "hardware.cpuPkg")
	packages := make(map[int]int)
	for _, p := range list.HostCpuPackage {
		for _, thread := range p.ThreadId {
			packages[int(thread)] = int(p.Index)
		}
	}
	return packages
}

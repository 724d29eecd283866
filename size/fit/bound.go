package fit

import (
	"homenode/internal/binpack"
	"homenode/numa"
)

// leastHosts returns a number of hosts below which the items fit in no way, wherever
// their clients are placed. It is the largest of
//
//	all vCPUs ÷ those of a host, all memory ÷ that of a host
//	VMs of one shape ÷ the most of it that a host holds
//	clients of more than half a node, which share none, and what the others need beside
//	them (Martello and Toth's L2), for vCPUs and for memory
func (r *room) leastHosts(items []item) int {
	vcpus, memory, nodes := 0, numa.Bytes(0), 0
	largest, most := 0, numa.Bytes(0)
	for i, n := range r.host.Nodes {
		memory += n.Memory.Value
		if n.Cores == 0 {
			continue
		}
		nodes, vcpus = nodes+1, vcpus+r.vcpus[i]
		largest, most = max(largest, r.vcpus[i]), max(most, n.Memory.Value)
	}
	allVCPUs, allMemory, least := 0, numa.Bytes(0), 0
	var cpu, mem []binpack.Weight
	for i := range items {
		it := &items[i]
		allVCPUs += it.vcpus * it.count
		allMemory += it.request.Memory * numa.Bytes(it.count)
		for _, c := range it.clients {
			cpu = append(cpu, binpack.Weight{Size: int64(c.vcpus), Count: it.count})
			if !it.spills {
				mem = append(mem, binpack.Weight{Size: int64(c.memory), Count: it.count})
			}
		}
		if !it.spills {
			sizes := it.request.Layout.PPDs.Sizes()
			least = max(least, binpack.Ceil(it.count, max(1, r.bound(sizes, it.vcpus, it.request.Memory))))
		}
	}
	return max(least, binpack.Ceil(allVCPUs, max(1, vcpus)), int(binpack.Ceil(int64(allMemory), int64(max(1, memory)))),
		binpack.Ceil(binpack.Least(cpu, int64(largest)), max(1, nodes)), binpack.Ceil(binpack.Least(mem, int64(most)), max(1, nodes)))
}

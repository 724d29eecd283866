package fit

import (
	"slices"

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
	var cpu, mem []weight
	for i := range items {
		it := &items[i]
		allVCPUs += it.vcpus * it.count
		allMemory += it.request.Memory * numa.Bytes(it.count)
		for _, c := range it.clients {
			cpu = append(cpu, weight{int64(c.vcpus), it.count})
			if !it.spills {
				mem = append(mem, weight{int64(c.memory), it.count})
			}
		}
		if !it.spills {
			sizes := it.request.Layout.PPDs.Sizes()
			least = max(least, ceil(it.count, max(1, r.bound(sizes, it.vcpus, it.request.Memory))))
		}
	}
	return max(least, ceil(allVCPUs, max(1, vcpus)), int(ceil(int64(allMemory), int64(max(1, memory)))),
		ceil(leastBins(cpu, int64(largest)), max(1, nodes)), ceil(leastBins(mem, int64(most)), max(1, nodes)))
}

// A weight is things of one size.
type weight struct {
	size  int64
	count int
}

// leastBins is the bound L2 of Martello and Toth (Knapsack Problems, 1990, section 8.3)
// for bins of one size: for a threshold t, what is larger than size − t has a bin alone;
// what is larger than half shares none with another such; and what of the others, down to
// t, does not fit beside these needs more.
func leastBins(weights []weight, size int64) int {
	best := 0
	thresholds := []int64{0}
	for _, w := range weights {
		if 2*w.size <= size {
			thresholds = append(thresholds, w.size)
		}
	}
	slices.Sort(thresholds)
	for _, t := range slices.Compact(thresholds) {
		alone, half := 0, 0
		room, small := int64(0), int64(0)
		for _, w := range weights {
			switch {
			case w.size > size-t:
				alone += w.count
			case 2*w.size > size:
				half += w.count
				room += (size - w.size) * int64(w.count)
			case w.size >= t:
				small += w.size * int64(w.count)
			}
		}
		bins := alone + half
		if over := small - room; over > 0 {
			bins += int(ceil(over, max(1, size)))
		}
		best = max(best, bins)
	}
	return best
}

// ceil divides, rounded up.
func ceil[T int | int64](a, b T) T { return (a + b - 1) / b }

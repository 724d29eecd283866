package numa

// MinFree returns the memory that the kernel keeps free on a host with this much memory; its memory states are shares of it (rule book
// C-23). From 5.0 on it is 6 % of the first 4 GB, 4 % of the next 8, 2 % of the next 16 and 1 % of the rest; before, 6 % of all.
// Mem.MemMinFreePct, 0 by default, overrides it. Source: Epping,
// http://www.yellow-bricks.com/2015/03/02/what-happens-at-which-vsphere-memory-state/; esxtop shows 1920 MB on a host of 130961 MB, the
// formula gives 1922.
func MinFree(hostMemory Bytes, r Release) Bytes {
	if r < ESXi50 {
		return hostMemory * 6 / 100
	}
	if hostMemory >= tiered {
		return publishedTiers + (hostMemory-tiered)/100
	}
	free := Bytes(0)
	for _, t := range []struct {
		size    Bytes
		percent Bytes
	}{{4 * GiB, 6}, {8 * GiB, 4}, {16 * GiB, 2}} {
		part := min(t.size, hostMemory)
		free += part * t.percent / 100
		hostMemory -= part
	}
	return min(free, publishedTiers)
}

const (
	tiered = 28 * GiB // the tiers above 1 %
	// publishedTiers is the published sum of the tiers: the arithmetic gives 901.1 MB, but 899 fits the values that hosts show.
	publishedTiers = 899 * MiB
)

// SoftReserve returns the free memory below which the host leaves its high memory state: 400 % of MinFree from 6.0 on, 100 % before
// (rule book C-23). A node with less free memory was observed to allocate new memory on other nodes: at 12,544 MB free on nodes of
// 132,000 MB, for which SoftReserve is 13,009 MB. That it applies per node is inferred from this one experiment (C-15); OfNode covers
// hosts with more nodes.
func SoftReserve(hostMemory Bytes, r Release) Bytes {
	return SoftFactor(r) * MinFree(hostMemory, r)
}

// OfNode returns the reserve of each node on a host with this number of nodes, given the reserve observed per node on hosts with two.
// It assumes that the nodes together keep the same share of the host free; otherwise four nodes would keep a sixth of it and twelve a
// half: inferred (C-15).
func OfNode(reserve Bytes, nodes int) Bytes { return reserve * 2 / Bytes(max(2, nodes)) }

// SoftFactor returns the multiple of minFree that the host keeps free in its high memory state (rule book C-23).
func SoftFactor(r Release) Bytes {
	if r < ESXi60 {
		return 1
	}
	return 4
}

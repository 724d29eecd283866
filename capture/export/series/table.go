package series

import (
	"math"
	"slices"
	"strings"

	"example.org/homenode/numa"
)

// units are the suffixes of names that are units. Time added up over vCPUs is not a share: 1
// second per second is one vCPU the whole time.
var units = []string{"seconds_per_second", "bytes", "ratio", "seconds"}

// counter returns the counter of this name. The suffix of the name determines its unit and whether
// it counts events.
func counter(name, help, esxtop string) Counter {
	c := Counter{Name: name, Events: strings.HasSuffix(name, "_migrations"), Help: help, Esxtop: esxtop}
	if i := slices.IndexFunc(units, func(u string) bool { return strings.HasSuffix(name, "_"+u) }); i >= 0 {
		c.Unit = units[i]
	}
	return c
}

var hosts = []of[numa.Tick]{
	{counter("host_interval_seconds", "Time since the tick before, that rates and migrations are over", "distance of the time stamps"), 0, func(t *numa.Tick) float64 { return known(t.Since.Seconds()) }},
	{counter("host_memory_free_bytes", "Free memory of the host", "Memory: Free MBytes"), numa.HasFree, func(t *numa.Tick) float64 { return float64(t.Free) }},
	{counter("host_memory_minfree_bytes", "Free memory below which ESXi reclaims memory", "Memory: Kernel MinFree MBytes"), numa.HasMinFree, func(t *numa.Tick) float64 { return float64(t.MinFree) }},
	{counter("host_memory_state", "How short of memory the host is: 0 high, 1 clear, 2 soft, 3 hard, 4 low", "Memory: Kernel State"), numa.HasState, func(t *numa.Tick) float64 { return float64(t.State) }},
}

var nodes = []of[numa.NodeTick]{
	{counter("node_memory_total_bytes", "Memory of the NUMA node", "Numa Node: Total MBytes"), numa.HasTotal, func(n *numa.NodeTick) float64 { return float64(n.Total) }},
	{counter("node_memory_free_bytes", "Free memory of the NUMA node", "Numa Node: Free MBytes"), numa.HasFree, func(n *numa.NodeTick) float64 { return float64(n.Free) }},
	{counter("node_cpu_used_ratio", "Use of the node's logical CPUs, mean, above 1 with turbo", "Numa Node: % Processor Time"), numa.HasUsed, func(n *numa.NodeTick) float64 { return n.Used }},
	{counter("node_cpu_util_ratio", "Share of time that the node's logical CPUs are not idle, mean", "Numa Node: % Util Time"), numa.HasUtil, func(n *numa.NodeTick) float64 { return n.Util }},
	{counter("node_cpu_core_util_ratio", "Share of time that the node's cores are not idle, mean", "Numa Node: % Core Util Time"), numa.HasCore, func(n *numa.NodeTick) float64 { return n.Core }},
}

var vms = []of[numa.VMTick]{
	{counter("vm_vcpus", "Number of vCPUs", "vCPU worlds of the group"), 0, func(v *numa.VMTick) float64 { return known(float64(v.VCPUs)) }},
	{counter(homeNodes, "Home nodes as a bit mask, 0 when the NUMA scheduler does not manage the VM", "Numa Home Nodes (NHN)"), numa.HasHomes, homes},
	{counter("vm_numa_local_bytes", "Memory on the home nodes", "Numa Local Memory MBytes (NLMEM)"), numa.HasMemory, func(v *numa.VMTick) float64 { return float64(v.Local) }},
	{counter("vm_numa_remote_bytes", "Memory on other nodes than the home nodes", "Numa Remote Memory MBytes (NRMEM)"), numa.HasMemory, func(v *numa.VMTick) float64 { return float64(v.Remote) }},
	{counter("vm_numa_printed_locality_ratio", "Locality as esxtop prints it, truncated to hundredths, 0 for a VM without NUMA client too", "Numa % Local (N%L)"), numa.HasPercent, func(v *numa.VMTick) float64 { return float64(v.Percent) / 100 }},
	{counter("vm_numa_migrations", "NUMA migrations", "Numa Rebalance Count Delta (NMIG)"), numa.HasMoves, func(v *numa.VMTick) float64 { return float64(v.Moves.All) }},
	{counter("vm_numa_balance_migrations", "NUMA migrations for load", ""), numa.HasKinds, func(v *numa.VMTick) float64 { return float64(v.Moves.Balance) }},
	{counter("vm_numa_load_swap_migrations", "NUMA migrations that swap clients for load", ""), numa.HasKinds, func(v *numa.VMTick) float64 { return float64(v.Moves.LoadSwap) }},
	{counter("vm_numa_locality_migrations", "NUMA migrations to the memory or to a partner in communication", ""), numa.HasKinds, func(v *numa.VMTick) float64 { return float64(v.Moves.Locality) }},
	{counter("vm_numa_locality_swap_migrations", "NUMA migrations that swap clients for locality", ""), numa.HasKinds, func(v *numa.VMTick) float64 { return float64(v.Moves.LocalitySwap) }},
	{counter("vm_numa_fairness_migrations", "NUMA migrations for long-term fairness", ""), numa.HasKinds, func(v *numa.VMTick) float64 { return float64(v.Moves.Fairness) }},
	{counter("vm_cpu_used_seconds_per_second", "CPU time used, all vCPUs together", "Group Cpu: % Used"), numa.HasUsed, func(v *numa.VMTick) float64 { return v.Used }},
	{counter("vm_cpu_run_seconds_per_second", "Time scheduled on a CPU, all vCPUs together", "Group Cpu: % Run"), numa.HasRun, func(v *numa.VMTick) float64 { return v.Run }},
	{counter("vm_cpu_ready_seconds_per_second", "Time ready to run without a CPU, all vCPUs together", "Group Cpu: % Ready"), numa.HasReady, func(v *numa.VMTick) float64 { return v.Ready }},
	{counter("vm_cpu_costop_seconds_per_second", "Time stopped to let other vCPUs catch up, all vCPUs together", "Group Cpu: % CoStop"), numa.HasCoStop, func(v *numa.VMTick) float64 { return v.CoStop }},
	{counter("vm_memory_size_bytes", "Configured memory", "Memory Size MBytes"), numa.HasSize, func(v *numa.VMTick) float64 { return float64(v.Size) }},
	{counter("vm_memory_granted_bytes", "Guest memory that is mapped", "Memory Granted Size MBytes"), numa.HasGranted, func(v *numa.VMTick) float64 { return float64(v.Granted) }},
	{counter("vm_memory_consumed_bytes", "Host memory that the guest takes", "Memory Consumed Size MBytes"), numa.HasConsumed, func(v *numa.VMTick) float64 { return float64(v.Consumed) }},
	{counter("vm_memory_active_bytes", "Memory touched lately, estimated", "Touched MBytes"), numa.HasActive, func(v *numa.VMTick) float64 { return float64(v.Active) }},
	{counter("vm_memory_shared_bytes", "Memory shared by page sharing", "Shared MBytes"), numa.HasShared, func(v *numa.VMTick) float64 { return float64(v.Shared) }},
	{counter("vm_memory_zero_bytes", "Memory that holds zeros", "Zero MBytes"), numa.HasZero, func(v *numa.VMTick) float64 { return float64(v.Zero) }},
	{counter("vm_memory_large_bytes", "Memory backed by large pages", ""), numa.HasLarge, func(v *numa.VMTick) float64 { return float64(v.Large) }},
	{counter("vm_memory_balloon_bytes", "Memory taken by the balloon driver", "Memctl MBytes"), numa.HasBalloon, func(v *numa.VMTick) float64 { return float64(v.Balloon) }},
	{counter("vm_memory_swapped_bytes", "Memory swapped by the host", "Swapped MBytes"), numa.HasSwapped, func(v *numa.VMTick) float64 { return float64(v.Swapped) }},
	{counter("vm_memory_private_bytes", "Guest memory that is mapped to host memory of its own: granted and not shared", "Memory Granted Size MBytes less Shared MBytes"), numa.HasGranted | numa.HasShared, func(v *numa.VMTick) float64 { return float64(numa.PrivateOf(v.Granted, v.Shared)) }},
	{counter("vm_memory_compressed_bytes", "Host memory that holds compressed pages of the guest", "Used Compressed Memory MBytes (CACHEUSD)"), numa.HasCompressed, func(v *numa.VMTick) float64 { return float64(v.Compressed) }},
}

var parts = []of[numa.MemoryOnNode]{
	{counter("vm_node_guest_bytes", "Guest memory on the node", "GST_NDx"), 0, func(m *numa.MemoryOnNode) float64 { return float64(m.Guest) }},
	{counter("vm_node_overhead_bytes", "Memory of the VM's monitor on the node", "OVD_NDx"), 0, overhead},
}

// known returns n, or NaN for 0, which means unknown.
func known(n float64) float64 {
	if n == 0 {
		return math.NaN()
	}
	return n
}

// homes returns the set as a number, or NaN if a float64 cannot represent it: a set with nodes
// more than 52 apart.
func homes(v *numa.VMTick) float64 {
	mask := float64(v.Homes)
	if mask >= 1<<64 || numa.NodeSet(mask) != v.Homes {
		return math.NaN()
	}
	return mask
}

// overhead returns the memory of the monitor, or NaN when it is unknown.
func overhead(m *numa.MemoryOnNode) float64 {
	if m.Overhead < 0 {
		return math.NaN()
	}
	return float64(m.Overhead)
}

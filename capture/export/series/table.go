package series

import (
	"math"

	"homenode/numa"
)

const (
	bytes   = "bytes"
	ratio   = "ratio"
	seconds = "seconds"
	// Time that adds up over vCPUs is no share of anything: 1 is one vCPU the whole time.
	rate = "seconds_per_second"
)

var hosts = []of[numa.Tick]{
	{Counter{"host_interval_seconds", Host, seconds, false, "Time since the tick before, that rates and migrations are over", "distance of the time stamps"}, 0,
		func(t *numa.Tick) float64 { return known(t.Since.Seconds()) }},
	{Counter{"host_memory_free_bytes", Host, bytes, false, "Free memory of the host", "Memory: Free MBytes"}, numa.HasFree,
		func(t *numa.Tick) float64 { return float64(t.Free) }},
	{Counter{"host_memory_minfree_bytes", Host, bytes, false, "Free memory below which ESXi reclaims memory", "Memory: Kernel MinFree MBytes"}, numa.HasMinFree,
		func(t *numa.Tick) float64 { return float64(t.MinFree) }},
	{Counter{"host_memory_state", Host, "", false, "How short of memory the host is: 0 high, 1 clear, 2 soft, 3 hard, 4 low", "Memory: Kernel State"}, numa.HasState,
		func(t *numa.Tick) float64 { return float64(t.State) }},
}

var nodes = []of[numa.NodeTick]{
	{Counter{"node_memory_total_bytes", Node, bytes, false, "Memory of the NUMA node", "Numa Node: Total MBytes"}, numa.HasTotal,
		func(n *numa.NodeTick) float64 { return float64(n.Total) }},
	{Counter{"node_memory_free_bytes", Node, bytes, false, "Free memory of the NUMA node", "Numa Node: Free MBytes"}, numa.HasFree,
		func(n *numa.NodeTick) float64 { return float64(n.Free) }},
	{Counter{"node_cpu_used_ratio", Node, ratio, false, "Use of the node's logical CPUs, mean, above 1 with turbo", "Numa Node: % Processor Time"}, numa.HasUsed,
		func(n *numa.NodeTick) float64 { return n.Used }},
	{Counter{"node_cpu_util_ratio", Node, ratio, false, "Share of time that the node's logical CPUs are not idle, mean", "Numa Node: % Util Time"}, numa.HasUtil,
		func(n *numa.NodeTick) float64 { return n.Util }},
	{Counter{"node_cpu_core_util_ratio", Node, ratio, false, "Share of time that the node's cores are not idle, mean", "Numa Node: % Core Util Time"}, numa.HasCore,
		func(n *numa.NodeTick) float64 { return n.Core }},
}

var vms = []of[numa.VMTick]{
	{Counter{"vm_vcpus", VM, "", false, "Number of vCPUs", "vCPU worlds of the group"}, 0,
		func(v *numa.VMTick) float64 { return known(float64(v.VCPUs)) }},
	{Counter{homeNodes, VM, "", false, "Home nodes as a bit mask, 0 when the NUMA scheduler does not manage the VM", "Numa Home Nodes (NHN)"}, numa.HasHomes, homes},
	{Counter{"vm_numa_local_bytes", VM, bytes, false, "Memory on the home nodes", "Numa Local Memory MBytes (NLMEM)"}, numa.HasMemory,
		func(v *numa.VMTick) float64 { return float64(v.Local) }},
	{Counter{"vm_numa_remote_bytes", VM, bytes, false, "Memory on other nodes than the home nodes", "Numa Remote Memory MBytes (NRMEM)"}, numa.HasMemory,
		func(v *numa.VMTick) float64 { return float64(v.Remote) }},
	{Counter{"vm_numa_printed_locality_ratio", VM, ratio, false, "Locality as esxtop prints it, truncated to hundredths, 0 for a VM without NUMA client too", "Numa % Local (N%L)"}, numa.HasPercent,
		func(v *numa.VMTick) float64 { return float64(v.Percent) / 100 }},
	{Counter{"vm_numa_migrations", VM, "", true, "NUMA migrations", "Numa Rebalance Count Delta (NMIG)"}, numa.HasMoves,
		func(v *numa.VMTick) float64 { return float64(v.Moves.All) }},
	{Counter{"vm_numa_balance_migrations", VM, "", true, "NUMA migrations for load", ""}, numa.HasKinds,
		func(v *numa.VMTick) float64 { return float64(v.Moves.Balance) }},
	{Counter{"vm_numa_load_swap_migrations", VM, "", true, "NUMA migrations that swap clients for load", ""}, numa.HasKinds,
		func(v *numa.VMTick) float64 { return float64(v.Moves.LoadSwap) }},
	{Counter{"vm_numa_locality_migrations", VM, "", true, "NUMA migrations to the memory or to a partner in communication", ""}, numa.HasKinds,
		func(v *numa.VMTick) float64 { return float64(v.Moves.Locality) }},
	{Counter{"vm_numa_locality_swap_migrations", VM, "", true, "NUMA migrations that swap clients for locality", ""}, numa.HasKinds,
		func(v *numa.VMTick) float64 { return float64(v.Moves.LocalitySwap) }},
	{Counter{"vm_numa_fairness_migrations", VM, "", true, "NUMA migrations for long-term fairness", ""}, numa.HasKinds,
		func(v *numa.VMTick) float64 { return float64(v.Moves.Fairness) }},
	{Counter{"vm_cpu_used_seconds_per_second", VM, rate, false, "CPU time used, all vCPUs together", "Group Cpu: % Used"}, numa.HasUsed,
		func(v *numa.VMTick) float64 { return v.Used }},
	{Counter{"vm_cpu_run_seconds_per_second", VM, rate, false, "Time scheduled on a CPU, all vCPUs together", "Group Cpu: % Run"}, numa.HasRun,
		func(v *numa.VMTick) float64 { return v.Run }},
	{Counter{"vm_cpu_ready_seconds_per_second", VM, rate, false, "Time ready to run without a CPU, all vCPUs together", "Group Cpu: % Ready"}, numa.HasReady,
		func(v *numa.VMTick) float64 { return v.Ready }},
	{Counter{"vm_cpu_costop_seconds_per_second", VM, rate, false, "Time stopped to let other vCPUs catch up, all vCPUs together", "Group Cpu: % CoStop"}, numa.HasCoStop,
		func(v *numa.VMTick) float64 { return v.CoStop }},
	{Counter{"vm_memory_size_bytes", VM, bytes, false, "Configured memory", "Memory Size MBytes"}, numa.HasSize,
		func(v *numa.VMTick) float64 { return float64(v.Size) }},
	{Counter{"vm_memory_granted_bytes", VM, bytes, false, "Guest memory that is mapped", "Memory Granted Size MBytes"}, numa.HasGranted,
		func(v *numa.VMTick) float64 { return float64(v.Granted) }},
	{Counter{"vm_memory_consumed_bytes", VM, bytes, false, "Host memory that the guest takes", "Memory Consumed Size MBytes"}, numa.HasConsumed,
		func(v *numa.VMTick) float64 { return float64(v.Consumed) }},
	{Counter{"vm_memory_active_bytes", VM, bytes, false, "Memory touched lately, estimated", "Touched MBytes"}, numa.HasActive,
		func(v *numa.VMTick) float64 { return float64(v.Active) }},
	{Counter{"vm_memory_shared_bytes", VM, bytes, false, "Memory shared by page sharing", "Shared MBytes"}, numa.HasShared,
		func(v *numa.VMTick) float64 { return float64(v.Shared) }},
	{Counter{"vm_memory_zero_bytes", VM, bytes, false, "Memory that holds zeros", "Zero MBytes"}, numa.HasZero,
		func(v *numa.VMTick) float64 { return float64(v.Zero) }},
	{Counter{"vm_memory_large_bytes", VM, bytes, false, "Memory backed by large pages", ""}, numa.HasLarge,
		func(v *numa.VMTick) float64 { return float64(v.Large) }},
	{Counter{"vm_memory_balloon_bytes", VM, bytes, false, "Memory taken by the balloon driver", "Memctl MBytes"}, numa.HasBalloon,
		func(v *numa.VMTick) float64 { return float64(v.Balloon) }},
	{Counter{"vm_memory_swapped_bytes", VM, bytes, false, "Memory swapped by the host", "Swapped MBytes"}, numa.HasSwapped,
		func(v *numa.VMTick) float64 { return float64(v.Swapped) }},
}

var parts = []of[numa.MemoryOnNode]{
	{Counter{"vm_node_guest_bytes", VMOnNode, bytes, false, "Guest memory on the node", "GST_NDx"}, 0,
		func(m *numa.MemoryOnNode) float64 { return float64(m.Guest) }},
	{Counter{"vm_node_overhead_bytes", VMOnNode, bytes, false, "Memory of the VM's monitor on the node", "OVD_NDx"}, 0,
		func(m *numa.MemoryOnNode) float64 {
			if m.Overhead < 0 {
				return math.NaN()
			}
			return float64(m.Overhead)
		}},
}

// known returns n, or NaN for the 0 that stands for unknown.
func known(n float64) float64 {
	if n == 0 {
		return math.NaN()
	}
	return n
}

// homes returns the set as a number, or NaN when a float64 cannot hold it: a set with
// nodes more than 52 apart.
func homes(v *numa.VMTick) float64 {
	mask := float64(v.Homes)
	if mask >= 1<<64 || numa.NodeSet(mask) != v.Homes {
		return math.NaN()
	}
	return mask
}

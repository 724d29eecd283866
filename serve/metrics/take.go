package metrics

import "example.org/homenode/numa"

// Migrations is the metric of the NUMA migrations of a VM.
const Migrations = "homenode_vm_numa_migrations_total"

// TakeVM converts a sample of a VM's metric back into a field of the tick. node is its label, -1 for none. Migrations are only available as their
// sum. Unrelated metrics are ignored.
func TakeVM(v *numa.VMTick, name string, node int, number float64) {
	switch name {
	case "homenode_vm_vcpus":
		v.VCPUs = int(number)
	case "homenode_vm_numa_home_node":
		v.Has |= numa.HasHomes
		if number == 1 && node >= 0 {
			v.Homes |= numa.SetOf(node)
		}
	case "homenode_vm_numa_local_bytes":
		v.Has |= numa.HasMemory
		v.Local = numa.Bytes(number)
	case "homenode_vm_numa_remote_bytes":
		v.Has |= numa.HasMemory
		v.Remote = numa.Bytes(number)
	case Migrations:
		v.Has |= numa.HasMoves
		v.Moves.All = int64(number)
	case "homenode_vm_cpu_used_seconds_per_second":
		v.Has |= numa.HasUsed
		v.Used = number
	case "homenode_vm_cpu_ready_seconds_per_second":
		v.Has |= numa.HasReady
		v.Ready = number
	case "homenode_vm_cpu_costop_seconds_per_second":
		v.Has |= numa.HasCoStop
		v.CoStop = number
	case "homenode_vm_memory_size_bytes":
		v.Has |= numa.HasSize
		v.Size = numa.Bytes(number)
	}
}

// TakeNode does the same for a sample of a node.
func TakeNode(n *numa.NodeTick, name string, number float64) {
	switch name {
	case "homenode_node_memory_total_bytes":
		n.Has |= numa.HasTotal
		n.Total = numa.Bytes(number)
	case "homenode_node_memory_free_bytes":
		n.Has |= numa.HasFree
		n.Free = numa.Bytes(number)
	case "homenode_node_cpu_used_ratio":
		n.Has |= numa.HasUsed
		n.Used = number
	case "homenode_node_cpu_util_ratio":
		n.Has |= numa.HasUtil
		n.Util = number
	case "homenode_node_cpu_core_util_ratio":
		n.Has |= numa.HasCore
		n.Core = number
	}
}

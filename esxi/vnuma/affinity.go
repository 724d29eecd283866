package vnuma

import (
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
)

// affinityKey matches the settings that pin CPUs or memory (formats: sched.cpu.affinity,
// sched.mem.affinity, sched.vcpu0.affinity).
var affinityKey = pattern.Of(`(?i)^sched\.(cpu|mem|vcpu\d+)\.affinity$`)

// clientAffinityKey matches the settings that bind one NUMA client to nodes.
var clientAffinityKey = pattern.Of(`(?i)^sched\.node\d+\.affinity$`)

// binds reports whether the value of an affinity setting restricts anything.
func binds(value string) bool {
	return strings.TrimSpace(value) != "" && !strings.EqualFold(strings.TrimSpace(value), "all")
}

// PinnedPCPUs returns the PCPUs that CPU affinity allows the VM, ascending: the scheduling affinity
// of the VM combined with that of its vCPUs (rule book C-12). It is empty for a VM without CPU
// affinity and for an unreadable list.
func PinnedPCPUs(v *numa.VM) []int {
	return pinned(v.CPUAffinity.Value, v.Settings.Value, "cpu", "vcpu")
}

// PinnedMemory returns the NUMA nodes that memory affinity allows the VM, ascending.
func PinnedMemory(v *numa.VM) []int {
	return pinned(v.MemoryAffinity.Value, v.Settings.Value, "mem")
}

func pinned(set []int, settings numa.Settings, kinds ...string) []int {
	out := slices.Clone(set)
	for _, s := range settings {
		m := affinityKey.FindStringSubmatch(s.Key)
		if m == nil || !binds(s.Value) || !slices.Contains(kinds, strings.TrimRight(strings.ToLower(m[1]), "0123456789")) {
			continue
		}
		list, _ := parseList(s.Value)
		out = append(out, list...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// AffinitySettings returns the settings of the VM that pin its CPUs or memory.
func AffinitySettings(v *numa.VM) []numa.Setting {
	return matching(v, affinityKey)
}

// ClientAffinitySettings returns the settings sched.node<x>.affinity, which bind single NUMA
// clients. The model reads but does not simulate them.
func ClientAffinitySettings(v *numa.VM) []numa.Setting {
	return matching(v, clientAffinityKey)
}

func matching(v *numa.VM, key *pattern.Pattern) []numa.Setting {
	var out []numa.Setting
	for _, s := range v.Settings.Value {
		if key.MatchString(s.Key) && binds(s.Value) {
			out = append(out, s)
		}
	}
	return out
}

// NodeAffinity returns the nodes of numa.nodeAffinity, ascending; none when it is unset or
// unreadable (rule book C-12).
func NodeAffinity(v *numa.VM) []int {
	value, _ := v.Settings.Value.Lookup("numa.nodeAffinity")
	if !binds(value) {
		return nil
	}
	nodes, _ := parseNodes(value)
	return nodes
}

// parseNodes parses a list of nodes such as "0,1", ascending.
func parseNodes(list string) (nodes []int, ok bool) {
	for part := range strings.SplitSeq(list, ",") {
		node, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || node < 0 || node >= numa.MaxNodes {
			return nil, false
		}
		nodes = append(nodes, node)
	}
	slices.Sort(nodes)
	return slices.Compact(nodes), true
}

// parseList parses a list of PCPUs or nodes such as "0-3, 8".
func parseList(list string) (out []int, ok bool) {
	const most = numa.MaxCoresPerNode // no host has more PCPUs
	for part := range strings.SplitSeq(list, ",") {
		lo, hi, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			hi = lo
		}
		from, err1 := strconv.Atoi(strings.TrimSpace(lo))
		to, err2 := strconv.Atoi(strings.TrimSpace(hi))
		if err1 != nil || err2 != nil || from < 0 || to < from || to >= most || len(out)+to-from >= most {
			return nil, false
		}
		for i := from; i <= to; i++ {
			out = append(out, i)
		}
	}
	return out, true
}

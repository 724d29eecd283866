// Package affinity finds VMs that are not NUMA-managed because of CPU or memory affinity.
package affinity

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed affinity.md
var page string

// Rule is N023.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Check: check})

func check(p *rule.Pass) {
	v := p.VM
	if !v.Guest.Affinity {
		return
	}
	on := &v.On[0]
	h := v.Host
	if h == nil {
		h = on.Kind.Hosts[0]
	}
	pcpus, memory := vnuma.PinnedPCPUs(v.VM), vnuma.PinnedMemory(v.VM)
	defer missing(p, pcpus, memory)
	nodes, complete := rule.NodesOf(h, pcpus)
	f := finding.Finding{
		Severity: p.Beyond(numa.Bytes(on.Layout.FarShare() * float64(v.Guest.Resident()))),
		Message:  what(pcpus, memory) + " takes the VM out of NUMA management: it has no home node",
		Ways:     ways(p, h, pcpus, memory, on),
		Evidence: append(evidence(v.VM, pcpus, memory), v.MemoryEvidence(), on.Kind.NodesEvidence()),
	}
	switch here, all := home(h, nodes, memory), on.Kind.Machine.Nodes; {
	case all == 1:
		f.Severity = finding.Low
		f.Message += ", on a host of 1 node"
	case !on.Kind.Machine.Schedules():
		f.Severity = finding.Low
		f.Message += ", nor without it while the NUMA scheduler of the host is off (H008)"
	case complete && here >= 0 && v.Guest.Resident() > on.Kind.Machine.NodeMemory && on.Kind.Machine.MemoryKnown():
		f.Severity = p.Beyond(numa.Bytes(v.Guest.Resident() - on.Kind.Machine.NodeMemory))
		f.Message += fmt.Sprintf(", and node %d, which it is kept on by hand, does not hold its memory%s", here, size(v))
	case complete && here >= 0:
		f.Severity = finding.Low
		f.Message += fmt.Sprintf(", but CPUs and memory are both on node %d by hand", here)
	case len(memory) > 0:
		f.Message += fmt.Sprintf(", and nothing brings CPUs and memory together on %d nodes", all)
	default:
		f.Message += fmt.Sprintf(", and its memory%s comes from any of %d nodes", size(v), all)
	}
	if cores, less := few(&v.Guest, &on.Kind.Machine, pcpus); less {
		f.Severity = max(f.Severity, finding.Medium)
		f.Message += fmt.Sprintf("; these PCPUs are %d cores, and latency sensitivity High needs %d", cores, v.Guest.ExclusiveCores(&on.Kind.Machine))
	}
	if own := vnuma.NodeAffinity(v.VM); complete && len(own) > 0 && slices.ContainsFunc(nodes, func(n int) bool { return !slices.Contains(own, n) }) {
		f.Message += fmt.Sprintf("; it contradicts numa.nodeAffinity = %s: the PCPUs are on %s", words.Ranges(own), list("node", nodes))
		f.Evidence = append(f.Evidence, v.SettingEvidence("numa.nodeAffinity"))
	}
	if len(p.Cluster.Hosts) > 1 {
		f.Message += "; vMotion refuses it while it runs"
		if len(pcpus) > 0 {
			f.Message += ", and full DRS automation leaves it out"
		}
	}
	p.Report(f, &on.Layout)
}

func size(v *rule.VM) string {
	if v.Guest.Memory == 0 {
		return ""
	}
	return " of " + numa.Bytes(v.Guest.Memory).String()
}

// what names the affinities.
func what(pcpus, memory []int) string {
	var parts []string
	if len(pcpus) > 0 {
		parts = append(parts, "CPU affinity to "+list("PCPU", pcpus))
	}
	if len(memory) > 0 {
		parts = append(parts, "memory affinity to "+list("node", memory))
	}
	switch len(parts) {
	case 0: // set, but the list cannot be parsed
		return "CPU or memory affinity"
	case 1:
		return parts[0]
	}
	return strings.Join(parts, " with ")
}

func list(noun string, numbers []int) string {
	if len(numbers) > 1 {
		noun += "s"
	}
	return noun + " " + words.Ranges(numbers)
}

// home returns the only node to which CPUs and memory are both pinned, or -1.
func home(h *numa.Host, nodes, memory []int) int {
	if len(nodes) != 1 {
		return -1
	}
	if slices.Equal(nodes, memory) {
		return nodes[0]
	}
	// Up to 6.0, memory follows a CPU affinity within one node.
	auto, set := h.Options.Value.Lookup("Numa.AutoMemAffinity")
	if len(memory) == 0 && h.Release.Value < numa.ESXi65 && (!set || auto != "0") {
		return nodes[0]
	}
	return -1
}

// ways returns the ways to clear the affinities. A NUMA node affinity keeps the VM on the node of its devices, or otherwise on the node of
// its affinities, if the VM fits the node and benefits from it.
func ways(p *rule.Pass, h *numa.Host, pcpus, memory []int, on *rule.On) []numa.Way {
	v, m := p.VM, &on.Kind.Machine
	way := v.ClearAffinity()
	nodes, complete := rule.NodesOf(h, pcpus)
	if len(pcpus) == 0 {
		nodes = memory
	}
	beside := ""
	for _, d := range v.Devices.Value {
		if node, ok := v.NodeOf(d); ok && !slices.Contains(nodes, node) {
			nodes, beside = []int{node}, ", which its device is attached to,"
		}
	}
	if !complete || len(rule.LackingNodes(h, nodes)) > 0 || len(nodes) != 1 || m.Nodes < 2 {
		return []numa.Way{way}
	}
	node := strconv.Itoa(nodes[0])
	home := append(slices.Clone(way.Edits), numa.Assign("numa.nodeAffinity", node))
	if _, large := p.ForNodes([]*rule.Kind{on.Kind}, nodes[0]); large || !p.Serves(home) {
		return []numa.Way{way}
	}
	return []numa.Way{way, {Do: "set numa.nodeAffinity = " + node + " instead, which keeps the VM on that node" + beside + " with a home node", Edits: home}}
}

// few returns the cores of the PCPUs, and whether latency sensitivity High needs more of them.
func few(g *vnuma.Guest, m *vnuma.Machine, pcpus []int) (cores int, less bool) {
	seen := map[int]bool{}
	for _, c := range pcpus {
		seen[c/int(max(1, m.AllThreads/m.AllCores))] = true // the threads of a core are neighbours
	}
	return len(seen), len(seen) > 0 && g.Needs.Exclusive && g.ExclusiveCores(m) > len(seen)
}

// evidence returns the affinities of the VM.
func evidence(v *numa.VM, pcpus, memory []int) []finding.Evidence {
	var out []finding.Evidence
	if len(v.CPUAffinity.Value) > 0 {
		out = append(out, finding.Evidence{Name: "CPU affinity", Value: words.Ranges(pcpus), Origin: v.CPUAffinity.Origin.String(), At: v.At})
	}
	if len(v.MemoryAffinity.Value) > 0 {
		out = append(out, finding.Evidence{Name: "memory affinity", Value: words.Ranges(memory), Origin: v.MemoryAffinity.Origin.String(), At: v.At})
	}
	for _, s := range vnuma.AffinitySettings(v) {
		out = append(out, finding.Evidence{Name: s.Key, Value: s.Value, Origin: v.Settings.Origin.String(), At: v.At})
	}
	return out
}

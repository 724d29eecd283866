// Package affinity finds VMs that CPU or memory affinity takes out of NUMA management.
package affinity

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"homenode/esxi/vnuma"
	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

//go:embed affinity.md
var page string

// Rule is N023.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, VMs: true, Check: check})

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
	nodes, complete := nodesOf(h, pcpus)
	f := finding.Finding{
		Severity: finding.Medium,
		Message:  what(pcpus, memory) + " takes the VM out of NUMA management: it has no home node",
		Ways:     ways(p, pcpus, memory, nodes, len(h.Nodes.Value)),
		Evidence: append(evidence(v.VM, pcpus, memory), v.MemoryEvidence(), on.Kind.NodesEvidence()),
	}
	switch here, all := home(h, nodes, memory), on.Kind.Machine.Nodes; {
	case all == 1:
		f.Severity = finding.Low
		f.Message += ", on a host of 1 node"
	case complete && here >= 0 && v.Guest.Memory > on.Kind.Machine.NodeMemory && on.Kind.Machine.NodeMemory > 0:
		f.Message += fmt.Sprintf(", and node %d, which it is kept on by hand, does not hold its memory%s", here, size(v))
	case complete && here >= 0:
		f.Severity = finding.Low
		f.Message += fmt.Sprintf(", but CPUs and memory are both on node %d by hand", here)
	case len(memory) > 0:
		f.Message += fmt.Sprintf(", and nothing brings CPUs and memory together on %d nodes", all)
	default:
		f.Message += fmt.Sprintf(", and its memory%s comes from any of %d nodes", size(v), all)
	}
	if len(pcpus) > 0 && len(p.Cluster.Hosts) > 1 {
		f.Message += "; full DRS automation leaves it out"
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
	case 0: // set, but the list is unreadable
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
	return noun + " " + rule.Ranges(numbers)
}

// nodesOf returns the nodes that hold the PCPUs, ascending; complete is false when
// the host lacks some.
func nodesOf(h *numa.Host, pcpus []int) (nodes []int, complete bool) {
	complete = true
	for _, c := range pcpus {
		n, ok := h.NodeOfPCPU(c)
		if !ok {
			complete = false
			continue
		}
		nodes = append(nodes, n)
	}
	slices.Sort(nodes)
	return slices.Compact(nodes), complete
}

// home returns the one node that CPUs and memory are both pinned to, or -1.
func home(h *numa.Host, nodes, memory []int) int {
	if len(nodes) != 1 {
		return -1
	}
	if slices.Equal(nodes, memory) {
		return nodes[0]
	}
	// Up to 6.0 memory follows CPU affinity inside one node.
	auto, set := h.Options.Value.Lookup("Numa.AutoMemAffinity")
	if len(memory) == 0 && h.Release.Value < numa.ESXi65 && (!set || auto != "0") {
		return nodes[0]
	}
	return -1
}

// ways says how to clear the affinities; with the one node that they name a home node keeps the VM there, where that serves it.
func ways(p *rule.Pass, pcpus, memory, nodes []int, all int) []numa.Way {
	v := p.VM
	way := numa.Way{Do: "clear the CPU and memory affinity"}
	switch {
	case len(memory) == 0 && len(pcpus) > 0:
		way.Do = "clear the CPU affinity (Edit Settings, CPU, Scheduling Affinity)"
	case len(pcpus) == 0 && len(memory) > 0:
		way.Do = "clear the memory affinity (sched.mem.affinity)"
	}
	if len(v.CPUAffinity.Value) > 0 {
		way.Edits, way.Auto = append(way.Edits, numa.Edit{Kind: numa.EditCPUAffinity, To: numa.Is("")}), len(memory) == 0
	}
	if len(v.MemoryAffinity.Value) > 0 {
		way.Edits = append(way.Edits, numa.Edit{Kind: numa.EditMemoryAffinity, To: numa.Is("")})
	}
	for _, s := range vnuma.AffinitySettings(v.VM) {
		way.Edits = append(way.Edits, numa.Unassign(s.Key))
	}
	if len(pcpus) == 0 {
		nodes = memory
	}
	if len(nodes) != 1 || all < 2 {
		return []numa.Way{way}
	}
	node := strconv.Itoa(nodes[0])
	home := append(slices.Clone(way.Edits), numa.Assign("numa.nodeAffinity", node))
	if !p.Serves(home) {
		return []numa.Way{way}
	}
	return []numa.Way{way, {Do: "set numa.nodeAffinity = " + node + " instead, which keeps the VM on that node with a home node", Edits: home}}
}

// evidence shows what pins the VM.
func evidence(v *numa.VM, pcpus, memory []int) []finding.Evidence {
	var out []finding.Evidence
	if len(v.CPUAffinity.Value) > 0 {
		out = append(out, finding.Evidence{Name: "CPU affinity", Value: rule.Ranges(pcpus), Origin: v.CPUAffinity.Origin.String(), At: v.At})
	}
	if len(v.MemoryAffinity.Value) > 0 {
		out = append(out, finding.Evidence{Name: "memory affinity", Value: rule.Ranges(memory), Origin: v.MemoryAffinity.Origin.String(), At: v.At})
	}
	for _, s := range vnuma.AffinitySettings(v) {
		out = append(out, finding.Evidence{Name: s.Key, Value: s.Value, Origin: v.Settings.Origin.String(), At: v.At})
	}
	return out
}

// Package memorysize finds VMs whose memory does not fit their NUMA nodes.
package memorysize

import (
	"fmt"

	"homenode/esxi/vnuma"
	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// Rule is N005.
var Rule = &rule.Rule{
	ID:    "N005",
	Name:  "memorysize",
	Title: "memory larger than its NUMA node",
	Why: `The virtual NUMA topology follows vCPUs, not memory. A VM whose vCPUs fit one node stays one
client there; what the node cannot hold is remote, and the guest sees one node and cannot avoid it.
ESX up to 4.0 drops NUMA optimisation altogether for such a VM.`,
	Fix: `Give the VM no more memory than its nodes hold, or spread it over as many nodes as its memory
needs: in 8.0 set cores per socket and NUMA Nodes by hand; from 6.5 on set numa.consolidate = FALSE
and remove the stored numa.autosize entries. vNUMA must be shown (9 vCPUs or numa.vcpu.min). Takes effect
at the next power cycle.`,
	Limits: `The share is that of an empty host once all memory is touched. Memory that the guest never
touches is not resident and costs nothing; other VMs on the node make it worse.`,
	Book: []string{"B-17", "C-14", "C-15"},
	Sources: []string{
		"Denneman, What if the VM memory config exceeds the memory capacity of the physical NUMA node?, 2017, https://frankdenneman.nl/2017/10/05/vm-memory-config-exceeds-memory-capacity-physical-numa-node/",
		"Denneman, vSphere 8 CPU topology for large memory footprint VMs, 2022, https://frankdenneman.nl/2022/11/03/",
	},
	Severity: finding.High,
	Thresholds: []rule.Threshold{{
		Name: "seriousShare", Default: 0.10, Unit: rule.Share, Least: 0, Most: 1,
		Text: "remote share of the memory from which the finding is high: with a remote access about 1.7 times as slow as a local one (A-10), a tenth of them costs 7 %",
	}, {
		Name: "notableShare", Default: 0.01, Unit: rule.Share, Least: 0, Most: 1,
		Text: "remote share of the memory below which the finding is low: a hundredth of remote accesses costs 0.7 % (A-10), less than two runs of a benchmark differ",
	}},
	VMs:   true,
	Check: check,
}

func check(p *rule.Pass) {
	v := p.VM
	on, others, ok := p.Worst(func(o *rule.On) bool { return exceeds(p, o) })
	if !ok {
		return
	}
	m := &on.Kind.Machine
	f := finding.Finding{
		Severity: finding.Medium,
		Evidence: []finding.Evidence{v.MemoryEvidence(), v.VCPUsEvidence(), on.Kind.NodesEvidence()},
	}
	memory := numa.Bytes(v.Guest.Memory)
	if on.Layout.Memory.Placement == vnuma.Anywhere {
		f.Severity = finding.High
		f.Message = fmt.Sprintf("memory of %s exceeds the %s of a node%s: ESX %s does not manage the VM for NUMA at all",
			memory, numa.Bytes(m.NodeMemory), p.Where(others), m.Release)
		f.Advice = fmt.Sprintf("Give the VM at most %s, less what ESX keeps of the node", numa.Bytes(m.NodeMemory))
		p.Report(f, &on.Layout)
		return
	}
	share := float64(on.Layout.Memory.Remote) / float64(v.Guest.Memory)
	switch {
	case share >= p.Threshold("seriousShare"):
		f.Severity = finding.High
	case share < p.Threshold("notableShare") && v.Guest.Memory <= m.AllMemory:
		f.Severity = finding.Low
	}
	homes := on.Layout.HomeNodes
	holds := numa.Bytes(int64(homes) * m.NodeMemory)
	f.Message = fmt.Sprintf("memory of %s exceeds the %s of its %s%s: %s (%s) will be remote once it is touched",
		memory, holds, rule.Plural(homes, "node"), p.Where(others), on.Layout.Memory.Remote, rule.Percent(share))
	if v.Guest.Memory > m.AllMemory {
		f.Message = fmt.Sprintf("memory of %s exceeds the %s of the whole host%s: %s are local at most, and what the host does not hold is swapped",
			memory, numa.Bytes(m.AllMemory), p.Where(others), on.Layout.Memory.Local)
	}
	f.Advice, f.Notice = advice(p, on)
	p.Report(f, &on.Layout)
}

// exceeds reports whether memory overflows the home nodes, and neither preferHT nor
// node affinity is the cause: those are N012 and N025.
func exceeds(p *rule.Pass, o *rule.On) bool {
	v := p.VM
	if !o.Layout.Memory.Known || o.Layout.Memory.Remote == 0 {
		return false
	}
	if n := int64(v.Guest.AllowedNodes); n > 0 && v.Guest.Memory > n*o.Kind.Machine.NodeMemory {
		return false // not to be had remotely either: N025
	}
	if o.Layout.Memory.Placement == vnuma.Anywhere {
		return !v.Guest.Affinity && v.Guest.Memory > o.Kind.Machine.NodeMemory && v.Guest.VCPUs <= o.Kind.Machine.Cores
	}
	plain, m := v.Guest, o.Kind.Machine
	plain.PreferHT, m.PreferHT = false, false
	l := vnuma.Predict(&plain, &m, &vnuma.Case{Choices: p.Choices})
	return l.Memory.Remote > 0
}

// advice says how to bring the memory home, and what the guest will notice.
func advice(p *rule.Pass, o *rule.On) (advice, notice string) {
	m := &o.Kind.Machine
	fit := fmt.Sprintf("Give the VM at most %s, less what ESXi keeps of the node", numa.Bytes(int64(max(1, o.Layout.HomeNodes))*m.NodeMemory))
	if p.VM.Guest.Memory > m.AllMemory {
		return fit + fmt.Sprintf("; the host has %s in all, the rest would be swapped", numa.Bytes(m.AllMemory)), ""
	}
	plan := p.Plan()
	if !plan.Better || plan.After[0].Memory.Remote >= plan.Before[0].Memory.Remote {
		return fit, ""
	}
	spread, notice := p.Advice()
	return rule.Or(fit, spread), notice
}

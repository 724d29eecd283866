// Package memorysize finds VMs whose memory does not fit their NUMA nodes.
package memorysize

import (
	_ "embed"
	"fmt"

	"homenode/esxi/vnuma"
	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

//go:embed memorysize.md
var page string

// Rule is N005.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Check: check})

func check(p *rule.Pass) {
	v := p.VM
	on, others, ok := p.Worst(func(o *rule.On) bool { return exceeds(p, o) })
	if !ok {
		return
	}
	m := &on.Kind.Machine
	f := finding.Finding{
		Severity: finding.Medium,
		Far:      true,
		Evidence: []finding.Evidence{v.MemoryEvidence(), v.VCPUsEvidence(), on.Kind.NodesEvidence()},
	}
	memory := numa.Bytes(v.Guest.Memory)
	if on.Layout.Memory.Placement == vnuma.Anywhere {
		f.Severity = finding.High
		f.Message = fmt.Sprintf("memory of %s exceeds the %s of a node%s: ESX %s does not manage the VM for NUMA at all",
			memory, numa.Bytes(m.NodeMemory), p.Where(others), m.Release)
		f.Advice = "Give the VM " + on.AtMost(1, &v.Guest, p.Choices)
		p.Report(f, &on.Layout)
		return
	}
	r := &on.Layout.Memory
	share := float64(r.Missed()) / float64(v.Guest.Memory)
	switch {
	case share >= p.Threshold("seriousShare"):
		f.Severity = finding.High
	case share < p.Threshold("notableShare") && v.Guest.Memory <= m.ForVMs():
		f.Severity = finding.Low
	}
	homes := on.Layout.HomeNodes
	holds := on.Holds(&v.Guest)
	verb := "exceeds"
	if memory <= holds {
		verb = "exceeds what new memory may take of"
	}
	f.Message = fmt.Sprintf("memory of %s %s the %s of its %s%s: %s",
		memory, verb, holds, rule.Plural(homes, "node"), p.Where(others), v.RemoteText(&on.Layout))
	switch first := r.First; {
	case v.Guest.Memory > m.ForVMs():
		f.Message = fmt.Sprintf("memory of %s exceeds the %s that the whole host has for VMs%s: on an empty host %s are local, %s",
			memory, numa.Bytes(m.ForVMs()), p.Where(others), r.Local, rule.Beyond(numa.Bytes(v.Guest.Memory-m.ForVMs()), on.Kind.Tier()))
	case r.Away() > 0:
	case r.Crossed > 0:
		f.Message = fmt.Sprintf("%s share %s of %s%s, which do not hold their parts of %s: %s",
			rule.Plural(on.Layout.PPDs.Len(), "client"), rule.Plural(homes, "node"), holds, p.Where(others), memory, v.RemoteText(&on.Layout))
	default:
		f.Severity = finding.Low
		f.Message = fmt.Sprintf("memory of %s leaves too little of %s on %s free%s: %s (%s) are remote at first, and come home when the guest uses them",
			memory, holds, rule.Plural(homes, "node"), p.Where(others), first, rule.Percent(float64(first)/float64(v.Guest.Memory)))
	}
	f.Advice, f.Notice = advice(p, on)
	p.Report(f, &on.Layout)
}

// exceeds reports whether memory overflows the home nodes, and neither preferHT nor
// node affinity is the cause: those are N012 and N025.
func exceeds(p *rule.Pass, o *rule.On) bool {
	v := p.VM
	r := &o.Layout.Memory
	memory := float64(v.Guest.Memory)
	if !r.Known || r.Away() == 0 && float64(r.First) < p.Threshold("firstShare")*memory && float64(r.Crossed) < p.Threshold("notableShare")*memory {
		return false
	}
	if o.Lacks(&v.Guest) > 0 {
		return false // not to be had remotely either: N025
	}
	if o.Layout.Memory.Placement == vnuma.Anywhere {
		return !v.Guest.Affinity && v.Guest.Memory > o.Kind.Machine.NodeMemory && v.Guest.VCPUs <= o.Kind.Machine.Cores
	}
	plain, m := v.Guest, o.Kind.Machine
	plain.PreferHT, m.PreferHT = false, false
	l := vnuma.Predict(&plain, &m, &vnuma.Case{Choices: p.Choices})
	return l.Memory.Away() > 0 || l.Memory.First > 0 || l.Memory.Crossed > 0
}

// advice says how to bring the memory home, and what the guest will notice.
func advice(p *rule.Pass, o *rule.On) (advice, notice string) {
	m := &o.Kind.Machine
	fit := "Give the VM " + o.AtMost(max(1, o.Layout.HomeNodes), &p.VM.Guest, p.Choices)
	if p.VM.Guest.Memory > m.ForVMs() {
		return fit + fmt.Sprintf("; the host has %s for VMs", numa.Bytes(m.ForVMs())), ""
	}
	now := &o.Layout.Memory
	if now.Missed() == 0 {
		return fit + ", or leave it: what it uses comes home", ""
	}
	plan := p.Plan()
	if after := &plan.After[0].Memory; now.Away() == 0 { // AtMost takes it that each client has a node
		if spread, notice := p.Advice(); plan.Better && after.Missed() < now.Crossed {
			return spread, notice
		}
		return fmt.Sprintf("Use vCPUs or cores per socket that make at most %s", rule.Plural(o.Layout.HomeNodes, "client")), ""
	}
	if !plan.Better || plan.After[0].Memory.Away() >= plan.Before[0].Memory.Away() {
		return fit, ""
	}
	spread, notice := p.Advice()
	if e := plan.Edit; e.PerNode > 0 && m.Model() >= numa.ESXi65 {
		e.PerNode, e.Force, e.Spread = 0, false, true
		g := e.Apply(p.VM.Guest)
		l := vnuma.Predict(&g, m, &vnuma.Case{Choices: p.Choices})
		if _, spans := l.Spanning(); !spans && l.Memory.Away() <= plan.After[0].Memory.Away() && !l.Refused.Any() {
			spread += ". numa.consolidate = FALSE does it too, instead of sizes set by hand"
		}
	}
	return rule.Or(fit, spread), notice
}

// Package memorysize finds VMs whose memory does not fit their NUMA nodes.
package memorysize

import (
	_ "embed"
	"fmt"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
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
		Severity: p.Beyond(on.Layout.Memory.Missed()),
		Far:      true,
		Evidence: []finding.Evidence{v.MemoryEvidence(), v.VCPUsEvidence(), on.Kind.NodesEvidence()},
	}
	memory := numa.Bytes(v.Guest.Resident())
	if on.Layout.Memory.Placement == vnuma.Anywhere {
		f.Severity = finding.High
		f.Message = fmt.Sprintf("memory of %s exceeds the %s of a node%s: ESX %s does not manage the VM for NUMA at all",
			memory, numa.Bytes(m.NodeMemory), p.Where(others), m.Release)
		f.Ways = p.LessMemory(on, 1)
		p.Report(f, &on.Layout)
		return
	}
	r := &on.Layout.Memory
	if f.Severity < finding.High && float64(r.Missed()) < p.Threshold("notableShare")*float64(memory) && v.Guest.Resident() <= m.ForVMs() {
		f.Severity = finding.Low
	}
	homes := on.Layout.HomeNodes
	holds := on.Holds(&v.Guest)
	verb := "exceeds"
	if memory <= holds {
		verb = "exceeds what new memory may take of"
	}
	f.Message = fmt.Sprintf("memory of %s %s the %s of its %s%s: %s",
		memory, verb, holds, words.Plural(homes, "node"), p.Where(others), v.RemoteText(&on.Layout))
	near := "local"
	if r.Placement == vnuma.Interleaved { // half of it or more is on another node (N001, N004)
		near = "interleaved over its nodes"
	}
	switch first := r.First; {
	case v.Guest.Resident() > m.ForVMs():
		f.Message = fmt.Sprintf("memory of %s exceeds the %s that the whole host has for VMs%s: on an empty host %s are %s, %s",
			memory, numa.Bytes(m.ForVMs()), p.Where(others), r.Local, near, rule.Beyond(numa.Bytes(v.Guest.Resident()-m.ForVMs()), on.Kind.Tier()))
	case r.Away() > 0:
	case r.Crossed > 0:
		f.Message = fmt.Sprintf("%s share %s with %s in all%s, not each of which holds its part of the %s: %s",
			words.Plural(on.Layout.PPDs.Len(), "client"), words.Plural(homes, "node"), holds, p.Where(others), memory, v.RemoteText(&on.Layout))
	default:
		f.Severity = finding.Low
		f.Message = fmt.Sprintf("memory of %s leaves too little of %s on %s free%s: %s (%s) are remote at first, and come home when the guest uses them",
			memory, holds, words.Plural(homes, "node"), p.Where(others), first, words.Percent(float64(first)/float64(memory)))
	}
	if limit, ok := v.LimitedTo(); ok {
		f.Message += fmt.Sprintf("; its memory limit of %s keeps the rest of its %s out of the memory of the host", limit, v.Memory.Value)
		f.Evidence = append(f.Evidence, v.MemoryLimitEvidence())
	}
	advise(p, on, &f)
	p.Report(f, &on.Layout)
}

// exceeds reports whether memory exceeds the home nodes, and neither preferHT nor node affinity is the cause:
// those are N012 and N025.
func exceeds(p *rule.Pass, o *rule.On) bool {
	v := p.VM
	r := &o.Layout.Memory
	memory := float64(v.Guest.Resident())
	if !r.Known || r.Away() == 0 && float64(r.First) < p.Threshold("firstShare")*memory && float64(r.Crossed) < p.Threshold("notableShare")*memory {
		return false
	}
	if o.Lacks(&v.Guest) > 0 {
		return false // not available remotely either: N025
	}
	if o.Layout.Memory.Placement == vnuma.Anywhere {
		return !v.Guest.Affinity && o.Kind.Machine.Schedules() && v.Guest.Memory > o.Kind.Machine.NodeMemory && v.Guest.VCPUs <= o.Kind.Machine.Cores
	}
	plain, m := v.Guest, o.Kind.Machine
	plain.PreferHT, m.PreferHT = false, false
	l := vnuma.Predict(&plain, &m, &vnuma.Case{Choices: p.Choices})
	return l.Memory.Away() > 0 || l.Memory.First > 0 || l.Memory.Crossed > 0
}

// advise adds the ways to make the memory local, and the effect on the guest.
func advise(p *rule.Pass, o *rule.On, f *finding.Finding) {
	m, now, best := &o.Kind.Machine, &o.Layout.Memory, p.Plan()
	f.Ways = p.LessMemory(o, max(1, o.Layout.HomeNodes))
	switch after := &best.After[0].Memory; {
	case p.VM.Guest.Resident() > m.ForVMs():
		f.Besides = fmt.Sprintf("The host has %s for VMs", numa.Bytes(m.ForVMs()))
	case p.VM.RunsHANA() && now.Away() > 0 && !best.Better:
		sockets(p, o, f)
	case now.Missed() == 0:
		f.Ways = append(f.Ways, numa.ByHand("leave it: what it uses comes home"))
	case now.Away() == 0 && best.Better && after.Missed() < now.Crossed: // less memory would help, if each client had a node
		ways, notice := p.PlanWays()
		f.Ways, f.Notice = append(p.Elsewhere(), ways...), notice
	case m.UnlikeMemory() && !best.Better:
	case now.Away() == 0 && o.Layout.PPDs.Len() > o.Layout.HomeNodes:
		f.Ways = append(f.Ways, numa.ByHand(fmt.Sprintf("use vCPUs or cores per socket that make at most %s", words.Plural(o.Layout.HomeNodes, "client"))))
	case best.Better && after.Away() < p.VM.On[0].Layout.Memory.Away():
		var ways []numa.Way
		ways, f.Notice = p.PlanWays()
		f.Ways = append(f.Ways, ways...)
		if spread, ok := consolidate(p, m); ok {
			f.Ways = append(f.Ways, spread)
		}
	}
	if now.Away() > 0 && !f.Planned() && o.Kind == p.VM.Home {
		f.Ways = append(f.Ways, p.Divided(max(2, o.Needed(&p.VM.Guest)))...)
	}
	if now.Missed() > 0 && m.UnlikeMemory() {
		f.Ways = append([]numa.Way{numa.ByHand("give the nodes of the host the same memory: repair a module that failed, or populate the slots of all packages alike")}, f.Ways...)
	}
}

// sockets adds the way to the fewest whole sockets whose nodes hold the memory of a VM of SAP HANA, and why parts of several sockets are no way.
func sockets(p *rule.Pass, o *rule.On, f *finding.Finding) {
	m, socket, packages := &o.Kind.Machine, p.VM.SocketOf(o.Kind), o.Kind.Hosts[0].Packages.Or(1)
	nodes, each := m.NodesFor(p.VM.Guest.Resident()), max(1, int(m.Nodes)/packages)
	if nodes > each {
		f.Besides = fmt.Sprintf("More nodes for its %d vCPUs are no way out: SAP HANA is supported on whole sockets and on half a one, not on parts of several", p.VM.Guest.VCPUs)
	}
	n := (nodes + each - 1) / each * socket
	if most, _ := p.VM.Crowded(o.Kind); n > int(p.VM.Guest.VCPUs) && n <= most && p.VM.Sized(n) {
		f.Ways = append([]numa.Way{p.WholeSockets(n)}, f.Ways...)
	}
}

// consolidate returns numa.consolidate = FALSE as a way, if the plan sets sizes manually and this setting is as
// good.
func consolidate(p *rule.Pass, m *vnuma.Machine) (way numa.Way, ok bool) {
	best := p.Plan()
	e := best.Edit
	if e.PerNode == 0 || m.Model() < numa.ESXi65 {
		return way, false
	}
	e.PerNode, e.Force, e.Spread = 0, false, true
	g := e.Apply(p.VM.Guest)
	l := vnuma.Predict(&g, m, &vnuma.Case{Choices: p.Choices})
	if _, spans := l.Spanning(); spans || l.Memory.Away() > best.After[0].Memory.Away() || l.Refused.Any() || !l.PPDs.Even() {
		return way, false
	}
	return numa.Way{Do: strings.Join(e.Steps(&p.VM.Guest, m), ", ") + " instead of sizes set by hand", Edits: p.VM.Edits(&e)}, true
}

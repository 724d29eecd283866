// Package preferht finds preferHT where it cannot help.
package preferht

import (
	_ "embed"
	"fmt"
	"strings"

	"homenode/esxi/vnuma"
	"homenode/internal/words"
	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

//go:embed preferht.md
var page string

// Rule is N012.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, VMs: true, Check: check})

func check(p *rule.Pass) {
	v := p.VM
	on, others, ok := p.Worst(func(o *rule.On) bool { return useless(v, o) || tooWide(v, o) || tooBig(p, o) })
	if !ok {
		return
	}
	m := &on.Kind.Machine
	f := finding.Finding{Evidence: []finding.Evidence{v.VCPUsEvidence(), v.MemoryEvidence(), on.Kind.NodesEvidence()}}
	key := "numa.vcpu.preferHT"
	if !v.Guest.PreferHT {
		key = "Numa.PreferHT of the host"
	} else {
		f.Evidence = append(f.Evidence, v.SettingEvidence(key))
	}
	if useless(v, on) {
		f.Severity = finding.Low
		f.Message = fmt.Sprintf("%s has no effect%s: hyper-threading is off, a node has %d cores and as many threads", key, p.Where(others), m.Cores)
		f.Ways = []numa.Way{{Do: "set Numa.PreferHT of the host to 0"}}
		if v.Guest.PreferHT {
			f.Ways = []numa.Way{{Do: "remove the setting", Edits: []numa.Edit{numa.Unassign(key)}, Auto: true}}
		}
		if !strings.Contains(on.Kind.Hosts[0].CPUModel.Value, "Opteron") { // none has it
			f.Ways = append(f.Ways, numa.ByHand("switch hyper-threading on"))
		}
		f.Evidence = append(f.Evidence, finding.Of("hyper-threading of "+on.Kind.Hosts[0].Name, on.Kind.Hosts[0].HyperThreading, on.Kind.Hosts[0].At))
		p.Report(f, &on.Layout)
		return
	}
	f.Severity = finding.Medium
	if node, _ := m.CPUs(&v.Guest); tooWide(v, on) {
		f.Message = fmt.Sprintf("%s wants %d vCPUs on %s%s, and latency sensitivity High gives each of them a core of its own: a node has %d cores, enough for %d vCPUs",
			key, v.Guest.VCPUs, words.Plural(on.Layout.PPDs.Len(), "node"), p.Where(others), m.Cores, node)
		f.Ways = []numa.Way{p.AtMostVCPUs(int(node), "")}
	} else {
		f.Message = fmt.Sprintf("%s keeps %d vCPUs on %s%s, whose %s do not hold its %s: %s",
			key, v.Guest.VCPUs, words.Plural(on.Layout.HomeNodes, "node"), p.Where(others),
			on.Holds(&v.Guest), numa.Bytes(v.Guest.Memory),
			v.RemoteText(&on.Layout))
		f.Ways = []numa.Way{p.LessMemory(on, 1)}
	}
	if p.Plan().Better && p.Plan().Edit.PreferHTOff {
		var ways []numa.Way
		ways, f.Notice = p.PlanWays()
		f.Ways = append(f.Ways, ways...)
	} else if !v.Guest.PreferHT {
		f.Ways = append(f.Ways, numa.ByHand("set Numa.PreferHT of the host to 0"))
	} else {
		afresh := v.Afresh()
		f.Ways = append(f.Ways, numa.Way{Do: "remove numa.vcpu.preferHT and the stored numa.autosize entries" + v.Cycle(),
			Edits: append([]numa.Edit{numa.Unassign(key)}, afresh.Edits...)})
	}
	p.Report(f, &on.Layout)
}

func prefers(v *rule.VM, o *rule.On) bool { return v.Guest.PreferHT || o.Kind.Machine.PreferHT }

// useless: the VM asks for threads, or is wide and would use them, and there are none.
func useless(v *rule.VM, o *rule.On) bool {
	m := &o.Kind.Machine
	return m.Threads == m.Cores && (v.Guest.PreferHT || m.PreferHT && v.Guest.VCPUs > m.Cores)
}

// tooWide: the threads of a node hold the client, and its cores do not give latency sensitivity High one for each vCPU.
func tooWide(v *rule.VM, o *rule.On) bool {
	node, _ := o.Kind.Machine.CPUs(&v.Guest)
	return prefers(v, o) && v.Guest.Needs.Exclusive && o.Layout.PPDs.Max() > int(node)
}

// tooBig: with preferHT memory is remote that would be local without.
func tooBig(p *rule.Pass, o *rule.On) bool {
	v := p.VM
	if !prefers(v, o) || !o.Layout.Memory.Known || o.Layout.Memory.Missed() == 0 || o.Layout.Memory.Placement == vnuma.Anywhere {
		return false
	}
	plain, m := v.Guest, o.Kind.Machine
	plain.PreferHT, m.PreferHT = false, false
	l := vnuma.Predict(&plain, &m, &vnuma.Case{Event: vnuma.FirstPowerOn, Choices: p.Choices})
	return l.Memory.Missed() < o.Layout.Memory.Missed()
}

// Package preferht finds preferHT where it cannot help.
package preferht

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

//go:embed preferht.md
var page string

// Rule is N012.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Check: check})

func check(p *rule.Pass) {
	v := p.VM
	wide := judge(p, func(o *rule.On) bool { return tooWide(v, o) }, reportWide)
	if big := judge(p, func(o *rule.On) bool { return tooBig(p, o) }, reportBig); !wide && !big {
		judge(p, func(o *rule.On) bool { return useless(v, o) }, reportUseless)
		judge(p, func(o *rule.On) bool { return crowds(p, o) }, reportCrowded)
	}
	judge(p, func(o *rule.On) bool { return v.Guest.LacksThreads(&o.Kind.Machine) }, reportVirtual)
}

// judge reports the worst of the bad hosts, and whether there is one.
func judge(p *rule.Pass, bad func(*rule.On) bool, report func(*rule.Pass, *rule.On, string, *finding.Finding)) bool {
	v := p.VM
	on, others, ok := p.Worst(bad)
	if !ok {
		return false
	}
	f := finding.Finding{Evidence: []finding.Evidence{v.VCPUsEvidence(), v.MemoryEvidence(), on.Kind.NodesEvidence()}}
	if v.Guest.PreferHT {
		f.Evidence = append(f.Evidence, v.SettingEvidence(setting))
	}
	report(p, on, p.Where(others), &f)
	p.Report(f, &on.Layout)
	return true
}

const setting = "numa.vcpu.preferHT"

// key returns the option that keeps the VM on threads.
func key(v *rule.VM) string {
	if v.Guest.PreferHT {
		return setting
	}
	return "Numa.PreferHT of the host"
}

func reportUseless(p *rule.Pass, on *rule.On, where string, f *finding.Finding) {
	v, h := p.VM, on.Kind.Hosts[0]
	f.Severity = finding.Low
	f.Message = fmt.Sprintf("%s has no effect%s: hyper-threading is off, a node has %d cores and as many threads", key(v), where, on.Kind.Machine.Cores)
	if !on.Kind.Machine.ThreadsKnown {
		f.Severity, f.Message = finding.Info, fmt.Sprintf("whether %s has an effect is unknown%s: the source does not say if hyper-threading is on, and where it is off a node of %d cores has as many threads", key(v), where, on.Kind.Machine.Cores)
		f.Evidence = append(f.Evidence, finding.Of("hyper-threading of "+h.Name, h.HyperThreading, h.At))
		return
	}
	switch {
	case !v.Guest.PreferHT:
		f.Ways = []numa.Way{{Do: "set Numa.PreferHT of the host to 0"}}
	case v.Home != nil && !useless(v, &v.On[0]): // it has an effect on its own host
	default:
		f.Ways = []numa.Way{{Do: "remove the setting", Edits: []numa.Edit{numa.Unassign(setting)}, Auto: true}}
	}
	if !strings.Contains(h.CPUModel.Value, "Opteron") { // no Opteron has them
		threads := on.Kind.Machine
		threads.Threads *= 2
		text := "switch hyper-threading on"
		if l := vnuma.Predict(&v.Guest, &threads, &vnuma.Case{Event: vnuma.FirstPowerOn, Choices: p.Choices}); l.PPDs.Len() < on.Layout.PPDs.Len() {
			text += fmt.Sprintf(": the VM then runs as %s (%s vCPU), two vCPUs on a core", words.Plural(l.PPDs.Len(), "client"), l.PPDs)
		}
		f.Ways = append(f.Ways, numa.ByHand(text))
	}
	f.Evidence = append(f.Evidence, finding.Of("hyper-threading of "+h.Name, h.HyperThreading, h.At))
}

// reportVirtual reports threads that the guest sees although no core has them.
func reportVirtual(p *rule.Pass, on *rule.On, where string, f *finding.Finding) {
	v, h := p.VM, on.Kind.Hosts[0]
	f.Severity, f.Topic = finding.Low, "virtual threads"
	f.Message = fmt.Sprintf("virtual hyper-threading shows the guest two threads of each core%s, where hyper-threading is off and a core has one: whether the VM powers on there, and whether two vCPUs share a core or each needs one, is not published", where)
	f.Ways = []numa.Way{numa.ByHand("switch hyper-threading on")}
	const key = "cpuid.numSMT"
	switch _, set := v.Settings.Value.Lookup(key); {
	case v.LatencyHigh():
		f.Ways = append(f.Ways, numa.ByHand("set latency sensitivity to High without Hyper-threading, which needs a core and its reservation for each vCPU"))
	case set:
		f.Ways = append(f.Ways, numa.Way{Do: "remove " + key, Edits: []numa.Edit{numa.Unassign(key)}})
	default:
		f.Ways = append(f.Ways, numa.ByHand("show the guest one thread of each core"))
	}
	f.Evidence = append(f.Evidence, finding.Of("vCPUs of a virtual core", vnuma.VirtualThreads(v.VM), v.At), finding.Of("hyper-threading of "+h.Name, h.HyperThreading, h.At))
}

func reportWide(p *rule.Pass, on *rule.On, where string, f *finding.Finding) {
	v, m := p.VM, &on.Kind.Machine
	node, _ := m.CPUs(&v.Guest)
	f.Severity, f.Topic = finding.Medium, "cores"
	f.Message = fmt.Sprintf("%s wants %d vCPUs on %s%s, and latency sensitivity High gives each of them a core of its own: a node has %d cores, enough for %d vCPUs",
		key(v), v.Guest.VCPUs, words.Plural(on.Layout.PPDs.Len(), "node"), where, m.Cores, node)
	f.Ways = []numa.Way{p.AtMostVCPUs(int(node), "")}
	without(p, f)
}

func reportBig(p *rule.Pass, on *rule.On, where string, f *finding.Finding) {
	v := p.VM
	f.Severity, f.Topic = p.Beyond(on.Layout.Memory.Missed()), "memory"
	f.Message = fmt.Sprintf("%s keeps %d vCPUs on %s%s, whose %s do not hold its %s: %s",
		key(v), v.Guest.VCPUs, words.Plural(on.Layout.HomeNodes, "node"), where,
		on.Holds(&v.Guest), numa.Bytes(v.Guest.Resident()), v.RemoteText(&on.Layout))
	if cores := on.Layout.HomeNodes * int(on.Kind.Machine.Cores); int(v.Guest.VCPUs) > cores {
		f.Message += fmt.Sprintf("; its vCPUs also share the %s there, so that with all of them busy two have little more than the work of one core", words.Plural(cores, "core"))
	}
	f.Ways = p.LessMemory(on, 1)
	without(p, f)
}

// reportCrowded reports vCPUs that share cores although other nodes are idle, and that get no single node by it.
func reportCrowded(p *rule.Pass, on *rule.On, where string, f *finding.Finding) {
	v, m := p.VM, &on.Kind.Machine
	f.Severity, f.Topic = finding.Low, "idle nodes"
	f.Message = fmt.Sprintf("%s puts %d vCPUs on the threads of %s%s, so that two share a core, while %s of the host stay free: it is divided all the same",
		key(v), v.Guest.VCPUs, words.Plural(on.Layout.PPDs.Len(), "node"), where, words.Plural(int(m.Nodes)-on.Layout.PPDs.Len(), "node"))
	without(p, f)
}

// without adds the way to remove preferHT.
func without(p *rule.Pass, f *finding.Finding) {
	v := p.VM
	switch {
	case p.Plan().Better && p.Plan().Edit.PreferHTOff:
		var ways []numa.Way
		ways, f.Notice = p.PlanWays()
		f.Ways = append(f.Ways, ways...)
	case !v.Guest.PreferHT:
		f.Ways = append(f.Ways, numa.ByHand("set Numa.PreferHT of the host to 0"))
	default:
		afresh := v.Afresh()
		f.Ways = append(f.Ways, numa.Way{Do: "remove numa.vcpu.preferHT and the stored numa.autosize entries" + v.Cycle(),
			Edits: append([]numa.Edit{numa.Unassign(setting)}, afresh.Edits...)})
	}
}

func prefers(v *rule.VM, o *rule.On) bool { return v.Guest.PreferHT || o.Kind.Machine.PreferHT }

// useless: the VM requests threads, or is wide and would use them, and there are none.
func useless(v *rule.VM, o *rule.On) bool {
	m := &o.Kind.Machine
	return m.Threads == m.Cores && (v.Guest.PreferHT || m.PreferHT && v.Guest.VCPUs > m.Cores)
}

// tooWide: the client fits the threads of a node, but its cores are not enough for latency sensitivity High, which
// needs one for each vCPU.
func tooWide(v *rule.VM, o *rule.On) bool {
	node, _ := o.Kind.Machine.CPUs(&v.Guest)
	return prefers(v, o) && v.Guest.Needs.Exclusive && o.Layout.PPDs.Max() > int(node)
}

// crowds: with preferHT the VM is divided too, and over fewer nodes than have a core for each vCPU.
func crowds(p *rule.Pass, o *rule.On) bool {
	v, m := p.VM, o.Kind.Machine
	if !prefers(v, o) || !o.Layout.Managed || o.Layout.PPDs.Len() < 2 || v.Guest.VCPUs > m.AllCores || v.Guest.Needs.Exclusive || v.Guest.AllowedNodes != 0 {
		return false
	}
	return o.Layout.PPDs.Max() > int(m.Cores) && o.Layout.PPDs.Len() < int(m.Nodes)
}

// tooBig: with preferHT memory is remote that would be local without it.
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

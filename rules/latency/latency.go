// Package latency finds latency-sensitive VMs without the reservations they need.
package latency

import (
	_ "embed"
	"fmt"
	"strings"

	"homenode/esxi/vnuma"
	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

//go:embed latency.md
var page string

// Rule is N026. It tells of VMs that do not power on for lack of reservations, too.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Refused: true, Check: check})

func check(p *rule.Pass) {
	v := p.VM
	on := &v.On[0]
	m := &on.Kind.Machine
	if !v.Guest.Needs.Exclusive || v.Off() && !on.Layout.Refused.ByLatency() {
		return
	}
	level, key := v.Latency()
	f := finding.Finding{Severity: finding.Medium, Evidence: []finding.Evidence{finding.Of(key, level, v.At), v.VCPUsEvidence()}}
	var lacks, does []string
	var whole numa.Way // all that is lacking
	asked := false     // whether the frequency of the host was asked for
	for _, lack := range vnuma.Lacks(&v.Guest, m) {
		if lack.Any() {
			asked = asked || lack.ByCPU()
			lacks = append(lacks, lack.Lack())
			way := lack.Ways()[0]
			does, whole.Edits = append(does, way.Do), append(whole.Edits, way.Edits...)
		}
	}
	if lacks == nil {
		allCores(p, m, f)
		return
	}
	if v.Unreserved() > 0 {
		f.Evidence = append(f.Evidence, finding.Of("memory reservation", v.MemoryReservation, v.At), v.MemoryEvidence())
	}
	if v.CPUReservation.Known() {
		f.Evidence = append(f.Evidence, finding.Of("CPU reservation in MHz", v.CPUReservation, v.At))
	}
	if host := on.Kind.Hosts[0]; asked && m.CoreMHz > 0 {
		f.Evidence = append(f.Evidence, finding.Of("core frequency of "+host.Name+" in MHz", host.Frequency(), host.At))
		if !host.CoreMHz.Known() {
			f.Assumes = append(f.Assumes, "the frequency of the cores is taken from the name of the processor (B-21)")
		}
	}
	name := "High"
	if v.Guest.Threads(m) > 1 {
		name = "High with Hyper-threading"
	}
	if asked && m.CoreMHz > 0 && v.Guest.Threads(m) > 1 {
		f.Evidence = append(f.Evidence, finding.Of("vCPUs of a virtual core", vnuma.VirtualThreads(v.VM), v.At))
	}
	what := "vCPUs get no PCPUs of their own"
	if v.Off() {
		f.Severity, what = finding.High, "it does not power on"
	}
	f.Message = "latency sensitivity is " + name + " but " + strings.Join(lacks, " and ") + ": " + what
	if whole.Do = strings.Join(does, " and "); len(whole.Edits) < len(does) { // a part is by hand
		whole.Edits = nil
	}
	f.Ways = []numa.Way{whole, vnuma.Normal}
	p.Report(f, nil)
}

// allCores reports a VM whose vCPUs take every core of the host: ESXi itself needs some CPU too,
// so the reservation may not be available (B-30). How much it keeps is not published.
func allCores(p *rule.Pass, m *vnuma.Machine, f finding.Finding) {
	if p.VM.Guest.ExclusiveCores(m) < int(m.AllCores) || m.Model() < numa.ESXi67 {
		return
	}
	f.Severity = finding.Low
	f.Message = fmt.Sprintf("latency sensitivity High takes all %d cores of the host, and ESXi itself needs some: whether it powers on is not certain", m.AllCores)
	f.Ways = []numa.Way{p.AtMostVCPUs(int(p.VM.Guest.VCPUs)*(int(m.AllCores)-1)/int(m.AllCores), ", which leaves a core of the host to ESXi"), vnuma.Normal}
	f.Assumes = []string{"what ESXi keeps of the CPU is not published (B-30)"}
	f.Evidence = append(f.Evidence, p.VM.On[0].Kind.NodesEvidence())
	p.Report(f, nil)
}

// Package refused finds VMs that vSphere does not power on.
package refused

import (
	_ "embed"
	"strings"

	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

//go:embed refused.md
var page string

// Rule is N032. Of a VM that its host does not take nothing else is judged.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Refused: true, Check: check})

func check(p *rule.Pass) {
	v := p.VM
	switch {
	case v.Off() && v.On[0].Layout.Refused.ByLatency(): // N026
		return
	case v.Off():
		report(p, &v.On[0], "it does not power on", finding.High)
		return
	}
	for i := range v.Refused {
		on := &v.Refused[i]
		if on.Layout.Refused.ByRelease() {
			continue // that another host is older than the virtual hardware is how clusters are upgraded
		}
		var hosts []*numa.Host
		for _, other := range v.Refused[i:] {
			if other.Layout.Refused == on.Layout.Refused {
				hosts = append(hosts, other.Kind.Hosts...)
			}
		}
		report(p, on, "it does not power on on "+rule.HostNames(hosts), finding.Medium)
		return
	}
}

func report(p *rule.Pass, on *rule.On, what string, severity finding.Severity) {
	v, r := p.VM, on.Layout.Refused
	f := finding.Finding{Severity: severity, Message: r.String() + ": " + what, Advice: r.Cure(),
		Evidence: []finding.Evidence{v.VCPUsEvidence(), v.CPSEvidence(), finding.Of("virtual hardware", v.Hardware, v.At), on.Kind.NodesEvidence(), on.Kind.ReleaseEvidence()}}
	switch r.Rule() {
	case "B-30", "B-31":
		f.Evidence = []finding.Evidence{finding.Of("memory reservation", v.MemoryReservation, v.At), v.MemoryEvidence(), on.Kind.NodesEvidence(), on.Kind.ReleaseEvidence()}
	}
	if r.Rule() == "B-30" && v.MemoryReservationLocked.Value {
		f.Evidence[0] = finding.Of("all memory is reserved", v.MemoryReservationLocked, v.At)
	}
	if r.ByCPU() {
		host := on.Kind.Hosts[0]
		f.Evidence = []finding.Evidence{finding.Of("CPU reservation in MHz", v.CPUReservation, v.At), finding.Of("core frequency of "+host.Name+" in MHz", host.Frequency(), host.At), on.Kind.NodesEvidence()}
	}
	if len(v.Seen) > 0 || v.Power.Origin.Kind == numa.Read && v.Power.Value == numa.PoweredOn {
		f.Message += " again"
	}
	if plan := p.Plan(); severity == finding.High && plan.Better {
		f.Advice += ". Best here: " + strings.Join(plan.Edit.Steps(&v.Guest, &on.Kind.Machine), ", ")
		after := v.Config
		plan.Edit.Configure(&after)
		f.Cure = numa.Edits(&v.Config, &after)
	}
	p.Report(f, &on.Layout)
}

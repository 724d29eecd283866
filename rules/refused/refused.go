// Package refused finds VMs that vSphere does not power on.
package refused

import (
	_ "embed"
	"fmt"
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
	if v.Off() {
		report(p, &v.On[0], "it does not power on", finding.High)
		return
	}
	if has, host := v.CPUReservation, v.Host; v.Home != nil && host != nil && has.Known() && host.CoreMHz.Known() {
		most := int(v.Home.Machine.AllCores) * host.CoreMHz.Value
		if most > 0 && has.Value > most {
			p.Report(finding.Finding{
				Severity: finding.High,
				Message:  fmt.Sprintf("%d MHz of reserved CPU are more than the %d MHz of %s: it does not power on there", has.Value, most, host.Name),
				Advice:   fmt.Sprintf("Reserve at most %d MHz CPU", most),
				Evidence: []finding.Evidence{finding.Of("CPU reservation in MHz", has, v.At),
					finding.Of("core frequency of "+host.Name+" in MHz", host.CoreMHz, host.At), v.Home.NodesEvidence()},
			}, nil)
			return
		}
	}
	for i := range v.Refused {
		// That another host is older than the virtual hardware is how clusters are upgraded.
		if on := &v.Refused[i]; !on.Layout.Refused.ByRelease() {
			report(p, on, "it does not power on on "+rule.HostNames(on.Kind.Hosts), finding.Medium)
			return
		}
	}
}

func report(p *rule.Pass, on *rule.On, what string, severity finding.Severity) {
	v, r := p.VM, on.Layout.Refused
	f := finding.Finding{Severity: severity, Message: r.String() + ": " + what, Advice: r.Cure(),
		Evidence: []finding.Evidence{v.VCPUsEvidence(), v.CPSEvidence(), finding.Of("virtual hardware", v.Hardware, v.At), on.Kind.NodesEvidence(), on.Kind.ReleaseEvidence()}}
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

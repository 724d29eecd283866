// Package hotaddfits confirms that VMs with CPU hot add fit a NUMA node.
package hotaddfits

import (
	_ "embed"
	"fmt"

	"example.org/homenode/esxi/plan"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed hotaddfits.md
var page string

// Rule is N002.
var Rule = rule.New(page, rule.Rule{Severity: finding.Info, VMs: true, Check: check})

func check(p *rule.Pass) {
	v := p.VM
	if !v.CPUHotAdd.Known() || !v.Guest.HotAdd || len(v.On) == 0 {
		return
	}
	off := plan.Edit{HotAddOff: true}.Apply(v.Guest)
	if _, _, matters := p.Worst(func(o *rule.On) bool {
		without := vnuma.Predict(&off, &o.Kind.Machine, &vnuma.Case{Choices: p.Choices})
		return o.Layout.Wide() || !o.Layout.Managed || o.Layout.Memory.Away() > 0 || int(v.Guest.VCPUs) > o.Layout.Capacity || !o.Layout.VPDs.Equal(without.VPDs)
	}); matters {
		return
	}
	on := &v.On[0]
	p.Report(finding.Finding{
		Severity: finding.Info,
		Message: fmt.Sprintf("CPU hot add hides nothing here: %d vCPUs fit one client (up to %d here), so the VM has one virtual node anyway",
			v.Guest.VCPUs, on.Layout.Capacity),
		Evidence: []finding.Evidence{v.VCPUsEvidence(), finding.Of("CPU hot add", v.CPUHotAdd, v.At), on.Kind.NodesEvidence()},
	}, &on.Layout)
}

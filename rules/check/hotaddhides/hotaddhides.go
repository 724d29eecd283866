// Package hotaddhides finds wide VMs whose guest does not see NUMA because of CPU hot add.
package hotaddhides

import (
	_ "embed"
	"fmt"

	"example.org/homenode/esxi/plan"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed hotaddhides.md
var page string

// Rule is N001.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Check: check})

func check(p *rule.Pass) {
	v := p.VM
	// Without every setting that limits it to one node: would it see NUMA?
	bare := plan.Edit{HotAddOff: true, ForgetStored: true, ManualOff: true}.Apply(v.Guest)
	on, others, ok := p.Worst(func(o *rule.On) bool {
		if o.Layout.Why != vnuma.ByHotAdd || !o.Layout.Wide() || o.Layout.HomeNodes == 1 { // if its clients share a node, all memory is local
			return false
		}
		l := p.Flat(bare, &o.Kind.Machine)
		return l.GuestSeesNUMA()
	})
	if !ok {
		return
	}
	ways, notice := p.PlanWays()
	p.Report(finding.Finding{
		Severity: finding.High,
		Message: fmt.Sprintf("CPU hot add hides NUMA%s: %d vCPUs run as %d clients (%s) but the guest sees 1 node, so %s of its memory is on another node than the vCPU that uses it, while N%%L reads 100",
			p.Where(others), v.Guest.VCPUs, on.Layout.PPDs.Len(), on.Layout.PPDs, words.Percent(on.Layout.FarShare())),
		Ways:     ways,
		Notice:   notice,
		Evidence: []finding.Evidence{v.VCPUsEvidence(), finding.Of("CPU hot add", v.CPUHotAdd, v.At), on.Kind.NodesEvidence()},
	}, &on.Layout)
}

// Package corespersocket finds values of cores per socket that give a VM a bad layout.
package corespersocket

import (
	_ "embed"
	"fmt"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed corespersocket.md
var page string

// Rule is N008.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, VMs: true, Placed: true, Check: check})

func check(p *rule.Pass) {
	v := p.VM
	if v.Guest.CoresPerSocket <= 1 {
		return
	}
	on, others, ok := p.Worst(func(o *rule.On) bool {
		if _, crowded := v.Crowded(o.Kind); crowded {
			return false // see N013
		}
		if o.Layout.Why == vnuma.ByCPS {
			return o.Layout.VPDs.Len() > v.Needed() // for other hosts of the cluster more may be needed
		}
		return p.Rounded(o)
	})
	if !ok {
		return
	}
	severity := finding.Medium
	switch byCPS := on.Layout.Why == vnuma.ByCPS; {
	case byCPS && fewest(v, on):
		severity = finding.Low
	case !byCPS && on.Layout.PPDs.Unevenness() < p.Threshold("noticedUneven"):
		severity = finding.Low
	}
	ways, notice := p.PlanWays()
	p.Report(finding.Finding{
		Severity: severity,
		Message:  message(p, on, others),
		Ways:     ways,
		Notice:   notice,
		Evidence: []finding.Evidence{v.CPSEvidence(), v.VCPUsEvidence(), on.Kind.NodesEvidence(), on.Kind.ReleaseEvidence()},
	}, &on.Layout)
}

// fewest reports whether the virtual nodes are equal, and fewer ones that suit all hosts of the VM would not be.
func fewest(v *rule.VM, on *rule.On) bool {
	for k := v.Needed(); k < on.Layout.VPDs.Len(); k++ {
		if int(v.Guest.VCPUs)%k == 0 {
			return false
		}
	}
	return on.Layout.VPDs.Even()
}

func message(p *rule.Pass, on *rule.On, others int) string {
	g := &p.VM.Guest
	if on.Layout.Why == vnuma.ByCPS {
		would, needed := "would do", on.Needed(g)
		if needed > on.Layout.Least {
			would = "would hold them and the memory"
		}
		return fmt.Sprintf("cores per socket %d cut %d vCPUs into %d virtual nodes%s where %s of %s %s",
			g.CoresPerSocket, g.VCPUs, on.Layout.VPDs.Len(), p.Where(others), words.Plural(needed, "node"), words.Plural(int(on.Kind.Machine.Cores), "core"), would)
	}
	even := p.Flat(*g, &on.Kind.Machine)
	return fmt.Sprintf("cores per socket %d round the clients up to %s vCPUs%s; without them they are %s",
		g.CoresPerSocket, on.Layout.PPDs, p.Where(others), even.PPDs)
}

// Package unevensplit finds wide VMs whose vCPUs are not divisible by their nodes.
package unevensplit

import (
	_ "embed"
	"fmt"

	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed unevensplit.md
var page string

// Rule is N007.
var Rule = rule.New(page, rule.Rule{Severity: finding.Low, VMs: true, Placed: true, Check: check})

func check(p *rule.Pass) {
	v := p.VM
	on, others, ok := p.Worst(func(o *rule.On) bool {
		return o.Layout.Wide() && !o.Layout.PPDs.Even() && int(v.Guest.VCPUs)%o.Layout.Least != 0 && !p.Rounded(o) // otherwise see N008
	})
	if !ok {
		return
	}
	ways, notice := p.PlanWays()
	p.Report(finding.Finding{
		Severity: finding.Low,
		Message: fmt.Sprintf("%d vCPUs do not divide over %d nodes%s: the clients are %s",
			v.Guest.VCPUs, on.Layout.PPDs.Len(), p.Where(others), on.Layout.PPDs),
		Ways:     ways,
		Notice:   notice,
		Evidence: []finding.Evidence{v.VCPUsEvidence(), on.Kind.NodesEvidence()},
	}, &on.Layout)
}

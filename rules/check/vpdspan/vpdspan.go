// Package vpdspan finds virtual NUMA nodes that span several physical nodes.
package vpdspan

import (
	_ "embed"
	"fmt"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed vpdspan.md
var page string

// Rule is N004.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Placed: true, Check: check})

func check(p *rule.Pass) {
	v := p.VM
	on, others, ok := p.Worst(func(o *rule.On) bool {
		_, spans := o.Layout.Spanning()
		return spans && (o.Layout.Why == vnuma.ByCPS || o.Layout.Why == vnuma.ByClients)
	})
	if !ok {
		return
	}
	vpd, _ := on.Layout.Spanning()
	first, last := on.Layout.Carriers(vpd)
	_, size := on.Layout.VPDs.Group(vpd)
	ways, notice := p.PlanWays()
	p.Report(finding.Finding{
		Severity: finding.High,
		Message: fmt.Sprintf("virtual node %d has %d vCPUs but a node%s has %s: %d clients carry it",
			vpd, size, p.Where(others), words.Plural(int(on.Kind.Machine.Cores), "core"), last-first+1),
		Ways:     ways,
		Notice:   notice,
		Evidence: []finding.Evidence{v.VCPUsEvidence(), v.CPSEvidence(), on.Kind.NodesEvidence()},
	}, &on.Layout)
}

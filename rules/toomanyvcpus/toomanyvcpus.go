// Package toomanyvcpus finds VMs with more vCPUs than their host has cores.
package toomanyvcpus

import (
	_ "embed"
	"fmt"

	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

//go:embed toomanyvcpus.md
var page string

// Rule is N013.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, VMs: true, Check: check})

func check(p *rule.Pass) {
	v := p.VM
	on, others, ok := p.Worst(func(o *rule.On) bool { return v.Guest.VCPUs > o.Kind.Machine.AllCores })
	if !ok {
		return
	}
	m := &on.Kind.Machine
	most := m.AllCores
	for i := range v.On {
		if cores := v.On[i].Kind.Machine.AllCores; v.Guest.VCPUs > cores {
			most = min(most, cores)
		}
	}
	p.Report(finding.Finding{
		Severity: finding.Medium,
		Message:  fmt.Sprintf("%d vCPUs exceed the %d cores of the host%s: vCPUs share cores and clients exceed their nodes", v.Guest.VCPUs, m.AllCores, p.Where(others)),
		Ways:     []numa.Way{p.AtMostVCPUs(int(most), "")},
		Evidence: []finding.Evidence{v.VCPUsEvidence(), on.Kind.NodesEvidence()},
	}, &on.Layout)
}

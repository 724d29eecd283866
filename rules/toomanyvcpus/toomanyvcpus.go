// Package toomanyvcpus finds VMs with more vCPUs than their host has cores.
package toomanyvcpus

import (
	_ "embed"
	"fmt"

	"homenode/rules/finding"
	"homenode/rules/rule"
)

//go:embed toomanyvcpus.md
var page string

// Rule is N013.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Check: check})

func check(p *rule.Pass) {
	v := p.VM
	on, others, ok := p.Worst(func(o *rule.On) bool {
		return v.Guest.VCPUs > o.Kind.Machine.AllThreads && o.Kind.Machine.ThreadsKnown && !o.Kind.Machine.AllowWide
	})
	severity, what := finding.High, "it cannot power on there"
	if !ok {
		on, others, ok = p.Worst(func(o *rule.On) bool { return v.Guest.VCPUs > o.Kind.Machine.AllCores })
		severity, what = finding.Medium, "vCPUs share cores and clients exceed their nodes"
	}
	if !ok {
		return
	}
	m := &on.Kind.Machine
	has := fmt.Sprintf("%d cores", m.AllCores)
	if m.ThreadsKnown {
		has += fmt.Sprintf(" and %d logical CPUs", m.AllThreads)
	}
	most := m.AllCores
	for i := range v.On {
		if cores := v.On[i].Kind.Machine.AllCores; v.Guest.VCPUs > cores {
			most = min(most, cores)
		}
	}
	p.Report(finding.Finding{
		Severity: severity,
		Message:  fmt.Sprintf("%d vCPUs exceed the %s of the host%s: %s", v.Guest.VCPUs, has, p.Where(others), what),
		Advice:   fmt.Sprintf("Use at most %d vCPUs", most),
		Evidence: []finding.Evidence{v.VCPUsEvidence(), on.Kind.NodesEvidence()},
	}, &on.Layout)
}

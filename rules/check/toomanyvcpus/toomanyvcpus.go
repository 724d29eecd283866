// Package toomanyvcpus finds VMs with more vCPUs than cores of their host, or with a CPU or memory limit below their size.
package toomanyvcpus

import (
	_ "embed"
	"fmt"
	"slices"

	"example.org/homenode/esxi/product"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed toomanyvcpus.md
var page string

// Rule is N013.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Placed: true, Beside: true, Check: check})

func check(p *rule.Pass) {
	crowded(p)
	limited(p)
	held(p)
}

func crowded(p *rule.Pass) {
	v := p.VM
	on, others, ok := p.Worst(func(o *rule.On) bool { _, crowded := v.Crowded(o.Kind); return crowded })
	if !ok {
		return
	}
	m := &on.Kind.Machine
	has, _ := v.Crowded(on.Kind)
	unit := "cores"
	var ways []numa.Way
	switch _, all := m.CPUs(&v.Guest); {
	case all > m.AllCores:
		unit = "threads"
	case v.Guest.VCPUs <= m.AllThreads && slices.ContainsFunc(v.Products(), func(one product.Product) bool { return one.HANA() }):
		ways = []numa.Way{{Do: "set numa.vcpu.preferHT = TRUE, with which SAP HANA is sized by threads" + v.Cycle(), Edits: []numa.Edit{numa.Assign("numa.vcpu.preferHT", "TRUE")}}}
	}
	p.Report(finding.Finding{
		Severity: finding.Medium,
		Message:  fmt.Sprintf("%d vCPUs exceed the %d %s of the host%s: vCPUs share %s and clients exceed their nodes", v.Guest.VCPUs, has, unit, p.Where(others), unit),
		Ways:     append(append(p.Elsewhere(), ways...), p.AtMostVCPUs(has, "")),
		Evidence: []finding.Evidence{v.VCPUsEvidence(), on.Kind.NodesEvidence()},
	}, &on.Layout)
}

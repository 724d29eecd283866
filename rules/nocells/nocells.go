// Package nocells finds VMs wider than a node whose guests see one node.
package nocells

import (
	_ "embed"
	"fmt"

	"homenode/rules/finding"
	"homenode/rules/rule"
)

//go:embed nocells.md
var page string

// Rule is K011.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Stated: check})

func check(p *rule.StatedPass) {
	v := p.VM
	s := v.Stated
	needed, ok := v.Needed()
	if !ok || !v.Flat() || s.Partial || needed < 2 {
		return
	}
	cores, memory, _ := v.Largest()
	nodes := 0
	for _, n := range v.Host.Nodes.Value {
		if n.Cores > 0 {
			nodes++
		}
	}
	if nodes < 2 {
		return
	}
	advice := fmt.Sprintf("State %s, each on a node", rule.Plural(needed, "cell"))
	if needed > nodes {
		advice = fmt.Sprintf("%s are more than %s holds, a core each: use fewer, and state a cell for each node", rule.Plural(s.VCPUs, "vCPU"), v.Host.Name)
		if s.VCPUs <= nodes*cores {
			advice = fmt.Sprintf("%s are more than %s has: use less, and state a cell for each node", s.Shape.Memory, v.Host.Name)
		}
	}
	p.Report(finding.Finding{
		Severity: finding.High,
		Message: fmt.Sprintf("%s and %s are more than a node of %s has (%d cores, %s), and no cells are stated: the guest sees one node",
			rule.Plural(s.VCPUs, "vCPU"), s.Shape.Memory, v.Host.Name, cores, memory),
		Advice:   advice,
		Evidence: []finding.Evidence{p.At("vCPUs", fmt.Sprint(s.VCPUs), s.VCPUsAt), p.At("memory", s.Shape.Memory.String(), s.MemoryAt), p.Nodes()},
	})
}

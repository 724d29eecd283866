// Package cellaway finds cells whose vCPUs are pinned away from their memory.
package cellaway

import (
	_ "embed"
	"fmt"
	"slices"

	"homenode/rules/finding"
	"homenode/rules/rule"
)

//go:embed cellaway.md
var page string

// Rule is K003.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Stated: check})

func check(p *rule.StatedPass) {
	v := p.VM
	s := v.Stated
	for i := range s.Cells {
		runs := s.RunsOn(i, v.Host)
		bound := &s.Bound[i]
		if runs == nil || bound.Nodes == nil || slices.ContainsFunc(runs, func(n int) bool { return slices.Contains(bound.Nodes, n) }) {
			continue
		}
		p.Report(finding.Finding{
			Severity: finding.High,
			Topic:    fmt.Sprint("cell ", i),
			Message: fmt.Sprintf("the vCPUs of cell %d run on %s of %s, and its %s come from %s", i, rule.NodeList(runs), v.Host.Name,
				s.Cells[i].Memory, rule.NodeList(bound.Nodes)),
			Advice:   "Bind the memory of the cell to the node of its vCPUs",
			Evidence: []finding.Evidence{p.At("memory of the cell", bound.Mode+" "+rule.NodeList(bound.Nodes), bound.At), p.At("vCPUs of the cell on", rule.NodeList(runs), s.PinAt(i)), p.Nodes()},
		})
	}
}

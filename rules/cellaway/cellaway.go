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
		if runs != nil && bound.Nodes == nil && !slices.ContainsFunc(runs, func(n int) bool { return !v.Host.Node(n).Empty() }) {
			p.Report(finding.Finding{
				Severity: finding.High,
				Topic:    fmt.Sprint("cell ", i),
				Message:  fmt.Sprintf("the vCPUs of cell %d run on %s of %s, which has no memory: its %s come from other nodes", i, rule.NodeList(runs), v.Host.Name, s.Cells[i].Memory),
				Advice:   "Pin them to a node that has memory",
				Evidence: []finding.Evidence{p.At("vCPUs of the cell on", rule.NodeList(runs), s.PinAt(i)), p.Nodes()},
			})
		}
		if runs == nil || bound.Nodes == nil {
			continue
		}
		away := slices.DeleteFunc(slices.Clone(bound.Nodes), func(n int) bool { return slices.Contains(runs, n) })
		all := len(away) == len(bound.Nodes)
		if !all && (len(away) == 0 || bound.Mode != "interleave") {
			continue
		}
		come := "come from " + rule.NodeList(bound.Nodes)
		if !all {
			come = fmt.Sprintf("are spread over %s, %d of %d elsewhere", rule.NodeList(bound.Nodes), len(away), len(bound.Nodes))
		}
		p.Report(finding.Finding{
			Severity: finding.High,
			Topic:    fmt.Sprint("cell ", i),
			Message:  fmt.Sprintf("the vCPUs of cell %d run on %s of %s, and its %s %s", i, rule.NodeList(runs), v.Host.Name, s.Cells[i].Memory, come),
			Advice:   "Bind the memory of the cell to the node of its vCPUs",
			Evidence: []finding.Evidence{p.At("memory of the cell", bound.Mode+" "+rule.NodeList(bound.Nodes), bound.At), p.At("vCPUs of the cell on", rule.NodeList(runs), s.PinAt(i)), p.Nodes()},
		})
	}
}

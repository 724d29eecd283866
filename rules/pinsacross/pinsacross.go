// Package pinsacross finds cells whose vCPUs may run on several nodes.
package pinsacross

import (
	_ "embed"
	"fmt"

	"homenode/rules/finding"
	"homenode/rules/rule"
)

//go:embed pinsacross.md
var page string

// Rule is K007.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, VMs: true, Stated: check})

func check(p *rule.StatedPass) {
	v := p.VM
	s := v.Stated
	largest, _, ok := v.Largest()
	if !ok || v.Flat() && s.VCPUs > largest { // K011
		return
	}
	for i := range s.Cells {
		runs := s.RunsOn(i, v.Host)
		if len(runs) < 2 || len(s.Cells[i].CPUs) > largest {
			continue
		}
		cell := fmt.Sprintf("the vCPUs of cell %d", i)
		if v.Flat() {
			cell = fmt.Sprintf("its %s", rule.Plural(s.VCPUs, "vCPU"))
		}
		p.Report(finding.Finding{
			Severity: finding.Medium,
			Topic:    fmt.Sprint("cell ", i),
			Message:  fmt.Sprintf("%s may run on %s of %s, and one node of %d cores would hold them", cell, rule.NodeList(runs), v.Host.Name, largest),
			Advice:   "Pin them to the CPUs of one node, the one of their memory",
			Evidence: []finding.Evidence{p.At("vCPUs on", rule.NodeList(runs), s.PinAt(i)), p.Cells(), p.Nodes()},
		})
	}
}

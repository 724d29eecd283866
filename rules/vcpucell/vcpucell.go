// Package vcpucell finds VMs whose cells do not divide their vCPUs.
package vcpucell

import (
	_ "embed"
	"fmt"
	"strings"

	"homenode/rules/finding"
	"homenode/rules/rule"
	"homenode/rules/shape"
)

//go:embed vcpucell.md
var page string

// Rule is K002.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Stated: check})

func check(p *rule.StatedPass) {
	faults := p.Faults(shape.VCPUs)
	if p.VM.Flat() || faults == nil {
		return
	}
	p.Report(finding.Finding{
		Severity: finding.High,
		Message:  "the cells do not divide its vCPUs: " + strings.Join(faults, "; "),
		Advice:   fmt.Sprintf("List each of the vCPUs 0 to %d in one cell", p.VM.Stated.Most()-1),
		Evidence: []finding.Evidence{p.Topology(), p.Cells()},
	})
}

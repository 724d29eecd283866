// Package socketborder finds VMs with a socket that spans two cells.
package socketborder

import (
	_ "embed"
	"strings"

	"homenode/rules/finding"
	"homenode/rules/rule"
	"homenode/rules/shape"
)

//go:embed socketborder.md
var page string

// Rule is K008.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, VMs: true, Stated: check})

func check(p *rule.StatedPass) {
	faults := p.Faults(shape.Sockets)
	if p.VM.Flat() || faults == nil {
		return
	}
	p.Report(finding.Finding{
		Severity: finding.Medium,
		Message:  strings.Join(faults, "; "),
		Advice:   "State a socket, or a die, for each cell",
		Evidence: []finding.Evidence{p.Topology(), p.Cells()},
	})
}

// Package interleaving finds hosts whose firmware hides NUMA.
package interleaving

import (
	_ "embed"
	"fmt"

	"homenode/rules/finding"
	"homenode/rules/rule"
)

//go:embed interleaving.md
var page string

// Rule is H001.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, Check: check})

func check(p *rule.Pass) {
	h := p.Host
	if p.Kind == nil || p.Kind.Machine.Nodes != 1 || h.Packages.Or(1) < 2 {
		return
	}
	p.Report(finding.Finding{
		Severity: finding.High,
		Message:  fmt.Sprintf("the host has %d packages but shows 1 NUMA node: node interleaving is on", h.Packages.Value),
		Advice:   "Switch node interleaving off in the BIOS setup and reboot the host",
		Evidence: []finding.Evidence{
			finding.Of("packages", h.Packages, h.At),
			{Name: "NUMA nodes", Value: "1", Origin: h.Nodes.Origin.String(), At: h.At},
		},
	}, nil)
}

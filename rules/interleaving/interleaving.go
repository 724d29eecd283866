// Package interleaving finds hosts whose firmware hides NUMA.
package interleaving

import (
	"fmt"

	"homenode/rules/finding"
	"homenode/rules/rule"
)

// Rule is H001.
var Rule = &rule.Rule{
	ID:    "H001",
	Name:  "interleaving",
	Title: "node interleaving is on: the host hides its NUMA nodes",
	Why: `With node interleaving the firmware builds no table of NUMA nodes. ESXi sees one node, places
nothing, and every VM has about half of its memory on the other package.`,
	Fix:    `Switch node interleaving off in the BIOS setup (on many servers: "Node Interleaving: Disabled" means NUMA on). Needs a host reboot.`,
	Limits: `A host with one package has one node rightly, unless its processor is divided (H003).`,
	Book:   []string{"A-2"},
	Sources: []string{
		"Denneman, Node interleaving: enable or disable?, 2010, https://frankdenneman.nl/2010/12/28/node-interleaving-enable-or-disable/",
		"Denneman, 60 minutes of NUMA, 2019, https://frankdenneman.nl/2019/08/27/60-minutes-of-numa-vmworld-session-commands/",
	},
	Severity: finding.High,
	Check:    check,
}

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

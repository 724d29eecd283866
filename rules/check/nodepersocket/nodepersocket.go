// Package nodepersocket finds VMs in which each vCPU is a NUMA node.
package nodepersocket

import (
	_ "embed"
	"fmt"

	"example.org/homenode/internal/words"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed nodepersocket.md
var page string

// Rule is K001.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Stated: check})

func check(p *rule.StatedPass) {
	v := p.VM
	s := v.Stated
	needed, ok := v.Needed()
	if !ok || v.Flat() || len(s.Cells) != s.Sockets || s.PerSocket() != 1 || len(s.Cells) <= max(1, needed) {
		return
	}
	p.Report(finding.Finding{
		Severity: finding.High,
		Message:  fmt.Sprintf("each of its %d vCPUs is a socket and a node of its own, and %s of %s would hold the VM", len(s.Cells), words.Plural(needed, "node"), v.Host.Name),
		Advice:   fmt.Sprintf("State %s, and as many sockets", words.Plural(needed, "cell")),
		Evidence: []finding.Evidence{p.Topology(), p.Cells(), p.Nodes()},
	})
}

// Package nocells finds VMs wider than a node whose guests see one node.
package nocells

import (
	_ "embed"
	"fmt"
	"strings"

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
	if !ok || !v.Flat() || s.Partial || needed < 2 || v.RoomOf(0).Within { // inside one node K004 judges it
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
	var over []string
	if s.VCPUs > cores {
		over = append(over, fmt.Sprintf("%s for its %s", rule.Plural(cores, "core"), rule.Plural(s.VCPUs, "vCPU")))
	}
	if memory > 0 && s.Shape.Memory > memory {
		over = append(over, fmt.Sprintf("%s for its %s", memory, s.Shape.Memory))
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
		Message:  fmt.Sprintf("a node of %s has %s: no cells are stated, and the guest sees one node", v.Host.Name, strings.Join(over, ", ")),
		Advice:   advice,
		Evidence: []finding.Evidence{p.At("vCPUs", fmt.Sprint(s.VCPUs), s.VCPUsAt), p.At("memory", s.Shape.Memory.String(), s.MemoryAt), p.Nodes()},
	})
}

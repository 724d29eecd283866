// Package cellsize finds cells that are larger than the node that carries them.
package cellsize

import (
	_ "embed"
	"fmt"
	"strings"

	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

//go:embed cellsize.md
var page string

// Rule is K004.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Stated: check})

func check(p *rule.StatedPass) {
	v := p.VM
	if v.Flat() || v.Host == nil || !v.Host.Nodes.Known() {
		return
	}
	s := v.Stated
	for i := range s.Cells {
		c := &s.Cells[i]
		nodes := s.HomeOf(i, v.Host)
		at, cores, memory := room(v, nodes)
		var over []string
		severity := finding.Medium
		if len(c.CPUs) > cores && cores > 0 {
			over = append(over, fmt.Sprintf("%s on %d cores", rule.Plural(len(c.CPUs), "vCPU"), cores))
		}
		if c.Memory > memory && memory > 0 {
			over = append(over, fmt.Sprintf("%s in %s", c.Memory, memory))
			severity = finding.High
		}
		if over == nil {
			continue
		}
		p.Report(finding.Finding{
			Severity: severity,
			Topic:    fmt.Sprint("cell ", i),
			Message:  fmt.Sprintf("cell %d is larger than %s of %s: %s", i, at, v.Host.Name, strings.Join(over, ", ")),
			Advice:   "Divide the VM into more cells",
			Evidence: []finding.Evidence{p.Cells(), p.At("memory of the cell", c.Memory.String(), c.At), p.Nodes()},
		})
	}
}

// room returns what the nodes have that a cell is at home on; of a cell that is at home nowhere, what the largest node has.
func room(v *rule.StatedVM, nodes []int) (at string, cores int, memory numa.Bytes) {
	for _, id := range nodes {
		if n := v.Host.Node(id); n != nil {
			cores, memory = cores+n.Cores, memory+n.Memory.Value
		}
	}
	if nodes != nil {
		return rule.NodeList(nodes), cores, memory
	}
	cores, memory, _ = v.Largest()
	return "any node", cores, memory
}

// Package vcpucell finds VMs whose cells do not divide their vCPUs, or have only memory.
package vcpucell

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	"example.org/homenode/rules/shape"
)

//go:embed vcpucell.md
var page string

// Rule is K002.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Stated: check})

func check(p *rule.StatedPass) {
	if p.VM.Flat() {
		return
	}
	memoryAlone(p)
	faults := p.Faults(shape.VCPUs)
	if faults == nil {
		return
	}
	p.Report(finding.Finding{
		Severity: finding.High,
		Message:  "the cells do not divide its vCPUs: " + strings.Join(faults, "; "),
		Advice:   fmt.Sprintf("List each of the vCPUs 0 to %d in one cell", len(p.VM.Stated.CPUs)-1),
		Evidence: []finding.Evidence{p.Topology(), p.Cells()},
	})
}

// memoryAlone finds cells without vCPUs in addition to other cells, unless their memory is bound to host nodes that have no cores
// either.
func memoryAlone(p *rule.StatedPass) {
	v, s := p.VM, p.VM.Stated
	with := func(n numa.Node) bool { return n.Cores > 0 }
	for i := range s.Cells {
		c := &s.Cells[i]
		if len(c.CPUs) > 0 && s.Present(i) == 0 && c.Memory > 0 {
			p.Report(finding.Finding{
				Severity: finding.Low,
				Topic:    fmt.Sprint("cell ", i),
				Message:  fmt.Sprintf("cell %d has %s, and none of its %s is there yet: until one is added, the memory is remote to all %d that are", i, c.Memory, words.Plural(len(c.CPUs), "vCPU"), s.VCPUs),
				Advice:   "Start with vCPUs of each cell, or leave it where they are added soon",
				Evidence: []finding.Evidence{p.Cells(), p.At("memory of the cell", c.Memory.String(), c.At)},
			})
		}
		unread := func(n numa.Stray) bool { return n.At == c.At } // its vCPUs
		if len(c.CPUs) > 0 || c.Memory == 0 || slices.ContainsFunc(s.Strays, unread) {
			continue
		}
		severity := finding.Low // the host may have another kind of memory
		if v.Host != nil && v.Host.Nodes.Known() {
			nodes := slices.DeleteFunc(slices.Clone(v.Host.Nodes.Value), func(n numa.Node) bool {
				return s.Bound[i].Nodes != nil && !slices.Contains(s.Bound[i].Nodes, n.ID)
			})
			switch {
			case len(nodes) == 0 || s.Bound[i].Nodes != nil && !slices.ContainsFunc(nodes, with):
				continue
			case !slices.ContainsFunc(nodes, func(n numa.Node) bool { return !with(n) }):
				severity = finding.Medium
			}
		}
		p.Report(finding.Finding{
			Severity: severity,
			Topic:    fmt.Sprint("cell ", i),
			Message:  fmt.Sprintf("cell %d has %s and no vCPU: the guest takes it for memory of another kind, which none of its %s is near", i, s.Cells[i].Memory, words.Plural(s.VCPUs, "vCPU")),
			Advice:   "Divide the vCPUs among the cells, or state one cell; bind memory of another kind, such as CXL, to its node of the host",
			Evidence: []finding.Evidence{p.Cells(), p.At("memory of the cell", s.Cells[i].Memory.String(), s.Cells[i].At)},
		})
	}
}

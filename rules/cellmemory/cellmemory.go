// Package cellmemory finds VMs whose cells do not have their memory.
package cellmemory

import (
	_ "embed"
	"slices"
	"strings"

	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/rule"
	"homenode/rules/shape"
)

//go:embed cellmemory.md
var page string

// Rule is K005.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Stated: check})

func check(p *rule.StatedPass) {
	v := p.VM
	s := v.Stated
	if v.Flat() {
		return
	}
	faults := p.Faults(shape.Memory)
	var sum numa.Bytes
	for _, c := range s.Cells {
		sum += c.Memory
	}
	if s.HotPlug && s.Shape.Memory > sum {
		faults = slices.DeleteFunc(faults, func(f string) bool { return strings.HasPrefix(f, "the cells have") })
	}
	faults = append(faults, p.Faults(shape.Pages)...)
	if len(faults) == 0 {
		return
	}
	p.Report(finding.Finding{
		Severity: finding.High,
		Message:  strings.Join(faults, "; "),
		Advice:   "Give the cells the memory of the VM, in whole pages",
		Evidence: []finding.Evidence{p.At("memory", s.Shape.Memory.String(), s.MemoryAt), p.At("memory of the cells", sum.String(), s.CellsAt)},
	})
}

// Package cellmemory finds VMs whose cells do not get their memory.
package cellmemory

import (
	_ "embed"
	"slices"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	"example.org/homenode/rules/shape"
)

//go:embed cellmemory.md
var page string

// Rule is K005.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Stated: check})

func check(p *rule.StatedPass) {
	v := p.VM
	s := v.Stated
	var faults []string // of the cells
	if !v.Flat() {
		faults = p.Faults(shape.Memory)
	}
	var sum numa.Bytes
	for _, c := range s.Cells {
		sum += c.Memory
	}
	if s.HotPlug && s.Shape.Memory > sum {
		faults = slices.DeleteFunc(faults, func(f string) bool { return strings.HasPrefix(f, "the cells have") })
	}
	faults = append(faults, p.Faults(shape.Pages)...)
	severity := finding.High
	if pages, sure := defaultPages(v); pages != nil {
		if !sure && faults == nil {
			severity = finding.Low
		}
		faults = append(faults, pages...)
	}
	if len(faults) == 0 {
		return
	}
	f := finding.Finding{
		Severity: severity,
		Message:  strings.Join(faults, "; "),
		Advice:   "Give the cells the memory of the VM, in whole pages",
		Evidence: []finding.Evidence{p.At("memory", s.Shape.Memory.String(), s.MemoryAt), p.At("memory of the cells", sum.String(), s.CellsAt)},
	}
	if v.Flat() {
		f.Message, f.Advice, f.Evidence = strings.ReplaceAll(f.Message, "cell 0", "the VM"), "Give the VM memory in whole pages", f.Evidence[:1]
	}
	p.Report(f)
}

// defaultPages finds cells that are not a multiple of the host's default page size, which definitions do not state. sure: they are
// not a multiple of any page size of the host; if these are unknown, of 2 MB, because the other sizes are multiples of it.
func defaultPages(v *rule.StatedVM) (faults []string, sure bool) {
	if !v.Stated.DefaultPage {
		return nil, false
	}
	sizes := []numa.Bytes{2 * numa.MiB}
	if v.Host != nil && v.Host.HugeSizes() != nil {
		sizes = v.Host.HugeSizes()
	}
	sure = true
	for _, size := range sizes {
		s := v.Stated.Shape
		s.Page = size
		before := len(faults)
		for _, f := range shape.Check(&s, true) {
			if f.Check == shape.Pages {
				faults = append(faults, f.Text+", if that is the default size of the host")
			}
		}
		sure = sure && len(faults) > before
	}
	return faults, sure
}

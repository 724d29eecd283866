// Package pinsacross finds cells whose vCPUs may run on several nodes.
package pinsacross

import (
	_ "embed"
	"fmt"
	"slices"

	"homenode/internal/words"
	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

//go:embed pinsacross.md
var page string

// Rule is K007.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, VMs: true, Stated: check})

func check(p *rule.StatedPass) {
	v := p.VM
	s := v.Stated
	largest, _, ok := v.Largest()
	if !ok || v.Flat() && s.VCPUs > largest { // K011
		return
	}
	for i := range s.Cells {
		runs := s.RunsOn(i, v.Host)
		b := &s.Bound[i]
		if loose, on := unpinned(s, i, v.Host); loose != nil && !s.Auto && s.Present(i) <= largest {
			p.Report(finding.Finding{
				Severity: finding.Medium,
				Topic:    fmt.Sprint("unpinned ", i),
				Message:  fmt.Sprintf("vCPU %s of cell %d may run anywhere on %s, and the others of it run on %s", words.Ranges(loose), i, v.Host.Name, rule.NodeList(on)),
				Advice:   "Pin all of them to the CPUs of one node, the one of their memory",
				Evidence: []finding.Evidence{p.At("vCPUs on", rule.NodeList(on), s.PinAt(i)), p.Cells(), p.Nodes()},
			})
			continue
		}
		held := b.Nodes != nil && b.Mode != "restrictive" // that is a limit alone, and memory moves within it
		if runs == nil && held && !s.Auto && s.Present(i) > 0 {
			runs, _ = v.Host.NodesOf(nil)
			if !slices.ContainsFunc(runs, func(n int) bool { return !slices.Contains(b.Nodes, n) }) {
				continue
			}
		}
		if len(runs) < 2 || s.Present(i) > largest {
			continue
		}
		cell := fmt.Sprintf("the vCPUs of cell %d", i)
		if v.Flat() {
			cell = fmt.Sprintf("its %s", rule.Plural(s.VCPUs, "vCPU"))
		}
		evidence := []finding.Evidence{p.At("vCPUs on", rule.NodeList(runs), s.PinAt(i)), p.Cells(), p.Nodes()}
		bound := ""
		if held {
			bound = fmt.Sprintf("; its memory is bound to %s, and Linux moves none that is bound", rule.NodeList(b.Nodes))
			evidence = append(evidence, p.At("memory of the cell", b.Mode+" "+rule.NodeList(b.Nodes), b.At))
		}
		p.Report(finding.Finding{
			Severity: finding.Medium,
			Topic:    fmt.Sprint("cell ", i),
			Message:  fmt.Sprintf("%s may run on %s of %s, and one node of %d cores would hold them%s", cell, rule.NodeList(runs), v.Host.Name, largest, bound),
			Advice:   "Pin them to the CPUs of one node, the one of their memory",
			Evidence: evidence,
		})
	}
}

// unpinned returns the vCPUs of a cell that may run on all CPUs of a host of several nodes, where the others may run on one; nil for none.
func unpinned(s *numa.Stated, cell int, h *numa.Host) (loose, on []int) {
	if all, _ := h.NodesOf(nil); len(all) < 2 {
		return nil, nil
	}
	for _, v := range s.Cells[cell].CPUs {
		if !s.There(v) {
			continue
		}
		if v >= len(s.CPUs) || s.CPUs[v] == nil {
			loose = append(loose, v)
			continue
		}
		of, _ := h.NodesOf(s.CPUs[v])
		on = append(on, of...)
	}
	slices.Sort(on)
	if on = slices.Compact(on); len(on) != 1 {
		return nil, nil
	}
	return loose, on
}

// Package pinsacross finds cells whose vCPUs may run on several nodes.
package pinsacross

import (
	_ "embed"
	"fmt"
	"slices"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed pinsacross.md
var page string

// Rule is K007.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, VMs: true, Stated: check})

func check(p *rule.StatedPass) {
	v := p.VM
	s := v.Stated
	oneMore(p)
	awayFromCells(p)
	largest, _, ok := v.Largest()
	if !ok || v.Astray() || v.Flat() && s.VCPUs > largest { // K011
		return
	}
	pieces := s.Pieces()
	for i := range s.Cells {
		runs := s.RunsOn(i, v.Host)
		b := &s.Bound[i]
		fixed := v.Fixed(i)
		if far, _ := v.Away(&pieces[i]); far != nil && fixed { // K003
			continue
		}
		if loose, on := unpinned(s, i, v.Host); loose != nil && !s.Auto && s.Present(i) <= largest {
			p.Report(finding.Finding{
				Severity: finding.Medium,
				Topic:    fmt.Sprint("unpinned ", i),
				Message:  fmt.Sprintf("vCPU %s of cell %d may run anywhere on %s, and the others of it run on %s", words.Ranges(loose), i, v.Host.Name, rule.NodeList(on)),
				Advice:   p.Spelt("Pin all of them to the CPUs of one node, the one of their memory", rule.Pins),
				Evidence: []finding.Evidence{p.At("vCPUs on", rule.NodeList(on), s.PinAt(i)), p.Cells(), p.Nodes()},
			})
			continue
		}
		held := b.Nodes != nil && b.Mode != "restrictive" // restrictive is only a limit, within which memory moves
		if runs == nil && held && !s.Auto && s.Present(i) > 0 {
			runs, _ = v.Host.NodesOf(nil)
			if !slices.ContainsFunc(runs, func(n int) bool {
				return !slices.ContainsFunc(b.Nodes, func(m int) bool { return v.Host.Near(m, []int{n}) })
			}) {
				continue
			}
		}
		if other := pinned(s, v.Host); runs == nil && !held && other >= 0 && !s.Auto && s.Present(i) > 0 {
			p.Report(finding.Finding{
				Severity: finding.Medium,
				Topic:    fmt.Sprint("unpinned ", i),
				Message:  fmt.Sprintf("the vCPUs of cell %d may run anywhere on %s, and those of cell %d run on %s", i, v.Host.Name, other, rule.NodeList(s.RunsOn(other, v.Host))),
				Advice:   p.Spelt("Pin the vCPUs of each cell to the CPUs of one node", rule.Pins),
				Evidence: []finding.Evidence{p.At("vCPUs on", rule.NodeList(s.RunsOn(other, v.Host)), s.PinAt(other)), p.Cells(), p.Nodes()},
			})
		}
		if len(runs) < 2 || s.Present(i) > largest {
			continue
		}
		cell := fmt.Sprintf("the vCPUs of cell %d", i)
		if v.Flat() {
			cell = fmt.Sprintf("its %s", words.Plural(s.VCPUs, "vCPU"))
		}
		evidence := []finding.Evidence{p.At("vCPUs on", rule.NodeList(runs), s.PinAt(i)), p.Cells(), p.Nodes()}
		bound := ""
		if held {
			bound = fmt.Sprintf("; its memory is bound to %s, and Linux moves none that is bound", rule.NodeList(b.Nodes))
			evidence = append(evidence, p.At("memory of the cell", b.Mode+" "+rule.NodeList(b.Nodes), b.At))
		}
		run := "may run"
		if fixed {
			run = "run"
		}
		severity, advice := cure(p, runs)
		p.Report(finding.Finding{
			Severity: severity,
			Topic:    fmt.Sprint("cell ", i),
			Message:  fmt.Sprintf("%s %s on %s of %s, and one node of %d cores would hold them%s", cell, run, rule.NodeList(runs), v.Host.Name, largest, bound),
			Advice:   advice,
			Evidence: evidence,
		})
	}
}

// cure returns the severity for a cell that may run on several nodes, and the advice. Proxmox has one affinity for all threads of a VM, so
// that several cells can only get the union of their nodes.
func cure(p *rule.StatedPass, runs []int) (finding.Severity, string) {
	s := p.VM.Stated
	if s.Platform != "Proxmox VE" || len(s.Cells) < 2 {
		return finding.Medium, p.Spelt("Pin them to the CPUs of one node, the one of their memory", rule.Pins)
	}
	after := rule.Spelt(s, rule.Pins)
	var home []int
	for i := range s.Bound {
		home = append(home, s.Bound[i].Nodes...)
	}
	slices.Sort(home)
	switch home = slices.Compact(home); {
	case slices.Equal(home, runs):
		return finding.Low, "Leave it, or " + after
	case home == nil:
		return finding.Medium, "Bind the memory of each cell to a node (" + rule.Spelt(s, rule.Binding) + "), and " + after
	}
	return finding.Medium, fmt.Sprintf("Set affinity to the CPUs of %s, the nodes of the cells, or %s", rule.NodeList(home), after)
}

// unpinned returns the vCPUs of a cell that may run on all CPUs of a host with several nodes, although the others are limited to one; nil
// for none.
func unpinned(s *numa.Stated, cell int, h *numa.Host) (loose, on []int) {
	if all, _ := h.NodesOf(nil); len(all) < 2 {
		return nil, nil
	}
	for _, v := range s.Cells[cell].CPUs {
		if !s.There(v) {
			continue
		}
		of, held := s.HeldOn(v, h)
		if !held {
			loose = append(loose, v)
			continue
		}
		on = append(on, of...)
	}
	slices.Sort(on)
	if on = slices.Compact(on); len(on) != 1 {
		return nil, nil
	}
	return loose, on
}

// pinned returns the first cell whose vCPUs are pinned to one node of a host with several; -1 for none.
func pinned(s *numa.Stated, h *numa.Host) int {
	if all, _ := h.NodesOf(nil); len(all) < 2 {
		return -1
	}
	for i := range s.Cells {
		if len(s.RunsOn(i, h)) == 1 {
			return i
		}
	}
	return -1
}

// oneMore finds vCPUs with one CPU more than their number, in a row, if the nodes of these CPUs are unknown.
func oneMore(p *rule.StatedPass) {
	v, s := p.VM, p.VM.Stated
	if v.Host != nil && v.Host.Nodes.Known() {
		return
	}
	list := s.CPUs[0]
	same := !slices.ContainsFunc(s.Enabled(), func(vcpu int) bool { return !slices.Equal(s.CPUs[vcpu], list) })
	if s.VCPUs < 2 || !same || len(list) != s.VCPUs+1 || list[s.VCPUs]-list[0] != s.VCPUs || list[0]%s.VCPUs != 0 { // it does not begin where a node of so many CPUs does
		return
	}
	p.Report(finding.Finding{
		Severity: finding.Low,
		Topic:    "one more",
		Message:  fmt.Sprintf("its %d vCPUs may run on the %d CPUs %s of the host: a list that goes one too far reaches into the next node", s.VCPUs, len(list), words.Ranges(list)),
		Advice:   "Compare the list with the CPUs of the node (virsh capabilities), or leave it if the last is for the other threads of QEMU",
		Evidence: []finding.Evidence{p.At("vCPUs on CPUs", words.Ranges(list), s.PinAt(0))},
	})
}

// awayFromCells finds threads of QEMU that run on none of the nodes of the cells.
func awayFromCells(p *rule.StatedPass) {
	v, s := p.VM, p.VM.Stated
	if v.Host == nil || !v.Host.Nodes.Known() {
		return
	}
	var home []int
	for i := range s.Cells {
		runs := s.RunsOn(i, v.Host)
		if runs == nil && s.Present(i) > 0 {
			return
		}
		home = append(home, runs...)
	}
	slices.Sort(home)
	home = slices.Compact(home)
	for i := range s.Helpers {
		h := &s.Helpers[i]
		on, _ := v.Host.NodesOf(h.CPUs)
		if len(on) == 0 || len(home) == 0 || slices.ContainsFunc(on, func(n int) bool { return slices.Contains(home, n) }) {
			continue
		}
		p.Report(finding.Finding{
			Severity: finding.Low,
			Topic:    h.What,
			Message:  fmt.Sprintf("%s may run on %s of %s alone, and its vCPUs on %s: each reads memory that the other wrote", h.What, rule.NodeList(on), v.Host.Name, rule.NodeList(home)),
			Advice:   "Let them run on the node of the vCPUs, unless the device that an I/O thread serves is on theirs",
			Evidence: []finding.Evidence{p.At("CPUs of "+h.What, words.Ranges(h.CPUs), h.At), p.Nodes()},
		})
	}
}

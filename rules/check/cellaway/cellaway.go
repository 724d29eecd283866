// Package cellaway finds cells whose vCPUs are pinned away from their memory.
package cellaway

import (
	_ "embed"
	"fmt"
	"slices"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed cellaway.md
var page string

// Rule is K003.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Stated: check})

func check(p *rule.StatedPass) {
	v := p.VM
	if v.Host == nil || v.Astray() {
		return
	}
	for _, piece := range v.Stated.Pieces() {
		if runs := v.Stated.RunsOn(piece.Cell, v.Host); piece.Bound.Nodes == nil {
			empty(p, &piece, runs)
		} else {
			away(p, &piece, runs)
		}
	}
}

// empty finds vCPUs on nodes without memory, if the memory of their cell is not bound.
func empty(p *rule.StatedPass, piece *numa.Piece, runs []int) {
	v := p.VM
	if runs == nil || slices.ContainsFunc(runs, func(n int) bool { return !v.Host.Node(n).Empty() }) {
		return
	}
	p.Report(finding.Finding{
		Severity: finding.High,
		Topic:    fmt.Sprint("cell ", piece.Cell),
		Message:  fmt.Sprintf("the vCPUs of cell %d run on %s of %s, which has no memory: its %s come from other nodes", piece.Cell, rule.NodeList(runs), v.Host.Name, piece.Memory),
		Advice:   p.Spelt("Pin them to a node that has memory", rule.Pins),
		Evidence: []finding.Evidence{p.At("vCPUs of the cell on", rule.NodeList(runs), v.Stated.PinAt(piece.Cell)), p.Nodes()},
	})
}

// slow finds memory of vCPUs on nodes without CPUs, which may be intended or a mistake.
func slow(p *rule.StatedPass, piece *numa.Piece, runs []int) {
	v, bound := p.VM, piece.Bound
	without := slices.DeleteFunc(slices.Clone(bound.Nodes), func(n int) bool { node := v.Host.Node(n); return node == nil || node.Cores > 0 })
	where := "where its vCPUs run"
	if runs == nil && !v.Stated.Auto && v.Stated.Present(piece.Cell) > 0 { // they float
		all, _ := v.Host.NodesOf(nil)
		runs = slices.DeleteFunc(all, func(n int) bool {
			return !slices.ContainsFunc(without, func(m int) bool { return v.Host.Near(m, []int{n}) })
		})
		where = "and its vCPUs run anywhere"
	}
	if len(runs) == 0 || len(without) == 0 {
		return
	}
	p.Report(finding.Finding{
		Severity: finding.Low,
		Topic:    piece.What,
		Message:  fmt.Sprintf("the memory of %s (%s) is on %s of %s, which has no CPUs and is closest to %s, %s: HBM, or slower memory such as CXL", piece.What, piece.Memory, rule.NodeList(without), v.Host.Name, rule.NodeList(runs), where),
		Advice:   "Keep it if this is intended",
		Evidence: []finding.Evidence{p.At("memory of the cell", bound.Mode+" "+rule.NodeList(bound.Nodes), bound.At), p.At("vCPUs of the cell on", rule.NodeList(runs), v.Stated.PinAt(piece.Cell)), p.Nodes()},
	})
}

// interleaved finds memory that is interleaved over several nodes although one of them holds the cell, whose vCPUs float. K007 finds vCPUs
// that are pinned to several nodes.
func interleaved(p *rule.StatedPass, piece *numa.Piece, runs []int) {
	v, bound := p.VM, piece.Bound
	if bound.Mode != "interleave" || len(bound.Nodes) < 2 || runs != nil || v.Stated.Present(piece.Cell) == 0 {
		return
	}
	holds := slices.ContainsFunc(bound.Nodes, func(n int) bool {
		node := v.Host.Node(n)
		return node != nil && node.Cores >= v.Stated.Present(piece.Cell) && node.Memory.Value >= piece.Memory
	})
	if !holds { // the definition divides too little, which other rules find
		return
	}
	p.Report(finding.Finding{
		Severity: finding.Medium,
		Topic:    fmt.Sprint("interleaved ", piece.What),
		Message: fmt.Sprintf("the memory of %s (%s) is interleaved over %s of %s: wherever its vCPUs run, %s of it is on another node, and the kernel does not move it", piece.What, piece.Memory,
			rule.NodeList(bound.Nodes), v.Host.Name, words.Percent(1-1/float64(len(bound.Nodes)))),
		Advice:   p.Spelt("Bind the memory of the cell to one node, and pin its vCPUs there", rule.Binding),
		Evidence: []finding.Evidence{p.At("memory of the cell", bound.Mode+" "+rule.NodeList(bound.Nodes), bound.At), p.Nodes()},
	})
}

// away finds vCPUs that run on none of the nodes to which the memory of their cell is bound, and memory that is interleaved over the
// vCPUs' nodes and others.
func away(p *rule.StatedPass, piece *numa.Piece, runs []int) {
	v, s, bound := p.VM, p.VM.Stated, piece.Bound
	vcpus, on := v.Away(piece)
	present := s.Present(piece.Cell)
	elsewhere := v.Spread(piece)
	spread := elsewhere > 0
	if len(vcpus) == 0 && !spread {
		slow(p, piece, runs)
		interleaved(p, piece, runs)
		return
	}
	severity, who, its := finding.High, fmt.Sprintf("the vCPUs of cell %d", piece.Cell), "its"
	switch {
	case spread:
		on = runs
	case len(vcpus) < present:
		who = fmt.Sprintf("%d of the %d vCPUs of cell %d (%s)", len(vcpus), present, piece.Cell, words.Ranges(vcpus))
		if float64(len(vcpus)) < p.Threshold("seriousShare")*float64(present) {
			severity = finding.Medium
		}
	}
	topic := fmt.Sprint("cell ", piece.Cell)
	memory := fmt.Sprintf("%s %s", its, piece.Memory)
	if piece.What != topic { // a module
		topic, memory = piece.At, fmt.Sprintf("%s of it in a memory module", piece.Memory)
	}
	come := "come from " + rule.NodeList(bound.Nodes)
	if spread {
		come = fmt.Sprintf("are spread over %s, %d of %d elsewhere", rule.NodeList(bound.Nodes), elsewhere, len(bound.Nodes))
	}
	advice := p.Spelt("Bind the memory of the cell to the node of its vCPUs", rule.Binding)
	if !spread && (len(vcpus) < present || len(on) > 1 || v.Host.Node(on[0]).Empty()) { // the vCPUs have no single node with memory
		advice = p.Spelt(fmt.Sprintf("Pin %s to %s", words.Numbered("vCPU", vcpus), rule.NodeList(bound.Nodes)), rule.Pins)
	}
	p.Report(finding.Finding{
		Severity: severity,
		Topic:    topic,
		Message:  fmt.Sprintf("%s run on %s of %s, and %s %s", who, rule.NodeList(on), v.Host.Name, memory, come),
		Advice:   advice,
		Evidence: []finding.Evidence{p.At("memory of the cell", bound.Mode+" "+rule.NodeList(bound.Nodes), bound.At), p.At("vCPUs of the cell on", rule.NodeList(on), s.PinAt(piece.Cell)), p.Nodes()},
	})
}

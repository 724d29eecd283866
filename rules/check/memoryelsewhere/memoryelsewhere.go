// Package memoryelsewhere finds VMs whose memory is on other nodes than their layout requires.
package memoryelsewhere

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed memoryelsewhere.md
var page string

// Rule is K009.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Stated: check})

func check(p *rule.StatedPass) {
	v := p.VM
	s := v.Stated
	o := v.MemoryOn()
	remote, all, home, ok := s.RemoteOf(v.Host, o)
	bound := func(one numa.Piece) bool { // elsewhere than its vCPUs run: see K003
		vcpus, _ := v.Away(&one)
		return v.Spread(&one) > 0 || len(vcpus) > 0 && len(vcpus) == s.Present(one.Cell)
	}
	if !ok || slices.ContainsFunc(s.Pieces(), bound) {
		return
	}
	share := float64(remote) / float64(all)
	if share < p.Threshold("share") {
		return
	}
	severity := finding.Medium
	if share >= p.Threshold("seriousShare") {
		severity = finding.High
	}
	room := s.RoomOn(v.Host)
	var beyond []string
	for _, m := range o.OnNode.Value {
		switch want, wanted := room[m.Node]; {
		case !wanted && m.Guest > 0 && !v.Host.Near(m.Node, home):
			beyond = append(beyond, fmt.Sprintf("%s on node %d, which should have none", m.Guest, m.Node))
		case wanted && m.Guest > want+numa.OwnOfQEMU(s.Shape.Memory, s.VCPUs):
			beyond = append(beyond, fmt.Sprintf("%s on node %d, which should have %s", m.Guest, m.Node, want))
		}
	}
	p.Report(finding.Finding{
		Severity: severity,
		Message: fmt.Sprintf("%s of its %s (%s) are on other nodes of %s than its layout wants: %s", remote, all,
			words.Percent(share), v.Host.Name, strings.Join(beyond, "; ")),
		Advice:   "Make room on its nodes, and move its memory there",
		Evidence: []finding.Evidence{finding.Of("memory on nodes", numa.ReadAt(rule.OnNodes(o.OnNode.Value), o.OnNode.Origin.Where), o.At), p.Cells()},
	})
}

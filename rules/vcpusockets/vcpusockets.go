// Package vcpusockets finds VMs with one core in each socket.
package vcpusockets

import (
	_ "embed"
	"fmt"

	"homenode/rules/finding"
	"homenode/rules/rule"
	"homenode/rules/shape"
)

//go:embed vcpusockets.md
var page string

// Rule is K012.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, VMs: true, Stated: check})

// few is how many sockets any software uses.
const few = 4

func check(p *rule.StatedPass) {
	s := p.VM.Stated
	if s.TopologyAt == "" && s.Partial || s.Sockets <= few || s.Sockets != s.Most() || p.Faults(shape.VCPUs, shape.Topology) != nil || shape.Fitting(s.Of(), s.Most()) == 1 {
		return
	}
	stated := ""
	if s.TopologyAt == "" {
		stated = ": no topology is stated"
	}
	p.Report(finding.Finding{
		Severity: finding.Medium,
		Message:  fmt.Sprintf("each of its %d vCPUs is a socket%s", s.Sockets, stated),
		Advice:   fmt.Sprintf("State sockets of %d cores", shape.Fitting(s.Of(), s.Most())),
		Evidence: []finding.Evidence{p.Topology(), p.Cells()},
	})
}

// Package socketspan finds virtual sockets larger than a NUMA node.
package socketspan

import (
	_ "embed"
	"fmt"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed socketspan.md
var page string

// Rule is N009.
var Rule = rule.New(page, rule.Rule{Severity: finding.Low, VMs: true, Placed: true, Check: check})

func check(p *rule.Pass) {
	v := p.VM
	if v.Guest.AutoCPS { // ESXi chooses the size, and it is inferred if it exceeds a client (F-14)
		return
	}
	on, others, ok := p.Worst(func(o *rule.On) bool {
		// A client that exceeds its node because there are not enough nodes still consists of
		// whole sockets.
		return !o.Small && o.Layout.CoresPerSocket > o.Layout.Capacity && span(&o.Layout) > 1
	})
	if !ok {
		return
	}
	ways, notice := p.PlanWays()
	p.Report(finding.Finding{
		Severity: finding.Low,
		Message: fmt.Sprintf("a virtual socket of %d cores exceeds a client of %d vCPUs%s: it is divided over %d of them while the guest sees one shared L3 cache",
			on.Layout.CoresPerSocket, on.Layout.Capacity, p.Where(others), span(&on.Layout)),
		Ways:     ways,
		Notice:   notice,
		Evidence: []finding.Evidence{v.CPSEvidence(), v.VCPUsEvidence(), on.Kind.NodesEvidence()},
	}, &on.Layout)
}

// span returns the number of clients of the first socket.
func span(l *vnuma.Layout) int {
	_, n := l.VSockets.Group(0)
	return l.PPDs.Of(n-1) + 1
}

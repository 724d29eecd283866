// Package socketspan finds virtual sockets larger than a NUMA node.
package socketspan

import (
	"fmt"

	"homenode/esxi/vnuma"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// Rule is N009.
var Rule = &rule.Rule{
	ID:    "N009",
	Name:  "socketspan",
	Title: "virtual socket larger than a NUMA node",
	Why: `The guest believes that the cores of one socket share one last-level cache. A virtual socket
that is larger than a client is divided over nodes anyway: the cache the guest sees does not exist, and
its scheduler moves threads between nodes as if they were neighbours. The guest can even see more NUMA
nodes than sockets.`,
	Fix:    `Set cores per socket to the vCPUs of one client. The VM must be powered off.`,
	Limits: `Software licensed per socket is a reason to keep it; the NUMA nodes themselves stay right from 6.5 on.`,
	Book:   []string{"B-12", "B-13"},
	Sources: []string{
		"Dos Santos, Comment optimiser ses workloads vNUMA sur vSphere 7.0 U3, 2023",
		"sapcc helm-charts, https://github.com/sapcc/helm-charts/pull/6691",
		"Denneman, NUMA Deep Dive Part 5, 2016, https://frankdenneman.nl/2016/08/22/numa-deep-dive-part-5-esxi-vmkernel-numa-constructs/",
	},
	Severity: finding.Low,
	VMs:      true,
	Check:    check,
}

func check(p *rule.Pass) {
	v := p.VM
	if v.Guest.AutoCPS { // its size is ESXi's, and inferred where it exceeds a client (F-14)
		return
	}
	on, others, ok := p.Worst(func(o *rule.On) bool {
		// A client that exceeds its node for lack of nodes still holds whole sockets.
		return o.Layout.CoresPerSocket > o.Layout.Capacity && span(&o.Layout) > 1
	})
	if !ok {
		return
	}
	advice, notice := p.Advice()
	p.Report(finding.Finding{
		Severity: finding.Low,
		Message: fmt.Sprintf("a virtual socket of %d cores exceeds a client of %d vCPUs%s: it is divided over %d of them while the guest sees one shared L3 cache",
			on.Layout.CoresPerSocket, on.Layout.Capacity, p.Where(others), span(&on.Layout)),
		Advice:   advice,
		Notice:   notice,
		Evidence: []finding.Evidence{v.CPSEvidence(), v.VCPUsEvidence(), on.Kind.NodesEvidence()},
	}, &on.Layout)
}

// span returns over how many clients the first socket is divided.
func span(l *vnuma.Layout) int {
	_, n := l.VSockets.Group(0)
	return l.PPDs.Of(n-1) + 1
}

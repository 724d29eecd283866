// Package unevensplit finds wide VMs whose vCPUs do not divide over their nodes.
package unevensplit

import (
	"fmt"

	"homenode/rules/finding"
	"homenode/rules/rule"
)

// Rule is N007.
var Rule = &rule.Rule{
	ID:    "N007",
	Name:  "unevensplit",
	Title: "odd or uneven split over the nodes",
	Why: `The vCPUs of a wide VM that do not divide evenly make clients and virtual nodes of different
size. Guests assume equal nodes: schedulers and databases balance badly, and a node carries more load
than its sibling.`,
	Fix: `Use a vCPU count that divides evenly over the fewest nodes. Changing the count sizes the VM
afresh at the next power-on.`,
	Limits: `No published log shows an odd split: larger clients first is inferred (B-24). How memory is
sliced for unequal nodes is unpublished as well (F-12).`,
	Book: []string{"B-24", "B-25", "F-12"},
	Sources: []string{
		"VMware performance blog, Virtual machine vCPU and vNUMA rightsizing, 2017, https://blogs.vmware.com/performance/2017/03/virtual-machine-vcpu-and-vnuma-rightsizing-rules-of-thumb.html",
	},
	Severity: finding.Low,
	VMs:      true,
	Check:    check,
}

func check(p *rule.Pass) {
	v := p.VM
	on, others, ok := p.Worst(func(o *rule.On) bool {
		return o.Layout.Wide() && !o.Layout.PPDs.Even() && int(v.Guest.VCPUs)%o.Layout.Least != 0
	})
	if !ok {
		return
	}
	advice, notice := p.Advice()
	p.Report(finding.Finding{
		Severity: finding.Low,
		Message: fmt.Sprintf("%d vCPUs do not divide over %d nodes%s: the clients are %s",
			v.Guest.VCPUs, on.Layout.PPDs.Len(), p.Where(others), on.Layout.PPDs),
		Advice:   advice,
		Notice:   notice,
		Evidence: []finding.Evidence{v.VCPUsEvidence(), on.Kind.NodesEvidence()},
	}, &on.Layout)
}

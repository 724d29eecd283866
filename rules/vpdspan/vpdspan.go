// Package vpdspan finds virtual NUMA nodes that several physical nodes carry.
package vpdspan

import (
	"fmt"

	"homenode/esxi/vnuma"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// Rule is N004.
var Rule = &rule.Rule{
	ID:    "N004",
	Name:  "vpdspan",
	Title: "a virtual NUMA node is carried by several physical nodes",
	Why: `The guest treats all memory of one NUMA node as equally near. When the node is carried by
several NUMA clients, its memory is interleaved over their home nodes: part of it is remote and the
guest cannot know which part.`,
	Fix: `Choose cores per socket that divide the vCPUs and fit a physical node. Takes effect at the next
power cycle.`,
	Limits: `CPU hot add (N001), hidden vNUMA (N011), sizes kept from another host (N010) and sizes set by
hand (N017) make the same picture and are told there.`,
	Book: []string{"B-6", "B-11", "C-13"},
	Sources: []string{
		"Denneman, NUMA Deep Dive Part 5, 2016, https://frankdenneman.nl/2016/08/22/numa-deep-dive-part-5-esxi-vmkernel-numa-constructs/",
		"VMware vSphere Resource Management, virtual NUMA controls (GUID-3E956FB5)",
	},
	Severity: finding.High,
	VMs:      true,
	Check:    check,
}

func check(p *rule.Pass) {
	v := p.VM
	on, others, ok := p.Worst(func(o *rule.On) bool {
		_, spans := o.Layout.Spanning()
		return spans && (o.Layout.Why == vnuma.ByCPS || o.Layout.Why == vnuma.ByClients)
	})
	if !ok {
		return
	}
	vpd, _ := on.Layout.Spanning()
	first, last := on.Layout.Carriers(vpd)
	_, size := on.Layout.VPDs.Group(vpd)
	advice, notice := p.Advice()
	p.Report(finding.Finding{
		Severity: finding.High,
		Message: fmt.Sprintf("VPD%d has %d vCPUs but a node%s has %d cores: it is carried by %d PPDs",
			vpd, size, p.Where(others), on.Kind.Machine.Cores, last-first+1),
		Advice:   advice,
		Notice:   notice,
		Evidence: []finding.Evidence{v.VCPUsEvidence(), v.CPSEvidence(), on.Kind.NodesEvidence()},
	}, &on.Layout)
}

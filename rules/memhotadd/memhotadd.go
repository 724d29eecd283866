// Package memhotadd clears memory hot add.
package memhotadd

import (
	"fmt"

	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// Rule is N003.
var Rule = &rule.Rule{
	ID:    "N003",
	Name:  "memhotadd",
	Title: "memory hot add does not hide NUMA: keep it",
	Why: `Only CPU hot add forces one virtual NUMA node. Memory hot add leaves vNUMA as it is, and from
6.0 on added memory is spread evenly over the virtual nodes. Before 6.0 added memory lands in one
virtual node. Popular advice to switch both off is half wrong.`,
	Fix:    `Nothing to do. Before 6.0: power the VM off to add memory when it has virtual NUMA nodes.`,
	Limits: `A VM that grows beyond the memory of its nodes gets remote memory like any other: see N005.`,
	Book:   []string{"B-16", "F-10"},
	Sources: []string{
		"VMware vSphere Resource Management, “Using Virtual NUMA” (GUID-17B629DE)",
		"Denneman, Impact of CPU hot add on NUMA scheduling, 2017, https://frankdenneman.nl/2017/04/14/impact-cpu-hot-add-numa-scheduling/",
	},
	Severity: finding.Info,
	VMs:      true,
	Check:    check,
}

func check(p *rule.Pass) {
	v := p.VM
	if !v.MemoryHotAdd.Or(false) || len(v.On) == 0 {
		return
	}
	on := &v.On[0]
	f := finding.Finding{
		Severity: finding.Info,
		Message:  "memory hot add is harmless: it does not change the virtual NUMA nodes",
		Evidence: []finding.Evidence{finding.Of("memory hot add", v.MemoryHotAdd, v.At), on.Kind.ReleaseEvidence()},
	}
	if on.Kind.Machine.Release < numa.ESXi60 && on.Layout.GuestSeesNUMA() {
		f.Message = fmt.Sprintf("memory hot add on %s puts added memory into one of the %d virtual nodes: power off to add memory",
			on.Kind.Machine.Release, on.Layout.VPDs.Len())
	}
	p.Report(f, nil)
}

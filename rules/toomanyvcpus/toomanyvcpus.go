// Package toomanyvcpus finds VMs with more vCPUs than their host has cores.
package toomanyvcpus

import (
	"fmt"

	"homenode/rules/finding"
	"homenode/rules/rule"
)

// Rule is N013.
var Rule = &rule.Rule{
	ID:    "N013",
	Name:  "toomanyvcpus",
	Title: "more vCPUs than cores or logical CPUs",
	Why: `A VM with more vCPUs than the host has physical cores competes with itself: two of its vCPUs
share a core, and NUMA clients are larger than their nodes. With more vCPUs than logical CPUs it does not
power on at all (Cpu.AllowWideVsmp is 0).`,
	Fix:    `Give the VM at most as many vCPUs as the host has physical cores.`,
	Limits: `Only the hosts of its cluster are looked at; a VM that never runs at full load hardly suffers.`,
	Book:   []string{"B-5", "B-25", "F-4"},
	Sources: []string{
		"VMware performance blog, Virtual machine vCPU and vNUMA rightsizing, 2017, https://blogs.vmware.com/performance/2017/03/virtual-machine-vcpu-and-vnuma-rightsizing-rules-of-thumb.html",
		"ESXi advanced option Cpu.AllowWideVsmp, https://github.com/lamw/esxi-advanced-and-kernel-settings",
	},
	Severity: finding.High,
	VMs:      true,
	Check:    check,
}

func check(p *rule.Pass) {
	v := p.VM
	on, others, ok := p.Worst(func(o *rule.On) bool {
		return v.Guest.VCPUs > o.Kind.Machine.AllThreads && o.Kind.Machine.ThreadsKnown && !o.Kind.Machine.AllowWide
	})
	severity, what := finding.High, "it cannot power on there"
	if !ok {
		on, others, ok = p.Worst(func(o *rule.On) bool { return v.Guest.VCPUs > o.Kind.Machine.AllCores })
		severity, what = finding.Medium, "vCPUs share cores and clients exceed their nodes"
	}
	if !ok {
		return
	}
	m := &on.Kind.Machine
	has := fmt.Sprintf("%d cores", m.AllCores)
	if m.ThreadsKnown {
		has += fmt.Sprintf(" and %d logical CPUs", m.AllThreads)
	}
	most := m.AllCores
	for i := range v.On {
		if cores := v.On[i].Kind.Machine.AllCores; v.Guest.VCPUs > cores {
			most = min(most, cores)
		}
	}
	p.Report(finding.Finding{
		Severity: severity,
		Message:  fmt.Sprintf("%d vCPUs exceed the %s of the host%s: %s", v.Guest.VCPUs, has, p.Where(others), what),
		Advice:   fmt.Sprintf("Use at most %d vCPUs", most),
		Evidence: []finding.Evidence{v.VCPUsEvidence(), on.Kind.NodesEvidence()},
	}, &on.Layout)
}

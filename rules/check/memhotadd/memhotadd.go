// Package memhotadd confirms that memory hot add is harmless.
package memhotadd

import (
	_ "embed"
	"fmt"

	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed memhotadd.md
var page string

// Rule is N003.
var Rule = rule.New(page, rule.Rule{Severity: finding.Info, VMs: true, Check: check})

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
	switch {
	case len(v.Devices.Value) > 0:
		f.Message = "memory hot add changes nothing: vSphere offers none to a VM with a PCI device of its host"
	case on.Kind.Machine.Release < numa.ESXi60 && on.Layout.GuestSeesNUMA():
		f.Message = fmt.Sprintf("memory hot add on %s puts added memory into one of the %d virtual nodes: power off to add memory",
			on.Kind.Machine.Release, on.Layout.VPDs.Len())
	}
	p.Report(f, nil)
}

// Package vnumahotadd finds wide VMs that could have both CPU hot add and vNUMA.
package vnumahotadd

import (
	_ "embed"
	"fmt"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed vnumahotadd.md
var page string

// Rule is N022.
var Rule = rule.New(page, rule.Rule{Severity: finding.Info, VMs: true, Placed: true, Check: check})

func check(p *rule.Pass) {
	v := p.VM
	on := &v.On[0]
	if !v.CPUHotAdd.Or(false) || v.Guest.VNUMAHotAdd || v.Guest.Hardware < 20 || on.Kind.Machine.Model() < numa.ESXi80 {
		return
	}
	if _, set := v.Settings.Value.Lookup("numa.allowHotadd"); !v.VNUMAHotAdd.Known() && !set {
		return
	}
	exposed := v.Guest
	exposed.VNUMAHotAdd = true
	l := vnuma.Predict(&exposed, &on.Kind.Machine, &vnuma.Case{Choices: p.Choices})
	if on.Layout.Why != vnuma.ByHotAdd || !on.Layout.Wide() || !l.GuestSeesNUMA() {
		return
	}
	p.Report(finding.Finding{
		Severity: finding.Info,
		Message: fmt.Sprintf("ESXi %s and hardware %d can show NUMA in spite of CPU hot add: the guest would see %d nodes (%s vCPU) instead of 1",
			on.Kind.Machine.Release, v.Guest.Hardware, l.VPDs.Len(), l.VPDs),
		When: "Only if the VM needs CPU hot add, else switch it off",
		Ways: []numa.Way{{Do: "set numa.allowHotadd = TRUE" + v.Cycle(),
			Edits: []numa.Edit{{Kind: numa.EditVNUMAHotAdd, To: numa.Is("true")}, numa.Assign("numa.allowHotadd", "TRUE")}}},
		Notice: rule.Notice(&on.Layout, &l),
		Evidence: []finding.Evidence{
			v.VCPUsEvidence(), finding.Of("CPU hot add", v.CPUHotAdd, v.At), finding.Of("vNUMA exposed on hot add", v.VNUMAHotAdd, v.At),
			finding.Of("virtual hardware", v.Hardware, v.At), on.Kind.ReleaseEvidence(),
		},
	}, &l)
}

// Package vnumahotadd finds wide VMs that could keep both CPU hot add and vNUMA.
package vnumahotadd

import (
	"fmt"

	"homenode/esxi/vnuma"
	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// Rule is N022.
var Rule = &rule.Rule{
	ID:    "N022",
	Name:  "vnumahotadd",
	Title: "vNUMA with CPU hot add is possible here and not used",
	Why: `With ESXi 8.0 and virtual hardware 20 a VM with CPU hot add can be shown its NUMA nodes
(exposeVnumaOnCpuHotadd in the API, numa.allowHotadd in the configuration). It is off unless somebody
switches it on. Switching hot add off is the better cure (N001); this is the way for VMs that need it.`,
	Fix: `Set numa.allowHotadd = TRUE, or exposeVnumaOnCpuHotadd by the API, while the VM is off. If the VM
does not need hot add, do what N001 says instead.`,
	Limits: `Which sizes ESXi shows after a vCPU was added is not published: the nodes shown here are those of
the power-on. The manual of 8.0 still says that hot add disables vNUMA (F-10). Silent where it is unknown
whether vNUMA is exposed.`,
	Book: []string{"B-10", "B-15", "F-10"},
	Sources: []string{
		"Broadcom API reference, VirtualMachineVirtualNuma, https://developer.broadcom.com/xapis/virtual-infrastructure-json-api/latest/data-structures/VirtualMachineVirtualNuma",
		"Lam, vNUMA and CPU hot add support in vSphere 8, 2022, https://williamlam.com/2022/11/virtual-numa-vnuma-and-cpu-hot-add-support-in-vsphere-8.html",
		"VMware vSphere 8 documentation (GUID-34D6F6A7)",
	},
	Severity: finding.Info,
	VMs:      true,
	Check:    check,
}

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
		Advice: "Only if the VM needs CPU hot add, else switch it off (N001): set numa.allowHotadd = TRUE, then power off and on (a reboot is not enough)",
		Notice: rule.Notice(&on.Layout, &l),
		Evidence: []finding.Evidence{
			v.VCPUsEvidence(), finding.Of("CPU hot add", v.CPUHotAdd, v.At), finding.Of("vNUMA exposed on hot add", v.VNUMAHotAdd, v.At),
			finding.Of("virtual hardware", v.Hardware, v.At), on.Kind.ReleaseEvidence(),
		},
	}, &l)
}

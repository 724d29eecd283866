// Package notshown finds wide VMs whose guest is not shown NUMA.
package notshown

import (
	"fmt"

	"homenode/esxi/vnuma"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// Rule is N011.
var Rule = &rule.Rule{
	ID:    "N011",
	Name:  "notshown",
	Title: "vNUMA is not shown to a wide VM",
	Why: `The VM runs on several NUMA nodes, but the guest sees one: virtual hardware before 8 and ESX
before 5.0 have no vNUMA, and fewer vCPUs than numa.vcpu.min (9) are not shown it. Memory is interleaved
over the home nodes and the guest cannot place its data. ESX up to 4.0 does not manage a VM wider than
a node for NUMA at all.`,
	Fix: `Let the VM fit a node if it can. Else upgrade the virtual hardware to 8 or later, or set
numa.vcpu.min to the vCPU count and remove stored numa.autosize entries. Both need a power cycle.`,
	Limits: `That memory is interleaved without hot add is published for 4.1 only and taken for later
releases (F-12).`,
	Book: []string{"B-2", "B-3", "C-13", "C-14", "F-1"},
	Sources: []string{
		"VMware vSphere Resource Management, “Using Virtual NUMA” (GUID-17B629DE), virtual NUMA controls (GUID-3E956FB5)",
		"Denneman, AMD EPYC and vSphere vNUMA, 2019, https://frankdenneman.nl/2019/02/19/amd-epyc-and-vsphere-vnuma/",
		"Broadcom KB 309155, KB 309166",
	},
	Severity: finding.High,
	VMs:      true,
	Check:    check,
}

func check(p *rule.Pass) {
	v := p.VM
	if v.Guest.Affinity {
		return
	}
	on, others, ok := p.Worst(func(o *rule.On) bool { _, hidden := cause(p, o); return hidden })
	if !ok {
		return
	}
	why, _ := cause(p, on)
	m := &on.Kind.Machine
	advice, notice := p.Advice()
	f := finding.Finding{
		Severity: finding.Medium,
		Evidence: []finding.Evidence{v.VCPUsEvidence(), on.Kind.NodesEvidence()},
		Advice:   advice,
		Notice:   notice,
	}
	l := &on.Layout
	runs := fmt.Sprintf("%d vCPUs run as %d clients (%s)%s but the guest sees 1 node", v.Guest.VCPUs, l.PPDs.Len(), l.PPDs, p.Where(others))
	switch why {
	case vnuma.ByRelease:
		f.Evidence = append(f.Evidence, on.Kind.ReleaseEvidence())
		f.Message = fmt.Sprintf("%s: ESX %s shows no vNUMA", runs, m.Release)
		if !l.Managed {
			f.Message = fmt.Sprintf("%d vCPUs exceed the %d cores of a node%s: ESX %s does not manage the VM for NUMA", v.Guest.VCPUs, m.Cores, p.Where(others), m.Release)
		}
		f.Advice = fmt.Sprintf("Use at most %d vCPUs so that the VM fits a node, or upgrade to ESXi 5.0 or later with virtual hardware 8", m.Cores)
		if v.Guest.VCPUs < 9 {
			f.Advice += fmt.Sprintf(" and numa.vcpu.min = %d", v.Guest.VCPUs)
		}
		f.Notice = ""
	case vnuma.ByHardware:
		f.Severity = finding.High
		f.Evidence = append(f.Evidence, finding.Of("virtual hardware", v.Hardware, v.At))
		f.Message = fmt.Sprintf("%s: virtual hardware %d has no vNUMA (8 is needed)", runs, v.Guest.Hardware)
	default:
		f.Evidence = append(f.Evidence, v.SettingEvidence("numa.vcpu.min"))
		f.Message = fmt.Sprintf("%s: vNUMA is shown from %d vCPUs on (numa.vcpu.min)", runs, v.Guest.Threshold(m, p.Choices))
		if v.Guest.VCPUs > m.Cores {
			f.Advice = rule.Or(fmt.Sprintf("Use at most %d vCPUs so that the VM fits a node", m.Cores), f.Advice)
		}
	}
	p.Report(f, l)
}

// cause returns why a wide VM is shown one node: what would hide NUMA from it even
// without CPU hot add and stored sizes.
func cause(p *rule.Pass, o *rule.On) (why vnuma.Reason, hidden bool) {
	v := p.VM
	if o.Layout.Why == vnuma.ByRelease {
		return vnuma.ByRelease, o.Layout.Wide() || v.Guest.VCPUs > o.Kind.Machine.Cores
	}
	if !o.Layout.Wide() || o.Layout.GuestSeesNUMA() {
		return 0, false
	}
	bare := v.Guest.Apply(vnuma.Edit{HotAddOff: true, ForgetStored: true})
	l := vnuma.Predict(&bare, &o.Kind.Machine, &vnuma.Case{Choices: p.Choices})
	return l.Why, l.Why == vnuma.ByHardware || l.Why == vnuma.ByThreshold
}

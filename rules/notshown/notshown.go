// Package notshown finds wide VMs whose guest is not shown NUMA.
package notshown

import (
	"fmt"

	"homenode/finding"
	"homenode/numa"
	"homenode/rule"
	"homenode/vnuma"
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
	off := v.Guest
	off.HotAdd = false
	on, others, ok := p.Worst(func(o *rule.On) bool {
		l := vnuma.Predict(&off, &o.Kind.Machine, &vnuma.Case{Choices: p.Choices})
		if v.Guest.Affinity {
			return false
		}
		if l.Why == vnuma.ByRelease {
			return l.Wide() || v.Guest.VCPUs > o.Kind.Machine.Cores
		}
		return l.Wide() && (l.Why == vnuma.ByHardware || l.Why == vnuma.ByThreshold)
	})
	if !ok {
		return
	}
	m := &on.Kind.Machine
	l := vnuma.Predict(&off, m, &vnuma.Case{Choices: p.Choices})
	f := finding.Finding{
		Severity: finding.Medium,
		Evidence: []finding.Evidence{v.VCPUsEvidence(), on.Kind.NodesEvidence()},
	}
	runs := fmt.Sprintf("%d vCPUs run as %d clients (%s)%s but the guest sees 1 node", v.Guest.VCPUs, l.PPDs.Len(), l.PPDs, p.Where(on, others))
	fit := fmt.Sprintf("Use at most %d vCPUs so that the VM fits a node", m.Cores)
	switch l.Why {
	case vnuma.ByRelease:
		f.Evidence = append(f.Evidence, on.Kind.ReleaseEvidence())
		f.Message = fmt.Sprintf("%s: ESX %s shows no vNUMA", runs, m.Release)
		if !l.Managed {
			f.Message = fmt.Sprintf("%d vCPUs exceed the %d cores of a node%s: ESX %s does not manage the VM for NUMA", v.Guest.VCPUs, m.Cores, p.Where(on, others), m.Release)
		}
		f.Advice = fit + ", or upgrade to ESXi 5.0 or later with virtual hardware 8"
	case vnuma.ByHardware:
		f.Severity = finding.High
		f.Evidence = append(f.Evidence, finding.Of("virtual hardware", v.Hardware, v.At))
		f.Message = fmt.Sprintf("%s: virtual hardware %d has no vNUMA (8 is needed)", runs, v.Guest.Hardware)
		f.Advice = "Upgrade the virtual hardware to 8 or later, then power off and on"
	default:
		f.Evidence = append(f.Evidence, v.SettingEvidence("numa.vcpu.min"))
		f.Message = fmt.Sprintf("%s: vNUMA is shown from %s vCPUs on (numa.vcpu.min)", runs, least(v))
		f.Advice = fmt.Sprintf("%s, or set numa.vcpu.min = %d, remove stored numa.autosize entries, then power off and on", fit, v.Guest.VCPUs)
	}
	if v.Guest.HotAdd && m.Model() >= numa.ESXi50 {
		f.Advice += "; CPU hot add must be off too"
	}
	p.Report(f, &l)
}

func least(v *rule.VM) string {
	if v.Guest.Min > 0 {
		return fmt.Sprint(v.Guest.Min)
	}
	return "9"
}

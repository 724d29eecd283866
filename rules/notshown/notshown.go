// Package notshown finds wide VMs whose guest is not shown NUMA.
package notshown

import (
	_ "embed"
	"fmt"

	"homenode/esxi/plan"
	"homenode/esxi/vnuma"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

//go:embed notshown.md
var page string

// Rule is N011.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Check: check})

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
	bare := plan.Edit{HotAddOff: true, ForgetStored: true}.Apply(v.Guest)
	l := vnuma.Predict(&bare, &o.Kind.Machine, &vnuma.Case{Choices: p.Choices})
	return l.Why, l.Why == vnuma.ByHardware || l.Why == vnuma.ByThreshold
}

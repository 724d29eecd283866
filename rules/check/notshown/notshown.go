// Package notshown finds wide VMs whose guest does not see NUMA.
package notshown

import (
	_ "embed"
	"fmt"

	"example.org/homenode/esxi/plan"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed notshown.md
var page string

// Rule is N011.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Placed: true, Check: check})

func check(p *rule.Pass) {
	v := p.VM
	if v.Guest.Affinity || !v.On[0].Kind.Machine.Schedules() {
		return
	}
	on, others, ok := p.Worst(func(o *rule.On) bool { _, hidden := cause(p, o); return hidden })
	if !ok {
		return
	}
	why, _ := cause(p, on)
	m := &on.Kind.Machine
	ways, notice := p.PlanWays()
	f := finding.Finding{
		Severity: finding.High,
		Evidence: []finding.Evidence{v.VCPUsEvidence(), on.Kind.NodesEvidence()},
		Ways:     ways,
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
		upgrade := "upgrade to ESXi 5.0 or later with virtual hardware 8"
		if v.Guest.VCPUs < 9 {
			upgrade += fmt.Sprintf(" and numa.vcpu.min = %d", v.Guest.VCPUs)
		}
		f.Ways, f.Notice = []numa.Way{p.AtMostVCPUs(int(m.Cores), fits), numa.ByHand(upgrade)}, ""
	case vnuma.ByHardware:
		f.Evidence = append(f.Evidence, finding.Of("virtual hardware", v.Hardware, v.At))
		f.Message = fmt.Sprintf("%s: virtual hardware %d has no vNUMA (8 is needed)", runs, v.Guest.Hardware)
	default:
		f.Evidence = append(f.Evidence, v.SettingEvidence("numa.vcpu.min"))
		f.Message = fmt.Sprintf("%s: vNUMA is shown from %d vCPUs on (numa.vcpu.min)", runs, v.Guest.Threshold(m, p.Choices))
		if node, _ := m.CPUs(&v.Guest); v.Guest.VCPUs > node {
			f.Ways = append([]numa.Way{p.AtMostVCPUs(int(node), fits)}, f.Ways...)
		}
	}
	p.Report(f, l)
}

// fits ends the text about fewer vCPUs.
const fits = " so that the VM fits a node"

// cause returns the reason why a wide VM has one visible node: the reason that would hide NUMA
// even without CPU hot add and stored sizes.
func cause(p *rule.Pass, o *rule.On) (why vnuma.Reason, hidden bool) {
	v := p.VM
	if o.Layout.Why == vnuma.ByRelease {
		return vnuma.ByRelease, o.Layout.Wide() || v.Guest.VCPUs > o.Kind.Machine.Cores
	}
	if !o.Layout.HidesNUMA() || o.Layout.HomeNodes == 1 { // if its clients share a node, all memory is local
		return 0, false
	}
	bare := plan.Edit{HotAddOff: true, ForgetStored: true}.Apply(v.Guest)
	l := vnuma.Predict(&bare, &o.Kind.Machine, &vnuma.Case{Choices: p.Choices})
	return l.Why, l.Why == vnuma.ByHardware || l.Why == vnuma.ByThreshold
}

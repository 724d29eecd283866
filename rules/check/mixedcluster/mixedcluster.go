// Package mixedcluster finds hosts of a cluster on which a VM gets a worse layout.
package mixedcluster

import (
	_ "embed"
	"fmt"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed mixedcluster.md
var page string

// Rule is N014.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, VMs: true, Placed: true, Check: check})

func check(p *rule.Pass) {
	v := p.VM
	if len(v.On) < 2 || v.Guest.Affinity {
		return
	}
	if v.Home != nil {
		from(p, v, 0)
		return
	}
	for i := range v.Open() { // each of them may power it on
		at := *v
		at.Home = v.On[i].Kind
		if from(p, &at, i) {
			return
		}
	}
}

// from checks the vMotion of a VM from its home, which has this index in its list, and returns whether it reported a finding.
func from(p *rule.Pass, v *rule.VM, start int) bool {
	home := &v.On[start]
	if home.Layout.Why == vnuma.ByHotAdd || home.Layout.Why == vnuma.ByRelease {
		return false
	}
	if _, spans := home.Layout.Spanning(); spans {
		return false
	}
	if _, crowded := v.Crowded(home.Kind); crowded { // N013 moves it, and it is powered on there
		return false
	}
	var hosts []*numa.Host
	var worst *vnuma.Layout
	evidence := []finding.Evidence{v.VCPUsEvidence(), home.Kind.NodesEvidence()}
	cured := false
	for i := range v.Open() {
		k := v.On[i].Kind
		if i == start {
			continue
		}
		moved := v.Moved(k, p.Choices)
		if _, spans := moved.Spanning(); !spans {
			continue
		}
		_, stays := p.Plan().After[i].Spanning()
		cured = cured || !stays
		hosts = append(hosts, v.HostsOf(k)...)
		evidence = append(evidence, k.NodesEvidence())
		if worst == nil || moved.PPDs.Len() > worst.PPDs.Len() {
			worst = &moved
		}
	}
	if worst == nil {
		return false
	}
	vpd, _ := worst.Spanning()
	first, last := worst.Carriers(vpd)
	ways, notice := []numa.Way{rule.KeepOff(hosts)}, ""
	if p.Plan().Better && cured && v.Guest.AllowedNodes == 0 { // somebody chose nodes of its present host
		var plan []numa.Way
		plan, notice = p.PlanWays()
		ways = append(ways, plan...)
	}
	p.Report(finding.Finding{
		Severity: finding.Medium,
		On:       (&rule.Kind{Hosts: hosts}).HostNames(),
		Message: fmt.Sprintf("after vMotion to %s the guest keeps %s, but runs there as %d clients (%s): virtual node %d is carried by %d of them",
			rule.HostNames(hosts), kept(worst), worst.PPDs.Len(), worst.PPDs, vpd, last-first+1),
		Ways:     ways,
		Notice:   notice,
		Evidence: evidence,
	}, worst)
	return true
}

func kept(l *vnuma.Layout) string {
	if !l.GuestSeesNUMA() {
		return "its 1 node"
	}
	return fmt.Sprintf("its %d nodes (%s vCPU)", l.VPDs.Len(), l.VPDs)
}

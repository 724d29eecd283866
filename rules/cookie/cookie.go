// Package cookie finds stored sizes that the next power cycle throws away.
package cookie

import (
	"fmt"

	"homenode/esxi/vnuma"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// Rule is N016.
var Rule = &rule.Rule{
	ID:    "N016",
	Name:  "cookie",
	Title: "the next power cycle sizes the VM afresh",
	Why: `numa.autosize.cookie records the vCPU count for which the size of a virtual node was stored. With
another count, or without a cookie that can be read, the next power-on throws the stored size away and makes
a new one for the host it happens on. The guest then sees other NUMA nodes than before: processor affinity,
soft-NUMA and memory settings inside it no longer match.`,
	Fix: `Nothing is broken. Choose the host of that power-on in a cluster of unlike hosts, and check the
settings inside the guest that name nodes or processors afterwards.`,
	Limits: `Silent when the number of nodes stays, when hot add, a size set by hand, numa.vcpu.min or old
virtual hardware decide what the guest sees, and up to 6.0 where cores per socket do. A size that is kept
although it does not suit the host is N010. That a cookie with other cores per socket stays valid is open
(F-13).`,
	Book: []string{"B-8", "B-9", "F-13"},
	Sources: []string{
		"VMware vSphere Resource Management, virtual NUMA controls (GUID-89C52376, GUID-3E956FB5)",
		"Denneman, NUMA Deep Dive Part 5, 2016, https://frankdenneman.nl/2016/08/22/numa-deep-dive-part-5-esxi-vmkernel-numa-constructs/",
		"Denneman, Solving vNUMA topology mismatch when migrating between dual-socket and quad-socket servers, 2022, https://frankdenneman.nl/2022/03/11/solving-vnuma-topology-mismatch-when-migrating-between-dual-socket-servers-and-quad-socket-servers/",
	},
	Severity: finding.Low,
	VMs:      true,
	Check:    check,
}

func check(p *rule.Pass) {
	v, g := p.VM, &p.VM.Guest
	on := &v.On[0]
	if g.Stored == 0 || on.Layout.Why != vnuma.ByClients && on.Layout.Why != vnuma.ByFit || g.SizeEachTime {
		return
	}
	// As if the cookie were valid: what the guest had, with the count it had then.
	then := *g
	made := fmt.Sprintf("was made for %d vCPUs, the VM has %d", g.CookieVCPUs, g.VCPUs)
	if g.CookieVCPUs == 0 {
		made = fmt.Sprintf("has no cookie for the %d vCPUs", g.VCPUs)
		then.CookieVCPUs = g.VCPUs
	} else {
		then.VCPUs = g.CookieVCPUs
	}
	before := vnuma.Predict(&then, &on.Kind.Machine, &vnuma.Case{Choices: p.Choices})
	if before.Why != vnuma.ByStored || before.VPDs.Len() == on.Layout.VPDs.Len() {
		return
	}
	p.Report(finding.Finding{
		Severity: finding.Low,
		Message: fmt.Sprintf("the stored size of %d vCPUs per virtual node %s: the next power cycle sizes it afresh, and the guest that had %s then sees %s",
			g.Stored, made, nodes(&before), nodes(&on.Layout)),
		Advice: "Power off and on when it suits, on a host of the shape that the VM mostly runs on, then check settings inside the guest that name NUMA nodes or processors",
		Evidence: []finding.Evidence{
			v.SettingEvidence("numa.autosize.vcpu.maxPerVirtualNode"), v.SettingEvidence("numa.autosize.cookie"),
			v.VCPUsEvidence(), on.Kind.NodesEvidence(),
		},
	}, &on.Layout)
}

func nodes(l *vnuma.Layout) string {
	if !l.GuestSeesNUMA() {
		return "1 node"
	}
	return fmt.Sprintf("%d nodes (%s vCPU)", l.VPDs.Len(), l.VPDs)
}

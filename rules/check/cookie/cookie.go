// Package cookie finds stored sizes that are discarded at the next power cycle.
package cookie

import (
	_ "embed"
	"fmt"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed cookie.md
var page string

// Rule is N016.
var Rule = rule.New(page, rule.Rule{Severity: finding.Low, VMs: true, Check: check})

func check(p *rule.Pass) {
	v, g := p.VM, &p.VM.Guest
	on := &v.On[0]
	if g.Stored == 0 || on.Layout.Why != vnuma.ByClients && on.Layout.Why != vnuma.ByFit || g.SizeEachTime || g.CookieVCPUs == g.VCPUs { // with a valid cookie an event sizes it afresh
		return
	}
	// As if the cookie were valid: the guest's layout, with the vCPU count of that time.
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
			g.Stored, made, rule.GuestNodes(&before, "node"), rule.GuestNodes(&on.Layout, "node")),
		Advice: "Power off and on when it suits, on a host of the shape that the VM mostly runs on, then check settings inside the guest that name NUMA nodes or processors",
		Evidence: []finding.Evidence{
			v.SettingEvidence("numa.autosize.vcpu.maxPerVirtualNode"), v.SettingEvidence("numa.autosize.cookie"),
			v.VCPUsEvidence(), on.Kind.NodesEvidence(),
		},
	}, &on.Layout)
}

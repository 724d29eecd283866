// Package preferhtlate finds VMs that were sized before preferHT was set.
package preferhtlate

import (
	"fmt"

	"homenode/rules/finding"
	"homenode/rules/rule"
)

// Rule is N020.
var Rule = &rule.Rule{
	ID:    "N020",
	Name:  "preferhtlate",
	Title: "preferHT was set after the VM was sized: its virtual nodes stay",
	Why: `The first power-on stored the size of a virtual node. preferHT, set later, changes how many vCPUs
one client may hold, but the stored size stays until it is removed: the guest still sees several NUMA nodes
and keeps its threads apart, although the VM was meant to share one node and one cache. Up to 6.0 the clients
follow the virtual nodes, so that preferHT does nothing at all.`,
	Fix: `Remove numa.autosize.vcpu.maxPerVirtualNode and numa.autosize.cookie, and power off and on. Set cores
per socket to the vCPU count as well, so that the guest sees one cache.`,
	Limits: `Says that the sizes do not match, not that preferHT is good for the VM: where the memory does not
fit one node it is not (N012). A stored size of another origin is N010.`,
	Book: []string{"B-8", "B-10", "B-14"},
	Sources: []string{
		"Denneman, NUMA Deep Dive Part 5, 2016, https://frankdenneman.nl/2016/08/22/numa-deep-dive-part-5-esxi-vmkernel-numa-constructs/",
		"VMware KB 2003582",
	},
	Severity: finding.Medium,
	VMs:      true,
	Check:    check,
}

func check(p *rule.Pass) {
	v := p.VM
	on := &v.On[0]
	if !p.PreferHTLate(on) {
		return
	}
	fresh := v.Fresh(on.Kind, p.Choices)
	f := finding.Finding{
		Severity: finding.Low,
		Evidence: []finding.Evidence{v.VCPUsEvidence()},
	}
	key := "Numa.PreferHT of the host"
	if v.Guest.PreferHT {
		key = "numa.vcpu.preferHT"
		f.Evidence = append(f.Evidence, v.SettingEvidence(key))
	}
	f.Evidence = append(f.Evidence, v.SettingEvidence("numa.autosize.vcpu.maxPerVirtualNode"), v.SettingEvidence("numa.autosize.cookie"), on.Kind.NodesEvidence())
	runs := fmt.Sprintf("although it runs as %s", rule.Plural(on.Layout.PPDs.Len(), "client"))
	if on.Layout.PPDs.Len() > fresh.PPDs.Len() {
		f.Severity = finding.Medium
		runs = fmt.Sprintf("and runs as %s", rule.Plural(on.Layout.PPDs.Len(), "client"))
	}
	f.Message = fmt.Sprintf("%s came after the size of %d vCPUs per virtual node was stored: the guest still sees %s %s, sized afresh it would see %s",
		key, v.Guest.Stored, rule.Plural(on.Layout.VPDs.Len(), "node"), runs, rule.Plural(fresh.VPDs.Len(), "node"))
	f.Advice, f.Notice = p.Advice()
	if !p.Plan().Edit.ForgetStored {
		f.Advice = "Remove numa.autosize.vcpu.maxPerVirtualNode and numa.autosize.cookie, then power off and on (a reboot is not enough)"
		f.Notice = rule.Notice(&on.Layout, &fresh)
	}
	p.Report(f, &on.Layout)
}

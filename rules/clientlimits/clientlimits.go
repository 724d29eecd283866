// Package clientlimits finds VMs that a limit of vCPUs per client makes wider.
package clientlimits

import (
	"fmt"

	"homenode/esxi/vnuma"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// Rule is N018.
var Rule = &rule.Rule{
	ID:    "N018",
	Name:  "clientlimits",
	Title: "a limit of vCPUs per client makes more and smaller clients",
	Why: `numa.vcpu.maxPerMachineNode and numa.vcpu.maxPerClient lower what one NUMA client may hold. The VM
is divided over more nodes than its vCPUs need: more memory bandwidth, but threads talk over the interconnect
and share no cache. With fewer than numa.vcpu.min vCPUs the guest is not even shown it.`,
	Fix: `Remove the limit, and the stored numa.autosize entries with it, unless bandwidth of several nodes
is what the VM was spread for. Takes effect at the next power cycle.`,
	Limits: `A VM whose memory needs the nodes is not reported. A bandwidth-bound guest can gain from more
nodes: measure before changing it. From 6.5 on a VM gets no more clients than the host has nodes, so that
clients can exceed the limit (inferred, F-4). Other causes of the same picture are N006 and N017.`,
	Book: []string{"B-4", "B-10", "C-5", "F-4"},
	Sources: []string{
		"Denneman, NUMA, hyper-threading and numa.preferHT, 2010, https://frankdenneman.nl/2010/10/07/numa-hyperthreading-and-numa-preferht/",
		"VMware vSphere Resource Management, virtual NUMA controls (5.x and 6.0: GUID-89C52376)",
	},
	Severity: finding.Low,
	VMs:      true,
	Check:    check,
}

func check(p *rule.Pass) {
	v, g := p.VM, &p.VM.Guest
	if g.MaxPerMachineNode == 0 && g.MaxPerClient == 0 {
		return
	}
	free := g.Apply(vnuma.Edit{LimitsOff: true})
	without := func(o *rule.On) vnuma.Layout {
		return vnuma.Predict(&free, &o.Kind.Machine, &vnuma.Case{Choices: p.Choices})
	}
	on, others, ok := p.Worst(func(o *rule.On) bool {
		l := without(o)
		return o.Layout.Managed && o.Layout.PPDs.Len() > max(l.PPDs.Len(), o.Needed(g))
	})
	if !ok || !p.Plan().Edit.LimitsOff { // else it is what makes the VM fit its hosts or its memory
		return
	}
	key, limit := "numa.vcpu.maxPerMachineNode", g.MaxPerMachineNode
	if limit == 0 || g.MaxPerClient > 0 && g.MaxPerClient < limit {
		key, limit = "numa.vcpu.maxPerClient", g.MaxPerClient
	}
	l, shown := without(on), ""
	if !on.Layout.GuestSeesNUMA() {
		shown = ", and the guest sees 1 node"
	}
	advice, notice := p.Advice()
	p.Report(finding.Finding{
		Severity: finding.Low,
		Message: fmt.Sprintf("%s = %d divides %d vCPUs into %s (%s)%s instead of %s (%s)%s",
			key, limit, g.VCPUs, rule.Plural(on.Layout.PPDs.Len(), "client"), on.Layout.PPDs, p.Where(others), rule.Plural(l.PPDs.Len(), "client"), l.PPDs, shown),
		Advice:   "Unless the VM was spread for memory bandwidth: " + rule.Lower(advice),
		Notice:   notice,
		Evidence: []finding.Evidence{v.VCPUsEvidence(), v.SettingEvidence(key), on.Kind.NodesEvidence()},
	}, &on.Layout)
}

// Package widerthanneeded finds VMs that settings spread over more nodes than they need.
package widerthanneeded

import (
	"fmt"
	"strings"

	"homenode/esxi/vnuma"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// Rule is N006.
var Rule = &rule.Rule{
	ID:    "N006",
	Name:  "widerthanneeded",
	Title: "VM wider than needed",
	Why: `ESXi uses as few nodes as possible because vCPUs on one node share its cache and its memory.
A setting or a stored size makes more clients than the vCPU count needs: threads talk over the
interconnect although one node less would hold them.`,
	Fix: `Remove the setting and the stored numa.autosize entries, unless memory bandwidth of several
nodes is what the VM was spread for. Takes effect at the next power cycle.`,
	Limits: `A VM that is spread because its memory needs the nodes is not reported. A bandwidth-bound
guest can gain from more nodes: measure before changing it. Sizes set by hand are N017, limits of vCPUs per
client N018.`,
	Book: []string{"B-10", "B-17", "C-5"},
	Sources: []string{
		"Denneman, NUMA, hyper-threading and numa.preferHT, 2010, https://frankdenneman.nl/2010/10/07/numa-hyperthreading-and-numa-preferht/",
		"VMware vSphere Resource Management, virtual NUMA controls (GUID-3E956FB5)",
	},
	Severity: finding.Low,
	VMs:      true,
	Check:    check,
}

func check(p *rule.Pass) {
	v := p.VM
	bare := v.Guest.Apply(vnuma.Edit{ManualOff: true, LimitsOff: true}) // those are N017 and N018
	on, others, ok := p.Worst(func(o *rule.On) bool {
		l := vnuma.Predict(&bare, &o.Kind.Machine, &vnuma.Case{Choices: p.Choices})
		return l.Managed && l.Why != vnuma.ByCPS && len(causes(&v.Guest)) > 0 && l.PPDs.Len() > o.Needed(&v.Guest)
	})
	if !ok {
		return
	}
	plan := p.Plan()
	if e := plan.Edit; !e.SpreadOff && !e.ForgetStored {
		return // it is what makes the VM fit its hosts or its memory
	}
	advice, notice := p.Advice()
	evidence := []finding.Evidence{v.VCPUsEvidence(), on.Kind.NodesEvidence()}
	for _, key := range causes(&v.Guest) {
		evidence = append(evidence, v.SettingEvidence(key))
	}
	p.Report(finding.Finding{
		Severity: finding.Low,
		Message: fmt.Sprintf("runs as %d clients (%s)%s although %d vCPUs need %s of %d cores: %s",
			on.Layout.PPDs.Len(), on.Layout.PPDs, p.Where(others), v.Guest.VCPUs,
			rule.Plural(on.Layout.Least, "node"), on.Kind.Machine.Cores, strings.Join(settings(v), ", ")),
		Advice:   "Unless the VM was spread for memory bandwidth: " + rule.Lower(advice),
		Notice:   notice,
		Evidence: evidence,
	}, &on.Layout)
}

// causes lists the settings of g that can make it wider than needed.
func causes(g *vnuma.Guest) []string {
	var keys []string
	for _, c := range []struct {
		set bool
		key string
	}{
		{g.Spread, "numa.consolidate"},
		{g.Stored > 0, "numa.autosize.vcpu.maxPerVirtualNode"},
	} {
		if c.set {
			keys = append(keys, c.key)
		}
	}
	return keys
}

func settings(v *rule.VM) []string {
	var out []string
	for _, key := range causes(&v.Guest) {
		value, _ := v.Settings.Value.Lookup(key)
		out = append(out, key+" = "+value)
	}
	return out
}

// Package clientlimits finds VMs that have more clients because of a limit of vCPUs per client.
package clientlimits

import (
	_ "embed"
	"fmt"

	"example.org/homenode/esxi/plan"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed clientlimits.md
var page string

// Rule is N018.
var Rule = rule.New(page, rule.Rule{Severity: finding.Low, VMs: true, Placed: true, Check: check})

func check(p *rule.Pass) {
	v, g := p.VM, &p.VM.Guest
	if g.MaxPerMachineNode == 0 && g.MaxPerClient == 0 {
		return
	}
	free := plan.Edit{LimitsOff: true}.Apply(*g)
	without := func(o *rule.On) vnuma.Layout {
		return vnuma.Predict(&free, &o.Kind.Machine, &vnuma.Case{Choices: p.Choices})
	}
	on, others, ok := p.Worst(func(o *rule.On) bool {
		l := without(o)
		return o.Layout.Managed && o.Layout.PPDs.Len() > max(l.PPDs.Len(), o.Needed(g)) && l.Memory.Remote <= o.Layout.Memory.Remote
	})
	if !ok || !p.Plan().Edit.LimitsOff { // otherwise the limit makes the VM fit its hosts or its memory
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
	ways, notice := p.PlanWays()
	p.Report(finding.Finding{
		Severity: finding.Low,
		Message: fmt.Sprintf("%s = %d divides %d vCPUs into %s (%s)%s instead of %s (%s)%s",
			key, limit, g.VCPUs, words.Plural(on.Layout.PPDs.Len(), "client"), on.Layout.PPDs, p.Where(others), words.Plural(l.PPDs.Len(), "client"), l.PPDs, shown),
		When:     "Unless the VM was spread for memory bandwidth",
		Ways:     ways,
		Notice:   notice,
		Evidence: []finding.Evidence{v.VCPUsEvidence(), v.SettingEvidence(key), on.Kind.NodesEvidence()},
	}, &on.Layout)
}

// Package staleautosize finds virtual nodes that were sized on a different host.
package staleautosize

import (
	_ "embed"
	"fmt"

	"example.org/homenode/esxi/plan"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed staleautosize.md
var page string

// Rule is N010.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Check: check})

func check(p *rule.Pass) {
	v := p.VM
	if len(v.On) == 0 || v.On[0].Layout.Why != vnuma.ByStored {
		return
	}
	on := &v.On[0]
	fresh := v.Fresh(on.Kind, p.Choices)
	if fresh.VPDs.Equal(on.Layout.VPDs) || p.PreferHTLate(on) {
		return
	}
	severity := finding.Medium
	cost := fmt.Sprintf("the guest keeps %s", rule.GuestNodes(&on.Layout, "node"))
	if vpd, spans := on.Layout.Spanning(); spans {
		severity = finding.High
		first, last := on.Layout.Carriers(vpd)
		cost += fmt.Sprintf(", a node of it is carried by %d clients and its memory interleaved", last-first+1)
	}
	ways, notice := p.PlanWays()
	switch best := p.Plan(); {
	case p.SpreadLate(on):
	case best.Needed == plan.Edit{}: // the plan keeps the size and is only tidier
		ways = append(p.Divided(v.Needed()), v.Afresh())
	case !best.Edit.ForgetStored && best.Edit.PerNode == 0:
		ways = append(ways, v.Afresh())
	}
	f := finding.Finding{
		Severity: severity,
		Message: fmt.Sprintf("stored size of %d vCPUs per virtual node does not suit %s: %s where this host would give %s",
			v.Guest.Stored, on.Kind.Shape(), cost, rule.GuestNodes(&fresh, "node")),
		Ways:   ways,
		Notice: notice,
		Evidence: []finding.Evidence{
			v.SettingEvidence("numa.autosize.vcpu.maxPerVirtualNode"), v.SettingEvidence("numa.autosize.cookie"),
			v.VCPUsEvidence(), on.Kind.NodesEvidence(),
		},
	}
	switch better := p.Plan().Better; {
	case severity < finding.High && (!better || p.Suits(&on.Layout)):
		p.LeaveStored(&f, &on.Layout, &fresh)
	case !better:
		f.Notice = rule.Notice(&on.Layout, &fresh)
	}
	if p.SpreadLate(on) {
		f.Message = fmt.Sprintf("numa.consolidate = FALSE came after the size of %d vCPUs per virtual node was stored: %s; sized afresh it would see %s, without the setting it would run as %s",
			v.Guest.Stored, cost, rule.GuestNodes(&fresh, "node"), words.Plural(on.Layout.Least, "client"))
		f.When = "Unless the VM was spread for memory bandwidth (then remove the stored numa.autosize entries)"
		f.Evidence = append(f.Evidence, v.SettingEvidence("numa.consolidate"))
	}
	p.Report(f, &on.Layout)
}

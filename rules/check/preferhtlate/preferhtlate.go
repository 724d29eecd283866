// Package preferhtlate finds VMs that were sized before preferHT was set.
package preferhtlate

import (
	_ "embed"
	"fmt"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed preferhtlate.md
var page string

// Rule is N020.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, VMs: true, Check: check})

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
	runs := fmt.Sprintf("although it runs as %s", words.Plural(on.Layout.PPDs.Len(), "client"))
	if on.Layout.PPDs.Len() > fresh.PPDs.Len() {
		f.Severity = finding.Medium
		runs = fmt.Sprintf("and runs as %s", words.Plural(on.Layout.PPDs.Len(), "client"))
	}
	f.Message = fmt.Sprintf("%s came after the size of %d vCPUs per virtual node was stored: the guest still sees %s %s, sized afresh it would see %s",
		key, v.Guest.Stored, words.Plural(on.Layout.VPDs.Len(), "node"), runs, words.Plural(fresh.VPDs.Len(), "node"))
	f.Ways, f.Notice = p.PlanWays()
	switch {
	case f.Severity < finding.Medium && len(v.On) > 1 && p.Suits(&on.Layout):
		p.LeaveStored(&f, &on.Layout, &fresh)
	case !p.Plan().Better:
		f.Ways = []numa.Way{v.Afresh()}
		f.Notice = rule.Notice(&on.Layout, &fresh)
	}
	p.Report(f, &on.Layout)
}

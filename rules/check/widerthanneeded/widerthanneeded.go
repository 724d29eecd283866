// Package widerthanneeded finds VMs that settings spread over more nodes than necessary.
package widerthanneeded

import (
	_ "embed"
	"fmt"
	"strings"

	"example.org/homenode/esxi/plan"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed widerthanneeded.md
var page string

// Rule is N006.
var Rule = rule.New(page, rule.Rule{Severity: finding.Low, VMs: true, Placed: true, Check: check})

func check(p *rule.Pass) {
	v := p.VM
	bare := plan.Edit{ManualOff: true, LimitsOff: true}.Apply(v.Guest) // these are N017 and N018
	on, others, ok := p.Worst(func(o *rule.On) bool {
		l := vnuma.Predict(&bare, &o.Kind.Machine, &vnuma.Case{Choices: p.Choices})
		return l.Managed && l.Why != vnuma.ByCPS && len(causes(&v.Guest)) > 0 && l.PPDs.Len() > o.Needed(&v.Guest)
	})
	if !ok || p.SpreadLate(&v.On[0]) { // see N010
		return
	}
	plan := p.Plan()
	if e := plan.Edit; !e.SpreadOff && !e.ForgetStored {
		return // required for fitting its hosts or its memory
	}
	ways, notice := p.PlanWays()
	evidence := []finding.Evidence{v.VCPUsEvidence(), on.Kind.NodesEvidence()}
	for _, key := range named(&v.Guest) {
		evidence = append(evidence, v.SettingEvidence(key))
	}
	p.Report(finding.Finding{
		Severity: finding.Low,
		Message: fmt.Sprintf("runs as %d clients (%s)%s although %d vCPUs need %s of %s: %s",
			on.Layout.PPDs.Len(), on.Layout.PPDs, p.Where(others), v.Guest.VCPUs,
			words.Plural(on.Layout.Least, "node"), words.Plural(int(on.Kind.Machine.Cores), "core"), strings.Join(settings(v), ", ")),
		When:     "Unless the VM was spread for memory bandwidth",
		Ways:     ways,
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

// named lists the causes, and also the limits of a client, which N018 assesses.
func named(g *vnuma.Guest) []string {
	keys := causes(g)
	if g.MaxPerMachineNode > 0 {
		keys = append(keys, "numa.vcpu.maxPerMachineNode")
	}
	if g.MaxPerClient > 0 {
		keys = append(keys, "numa.vcpu.maxPerClient")
	}
	return keys
}

func settings(v *rule.VM) []string {
	var out []string
	for _, key := range named(&v.Guest) {
		value, _ := v.Settings.Value.Lookup(key)
		out = append(out, key+" = "+value)
	}
	return out
}

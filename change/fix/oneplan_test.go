package fix_test

import (
	"slices"
	"testing"

	"example.org/homenode/change/fix"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/rule"
)

// An agreement counts plans of changes beside the plans that assess and explain print.
type agreement struct{ plans, equal int }

// compare holds each change of a VM beside the plan that it is told: it has one, and they share an edit. They are equal except for the few
// VMs whose whole plan makes another thing worse.
func (a *agreement) compare(t *testing.T, r *rules.Result, p *fix.Plan, text string) {
	told := map[string]*rule.Proposal{}
	vms, plans := r.Proposals()
	for i, v := range vms {
		told[v.ID] = plans[i]
	}
	for i := range p.Changes {
		c := &p.Changes[i]
		if c.VM == nil {
			continue
		}
		plan := told[c.VM.ID]
		if plan == nil || plan.Later {
			t.Errorf("%s is changed, and has no plan: %v\n%s", c.VM.Name, c.Edits, text)
			continue
		}
		shared := 0
		for _, e := range plan.Taken() {
			if slices.ContainsFunc(c.Edits, func(o numa.Edit) bool { return o.Kind == e.Kind && o.Key == e.Key && o.To.Same(e.To) }) {
				shared++
			}
		}
		if a.plans++; shared == len(c.Edits) && shared == len(plan.Taken()) {
			a.equal++
		}
		if shared == 0 {
			t.Errorf("%s: planned %v, changed %v\n%s", c.VM.Name, plan.Taken(), c.Edits, text)
		}
	}
}

package fix_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/homenode/change/fix"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/rule"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/scenario/random"
)

// TestOnePlan holds plans of changes beside the plans that assess and explain print: a VM that is changed has one of these, they share an edit,
// and they are equal except for the few VMs whose whole plan makes another thing worse.
func TestOnePlan(t *testing.T) {
	both, equal := 0, 0
	for seed := range uint64(240) {
		of := random.Fleet
		if seed%2 > 0 {
			of = anyFleet
		}
		text := of(rand.New(rand.NewPCG(seed/2, 30)))
		f, err := scenario.Read("any", []byte(text))
		if err != nil { // two settings contradict each other
			continue
		}
		r := rules.Run(f, rules.Options{})
		if r.VMs == 0 {
			continue
		}
		told := map[string]*rule.Proposal{}
		vms, plans := r.Proposals()
		for i, v := range vms {
			told[v.ID] = plans[i]
		}
		p, err := fix.Make(t.Context(), f, fix.Options{Now: now})
		if err != nil {
			t.Fatal(err)
		}
		for i := range p.Changes {
			c := &p.Changes[i]
			if c.VM == nil {
				continue
			}
			plan := told[c.VM.ID]
			if plan == nil || plan.Later {
				t.Errorf("seed %d: %s is changed, and has no plan: %v\n%s", seed, c.VM.Name, c.Edits, text)
				continue
			}
			shared := 0
			for _, e := range plan.Taken() {
				if slices.ContainsFunc(c.Edits, func(o numa.Edit) bool { return o.Kind == e.Kind && o.Key == e.Key && o.To.Same(e.To) }) {
					shared++
				}
			}
			if both++; shared == len(c.Edits) && shared == len(plan.Taken()) {
				equal++
			}
			if shared == 0 {
				t.Errorf("seed %d: %s: planned %v, changed %v\n%s", seed, c.VM.Name, plan.Taken(), c.Edits, text)
			}
		}
	}
	if both < 300 || equal*100 < both*98 {
		t.Errorf("%d plans, %d of them as told", both, equal)
	}
}

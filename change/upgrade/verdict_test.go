package upgrade_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/change/upgrade"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/scenario/random"
)

// TestOneVerdict: a VM is worse by a finding of at least medium severity or by its layout, and no VM that gets such a finding is called unchanged, as for a what-if.
func TestOneVerdict(t *testing.T) {
	n := 0
	for seed := range uint64(150) {
		text := random.Fleet(rand.New(rand.NewPCG(seed, 7)))
		f, err := scenario.Read("any", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		r, err := upgrade.Study(t.Context(), nil, f, upgrade.Ask{Release: numa.NewRelease(9, 0, 0), Hardware: 21}, rules.Options{})
		if err != nil {
			continue // every host has that release
		}
		harmed := r.Drift.Harmed(finding.Medium)
		for i := range r.VMs {
			v := &r.VMs[i]
			serious := slices.ContainsFunc(v.New, func(text string) bool {
				return strings.HasSuffix(text, "(medium)") || strings.HasSuffix(text, "(high)")
			})
			layout := slices.ContainsFunc(v.On, func(o upgrade.On) bool { return o.After.Compare(o.Before) > 0 || o.After.Refused.Any() })
			switch {
			case v.Verdict == "worse" && !serious && !layout && !harmed[v.ID]:
				t.Errorf("seed %d: %s is worse, with %v", seed, v.Name, v.New)
			case v.Verdict == "other" && serious:
				t.Errorf("seed %d: %s is no worse, with %v", seed, v.Name, v.New)
			case v.Verdict == "worse":
				n++
			}
		}
	}
	if n < 50 {
		t.Errorf("%d VMs are worse: the fleets are broken", n)
	}
}

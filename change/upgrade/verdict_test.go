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

// TestStoredSizeUnknown: a VM that runs has a stored size, and where the source has none and it decides, its verdict is unknown.
func TestStoredSizeUnknown(t *testing.T) {
	for more, want := range map[string]string{
		"power=on": upgrade.Unknown, "": upgrade.Unknown, "power=off": "better", "power=on stored=12": "better", "power=on coresPerSocket=1": "",
	} {
		text := "release 6.0\nhost h nodes=2 cores=16 memory=256GB\nvm v host=h vcpus=24 memory=32GB hw=11 coresPerSocket=4 " + more + "\n"
		if strings.Contains(more, "coresPerSocket") {
			text = strings.Replace(text, "coresPerSocket=4 ", "", 1)
		}
		f, err := scenario.Read("any", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		r, err := upgrade.Study(t.Context(), nil, f, upgrade.Ask{Release: numa.NewRelease(6, 7, 3)}, rules.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, v := range r.VMs {
			got = v.Verdict
		}
		if got != want {
			t.Errorf("%q: %q, want %q", more, got, want)
		}
	}
}

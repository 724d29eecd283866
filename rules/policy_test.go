package rules_test

import (
	"testing"
	"time"

	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/policy"
	"example.org/homenode/rules/verdict/fleet"
	"example.org/homenode/source/scenario/given"
)

// TestThresholdIsUsed: the threshold of the configuration reaches the rule.
func TestThresholdIsUsed(t *testing.T) {
	f := given.Fleet(t, "big", []byte("release 7.0U3\nhost esx01 nodes=2 cores=18 memory=1024GB\nvm big vcpus=8 coresPerSocket=8 memory=600GB\n"))
	for share, want := range map[float64]finding.Severity{0.15: finding.High, 0.16: finding.Medium} { // 93.4 of 600 GB are remote
		p := policy.Policy{Thresholds: map[string]float64{"N005.seriousShare": share}}
		r := rules.Run(f, rules.Options{Policy: &p, Today: time.Now()})
		if len(r.Findings) != 1 || r.Findings[0].Rule != "N005" || r.Findings[0].Severity != want {
			t.Errorf("share %v: %+v, want N005 %v", share, r.Findings, want)
		}
	}
}

// TestPolicyHidesNoFact: what is accepted or switched off changes no overview of what
// the fleet is like.
func TestPolicyHidesNoFact(t *testing.T) {
	f := given.Demo(t)
	plain := rules.Run(f, rules.Options{})
	p := policy.Policy{
		Off:      map[string]bool{"N014": true},
		Suppress: []policy.Suppression{{VM: []string{"*"}, Reason: "all", Until: "2999-12-31", At: "c.yaml:1:1"}},
	}
	r := rules.Run(f, rules.Options{Policy: &p, Today: time.Now()})
	if got, want := len(r.Findings)+len(r.Suppressed)+r.Off, len(plain.Findings); got != want || r.Off == 0 || len(r.Suppressed) == 0 {
		t.Errorf("%d findings, %d suppressed, %d off; want %d together", len(r.Findings), len(r.Suppressed), r.Off, want)
	}
	a, b := fleet.Clusters(plain), fleet.Clusters(r)
	for i := range a {
		if a[i].Differing != b[i].Differing || a[i].Wide != b[i].Wide {
			t.Errorf("cluster %s: %d differ by host, under the policy %d", a[i].Name, a[i].Differing, b[i].Differing)
		}
	}
	if notes := r.SuppressedBy(); len(notes) != 1 || notes[0].At != "c.yaml:1:1" {
		t.Errorf("notes %v", notes)
	}
}

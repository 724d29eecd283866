package rules_test

import (
	"slices"
	"testing"

	"example.org/homenode/capture"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/policy"
	"example.org/homenode/source/incident"
)

const mutedNight = `
start 2026-11-02T01:00:00Z
host esx01
node 0 memory=512GB free=60GB busy=97%
node 1 memory=512GB free=60GB busy=12%
vm db01 gid=101 vcpus=8 memory=64GB homes=0 local=20GB remote=40GB ready=12%
vm web01 gid=102 vcpus=4 memory=16GB homes=0 local=15GB remote=0 ready=12%
60m end
`

// What the configuration takes away is kept apart, and so are threschecks that may.
func TestMuted(t *testing.T) {
	in, err := incident.Read("night.txt", []byte(mutedNight))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		policy policy.Policy
		muted  []string
		laxer  []string
		found  int
	}{
		{"nothing", policy.Policy{}, nil, nil, 4},
		{"off", policy.Policy{Off: map[string]bool{"M004": true}}, []string{"M004 off"}, nil, 3},
		{"lowered", policy.Policy{Severities: map[string]finding.Severity{"M009": finding.Info}}, []string{"M009 severity", "M009 severity"}, nil, 4},
		{"raised", policy.Policy{Severities: map[string]finding.Severity{"M009": finding.Medium}}, nil, nil, 4},
		{"minutes", policy.Policy{Thresholds: map[string]float64{"M004.minutes": 600}}, []string{"M004 thresholds"}, nil, 3},
		{"stricter", policy.Policy{Thresholds: map[string]float64{"M001.locality": .9, "M004.busy": .7}}, nil, nil, 4},
		{"locality", policy.Policy{Thresholds: map[string]float64{"M001.locality": .3}}, nil, []string{"M001.locality is 30 %, not 80 %"}, 4},
		{"busy", policy.Policy{Thresholds: map[string]float64{"M004.busy": 1.5}}, nil, []string{"M004.busy is 150 %, not 80 %"}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := capture.NewRecorders(rules.CaptureOptions(&tt.policy))
			if err := in.Ticks(func(k *numa.Tick) error { r.Add(k); return nil }); err != nil {
				t.Fatal(err)
			}
			w := rules.Watch(r.Recordings(), nil, rules.Options{Policy: &tt.policy})
			var muted []string
			for _, m := range w.Muted {
				muted = append(muted, m.Rule+" "+m.Why)
			}
			if !slices.Equal(muted, tt.muted) || !slices.Equal(w.Laxer, tt.laxer) || len(w.Findings) != tt.found {
				t.Errorf("muted %q, laxer %q, %d findings; want %q, %q, %d", muted, w.Laxer, len(w.Findings), tt.muted, tt.laxer, tt.found)
			}
		})
	}
}

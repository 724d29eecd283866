package rules_test

import (
	"slices"
	"testing"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/policy"
	"example.org/homenode/rules/rule"
	"example.org/homenode/source/demo"
	"example.org/homenode/source/scenario/given"
)

func ids(all []*rule.Rule) (out []string) {
	for _, one := range all {
		out = append(out, one.ID)
	}
	return out
}

// A rule without one of the counters that it names finds nothing in the demo, where every
// rule fires, and the recording says that the counter is lacking.
func TestNeeds(t *testing.T) {
	fleet := given.Demo(t)
	judged := rules.Run(fleet, rules.Options{})
	for counter, without := range map[string]func(*numa.Tick){
		"Numa Local Memory MBytes":   func(k *numa.Tick) { vms(k, func(v *numa.VMTick) { v.Has &^= numa.HasMemory }) },
		"Numa Home Nodes":            func(k *numa.Tick) { vms(k, func(v *numa.VMTick) { v.Has &^= numa.HasHomes }) },
		"Numa Rebalance Count Delta": func(k *numa.Tick) { vms(k, func(v *numa.VMTick) { v.Has &^= numa.HasMoves }) },
		"Numa % Local":               func(k *numa.Tick) { vms(k, func(v *numa.VMTick) { v.Has &^= numa.HasPercent }) },
		"% Ready":                    func(k *numa.Tick) { vms(k, func(v *numa.VMTick) { v.Has &^= numa.HasReady }) },
		"GST_NDx":                    func(k *numa.Tick) { vms(k, func(v *numa.VMTick) { v.OnNode = nil }) },
		"Numa Node % Util Time":      func(k *numa.Tick) { nodes(k, numa.HasCore|numa.HasUtil|numa.HasUsed) },
		"Numa Node Free MBytes":      func(k *numa.Tick) { nodes(k, numa.HasFree) },
		"Kernel State":               func(k *numa.Tick) { k.Has &^= numa.HasState },
	} {
		night, err := demo.Capture()
		if err != nil {
			t.Fatal(err)
		}
		r := capture.NewRecorders(rules.CaptureOptions(nil))
		if err := night.Ticks(func(k *numa.Tick) error { without(k); r.Add(k); return nil }); err != nil {
			t.Fatal(err)
		}
		w := rules.Watch(r.Recordings(), judged, rules.Options{})
		var want []string
		for _, one := range rules.All {
			if !slices.Contains(one.Needs, counter) {
				continue
			}
			want = append(want, one.ID)
			for _, f := range w.Findings {
				if f.Rule == one.ID {
					t.Errorf("%s finds something without %s: %s", one.ID, counter, f.Message)
				}
			}
		}
		for _, rec := range w.Recordings {
			if !slices.Contains(rec.Lacks, counter) {
				t.Errorf("%s lacks %q, want %s among them", rec.Host, rec.Lacks, counter)
			}
			for _, id := range want {
				if got := ids(rules.Blind(rec)); !slices.Contains(got, id) {
					t.Errorf("%s without %s: blind are %v, want %s among them", rec.Host, counter, got, id)
				}
			}
		}
		if len(want) == 0 {
			t.Errorf("no rule needs %s", counter)
		}
	}
}

func vms(k *numa.Tick, change func(*numa.VMTick)) {
	for i := range k.VMs {
		change(&k.VMs[i])
	}
}

func nodes(k *numa.Tick, not numa.Counters) {
	for i := range k.Nodes {
		k.Nodes[i].Has &^= not
	}
}

func TestTooShort(t *testing.T) {
	set := &policy.Policy{Thresholds: map[string]float64{"M001.minutes": 0.5, "M004.minutes": 20}}
	for _, tt := range []struct {
		covered time.Duration
		policy  *policy.Policy
		want    []string
	}{
		{10 * time.Second, nil, []string{"M001", "M004", "M005", "M009", "M010", "M011", "M012"}},
		{5 * time.Minute, nil, []string{"M005", "M010"}},
		{15 * time.Minute, nil, nil},
		{time.Minute, set, []string{"M004", "M005", "M009", "M010", "M011", "M012"}},
		{15 * time.Minute, set, []string{"M004"}},
	} {
		w := &rules.Watched{}
		w.Policy = tt.policy
		if got := ids(w.TooShort(&capture.Recording{Covered: tt.covered})); !slices.Equal(got, tt.want) {
			t.Errorf("%v: %v, want %v", tt.covered, got, tt.want)
		}
	}
}

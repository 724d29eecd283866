package rules_test

import (
	"slices"
	"testing"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/internal/testdeps"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/check/lowlocality"
	"example.org/homenode/rules/check/migrationstorm"
	"example.org/homenode/rules/policy"
	"example.org/homenode/rules/rule"
	"example.org/homenode/source/incident"
)

// TestCaptureOptions checks the defaults, which the pages of the rules state, and that a
// configuration changes them.
func TestCaptureOptions(t *testing.T) {
	want := capture.Options{
		Locality: 0.8, Remote: 4 * numa.GiB, BusyNode: 0.8, IdleNode: 0.2, Ready: 0.1,
		SpillFree: 12 * numa.GiB, SpillStep: 128 * numa.MiB, Lopsided: 0.65,
		Window: 10 * time.Minute, Gap: 6 * time.Minute, Buckets: 512,
	}
	if got := rules.CaptureOptions(nil); got != want {
		t.Errorf("CaptureOptions(nil) = %+v\nwant %+v", got, want)
	}
	p, err := policy.Parse("homenode.yaml", []byte("thresholds: {M001.locality: 90 %, M005.remote: 16 GB, M002.window: 5 min, M001.minutes: 1}"), rules.All)
	if err != nil {
		t.Fatal(err)
	}
	want.Locality, want.Remote, want.Window = 0.9, 16*numa.GiB, 5*time.Minute
	if got := rules.CaptureOptions(p); got != want {
		t.Errorf("CaptureOptions() = %+v\nwant %+v", got, want)
	}
}

// TestConfiguredWatch: a threshold of the configuration decides, and the evidence says
// where it is from.
func TestConfiguredWatch(t *testing.T) {
	p, err := policy.Parse("homenode.yaml", []byte("thresholds: {M001.locality: 85 %, M001.minutes: 30 min}"), rules.All)
	if err != nil {
		t.Fatal(err)
	}
	in := testdeps.Input(t, "check/lowlocality/testdata/fires.txtar", incident.Read)
	recorders := capture.NewRecorders(rules.CaptureOptions(p))
	if err := in.Ticks(func(tick *numa.Tick) error { recorders.Add(tick); return nil }); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range rules.Watch(recorders.Recordings(), nil, rules.Options{Policy: p}).Findings {
		if f.Rule == "M001" {
			e := f.Evidence[0]
			got = append(got, f.VM+": "+e.Name+" = "+e.Value+", "+e.Origin)
		}
	}
	// app01 was low for 19 minutes only.
	want := []string{
		"big01: threshold M001.locality = 85 %, read: configuration",
		"new01: threshold M001.locality = 85 %, read: configuration",
		"db01: threshold M001.locality = 85 %, read: configuration",
		"idle01: threshold M001.locality = 85 %, read: configuration",
	}
	if !slices.Equal(got, want) {
		t.Errorf("findings %q, want %q", got, want)
	}
}

// TestSharedDefaults: what two rules ask for is the default of the one that has it.
func TestSharedDefaults(t *testing.T) {
	for _, one := range []struct {
		rule *rule.Rule
		name string
		want float64
	}{{lowlocality.Rule, "locality", rule.LowLocality}, {lowlocality.Rule, "remote", rule.LowRemote}, {lowlocality.Rule, "minutes", rule.LowMinutes}, {migrationstorm.Rule, "perMinute", rule.MovesPerMinute}} {
		if got := one.rule.Named(one.name).Default; got != one.want {
			t.Errorf("%s.%s is %v by default, want %v", one.rule.ID, one.name, got, one.want)
		}
	}
}

package rules_test

import (
	"testing"
	"time"

	"homenode/capture"
	"homenode/numa"
	"homenode/policy"
	"homenode/rules"
)

// TestCaptureOptions holds the defaults, which the pages of the rules state, and that a
// configuration changes them.
func TestCaptureOptions(t *testing.T) {
	want := capture.Options{
		Locality: 0.8, Remote: 4 * numa.GiB, BusyNode: 0.8, IdleNode: 0.2, Ready: 0.1,
		SpillFree: 12 * numa.GiB, SpillStep: 128 * numa.MiB, Lopsided: 0.9,
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

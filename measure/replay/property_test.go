package replay_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"example.org/homenode/measure/replay"
	"example.org/homenode/numa"
	"example.org/homenode/source/story"
)

// randomStory writes a story: without noise, changes and contention when it is quiet.
func randomStory(r *rand.Rand, quiet bool) string {
	var b strings.Builder
	nodes := 1 << (1 + r.IntN(2))
	fmt.Fprintf(&b, "release %s\ncluster c\nhost esx nodes=%d cores=%d memory=%dGB\n", []string{"6.7", "7.0U3", "8.0U3"}[r.IntN(3)], nodes, 12+r.IntN(5), 128*nodes)
	vms := 2 * nodes
	if !quiet {
		vms = nodes * (4 + r.IntN(6))
	}
	for i := range vms {
		fmt.Fprintf(&b, "vm vm%d host=esx vcpus=%d memory=%dGB\n", i, 1+r.IntN(12), 4+r.IntN(16))
	}
	fmt.Fprintf(&b, "run 3h every=20s start=2026-03-02T07:00:00Z seed=%d\nused esx node=* memory=%dGB\n", r.Uint32(), 2+r.IntN(4))
	for i := range vms {
		if quiet {
			fmt.Fprintf(&b, "load vm%d cpu=%d..%d%% active=%d%% memory=%d%%\n", i, r.IntN(20), 20+r.IntN(20), r.IntN(100), 20+r.IntN(80))
		} else {
			fmt.Fprintf(&b, "load vm%d cpu=%d..%d%% noise=%d%% active=%d%% memory=%d%%\n", i, r.IntN(30), 30+r.IntN(70), r.IntN(30), r.IntN(100), 20+r.IntN(80))
		}
	}
	return b.String()
}

// TestQuiet checks that a story in which nothing moves replays without any error.
func TestQuiet(t *testing.T) {
	quiet := 0
	for seed := range uint64(60) {
		text := randomStory(rand.New(rand.NewPCG(seed, 1)), true)
		s, err := story.Read("random", []byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for _, res := range results(t, recorded(t, s, 0), s.Fleet) {
			if moved := res.Totals[replay.NHN].Persisted + res.Totals[replay.NRMEM].Persisted + res.Totals[replay.NMIG].Observed; moved > 0 {
				continue
			}
			quiet++
			for _, c := range replay.Counters() {
				if e := &res.Totals[c]; e.Missed != 0 || e.Compared == 0 {
					t.Errorf("seed %d: %s: error of %g over %d\n%s", seed, c, e.Missed, e.Compared, text)
				}
			}
		}
	}
	if quiet < 40 {
		t.Errorf("nothing moves in %d of 60 stories, want most", quiet)
	}
}

// TestBusy checks that a story with noise and contention, of which the ticks tell all that
// the simulation begins with, replays without error as well: the same balancer does the same.
func TestBusy(t *testing.T) {
	moved := 0.0
	for seed := range uint64(30) {
		text := randomStory(rand.New(rand.NewPCG(seed, 2)), false)
		s, err := story.Read("random", []byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for _, res := range results(t, recorded(t, s, 0), s.Fleet) {
			moved += res.Totals[replay.NMIG].Observed
			for _, c := range replay.Counters() {
				if e := &res.Totals[c]; e.Missed > 1e-9*math.Max(1, e.Observed) || e.Compared == 0 {
					t.Errorf("seed %d: %s: error of %g over %d, observed %g", seed, c, e.Missed, e.Compared, e.Observed)
				}
			}
		}
	}
	if moved < 100 {
		t.Errorf("%g migrations in all stories: too few to tell", moved)
	}
}

// TestThin checks that a recorder that may keep little sees the same migrations and the
// same mean of ready time, at fewer moments.
func TestThin(t *testing.T) {
	text := randomStory(rand.New(rand.NewPCG(3, 2)), false)
	s, err := story.Read("random", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	full := results(t, recorded(t, s, 0), s.Fleet)[0]
	thin := results(t, recorded(t, s, 1000), s.Fleet)[0]
	if full.Moments != 540 || full.Window != 20*time.Second {
		t.Errorf("%d moments of %s, want 540 of 20s", full.Moments, full.Window)
	}
	if kept := thin.Moments * len(s.Fleet.VMs); kept > 1000 || kept < 400 || thin.Window != thin.End.Sub(thin.Start)/time.Duration(thin.Moments)/time.Second*time.Second && thin.Window <= 20*time.Second {
		t.Errorf("%d moments of %s of %d VMs, want at most 1000 states", thin.Moments, thin.Window, len(s.Fleet.VMs))
	}
	if a, b := full.Totals[replay.NMIG].Observed, thin.Totals[replay.NMIG].Observed; a != b || a == 0 {
		t.Errorf("%g migrations of all ticks, %g when thinned", a, b)
	}
	mean := func(r *replay.Result) float64 {
		e := &r.Totals[replay.Ready]
		return e.Observed / float64(r.Moments)
	}
	if a, b := mean(full), mean(thin); math.Abs(a-b) > a/20 || a == 0 {
		t.Errorf("ready of %g of all ticks, %g when thinned", a, b)
	}
	for i := range full.Story.Loads {
		if a, b := len(full.Story.Loads[i].Load.CPU.Points), len(thin.Story.Loads[i].Load.CPU.Points); b > 2*thin.Moments || a < b {
			t.Errorf("VM %d: %d points of %d moments, %d of all", i, b, thin.Moments, a)
		}
	}
}

// TestCancelled checks that a replay ends with its context.
func TestCancelled(t *testing.T) {
	s, err := story.Read("random", []byte(randomStory(rand.New(rand.NewPCG(3, 2)), false)))
	if err != nil {
		t.Fatal(err)
	}
	r := recorded(t, s, 0)[0]
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := replay.Run(ctx, r, replay.Options{Fleet: s.Fleet, Unstated: numa.Fact[numa.Load]{}}); err != context.Canceled {
		t.Errorf("Run = %v, want context.Canceled", err)
	}
}

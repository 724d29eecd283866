package ask_test

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"example.org/homenode/ask"
	"example.org/homenode/ask/recording"
	"example.org/homenode/internal/golden"
	"example.org/homenode/output/format"
	"example.org/homenode/rules/verdict/simulation"
	"example.org/homenode/source/open"
)

// TestWithoutEvent: a simulation with a failure compares itself with the same hours without it, and these counts are those of a simulation that
// was asked without the failure.
func TestWithoutEvent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "two.txtar")
	golden.Write(t, path, []byte("release 8.0\ncluster c\nhost esx[1-2] nodes=2 cores=8 memory=64GB\nvm a[1-2] host=esx1 vcpus=4 memory=28GB\nvm b[1-2] host=esx2 vcpus=4 memory=28GB\nrun 2h seed=3\n"))
	type answered struct {
		Verdict []string
		Result  struct {
			Harmed  simulation.Harm
			Without *simulation.Without
		}
	}
	about := func(q *recording.Simulate) (a answered) {
		t.Helper()
		reply, err := ask.Named(recording.Entries, "simulate").Answer(t.Context(), q, &ask.Env{Open: open.Fleet, Today: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := format.Write(&text, "json", reply.Answers[0], reply.Form); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(text.String()), &a); err != nil {
			t.Fatal(err)
		}
		return a
	}
	calm := about(&recording.Simulate{FailOn: "high", Scenario: path, Play: ask.Play{At: []string{"run 2h seed=5"}}})
	failed := about(&recording.Simulate{FailOn: "high", Scenario: path, Play: ask.Play{At: []string{"run 2h seed=5", "1h fail esx2"}}})
	if calm.Result.Without != nil || len(calm.Verdict) > 2 {
		t.Errorf("without events there is nothing to compare: %q", calm.Verdict)
	}
	if calm.Result.Harmed.Short != 0 || failed.Result.Harmed.Short != 4 {
		t.Fatalf("VMs short of memory: %d of two hosts and %d of one, want 0 and 4: four VMs of 28 GB on 64 GB", calm.Result.Harmed.Short, failed.Result.Harmed.Short)
	}
	if w := failed.Result.Without; w == nil || !reflect.DeepEqual(*w, simulation.Without{Changes: []string{"1h fail esx2"}, Harm: calm.Result.Harmed}) {
		t.Errorf("without the failure %+v, want %+v", w, calm.Result.Harmed)
	}
	if want := "The same time without “1h fail esx2”: 0 instead of 2 VMs lose locality, 0 instead of 4 VMs have memory swapped or ballooned"; !strings.HasPrefix(failed.Verdict[1], want) {
		t.Errorf("%q, want %q", failed.Verdict[1], want)
	}
	added := about(&recording.Simulate{FailOn: "high", Scenario: path, Play: ask.Play{At: []string{"1h fail esx3"}, WhatIfs: []string{"add-host=2x8c/64GB count=1 name=esx3"}, Loads: []string{"* cpu=5%"}}})
	if w := added.Result.Without; w == nil || len(w.Changes) != 2 || w.Harm.Short != 0 {
		t.Errorf("of a host that the change adds: %+v", w)
	}
}

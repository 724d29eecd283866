package capture

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"homenode/numa"
)

// record returns the Recording of ticks. The first half of them, by line, comes from a.csv,
// the others from b.csv.
func record(o Options, half int, ticks []*numa.Tick) *Recording {
	r := NewRecorder(o)
	for i, t := range ticks {
		switch {
		case t.Line <= half && i == 0:
			r.Open("a.csv", "esxtop batch CSV")
		case t.Line > half && (i == 0 || ticks[i-1].Line <= half):
			r.Open("b.csv", "esxtop batch CSV")
		}
		r.Add(t)
	}
	return r.Recording()
}

func merge(t *testing.T, parts ...*Recording) *Recording {
	t.Helper()
	merged, notes, err := Merge(parts)
	if err != nil || len(notes) > 0 || len(merged) != 1 {
		t.Fatalf("Merge() = %d recordings, %v, %v; want 1, no notes and no error", len(merged), notes, err)
	}
	return merged[0]
}

func same(t *testing.T, what string, got, want *Recording) {
	t.Helper()
	if reflect.DeepEqual(got, want) {
		return
	}
	g, _ := json.MarshalIndent(got, "", " ")
	w, _ := json.MarshalIndent(want, "", " ")
	lines, wants := strings.Split(string(g), "\n"), strings.Split(string(w), "\n")
	for i := range wants {
		if i < len(lines) && lines[i] != wants[i] {
			t.Fatalf("%s: line %d after %q: found %s, want %s", what, i+1, wants[max(0, i-12):i], lines[i], wants[i])
		}
	}
	t.Fatalf("%s: not equal, though it prints as wanted", what)
}

// A stretch that is cut at any tick and merged is the whole one.
func TestMergeCuts(t *testing.T) {
	const n = 60
	for seed := range uint64(12) {
		all := newWorld(seed).ticks(n)
		want := record(tight, n/2, all)
		for cut := 1; cut < n; cut++ {
			same(t, "two parts", merge(t, record(tight, n/2, all[cut:]), record(tight, n/2, all[:cut])), want)
		}
	}
}

// Neither the number of parts nor their grouping matters.
func TestMergeGroupings(t *testing.T) {
	const n = 60
	for seed := range uint64(40) {
		all := newWorld(100 + seed).ticks(n)
		want := record(tight, n/2, all)
		rnd := rand.New(rand.NewPCG(seed, 5))
		var parts []*Recording
		for from := 0; from < n; {
			to := min(n, from+1+rnd.IntN(1+rnd.IntN(12)))
			parts = append(parts, record(tight, n/2, all[from:to]))
			from = to
		}
		same(t, "all at once", merge(t, parts...), want)
		// Two neighbours at a time, in random places.
		for len(parts) > 1 {
			i := rnd.IntN(len(parts) - 1)
			parts[i] = merge(t, parts[i+1], parts[i])
			parts = append(parts[:i+1], parts[i+2:]...)
		}
		same(t, "by pairs", parts[0], want)
	}
}

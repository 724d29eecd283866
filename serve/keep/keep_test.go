package keep

import (
	"slices"
	"testing"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/serve/board"
)

// TestRenamed gives a host another name, and then another cluster: samples have them at once, and the series before end.
func TestRenamed(t *testing.T) {
	k := New(nil)
	now := time.Now()
	take := func(name, cluster string) {
		now = now.Add(time.Minute)
		k.Take(&board.Host{VCenter: "vc", ID: "host-1", Name: name, Cluster: cluster, Tick: numa.Tick{Host: name, Time: now, Has: numa.HasFree, Free: numa.GiB}})
	}
	take("esx1", "c")
	take("esx2", "c")
	take("esx2", "d")
	of := map[string]int{}
	for i, b := range k.waiting {
		for _, s := range b.samples {
			what := "goes on"
			if s.number != s.number { // store.Stale
				what = "ends"
			}
			for _, label := range []string{"esx1", "esx2", "c", "d"} {
				if slices.Contains(s.labels, label) {
					what += " " + label
				}
			}
			of[string(rune('0'+i))+" "+what]++
		}
	}
	n := of["0 goes on esx1 c"]
	for _, want := range []string{"0 goes on esx1 c", "1 ends esx1 c", "1 goes on esx2 c", "2 ends esx2 c", "2 goes on esx2 d"} {
		if n == 0 || of[want] != n {
			t.Errorf("%s: %d, want %d of %v", want, of[want], n, of)
		}
	}
	if len(of) != 5 {
		t.Errorf("found %v", of)
	}
}

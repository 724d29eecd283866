package simulate_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/rules/simulate"
	"example.org/homenode/source/demo"
	"example.org/homenode/source/story"
)

// TestDemo checks that the demo story is judged, and that its faults are found by the
// rules that judge captures.
func TestDemo(t *testing.T) {
	s, err := demo.Story()
	if err != nil {
		t.Fatal(err)
	}
	r, err := simulate.Run(context.Background(), s, simulate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var fired []string
	for _, f := range r.Watched.Findings {
		if !slices.Contains(fired, f.Rule) {
			fired = append(fired, f.Rule)
		}
	}
	for _, id := range []string{"M001", "M002", "M005", "M008"} {
		if !slices.Contains(fired, id) {
			t.Errorf("rules %v fired, want %s among them", fired, id)
		}
	}
	ran := map[string]bool{} // by ID of the VM
	for _, e := range s.Events {
		ran[e.VM] = ran[e.VM] || e.Kind == numa.PowerOn
	}
	for i := range r.Speeds {
		v, p := &s.Fleet.VMs[i], &r.Speeds[i]
		if p.Known() != (ran[v.ID] || v.Power.Value == numa.PoweredOn) || p.Low > p.Mean || p.Mean > p.High || p.Worst > p.Mean {
			t.Errorf("%s, %s at first: speed %+v", v.Name, v.Power.Value, *p)
		}
	}
}

// TestNoWaitKnown checks that the start, of which it is unknown how long VMs wait, has no
// speed: not that of a VM that never waits.
func TestNoWaitKnown(t *testing.T) {
	const text = "release 7.0\nhost h nodes=2 cores=4 nodeMemory=64GB\nvm a vcpus=4 memory=8GB\nvm b vcpus=4 memory=8GB\nvm c vcpus=4 memory=8GB\nload * cpu=100%%\nrun 1h every=%s\n"
	for _, tt := range []struct {
		every string
		known bool
	}{{"20s", true}, {"48h", false}} {
		s, err := story.Read("test", fmt.Appendf(nil, text, tt.every))
		if err != nil {
			t.Fatal(err)
		}
		r, err := simulate.Run(context.Background(), s, simulate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Speeds {
			p := &r.Speeds[i]
			if p.Known() != tt.known {
				t.Errorf("every %s: %s has a speed: %t, want %t", tt.every, s.Fleet.VMs[i].Name, p.Known(), tt.known)
			}
			for _, x := range p.Points {
				if x.Time.Equal(s.Start) {
					t.Errorf("every %s: %s has a speed at the start", tt.every, s.Fleet.VMs[i].Name)
				}
			}
		}
	}
}

// TestSwappedIsNotPriced checks that a VM without room for its memory has no performance
// index, and that one beside it has.
func TestSwappedIsNotPriced(t *testing.T) {
	s, err := story.Read("full.txtar", []byte(`release 8.0
host esx01 nodes=2 cores=8 memory=64GB
vm big vcpus=4 memory=60GB host=esx01
vm late vcpus=4 memory=32GB host=esx01 power=off
run 1h
load * cpu=20%
at 30m power-on late
`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := simulate.Run(context.Background(), s, simulate.Options{Prices: 12})
	if err != nil {
		t.Fatal(err)
	}
	late := &r.Speeds[1]
	if late.Known() || late.Unpriced != 6 || late.Swapped < 5*numa.GiB {
		t.Errorf("late: %d moments priced, %d not, %s swapped; want 0, 6 and more than 5 GB: its part of the idle memory", len(late.Points), late.Unpriced, late.Swapped)
	}
	if big := &r.Speeds[0]; len(big.Points) == 0 {
		t.Error("big has no price, though it had its memory for half an hour")
	}
}

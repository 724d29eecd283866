package simulate_test

import (
	"context"
	"slices"
	"testing"

	"homenode/simulate"
	"homenode/source/demo"
)

// TestDemo holds that the demo story is judged, and that its faults are found by the
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
	for i := range r.Speeds {
		if p := &r.Speeds[i]; !p.Known() || p.Low > p.Mean || p.Mean > p.High || p.Worst > p.Mean {
			t.Errorf("%s: speed %+v", s.Fleet.VMs[i].Name, *p)
		}
	}
}

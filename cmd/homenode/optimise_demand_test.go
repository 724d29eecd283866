package main

import (
	"testing"

	"homenode/numa"
)

// TestDemandIn holds that the proposal reckons with the most that a VM asks for, also
// where it is recorded.
func TestDemandIn(t *testing.T) {
	s := &numa.Story{Loads: []numa.VMLoad{
		{VM: "curve", Load: numa.Load{CPU: numa.Demand{Low: 0.25, High: 0.5, Noise: 0.25}}},
		{VM: "recorded", Load: numa.Load{CPU: numa.Demand{Points: []numa.DemandPoint{{Share: 0.5}, {At: numa.Draw, Share: 0.75}, {At: 2 * numa.Draw, Share: 0.25}}}}},
	}}
	for id, want := range map[string]float64{"curve": 0.75, "recorded": 0.75} {
		if got, _ := demandIn(s)(&numa.VM{ID: id}); got != want {
			t.Errorf("demand of %s = %v, want %v", id, got, want)
		}
	}
}

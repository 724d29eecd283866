package propose

import (
	"testing"
	"time"

	"example.org/homenode/numa"
)

// TestDemandIn checks that the proposal reckons with the most that a VM asks for, also
// where it is recorded.
func TestDemandIn(t *testing.T) {
	s := &numa.Story{Length: 24 * time.Hour, Loads: []numa.VMLoad{
		{VM: "curve", Load: numa.Load{CPU: numa.Demand{Low: 0.25, High: 0.5, Noise: 0.25}}},
		{VM: "recorded", Load: numa.Load{CPU: numa.Demand{Points: []numa.DemandPoint{{Share: 0.5}, {At: numa.Draw, Share: 0.75}, {At: 2 * numa.Draw, Share: 0.25}}}}},
	}}
	for id, want := range map[string]float64{"curve": 0.75, "recorded": 0.75} {
		if got, _ := demandIn(s)(&numa.VM{ID: id}); got != want {
			t.Errorf("demand of %s = %v, want %v", id, got, want)
		}
	}
}

// TestDemandInStory checks that only what lies within the run counts, changes of load too.
func TestDemandInStory(t *testing.T) {
	at := func(share float64) *numa.Load { return &numa.Load{CPU: numa.Demand{Low: share, High: share}} }
	office := numa.Load{CPU: numa.Demand{Low: 0.25, High: 0.75, Peak: 12 * time.Hour}}
	s := &numa.Story{
		Start: time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC), Length: 6 * time.Hour, Unstated: numa.AssumedFor(office, "test"),
		Loads: []numa.VMLoad{{VM: "less", Load: *at(0.5)}, {VM: "at once", Load: *at(1)}},
		Events: []numa.Event{
			{At: 0, Kind: numa.LoadChange, VM: "at once", Load: at(0.125)},
			{At: time.Hour, Kind: numa.LoadChange, VM: "less", Load: at(0.25)},
			{At: 2 * time.Hour, Kind: numa.LoadChange, VM: "more", Load: at(0.875)},
		},
	}
	for id, want := range map[string]float64{"less": 0.5, "more": 0.875, "at once": 0.125, "unstated": 0.5} {
		if got, _ := demandIn(s)(&numa.VM{ID: id}); got != want {
			t.Errorf("demand of %s = %v, want %v", id, got, want)
		}
	}
}

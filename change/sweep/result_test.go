package sweep

import (
	"fmt"
	"strings"
	"testing"

	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/numa"
)

// madeUp returns a measured result with a record for each point of two dimensions of two
// values; nil is one that failed.
func madeUp(all ...*Sums) *Result {
	p := &Plan{Story: &numa.Story{Length: 10 * numa.Step}, Seeds: []uint64{1}, Dimensions: []Dimension{
		{Name: "a", Values: []Value{{Label: "1"}, {Label: "2"}}}, {Name: "b", Values: []Value{{Label: "x"}, {Label: "y"}}}}}
	r := &Result{Plan: p}
	for i, at := range p.Points() {
		pt := PointResult{Point: at, Runs: []RunResult{{Failed: "why"}}}
		if all[i] != nil {
			pt.Runs[0] = RunResult{Record: &Record{Fleet: *all[i]}}
		}
		r.Points = append(r.Points, pt)
	}
	r.measure()
	return r
}

func sums(steps, speed, local, remote, ready int64) *Sums {
	return &Sums{VMOutcome: scheduler.VMOutcome{Steps: steps, Local: local, Remote: remote, Ready: ready, Demand: 1000}, Ran: 1, Priced: 1, Speed: speed}
}

// swapping has so many GB of swapped memory, and is faster the more it has.
func swapping(gb int64) *Sums {
	s := sums(10, gb*100_000, 1, 1, 0)
	s.Swapped = gb << 18 * 1_000_000
	return s
}

func TestRank(t *testing.T) {
	today := sums(10, 500_000, 1, 1, 0)
	for _, tt := range []struct {
		name        string
		points      [4]*Sums
		best, worst int
	}{
		{"by speed", [4]*Sums{sums(10, 900_000, 1, 1, 0), sums(10, 900_001, 1, 9, 9), sums(10, 1, 1, 0, 0), sums(10, 2, 1, 0, 0)}, 2, 3},
		{"more VMs run", [4]*Sums{sums(10, 1, 0, 1, 9), sums(9, 900_000, 1, 0, 0), sums(8, 900_000, 1, 0, 0), sums(9, 1, 1, 1, 1)}, 1, 3},
		{"by locality, then ready", [4]*Sums{sums(10, 5, 1, 1, 7), sums(10, 5, 1, 1, 6), sums(10, 5, 1, 2, 0), sums(10, 5, 1, 1, 8)}, 2, 3},
		{"failed ones are neither", [4]*Sums{nil, sums(10, 5, 1, 1, 0), sums(10, 6, 1, 1, 0), nil}, 3, 2},
		{"all alike", [4]*Sums{sums(10, 5, 1, 1, 0), sums(10, 5, 2, 2, 0), sums(10, 5, 1, 1, 0), nil}, -1, -1},
		{"ties go to the first", [4]*Sums{sums(10, 5, 1, 1, 0), sums(10, 6, 1, 1, 0), sums(10, 6, 1, 1, 0), sums(10, 5, 1, 1, 0)}, 2, 1},
		{"less swapped memory is better than speed", [4]*Sums{swapping(9), swapping(7), sums(10, 5, 1, 1, 0), swapping(8)}, 3, 1},
		{"none", [4]*Sums{}, -1, -1},
	} {
		r := madeUp(append([]*Sums{today}, tt.points[:]...)...)
		if r.Best != tt.best || r.Worst != tt.worst {
			t.Errorf("%s: best %d, worst %d; want %d and %d", tt.name, r.Best, r.Worst, tt.best, tt.worst)
		}
	}
}

// TestEffects checks the mean of a value over the points that have it.
func TestEffects(t *testing.T) {
	r := madeUp(sums(10, 0, 1, 1, 0), sums(10, 800_000, 3, 1, 0), sums(10, 600_000, 1, 1, 0), nil, sums(10, 100_000, 1, 3, 0))
	var got strings.Builder
	for _, e := range r.Effects {
		fmt.Fprintf(&got, "%s=%s of %d/%d: speed %.2f N%%L %.3f\n", e.Dimension, e.Value, e.Points, e.Of, e.Mean[Speed].Mean, e.Mean[Locality].Mean)
	}
	const want = `a=1 of 2/2: speed 0.70 N%L 0.625
a=2 of 1/2: speed 0.10 N%L 0.250
b=x of 1/2: speed 0.80 N%L 0.750
b=y of 2/2: speed 0.35 N%L 0.375
`
	if got.String() != want {
		t.Errorf("effects\n%swant\n%s", got.String(), want)
	}
}

// TestMeasures checks each measure of one record.
func TestMeasures(t *testing.T) {
	p := &Plan{Story: &numa.Story{Length: 10 * numa.Step}}
	rec := &Record{Fleet: Sums{
		VMOutcome: scheduler.VMOutcome{Steps: 1800, Local: 30, Remote: 10, Far: 10, Swapped: 20, Demand: 400_000, Ready: 4000, CoStop: 2000, Moves: numa.Moves{All: 7}},
		Priced:    2, Speed: 1_500_000, SpeedLow: 1_400_000, SpeedHigh: 1_600_000, Worst: 250_000},
		Findings: []RuleCount{{"M001", "high", 2}, {"M002", "info", 3}}}
	want := []string{"vmHours 1", "asked 4", "speed 0.75", "speedLow 0.7", "speedHigh 0.8", "worst 0.25", "locality 0.75", "remote 4096", "far 0.25", "ready 0.01", "coStop 0.005", "swapped 8192", "migrations 7", "findings 5"}
	var got, unknown []string
	for _, m := range Measures {
		v, ok := m.of(rec, p)
		if !ok {
			t.Errorf("%s is unknown", m.Key)
		}
		got = append(got, fmt.Sprintf("%s %g", m.Key, v))
		if _, ok := m.of(&Record{}, p); !ok {
			unknown = append(unknown, m.Key)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	if want := "[speed speedLow speedHigh worst locality far ready coStop]"; fmt.Sprint(unknown) != want {
		t.Errorf("of nothing %v are unknown, want %s", unknown, want)
	}
	if n, m := rec.AtLeast(1), rec.AtLeast(0); n != 2 || m != 5 {
		t.Errorf("%d findings from low on and %d in all, want 2 and 5", n, m)
	}
}

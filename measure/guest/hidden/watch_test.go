package hidden

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"example.org/homenode/source/measured"
)

// A watched is a simulated guest that is watched from four vCPUs.
type watched struct {
	rec  *recording
	rng  *rand.Rand
	own  []int // which page of the recording each is
	vcpu []int // nodes
	page []int
	base float64
	step float64      // ns
	load func(s *sim) // changes a round; nil for nothing
}

func newWatched(rec *recording, seed uint64, pages int, share float64) *watched {
	w := &watched{rec: rec, rng: rand.New(rand.NewPCG(seed, 1)), vcpu: []int{0, 0, 1, 1}, page: make([]int, pages), step: 55}
	for i := range w.page {
		w.own = append(w.own, w.rng.IntN(len(w.rec.own)))
		if w.rng.Float64() < share {
			w.page[i] = 1
		}
	}
	return w
}

// round measures every page 8 times from every vCPU.
func (w *watched) round(n int) *Round {
	s := &sim{Probes: &Probes{Pages: make([]Page, len(w.page))}, rng: w.rng, vcpu: w.vcpu, page: w.page}
	starts, cpu := make([]int, len(w.vcpu)), make([]int, len(w.vcpu))
	for v := range w.vcpu {
		s.CPUs = append(s.CPUs, v)
		starts[v], cpu[v] = w.rng.IntN(len(w.rec.noise)), w.rng.IntN(2)
	}
	for r := range LeastRounds {
		round, at, core := make([][]float64, len(w.vcpu)), make([]float64, len(w.vcpu)), make([]float64, len(w.vcpu))
		for v, node := range w.vcpu {
			noise := w.rec.noise[(starts[v]+r)%len(w.rec.noise)][cpu[v]]
			shift := w.rng.IntN(len(noise))
			at[v] = float64(r*len(w.vcpu)+v) * 5e-6 * float64(len(w.page))
			round[v] = make([]float64, len(w.page))
			for i, on := range w.page {
				round[v][i] = noise[(w.own[i]+shift)%len(noise)] + w.rec.own[w.own[i]] + w.base + w.step*float64(btoi(on != node))
				if w.rng.Float64() < 0.01 {
					round[v][i] = math.NaN()
				}
			}
		}
		s.NS, s.At, s.Core = append(s.NS, round), append(s.At, at), append(s.Core, core)
	}
	if w.load != nil {
		w.load(s)
	}
	return &Round{At: time.Unix(int64(60*n), 0), Model: "EPYC", CounterHz: 2.6e9 * (1 + 1e-6*w.rng.NormFloat64()), CoreHz: 3.7e9, Gap: time.Millisecond,
		NS: s.Latencies()}
}

// run adds rounds until something changes, and keeps the state as JSON between them.
func (w *watched) run(t *testing.T, watch *Watch, from, rounds int) ([]measured.WatchChange, *Watch, int) {
	t.Helper()
	for n := range rounds {
		changes := watch.Add(w.round(from + n))
		b, err := json.Marshal(watch)
		if err != nil {
			t.Fatal(err)
		}
		watch = new(Watch)
		if err := json.Unmarshal(b, watch); err != nil {
			t.Fatal(err)
		}
		if len(changes) > 0 {
			return changes, watch, n + 1
		}
	}
	return nil, watch, rounds
}

func TestWatch(t *testing.T) {
	for _, tt := range []struct {
		name   string
		share  float64
		change func(w *watched)
		what   string // "" for nothing
		cpus   int
		within int // rounds
	}{
		{"nothing", 0.3, func(*watched) {}, "", 0, 60},
		{"all is 20 ns slower: load", 0.3, func(w *watched) { w.base += 20 }, "", 0, 60},
		{"a tenth of the pages moves", 0.3, func(w *watched) {
			for i := range len(w.page) / 10 {
				w.page[i] = 1 - w.page[i]
			}
		}, PagesMoved, 0, 3},
		{"4 of 256 pages move", 0.3, func(w *watched) {
			for i := range 4 {
				w.page[i] = 1 - w.page[i]
			}
		}, PagesMoved, 0, 12},
		{"one vCPU moves", 0.3, func(w *watched) { w.vcpu[1] = 1 }, VCPUsMoved, 1, 4},
		{"one vCPU moves, all memory on one node", 0, func(w *watched) { w.vcpu[1] = 1 }, VCPUsMoved, 1, 5},
		{"all vCPUs change sides", 0.3, func(w *watched) { w.vcpu = []int{1, 1, 0, 0} }, Moved, 0, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for seed, name := range []string{"busy", "memory"} {
				w := newWatched(recorded(t, name), uint64(seed), 256, tt.share)
				watch := NewWatch([]int{0, 1, 2, 3})
				before := 40
				if changes, next, _ := w.run(t, watch, 0, before); len(changes) > 0 {
					t.Fatalf("%s, before anything changed: %+v", name, changes)
				} else {
					watch = next
				}
				tt.change(w)
				changes, next, after := w.run(t, watch, before, tt.within)
				switch {
				case tt.what == "" && len(changes) == 0:
					continue
				case len(changes) != 1 || changes[0].What != tt.what || len(changes[0].CPUs) != tt.cpus:
					t.Errorf("%s: %+v after %d rounds, want %q", name, changes, after, tt.what)
					continue
				}
				if changes, _, _ := w.run(t, next, before+after, 30); len(changes) > 0 {
					t.Errorf("%s: the same is reported again: %+v", name, changes)
				}
			}
		})
	}
}

// TestMigrated has what a move to another host shows besides latencies.
func TestMigrated(t *testing.T) {
	w := newWatched(recorded(t, "busy"), 1, 64, 0.3)
	for _, tt := range []struct {
		change func(r *Round)
		says   string
	}{
		{func(r *Round) { r.Gap = 400 * time.Millisecond }, "Probably live migration (vMotion): no vCPU ran for 400 ms, or this process was stopped."},
		{func(r *Round) { r.Model = "Xeon"; r.CoreHz = 2.9e9 }, "Probably live migration (vMotion): the processor is another model, the core clock went from 3.7 to 2.9 GHz."},
		{func(r *Round) { r.CounterHz = 2.1e9 }, "Probably live migration (vMotion): the TSC went from 2600.000 to 2100.000 MHz."},
		{func(r *Round) { r.CoreHz = 2.9e9 }, ""},
	} {
		watch := NewWatch([]int{0, 1, 2, 3})
		for n := range 7 {
			r := w.round(n)
			r.CounterHz = 2.6e9
			if changes := watch.Add(r); len(changes) > 0 {
				t.Fatalf("%+v", changes)
			}
		}
		r := w.round(7)
		r.CounterHz = 2.6e9
		tt.change(r)
		changes := watch.Add(r)
		switch {
		case tt.says == "" && len(changes) == 0:
		case len(changes) != 1 || changes[0].What != Migrated || changes[0].Says != tt.says:
			t.Errorf("%+v, want %q", changes, tt.says)
		}
	}
}

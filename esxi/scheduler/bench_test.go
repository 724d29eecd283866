package scheduler

import (
	"context"
	"reflect"
	"testing"
	"time"

	"example.org/homenode/esxi/scheduler/benchstory"
	"example.org/homenode/numa"
)

// A day of few hosts: what a core does of a large fleet, without the memory of the rest.
const (
	benchHosts = 4
	benchVMs   = 50 * benchHosts
)

// BenchmarkRun is the kernel as it is used: it jumps over steps in which nothing happens.
func BenchmarkRun(b *testing.B) {
	for _, kind := range benchstory.Kinds {
		b.Run(string(kind), func(b *testing.B) {
			bench(b, benchstory.Story(kind, benchHosts, benchVMs, 24*time.Hour), Options{}, (*World).RunTo)
		})
	}
}

// BenchmarkEveryPhase does every phase in every step: nothing is jumped over, nothing is
// known to be as it was.
func BenchmarkEveryPhase(b *testing.B) {
	for _, kind := range benchstory.Kinds {
		b.Run(string(kind), func(b *testing.B) {
			bench(b, benchstory.Story(kind, benchHosts, benchVMs, time.Hour), Options{}, runEveryPhase)
		})
	}
}

// TestEveryPhase checks that jumping over steps changes nothing.
func TestEveryPhase(t *testing.T) {
	for _, kind := range benchstory.Kinds {
		s := benchstory.Story(kind, 2, 100, time.Hour)
		outcomes := [2]*Outcome{}
		for i, run := range []func(*World, context.Context, time.Duration) error{(*World).RunTo, runEveryPhase} {
			w, err := New(s, Options{Log: true})
			if err != nil {
				t.Fatal(err)
			}
			if err := run(w, t.Context(), s.Length); err != nil {
				t.Fatal(err)
			}
			outcomes[i] = w.Outcome()
		}
		if !reflect.DeepEqual(outcomes[0], outcomes[1]) {
			t.Errorf("%s: the outcome of doing every phase in every step is another one", kind)
		}
	}
}

func bench(b *testing.B, s *numa.Story, o Options, run func(*World, context.Context, time.Duration) error) {
	b.ReportAllocs()
	ticks, steps, clients := int64(0), int64(0), int64(0)
	for b.Loop() {
		b.StopTimer()
		w, err := New(s, o)
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if err := run(w, b.Context(), s.Length); err != nil {
			b.Fatal(err)
		}
		out := w.Outcome()
		ticks += out.ClientTicks
		clients, steps = 0, int64(s.Length/numa.Step)
		for _, h := range w.hosts {
			clients += int64(len(h.clients))
		}
		if len(out.Problems) > 0 || out.ClientTicks != clients*steps {
			b.Fatalf("found %d steps of clients and %v, want %d × %d", out.ClientTicks, out.Problems, clients, steps)
		}
	}
	b.ReportMetric(float64(ticks)/1e6/b.Elapsed().Seconds(), "Mclient-ticks/s")
}

// runEveryPhase is World.RunTo for a story without events, of which every step does
// everything.
func runEveryPhase(w *World, _ context.Context, t time.Duration) error {
	for _, h := range w.hosts {
		for h.step < int64(t/numa.Step) {
			h.settleCPU(h.step)
			h.drawAll(w, h.step-h.step%drawSteps)
			h.dirty, h.still, h.hopeless, h.noMove, h.wake = true, false, false, false, 0
			h.run(w, h.step+1)
			for i := range h.vms {
				h.settleMemory(&h.vms[i], h.step)
			}
		}
	}
	return nil
}

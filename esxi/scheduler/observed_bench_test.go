package scheduler_test

import (
	"testing"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/esxi/scheduler/benchstory"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
)

// BenchmarkObserved makes a tick of every host every 20 s, and records it as `homenode
// simulate` does.
func BenchmarkObserved(b *testing.B) {
	for _, record := range []bool{false, true} {
		name := "ticks"
		if record {
			name = "recorded"
		}
		b.Run(name, func(b *testing.B) {
			const hosts = 4
			s := benchstory.Story(benchstory.Typical, hosts, 50*hosts, 24*time.Hour)
			b.ReportAllocs()
			steps := int64(0)
			for b.Loop() {
				ticks := 0
				recorders := make([]*capture.Recorder, hosts)
				for i := range recorders {
					recorders[i] = capture.NewRecorder(rules.CaptureOptions(nil))
					recorders[i].Open("bench", "bench")
				}
				out, err := scheduler.Run(b.Context(), s, scheduler.Options{Observe: func(host int, t *numa.Tick, _ *scheduler.Look) {
					ticks++
					if record {
						recorders[host].Add(t)
					}
				}})
				if err != nil {
					b.Fatal(err)
				}
				if want := hosts * (int(s.Length/s.Every) + 1); ticks != want {
					b.Fatalf("%d ticks, want %d", ticks, want)
				}
				steps += out.ClientTicks
			}
			b.ReportMetric(float64(steps)/1e6/b.Elapsed().Seconds(), "Mclient-ticks/s")
		})
	}
}

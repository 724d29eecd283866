package simulate_test

import (
	"runtime"
	"testing"
	"time"

	"example.org/homenode/esxi/scheduler/benchstory"
	"example.org/homenode/rules/simulate"
)

// TestMemory checks the bytes of each VM that a simulated day takes: those that its result keeps, and those that were allocated for it.
func TestMemory(t *testing.T) {
	const vms, kept, allocated = 500, 12_000, 40_000
	s := benchstory.Story(benchstory.Typical, vms/50, vms, 24*time.Hour)
	s.Every = 5 * time.Minute
	var before, after, end runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r, err := simulate.Run(t.Context(), s, simulate.Options{Prices: 48})
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	runtime.GC()
	runtime.ReadMemStats(&end)
	if r.Outcome.ClientTicks == 0 {
		t.Error("nothing was simulated")
	}
	keeps, allocates := int(end.HeapAlloc-before.HeapAlloc)/vms, int(after.TotalAlloc-before.TotalAlloc)/vms
	t.Logf("%d bytes kept, %d allocated for each VM", keeps, allocates)
	if keeps > kept || allocates > allocated {
		t.Errorf("%d bytes kept and %d allocated for each VM, want at most %d and %d", keeps, allocates, kept, allocated)
	}
	runtime.KeepAlive(r)
}

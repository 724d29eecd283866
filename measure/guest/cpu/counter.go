package cpu

import (
	"slices"
	"sync"
	"time"
)

// Hz is the frequency of the counter that Start and End read: the one stated by the architecture (arm64), or else the
// first result of Calibrate.
func Hz() float64 { return frequency() }

var frequency = sync.OnceValue(func() float64 {
	if hz := statedHz(); hz > 0 {
		return hz
	}
	return Calibrate()
})

// NS returns ticks of the counter in nanoseconds.
func NS(ticks uint64) float64 { return float64(ticks) * 1e9 / Hz() }

// Ticks returns the number of counter ticks in d.
func Ticks(d time.Duration) uint64 { return uint64(d.Seconds() * Hz()) }

// Calibrate measures the frequency of the counter against the system's monotonic clock, in Hz: the median of five
// intervals of 5 ms. An interruption between the two clock reads of a point widens the point. The narrowest of several
// points is used, so a busy machine gives the same result.
func Calibrate() float64 {
	var hz [5]float64
	t0, c0 := point()
	for i := range hz {
		time.Sleep(5 * time.Millisecond)
		t1, c1 := point()
		hz[i] = float64(c1-c0) / (t1 - t0)
		t0, c0 = t1, c1
	}
	slices.Sort(hz[:])
	return hz[len(hz)/2]
}

// point reads the monotonic clock, in seconds, and the counter at the same moment.
func point() (seconds float64, ticks uint64) {
	best := ^uint64(0)
	for range 20 {
		before := Start()
		now := monotonic()
		after := End()
		if width := after - before; width < best {
			best, seconds, ticks = width, now, before+width/2
		}
	}
	return seconds, ticks
}

// CoreHz measures the clock of the core that runs this thread, in Hz, by the duration of a chain of dependent
// operations. It is the best of 50 runs, about 1 ms in total. It reports false on architectures without a known chain.
func CoreHz() (hz float64, ok bool) {
	if !Precise {
		return 0, false
	}
	const steps = 2000
	best := ^uint64(0)
	for range 50 {
		start := Start()
		chain(steps)
		best = min(best, End()-start)
	}
	return steps * chainCycles * Hz() / float64(best), true
}

// DelaySteps returns the number of steps of Delay for a duration in nanoseconds on a core with the given clock.
func DelaySteps(ns, coreHz float64) int {
	if !Precise {
		return 0
	}
	return int(ns*1e-9*coreHz/chainCycles + 0.5)
}

// Delay runs a chain of dependent computations of so many steps, without memory access.
func Delay(steps int) {
	if steps > 0 {
		chain(steps)
	}
}

package cpu

import (
	"runtime"
	"unsafe"
)

// Precise reports whether Start and End read a processor counter; otherwise they read the system clock, which is slower
// and may be coarse. The counter of some arm64 servers steps every 40 ns.
const Precise = true

// chainCycles is the duration of one step of chain: eight ADD of registers, one cycle each. A MUL needs two to four
// cycles, depending on the model: 4 on Neoverse N1, 2 on N2 and V1, 3 on others (Arm's optimisation guides).
const chainCycles = 8

// Start reads the counter before the instructions that follow it (ISB, MRS CNTVCT_EL0).
//
//go:noescape
func Start() uint64

// End reads the counter after the instructions before it.
//
//go:noescape
func End() uint64

// Flush removes the cache line at p from all caches, if CanFlush is true. The next Fence waits for it.
//
//go:noescape
func Flush(p unsafe.Pointer)

// Fence waits until all earlier flushes, stores and loads are done.
//
//go:noescape
func Fence()

// CanFlush reports whether Flush works here: Linux allows programs to use DC CIVAC; for other systems this is unknown.
func CanFlush() bool { return runtime.GOOS == "linux" }

// LineBytes is the size of a cache line: on Linux the smallest of the data caches by CTR_EL0, else 128 (darwin) or 64.
func LineBytes() int {
	switch runtime.GOOS {
	case "linux":
		return 4 << (cacheType() >> 16 & 15)
	case "darwin":
		return 128
	}
	return 64
}

// statedHz is CNTFRQ_EL0.
//
//go:noescape
func cntfrq() uint64

func statedHz() float64 { return float64(cntfrq()) }

//go:noescape
func cacheType() uint64

//go:noescape
func chain(steps int)

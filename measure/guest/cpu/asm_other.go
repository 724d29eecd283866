//go:build !amd64 && !arm64

package cpu

import "unsafe"

// Precise says whether Start and End read a counter of the processor; here they read the clock of the system, which
// takes longer and may be coarse.
const Precise = false

const chainCycles = 0

// Start returns the clock of the system in nanoseconds.
func Start() uint64 { return uint64(monotonic() * 1e9) }

// End returns the clock of the system in nanoseconds.
func End() uint64 { return Start() }

// Flush does nothing here.
func Flush(unsafe.Pointer) {}

// Fence does nothing here.
func Fence() {}

// CanFlush says whether Flush works here.
func CanFlush() bool { return false }

// LineBytes is the size of a cache line.
func LineBytes() int { return 64 }

func statedHz() float64 { return 1e9 }

func chain(int) {}

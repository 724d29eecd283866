//go:build !amd64 && !arm64

package cpu

import "unsafe"

// Precise reports whether Start and End read a processor counter; here they read the system clock, which is slower
// and may be coarse.
const Precise = false

const chainCycles = 0

// Start returns the system clock in nanoseconds.
func Start() uint64 { return uint64(monotonic() * 1e9) }

// End returns the system clock in nanoseconds.
func End() uint64 { return Start() }

// Flush does nothing here.
func Flush(unsafe.Pointer) {}

// Fence does nothing here.
func Fence() {}

// CanFlush reports whether Flush works here.
func CanFlush() bool { return false }

// LineBytes is the size of a cache line.
func LineBytes() int { return 64 }

func statedHz() float64 { return 1e9 }

func chain(int) {}

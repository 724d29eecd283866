package cpu

import (
	"unsafe"

	"example.org/homenode/internal/cpuid"
)

// Precise reports whether Start and End read a processor counter; otherwise they read the system clock, which is slower and
// may be coarse.
const Precise = true

// chainCycles is the duration of one step of chain: eight IMUL of three cycles each, on all current processors of Intel and
// AMD.
const chainCycles = 8 * 3

// Start reads the counter before the instructions that follow it (LFENCE, RDTSC).
//
//go:noescape
func Start() uint64

// End reads the counter after the instructions before it (RDTSCP, LFENCE).
//
//go:noescape
func End() uint64

// Flush removes the cache line at p from all caches, if CanFlush is true. The next Fence waits for it.
func Flush(p unsafe.Pointer) {
	if flushOptimised {
		clflushopt(p)
		return
	}
	clflush(p)
}

// Fence waits until all earlier flushes, stores and loads are done.
//
//go:noescape
func Fence()

// Swaps changes word from from to to the given number of times, and gives up after tries attempts that found another value.
// Both are at least 1. It returns the number of remaining changes. The thread cannot be preempted meanwhile: use few tries.
//
//go:noescape
func Swaps(word *uint32, from, to uint32, times, tries int) (left int)

// Read sums the first words of lines cache lines from p on, which is aligned to 16 bytes; lines is a multiple of 4. It loads
// 16 bytes of each: loops compiled by Go read up to 15 % less in the same time.
//
//go:noescape
func Read(p unsafe.Pointer, lines, line int) (sum uint64)

// CanFlush reports whether Flush works here.
func CanFlush() bool { return true } // CLFLUSH is a part of SSE2, which Go requires

// LineBytes is the size of a cache line.
func LineBytes() int { return 64 }

// CPUID 7, EBX bit 23.
var flushOptimised = func() bool {
	if highest, _, _, _ := cpuid.Leaf(0, 0); highest < 7 {
		return false
	}
	_, ebx, _, _ := cpuid.Leaf(7, 0)
	return ebx&(1<<23) != 0
}()

// statedHz is 0: many hypervisors omit the frequency in CPUID.
func statedHz() float64 { return 0 }

//go:noescape
func clflush(p unsafe.Pointer)

//go:noescape
func clflushopt(p unsafe.Pointer)

//go:noescape
func chain(steps int)

//go:build !amd64

package cpu

import (
	"sync/atomic"
	"unsafe"
)

// Swaps changes word from from to to the given number of times, and gives up after tries attempts that found another
// value. Both are at least 1. It returns the number of remaining changes.
func Swaps(word *uint32, from, to uint32, times, tries int) (left int) {
	for left = times; left > 0; {
		if atomic.CompareAndSwapUint32(word, from, to) {
			left--
		} else if tries--; tries == 0 {
			break
		}
	}
	return left
}

// Read sums the first words of lines cache lines from p on; lines is a multiple of 4.
func Read(p unsafe.Pointer, lines, line int) (sum uint64) {
	var a, b, c, d uint64
	for range lines / 4 {
		a += *(*uint64)(p)
		b += *(*uint64)(unsafe.Add(p, line))
		c += *(*uint64)(unsafe.Add(p, 2*line))
		d += *(*uint64)(unsafe.Add(p, 3*line))
		p = unsafe.Add(p, 4*line)
	}
	return a + b + c + d
}

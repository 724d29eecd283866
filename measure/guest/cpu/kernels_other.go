//go:build !amd64

package cpu

import (
	"sync/atomic"
	"unsafe"
)

// Swaps changes word from from to to so many times, and gives up after so many tries that found another value. Both are at
// least 1. It returns how many times are left.
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

// Read adds up the first words of so many lines from p on; lines is a multiple of 4.
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

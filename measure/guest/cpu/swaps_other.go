//go:build !amd64

package cpu

import "sync/atomic"

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

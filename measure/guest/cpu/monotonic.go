//go:build !windows

package cpu

import "time"

var begin = time.Now()

// monotonic returns the monotonic clock in seconds.
func monotonic() float64 { return time.Since(begin).Seconds() }

//go:build unix

package esxtop

import (
	"syscall"
	"time"
)

// cpuTime returns how long all processors have worked for this process.
func cpuTime() time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

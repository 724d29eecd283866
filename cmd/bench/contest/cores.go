//go:build linux

// Package contest is shared by benchmarks that run programs in turns, each in its own process.
// It limits the cores of a process, measures its memory and prints tables.
package contest

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// OnCores calls start, which starts a process. The process runs on at most n cores, because it
// inherits the CPU affinity of the thread that starts it.
func OnCores(n int, start func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, some unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return fmt.Errorf("which cores there are: %w", err)
	}
	if all.Count() < n {
		return fmt.Errorf("found %d cores, want %d", all.Count(), n)
	}
	for cpu := 0; some.Count() < n; cpu++ {
		if all.IsSet(cpu) {
			some.Set(cpu)
		}
	}
	if err := unix.SchedSetaffinity(0, &some); err != nil {
		return fmt.Errorf("choose cores: %w", err)
	}
	return errors.Join(start(), unix.SchedSetaffinity(0, &all))
}

// MaxRSS returns the peak resident memory of an ended process, in bytes.
func MaxRSS(p *os.ProcessState) int64 {
	if r, ok := p.SysUsage().(*syscall.Rusage); ok {
		return int64(r.Maxrss) * 1024
	}
	return 0
}

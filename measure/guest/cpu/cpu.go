// Package cpu has functions for measurements on one logical processor: a pinned thread, its counter, the flush of a cache
// line, and the clock of its core. It uses a few instructions in assembly for amd64 and arm64.
package cpu

import (
	"errors"
	"fmt"
	"runtime"
)

// On runs f on a separate thread that is pinned to the logical processor cpu, and returns the result of f. The thread ends
// with f, so no pinned thread returns to Go's scheduler. On Linux cpu is the kernel's number; on Windows it is 64 × group +
// number in the group. The error names the processor if this process may not run on it.
//
// Goroutines started by f are not pinned.
func On(cpu int, f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: Go ends the thread with the goroutine
		err := errors.New("the function ended its goroutine")
		defer func() { done <- err }()
		if err = pin(cpu); err != nil {
			err = fmt.Errorf("pin to processor %d: %w", cpu, err)
			return
		}
		err = errors.New("the function ended its goroutine")
		err = f()
	}()
	return <-done
}

// Room allows Go to run n threads at once in addition to the one that waits for them, even if the process was started with
// fewer processors or with the limit of a container. It never undoes that.
func Room(n int) {
	if runtime.GOMAXPROCS(0) <= n {
		runtime.GOMAXPROCS(n + 1)
	}
}

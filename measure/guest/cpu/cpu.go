// Package cpu has what a measurement needs of one logical processor: a thread that stays on it, its counter, the
// flush of a cache line, and the clock of its core. It is built of a few instructions in assembly for amd64 and arm64.
package cpu

import (
	"errors"
	"fmt"
	"runtime"
)

// On runs f on a thread of its own that is pinned to the logical processor cpu, and returns what f returns. The thread
// ends with f, so that no pinned thread goes back to the scheduler of Go. On Linux cpu is the number of the kernel; on
// Windows it is 64 × group + number in the group. The error names the processor when this process may not run on it.
//
// Goroutines that f starts are not pinned.
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

// Room lets Go run n threads at once beside the one that waits for them, also where it was started with fewer processors or
// limits itself to a container's share. It never takes that back.
func Room(n int) {
	if runtime.GOMAXPROCS(0) <= n {
		runtime.GOMAXPROCS(n + 1)
	}
}

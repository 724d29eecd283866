package flags

import (
	"os/signal"
	"sync/atomic"
	"syscall"
)

var busy atomic.Int32

// Busy makes the process ignore the first Ctrl-C and a closed output until done is called, so that powered-off VMs are powered on first. A second
// Ctrl-C ends it at once.
func Busy() (done func()) {
	busy.Add(1)
	signal.Ignore(syscall.SIGPIPE)
	return func() { busy.Add(-1) }
}

// IsBusy reports whether an operation must be completed before the process ends.
func IsBusy() bool { return busy.Load() > 0 }

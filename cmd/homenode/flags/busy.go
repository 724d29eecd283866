package flags

import (
	"os/signal"
	"sync/atomic"
	"syscall"
)

var busy atomic.Int32

// Busy keeps the program from ending by itself after the first Ctrl-C, and when its output is no longer read, until done is called: a VM that was
// powered off is powered on first. A second Ctrl-C ends it at once.
func Busy() (done func()) {
	busy.Add(1)
	signal.Ignore(syscall.SIGPIPE)
	return func() { busy.Add(-1) }
}

// IsBusy reports whether something has to be brought to its end.
func IsBusy() bool { return busy.Load() > 0 }

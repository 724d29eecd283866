package flags

import (
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

var busy atomic.Int32

// Busy makes the process go on after the first Ctrl-C or SIGTERM and a closed output until done is called, so that powered-off VMs are powered on first. It
// calls first at the first signal; at another one it calls second and ends.
func Busy(first, second func()) (done func()) {
	busy.Add(1)
	signal.Ignore(syscall.SIGPIPE)
	got, ended := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(got, os.Interrupt, syscall.SIGTERM)
	go func() {
		for _, then := range []func(){first, second} {
			select {
			case <-got:
				then()
			case <-ended:
				return
			}
		}
		os.Exit(2)
	}()
	return func() {
		signal.Stop(got)
		close(ended)
		busy.Add(-1)
	}
}

// IsBusy reports whether an operation must be completed before the process ends.
func IsBusy() bool { return busy.Load() > 0 }

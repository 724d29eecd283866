package guest

import (
	"context"
	"fmt"
	"time"
)

// A machine that is busy gives figures of its load. What counts is how many logical processors others keep busy.
const (
	busyShare  = 0.5 // of the measured logical processors, from which on it is too busy
	looksEvery = 250 * time.Millisecond
	looksFor   = 2 * time.Second // how long a rise of the load must last to end the run
)

// A usage is what the system counted since it started, in seconds of processors.
type usage struct {
	busy  float64 // of all processes
	own   float64 // of this process
	steal float64 // taken by the hypervisor, as it tells
}

// others returns how many logical processors other processes kept busy between two looks.
func others(before, after usage, elapsed time.Duration) float64 {
	return max(0, (after.busy-before.busy)-(after.own-before.own)) / elapsed.Seconds()
}

// A Load is what a look at the machine before measuring found.
type Load struct {
	Others float64 // logical processors that other processes kept busy
	Of     int     // that are measured
	Known  bool    // false where the system does not tell
}

// Busy reports whether figures would be of the load.
func (l Load) Busy() bool { return l.Known && l.Others > busyShare*float64(l.Of) }

func (l Load) String() string {
	return fmt.Sprintf("other processes keep %.1f of %d logical processors busy", l.Others, l.Of)
}

// look watches the machine for a time.
func look(ctx context.Context, cpus int, d time.Duration) Load {
	before, err := systemUsage()
	if err != nil {
		return Load{Of: cpus}
	}
	at := time.Now()
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
	after, err := systemUsage()
	if err != nil || time.Since(at) < d/2 {
		return Load{Of: cpus}
	}
	return Load{others(before, after, time.Since(at)), cpus, true}
}

// errLoad ends a run whose machine got busy.
type errLoad struct{ rose float64 }

func (e *errLoad) Error() string {
	return fmt.Sprintf("the load of other processes rose by %.1f runnable threads for %v", e.rose, looksFor)
}

// guard ends a run with *errLoad when more threads of others become runnable than there are measured logical processors.
// It returns when ctx ends.
func guard(ctx context.Context, cpus int, cancel context.CancelCauseFunc) {
	base, err := runnable()
	if err != nil {
		return
	}
	tick := time.NewTicker(looksEvery)
	defer tick.Stop()
	var since time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			n, err := runnable()
			if err != nil {
				return
			}
			// The threads that measure are runnable too: at most one for each logical processor.
			rose := n - base - float64(cpus)
			switch {
			case rose <= float64(cpus):
				since = time.Time{}
			case since.IsZero():
				since = now
			case now.Sub(since) >= looksFor:
				cancel(&errLoad{rose})
				return
			}
		}
	}
}

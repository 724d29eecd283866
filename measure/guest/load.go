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
type errLoad struct {
	rose float64
	of   string
}

func (e *errLoad) Error() string {
	return fmt.Sprintf("the load of other processes rose by %.1f %s for %v", e.rose, e.of, looksFor)
}

// A rise is the load of others above what it was first.
type rise struct {
	of   string                  // what it counts
	most float64                 // more is too much
	now  func() (float64, error) // since the last call, or at the moment
}

// risen returns how the rise is seen: by runnable threads where the system counts them, each of which waits for what measures, or
// else by the processors that others keep busy.
func risen(cpus int) (*rise, error) {
	if base, err := runnable(); err == nil {
		return &rise{"runnable threads", float64(cpus), func() (float64, error) {
			n, err := runnable()
			// The threads that measure are runnable too: at most one for each logical processor.
			return n - base - float64(cpus), err
		}}, nil
	}
	return usageRise(cpus)
}

// usageRise sees the rise by the processors that others keep busy, beside those of the first look.
func usageRise(cpus int) (*rise, error) {
	last, err := systemUsage()
	if err != nil {
		return nil, err
	}
	at, first := time.Now(), -1.0
	return &rise{"busy logical processors", busyShare * float64(cpus), func() (float64, error) {
		u, err := systemUsage()
		if err != nil {
			return 0, err
		}
		busy := others(last, u, time.Since(at))
		last, at = u, time.Now()
		if first < 0 {
			first = busy
		}
		return busy - first, nil
	}}, nil
}

// guard ends a run with *errLoad when the load of others stays risen. It returns when ctx ends.
func guard(ctx context.Context, r *rise, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(looksEvery)
	defer tick.Stop()
	var since time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			rose, err := r.now()
			if err != nil {
				return
			}
			switch {
			case rose <= r.most:
				since = time.Time{}
			case since.IsZero():
				since = now
			case now.Sub(since) >= looksFor:
				cancel(&errLoad{rose, r.of})
				return
			}
		}
	}
}

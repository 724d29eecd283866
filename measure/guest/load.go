package guest

import (
	"context"
	"fmt"
	"time"
)

// On a busy machine, measurements reflect its load. Load is the number of logical processors that other processes keep busy.
const (
	busyShare  = 0.5 // share of the measured logical processors from which on it is too busy
	looksEvery = 250 * time.Millisecond
	looksFor   = 2 * time.Second // time after which an increased load ends the run
)

// A usage has the system's counters since its start, in seconds of processors.
type usage struct {
	busy float64 // by all processes
	own  float64 // by this process
}

// others returns the number of logical processors that other processes kept busy between two readings.
func others(before, after usage, elapsed time.Duration) float64 {
	return max(0, (after.busy-before.busy)-(after.own-before.own)) / elapsed.Seconds()
}

// A Load is the load of the machine before measuring.
type Load struct {
	Others float64 // logical processors that other processes kept busy
	Of     int     // measured logical processors
	Known  bool    // false if the system does not report it
}

// Busy reports whether the load would distort measurements.
func (l Load) Busy() bool { return l.Known && l.Others > busyShare*float64(l.Of) }

func (l Load) String() string {
	return fmt.Sprintf("other processes keep %.1f of %d logical processors busy", l.Others, l.Of)
}

// look measures the load over a time.
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

// errLoad ends a run because the load increased.
type errLoad struct {
	rose float64
	of   string
}

func (e *errLoad) Error() string {
	return fmt.Sprintf("the load of other processes rose by %.1f %s for %v", e.rose, e.of, looksFor)
}

// A rise is the increase of the load of others since the start.
type rise struct {
	of   string                  // unit of the count
	most float64                 // limit
	now  func() (float64, error) // since the last call, or at the moment
}

// risen returns the measure of the increase: runnable threads if the system counts them, each of which competes with the
// measurement, or else processors that others keep busy.
func risen(cpus int) (*rise, error) {
	if base, err := runnable(); err == nil {
		return &rise{"runnable threads", float64(cpus), func() (float64, error) {
			n, err := runnable()
			// The measuring threads are runnable too: at most one for each logical processor.
			return n - base - float64(cpus), err
		}}, nil
	}
	return usageRise(cpus)
}

// usageRise measures the increase by the processors that others keep busy, relative to the first reading.
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

// guard ends a run with *errLoad if the load of others stays increased. It returns when ctx ends.
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

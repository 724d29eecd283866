package guest

import (
	"context"
	"sync"
	"time"

	"homenode/measure/guest/cpu"
	"homenode/measure/guest/lost"
)

// How a stop of the whole machine is seen: threads that sleep wake late on all processors at once.
const (
	wakesEvery = 100 * time.Millisecond
	latest     = 100 * time.Millisecond // a thread that wakes so much later than it asked for was kept from running
	stunCPUs   = 2                      // that are watched; each takes about 0.1 % of a processor
)

// stuns watches some processors for times in which none ran.
type stuns struct {
	mu   sync.Mutex
	late [][]interval // by processor
}

// An interval is in seconds since the watch began.
type interval struct{ from, to float64 }

// watchStuns begins to watch. It ends with the context. Where the system does not tell how long a thread waited for the guest, nothing is seen.
func watchStuns(ctx context.Context, cpus []int) *stuns {
	cpus = cpus[:min(len(cpus), stunCPUs)]
	if len(cpus) < stunCPUs {
		cpus = nil // of one vCPU it cannot be said that all stood still
	}
	s := &stuns{late: make([][]interval, len(cpus))}
	begin := time.Now()
	for i, on := range cpus {
		go func() {
			_ = cpu.On(on, func() error { // where it cannot be pinned nothing is late
				last := time.Since(begin)
				waited, known := lost.RunDelay()
				for known && sleep(ctx, wakesEvery) == nil {
					now := time.Since(begin)
					// A busy guest lets a thread wait that is awake: that is no stop of the machine.
					before := waited
					waited, _ = lost.RunDelay()
					if due := last + wakesEvery + waited - before; now-due > latest {
						s.mu.Lock()
						s.late[i] = append(s.late[i], interval{due.Seconds(), now.Seconds()})
						s.mu.Unlock()
					}
					last = now
				}
				return nil
			})
		}()
	}
	return s
}

// longest returns the longest time in which no watched processor ran, and forgets it.
func (s *stuns) longest() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := longestOfAll(s.late)
	clear(s.late)
	return time.Duration(all * float64(time.Second))
}

// longestOfAll returns the longest part that intervals of all have in common.
func longestOfAll(late [][]interval) (longest float64) {
	if len(late) == 0 {
		return 0
	}
	common := late[0]
	for _, other := range late[1:] {
		var both []interval
		for _, a := range common {
			for _, b := range other {
				if from, to := max(a.from, b.from), min(a.to, b.to); from < to {
					both = append(both, interval{from, to})
				}
			}
		}
		common = both
	}
	for _, i := range common {
		longest = max(longest, i.to-i.from)
	}
	return longest
}

package guest

import (
	"context"
	"sync"
	"time"

	"example.org/homenode/measure/guest/cpu"
	"example.org/homenode/measure/guest/lost"
)

// Detection of a stop of the whole machine: sleeping threads wake late on all processors at once.
const (
	wakesEvery = 100 * time.Millisecond
	latest     = 100 * time.Millisecond // minimum delay of a wake-up that counts as a stop
	stunCPUs   = 2                      // number of watched processors; each costs about 0.1 % of a processor
)

// stuns detects times in which none of some processors ran.
type stuns struct {
	mu   sync.Mutex
	late [][]interval // by processor
}

// An interval is in seconds since the watch began.
type interval struct{ from, to float64 }

// watchStuns starts watching until the context ends. It detects nothing if the system does not report how long a thread waited for the guest.
func watchStuns(ctx context.Context, cpus []int) *stuns {
	cpus = cpus[:min(len(cpus), stunCPUs)]
	if len(cpus) < stunCPUs {
		cpus = nil // one vCPU cannot show that all stood still
	}
	s := &stuns{late: make([][]interval, len(cpus))}
	begin := time.Now()
	for i, on := range cpus {
		go func() {
			_ = cpu.On(on, func() error { // without pinning, nothing counts as late
				last := time.Since(begin)
				waited, known := lost.RunDelay()
				for known && sleep(ctx, wakesEvery) == nil {
					now := time.Since(begin)
					// In a busy guest, a thread that is awake waits: that is not a stop of the machine.
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

// longest returns the longest time in which no watched processor ran, and resets it.
func (s *stuns) longest() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := longestOfAll(s.late)
	clear(s.late)
	return time.Duration(all * float64(time.Second))
}

// longestOfAll returns the longest overlap of intervals of all processors.
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

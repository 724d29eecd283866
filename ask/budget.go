package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/metrics"
	"slices"
	"time"
)

// A Budget limits a question in a shared process. The zero value means that a shared process cannot answer it.
type Budget struct {
	Steps  int           // in the unit of the question: VMs, runs, samples
	Time   time.Duration // 0 for 45 seconds
	Memory uint64        // bytes of additional memory use since the question began; 0 for 1 GiB
}

// A Weighed question counts its steps before it is answered. Other questions count as one step, or as one per VM if they are about the loaded
// fleet.
type Weighed interface {
	// Steps returns how many steps the answer takes, and the plural noun of a step.
	Steps(e *Env) (n int, noun string, err error)
}

// Default limits. They leave the server enough time to write the error before its own timeout, and the number of questions that it answers
// concurrently fits small machines.
const (
	longest = 45 * time.Second
	largest = 1 << 30
)

// Causes of a cancelled question.
var (
	errTime   = fmt.Errorf("it takes longer than a page allows: the command has no limit (%w)", context.DeadlineExceeded)
	errMemory = errors.New("it takes more memory than a page allows: the command has no limit")
)

// allow rejects a question with too many steps, or without a budget.
func (b *Budget) allow(q Question, e *Env) error {
	if b.Steps == 0 {
		return errors.New("this is not available on a page: use the command")
	}
	n, noun, err := 1, "steps", error(nil)
	if w, ok := q.(Weighed); ok {
		n, noun, err = w.Steps(e)
	} else if aboutHeld(q, e) {
		n, noun = len(e.Held.Result.Fleet.VMs), "VMs"
	}
	if err != nil {
		return err
	}
	if n > b.Steps {
		return fmt.Errorf("found %d %s: a page asks about %d at most; the command has no limit", n, noun, b.Steps)
	}
	return nil
}

// aboutHeld reports whether a field of the question names the loaded fleet.
func aboutHeld(q Question, e *Env) bool {
	if e.Held == nil || e.Held.Result == nil {
		return false
	}
	for _, f := range Fields(q) {
		for _, v := range f.Values() {
			if slices.Contains(e.Held.Sources, v) {
				return true
			}
		}
	}
	return false
}

// bound returns a context that ends at the time or memory limit, and a function that releases it.
func (b *Budget) bound(ctx context.Context) (context.Context, func()) {
	ctx, stop := context.WithTimeoutCause(ctx, cmp.Or(b.Time, longest), errTime)
	ctx, end := context.WithCancelCause(ctx)
	more := cmp.Or(b.Memory, largest)
	before, _ := heap()
	go func() {
		for tick := time.NewTicker(lookEvery); ; {
			select {
			case <-ctx.Done():
				tick.Stop()
				return
			case <-tick.C:
				if exceeds(before+more, more/4) {
					end(errMemory)
				}
			}
		}
	}()
	return ctx, func() {
		end(nil)
		stop()
		if _, all := heap(); all > before+more/2 {
			runtime.GC() // else the next question may hold as much again
		}
	}
}

// lookEvery is the polling interval of the memory limit.
const lookEvery = 100 * time.Millisecond

// exceeds reports whether more than most bytes are in use. It runs the GC first if more bytes than that have been allocated since the last one.
func exceeds(most, more uint64) bool {
	live, all := heap()
	if live <= most && all > most+more {
		runtime.GC()
		live, _ = heap()
	}
	return live > most
}

// heap returns the bytes that the last GC found in use, and those that are allocated.
func heap() (live, all uint64) {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64(), s[1].Value.Uint64()
}

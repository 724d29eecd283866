package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/metrics"
	"slices"
	"time"
)

// A Budget bounds a question that is asked in a process that others use. The zero value allows no such process to answer it.
type Budget struct {
	Steps  int           // of the kind that the question counts: VMs, runs, samples
	Time   time.Duration // 0 for 45 seconds
	Memory uint64        // bytes that the process may hold more than when the question began; 0 for 1 GiB
}

// A Weighed question counts its steps before it is answered. Other questions have one step, or one for each VM of the fleet that is held when
// they are about that.
type Weighed interface {
	// Steps returns how many steps the answer takes, and the plural noun of a step.
	Steps(e *Env) (n int, noun string, err error)
}

// The bounds of a budget that names none: the server can still write the error before its own timeout, and as many questions as it answers at
// once fit small machines.
const (
	longest = 45 * time.Second
	largest = 1 << 30
)

// Bounds that ended a question.
var (
	errTime   = fmt.Errorf("it takes longer than a page may: the command has no limit (%w)", context.DeadlineExceeded)
	errMemory = errors.New("it takes more memory than a page may: the command has no limit")
)

// allow refuses a question that takes too many steps, or has no budget.
func (b *Budget) allow(q Question, e *Env) error {
	if b.Steps == 0 {
		return errors.New("a page does not ask this: the command does")
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

// aboutHeld reports whether a field of the question names the fleet that is held.
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

// bound returns a context that ends when the time is over, or the process holds too much memory, and what frees it.
func (b *Budget) bound(ctx context.Context) (context.Context, func()) {
	ctx, stop := context.WithTimeoutCause(ctx, cmp.Or(b.Time, longest), errTime)
	ctx, end := context.WithCancelCause(ctx)
	go func() {
		most := live() + cmp.Or(b.Memory, largest)
		for tick := time.NewTicker(lookEvery); ; {
			select {
			case <-ctx.Done():
				tick.Stop()
				return
			case <-tick.C:
				if live() > most {
					end(errMemory)
				}
			}
		}
	}()
	return ctx, func() { end(nil); stop() }
}

// lookEvery is how often the memory of the process is looked at while a question is answered.
const lookEvery = 100 * time.Millisecond

// live returns the bytes that the last garbage collection found in use: what is freed meanwhile does not count.
func live() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

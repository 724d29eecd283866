// Package turns limits how many callers run at once, and how many wait.
package turns

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// ErrBusy reports that too many callers wait, or that one has waited too long.
var ErrBusy = errors.New("too much is asked at once: ask again in some seconds")

// Wait is the longest wait for a turn.
const Wait = 10 * time.Second

// RetryAfter is Wait as the value of an HTTP header.
const RetryAfter = "10"

// Turns is a semaphore with a bounded queue.
type Turns struct {
	places  chan struct{}
	most    int64
	waiting atomic.Int64
}

// New returns a semaphore for atOnce callers and a queue of most.
func New(atOnce, most int) *Turns {
	return &Turns{places: make(chan struct{}, atOnce), most: int64(most)}
}

// Take waits for a turn; end returns it. The error is ErrBusy, or that of the context.
func (t *Turns) Take(ctx context.Context) (end func(), err error) {
	end = func() { <-t.places }
	select {
	case t.places <- struct{}{}:
		return end, nil
	default:
	}
	defer t.waiting.Add(-1)
	if t.waiting.Add(1) > t.most {
		return nil, ErrBusy
	}
	late := time.NewTimer(Wait)
	defer late.Stop()
	select {
	case t.places <- struct{}{}:
		return end, nil
	case <-late.C:
		return nil, ErrBusy
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

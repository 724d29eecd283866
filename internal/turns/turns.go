// Package turns bounds how much is done at once, and how many wait for it.
package turns

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// ErrBusy says that too many wait, or one has waited too long.
var ErrBusy = errors.New("too much is asked at once: ask again in some seconds")

// Wait is how long one waits for its turn, at most.
const Wait = 10 * time.Second

// RetryAfter is Wait as the header of an answer has it.
const RetryAfter = "10"

// Turns are places of those who do something at once. Others wait.
type Turns struct {
	places  chan struct{}
	most    int64
	waiting atomic.Int64
}

// New returns places for so many at once; most is how many may wait.
func New(atOnce, most int) *Turns {
	return &Turns{places: make(chan struct{}, atOnce), most: int64(most)}
}

// Take waits for a place, which end gives back. The error is ErrBusy, or that of the context.
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

// Taken is how many places are taken now.
func (t *Turns) Taken() int { return len(t.places) }

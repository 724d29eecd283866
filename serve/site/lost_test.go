package site

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestLostWaits asks for the losses of two vCenters while the store of one does not answer: the other is answered, a client who leaves waits no longer, and
// those who stay share one read. Whoever asks while the value is refreshed gets the old one.
func TestLostWaits(t *testing.T) {
	var k losses
	now := time.Now()
	answer := make(chan *lost)
	slow := func(context.Context) (*lost, error) { return <-answer, nil }
	type result struct {
		x   *lost
		err error
	}
	results := make(chan result)
	ask := func(ctx context.Context) {
		x, err := k.of(ctx, "slow", now, slow)
		results <- result{x, err}
	}
	leaves, leave := context.WithCancel(t.Context())
	go ask(leaves)
	go ask(t.Context())
	if x, err := k.of(t.Context(), "other", now, func(context.Context) (*lost, error) { return &lost{more: 1}, nil }); err != nil || x.more != 1 {
		t.Errorf("the other vCenter: %v, %v", x, err)
	}
	leave()
	if r := <-results; !errors.Is(r.err, context.Canceled) {
		t.Errorf("the client that left: %+v", r)
	}
	first := &lost{at: now}
	answer <- first
	if r := <-results; r.x != first || r.err != nil {
		t.Errorf("the client that stayed: %+v", r)
	}
	now = now.Add(lostStale)
	late := make(chan *lost, 1)
	go func() {
		x, _ := k.of(t.Context(), "slow", now, slow)
		late <- x
	}()
	first = &lost{at: now}
	answer <- first
	if x := <-late; x != first {
		t.Errorf("an old value is shown after %v: %+v", lostStale, x)
	}
	now = now.Add(2 * lostKept)
	if x, err := k.of(t.Context(), "slow", now, slow); x != first || err != nil {
		t.Errorf("while it is refreshed: %v, %v", x, err)
	}
	second := &lost{at: now}
	answer <- second
	for x := first; x != second; time.Sleep(time.Millisecond) {
		var err error
		if x, err = k.of(t.Context(), "slow", now, slow); err != nil {
			t.Fatal(err)
		}
		if x == first { // the refresh is about to be kept: reads that it began anew are answered too
			select {
			case answer <- second:
			default:
			}
		}
	}
}

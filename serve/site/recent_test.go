package site

import (
	"context"
	"errors"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.org/homenode/output/answer"
	"example.org/homenode/serve/held"
)

// TestRecent lets many ask the same at once: it is asked once, an error is asked for anew, who has gone makes others wait no longer, and what was judged anew
// is asked anew.
func TestRecent(t *testing.T) {
	var asked atomic.Int32
	begun, goOn := make(chan struct{}, 10), make(chan struct{})
	var fails atomic.Bool
	s := &Site{}
	answered := func(ctx context.Context) (*answer.Answer, error) {
		asked.Add(1)
		begun <- struct{}{}
		select {
		case <-goOn:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if fails.Load() {
			return nil, errors.New("no")
		}
		return &answer.Answer{}, nil
	}
	ask := func(ctx context.Context, f *held.Fleet) error {
		_, err := s.recent.once(&request{Request: httptest.NewRequestWithContext(ctx, "GET", "/", nil), site: s, fleet: f}, recentFor, "assess", func() (*answer.Answer, error) { return answered(ctx) })
		return err
	}
	f := &held.Fleet{Name: "vc"}
	gone, leave := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		if err := ask(gone, f); !errors.Is(err, context.Canceled) {
			t.Errorf("who has gone: %v", err)
		}
	})
	<-begun
	for range 20 {
		all.Go(func() {
			if err := ask(t.Context(), f); err != nil {
				t.Error(err)
			}
		})
	}
	leave()
	<-begun // one of the others asks
	close(goOn)
	all.Wait()
	if n := asked.Load(); n != 2 {
		t.Errorf("asked %d times, want 2", n)
	}
	fails.Store(true)
	if err := ask(t.Context(), f); err != nil || asked.Load() != 2 {
		t.Errorf("a moment later: %v, asked %d times", err, asked.Load())
	}
	again := &held.Fleet{Name: "vc"} // judged anew
	for range 2 {
		if err := ask(t.Context(), again); err == nil {
			t.Error("no error")
		}
	}
	if n := asked.Load(); n != 4 || len(s.recent.all) != 0 {
		t.Errorf("asked %d times, want 4; %d answers are kept", n, len(s.recent.all))
	}
}

// TestBody renders an answer once for each address that asks for it in a row, and an answer that is not cached each time.
func TestBody(t *testing.T) {
	var c recent
	kept, other := &answer.Answer{}, &answer.Answer{}
	c.all = []*recentAnswer{{a: kept, until: time.Now().Add(time.Minute)}}
	rendered := 0
	for _, tt := range []struct {
		a       *answer.Answer
		address string
		want    int
	}{{kept, "/?a=1", 1}, {kept, "/?a=1", 1}, {kept, "/?a=2", 2}, {kept, "/?a=2", 2}, {kept, "", 3}, {kept, "", 4}, {other, "/?a=2", 5}, {other, "/?a=2", 6}} {
		got, err := c.body(tt.a, tt.address, func() ([]byte, error) { rendered++; return []byte(tt.address), nil })
		if string(got) != tt.address || err != nil || rendered != tt.want {
			t.Errorf("%q: %q, %v after %d renderings, want %d", tt.address, got, err, rendered, tt.want)
		}
	}
}

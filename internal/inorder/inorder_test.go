package inorder

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// Results come in order, whatever order they are ready in, and few of them wait.
func TestOrder(t *testing.T) {
	const n = 500
	for _, atOnce := range []int{0, 1, 2, 7} {
		var got []int
		var begun, most atomic.Int64
		err := Run(t.Context(), n, atOnce, func(_ context.Context, i int) (string, error) {
			begun.Add(1)
			if rand.IntN(50) == 0 {
				time.Sleep(time.Millisecond)
			}
			return fmt.Sprint(i), nil
		}, func(i int, result string) error {
			if result != fmt.Sprint(i) {
				t.Errorf("piece %d has the result %s", i, result)
			}
			got = append(got, i)
			most.Store(max(most.Load(), begun.Load()-int64(i)))
			return nil
		})
		if err != nil || len(got) != n || !slices.IsSorted(got) {
			t.Errorf("%d at once: %d results, in order %t, %v", atOnce, len(got), slices.IsSorted(got), err)
		}
		if limit := int64((ahead + 1) * max(atOnce, 64)); most.Load() > limit {
			t.Errorf("%d at once: %d results waited, want at most %d", atOnce, most.Load(), limit)
		}
	}
	if err := Run(t.Context(), 0, 3, func(context.Context, int) (int, error) { return 0, nil }, nil); err != nil {
		t.Errorf("no pieces: %v", err)
	}
}

// An error of a piece, of who uses results, or of the context ends it.
func TestEnds(t *testing.T) {
	broken := errors.New("broken")
	work := func(_ context.Context, i int) (int, error) { return i, nil }
	pass := func(int, int) error { return nil }
	stopped, stop := context.WithCancel(t.Context())
	for _, tt := range []struct {
		name string
		ctx  context.Context
		do   func(context.Context, int) (int, error)
		use  func(int, int) error
		want error
	}{
		{"a piece", t.Context(), func(_ context.Context, i int) (int, error) {
			if i == 40 {
				return 0, broken
			}
			return i, nil
		}, pass, broken},
		{"its use", t.Context(), work, func(i, _ int) error {
			if i == 40 {
				return broken
			}
			return nil
		}, broken},
		{"the context", stopped, work, func(i, _ int) error {
			if i == 40 {
				stop()
			}
			return nil
		}, context.Canceled},
	} {
		if err := Run(tt.ctx, 100_000, 3, tt.do, tt.use); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
}

package pingpong_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"example.org/homenode/measure/guest/cpu"
	"example.org/homenode/measure/guest/pingpong"
)

// two returns two processors that this process may use.
func two(t *testing.T) (a, b int) {
	t.Helper()
	var found []int
	for n := range 64 {
		if cpu.On(n, func() error { return nil }) == nil {
			if found = append(found, n); len(found) == 2 {
				return found[0], found[1]
			}
		}
	}
	t.Skip("needs two processors")
	return
}

func TestSwap(t *testing.T) {
	a, b := two(t)
	// A single trip may be shorter than a step of the counter of arm64.
	for _, form := range []pingpong.Form{pingpong.Quick, pingpong.Full, {Samples: 1, Trips: 100}} {
		out, err := pingpong.Swap(context.Background(), a, b, form, time.Minute, []float64{-1})
		if err != nil {
			t.Fatal(err)
		}
		if len(out) != form.Samples+1 || out[0] != -1 || slices.Min(out[1:]) <= 0 {
			t.Errorf("%+v: %v", form, out)
		}
	}
	back, err := pingpong.Swap(context.Background(), b, a, pingpong.Quick, time.Minute, nil)
	if err != nil || len(back) != pingpong.Quick.Samples {
		t.Errorf("the other way: %v, %v", back, err)
	}
}

func TestSwapEnds(t *testing.T) {
	a, b := two(t)
	endless := pingpong.Form{Samples: 1 << 20, Trips: 1 << 30}
	out, err := pingpong.Swap(context.Background(), a, b, endless, time.Millisecond, nil)
	if !errors.Is(err, pingpong.ErrSlow) || len(out) >= endless.Samples {
		t.Errorf("after the limit: %d samples, %v", len(out), err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(time.Millisecond, cancel)
	if _, err := pingpong.Swap(ctx, a, b, endless, time.Hour, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := pingpong.Swap(ctx, a, b, pingpong.Quick, time.Hour, nil); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
}

func TestSwapWithoutASecondProcessor(t *testing.T) {
	const none = 4095
	for _, pair := range [][2]int{{0, none}, {none, 0}, {none, none - 1}, {0, 0}} {
		out, err := pingpong.Swap(context.Background(), pair[0], pair[1], pingpong.Quick, time.Hour, nil)
		if err == nil || len(out) > 0 || errors.Is(err, pingpong.ErrSlow) {
			t.Errorf("processors %v: %v, %v", pair, out, err)
		}
	}
}

func TestNoForm(t *testing.T) {
	// A single trip may be shorter than a step of the counter of arm64.
	for _, form := range []pingpong.Form{{}, {Samples: 1}, {Trips: 1}, {Samples: -1, Trips: 1}} {
		if _, err := pingpong.Swap(context.Background(), 0, 1, form, time.Minute, nil); err == nil {
			t.Errorf("%+v is measured", form)
		}
	}
}

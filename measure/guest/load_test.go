package guest

import (
	"context"
	"errors"
	"testing"
	"time"
)

// A load that stays risen ends the run, one that falls again does not.
func TestGuard(t *testing.T) {
	for _, tt := range []struct {
		name  string
		loads []float64 // looks; the last one stays
		ends  bool
	}{
		{"stays", []float64{0, 5}, true},
		{"falls again", []float64{5, 5, 5, 1}, false},
		{"is not known", nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(context.Background())
			defer cancel(nil)
			look := 0
			guard(withTimeout(t, ctx, looksFor+8*looksEvery), &rise{"threads", 2, func() (float64, error) {
				if look++; look > len(tt.loads) {
					look = len(tt.loads)
				}
				if look == 0 {
					return 0, errors.ErrUnsupported
				}
				return tt.loads[look-1], nil
			}}, cancel)
			var load *errLoad
			if got := errors.As(context.Cause(ctx), &load); got != tt.ends {
				t.Errorf("ended: %v, %v", got, context.Cause(ctx))
			}
			if tt.ends && load.Error() != "the load of other processes rose by 5.0 threads for 2s" {
				t.Error(load)
			}
		})
	}
}

func withTimeout(t *testing.T, ctx context.Context, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(ctx, d)
	t.Cleanup(cancel)
	return ctx
}

// The rise by processors that others keep busy begins at nothing, and cannot be more than there are.
func TestUsageRise(t *testing.T) {
	r, err := usageRise(4)
	if err != nil {
		t.Skip(err)
	}
	if first, err := r.now(); err != nil || first != 0 || r.most != 2 {
		t.Errorf("at first %v of %v, %v", first, r.most, err)
	}
	if _, err := r.now(); err != nil {
		t.Error(err)
	}
}

package keep

import (
	"context"
	"maps"
	"slices"
	"time"

	"example.org/homenode/capture/store"
)

// An Hour is the locality of all VMs in one hour.
type Hour struct {
	End   time.Time
	VMs   int
	Mean  float64 // mean of the VMs' means, as a share
	Least float64 // minimum over all VMs
}

// trendKept is the lifetime of a cached Trend.
const trendKept = 5 * time.Minute

// Trend returns the hourly locality of the last days in time order. Hours are computed after they have ended.
func (k *Keeper) Trend(ctx context.Context, now time.Time, days int) ([]Hour, error) {
	k.mu.Lock()
	h, trend, age := k.hours, k.trend, now.Sub(k.trendAt)
	k.mu.Unlock()
	if h == nil || len(trend) > 0 && age >= 0 && age < trendKept {
		return trend, nil
	}
	by := map[int64]*Hour{}
	err := h.Each(ctx, now.Add(-time.Duration(days)*day), now, func(r *store.Range) error {
		mean := r.Label("__name__") == HourFamilies[1][0]
		for r.Next() {
			ms, number := r.At()
			x := by[ms]
			if x == nil {
				x = &Hour{End: time.UnixMilli(ms).UTC(), Least: 1}
				by[ms] = x
			}
			if !mean {
				x.Least = min(x.Least, number)
				continue
			}
			x.VMs++
			x.Mean += number
		}
		return r.Err()
	}, HourFamilies[0][0], HourFamilies[1][0])
	if err != nil {
		return nil, err
	}
	trend = nil
	for _, ms := range slices.Sorted(maps.Keys(by)) {
		if x := by[ms]; x.VMs > 0 {
			x.Mean /= float64(x.VMs)
			trend = append(trend, *x)
		}
	}
	k.mu.Lock()
	k.trend, k.trendAt = trend, now
	k.mu.Unlock()
	return trend, nil
}

package capture

import (
	"math"
	"testing"
	"time"

	"example.org/homenode/numa"
)

// A year of 24 TiB does not fit in 64 bits.
func TestSum(t *testing.T) {
	const year = 365 * 24 * time.Hour
	var a, all Amount
	for range 365 {
		a.Sum.add(int64(24*numa.TiB/numa.KiB), year.Milliseconds()/365)
	}
	// 24 × 2^30 KiB × 31,536,000,000 ms = 812,676,531,879,936,000,000 = 44 × 2^64 + Lo
	equal(t, "Sum", a.Sum, Sum{Hi: 44, Lo: 1019792636715728896})
	all.join(&a)
	all.join(&a)
	for _, tt := range []struct {
		name string
		of   *Amount
		over time.Duration
		want numa.Bytes
		ok   bool
	}{
		{"a year", &a, year, 24 * numa.TiB, true},
		{"twice in two years", &all, 2 * year, 24 * numa.TiB, true},
		{"no time", &a, 0, 0, false},
		{"not the time of the sum", &a, 44 * time.Millisecond, 0, false},
		{"nothing", &Amount{}, time.Second, 0, true},
	} {
		if got, ok := tt.of.Mean(tt.over); got != tt.want || ok != tt.ok {
			t.Errorf("%s: Mean() = %v, %v; want %v, %v", tt.name, got, ok, tt.want, tt.ok)
		}
	}
}

func TestOptionsCheck(t *testing.T) {
	if err := some.Check(); err != nil {
		t.Errorf("Check() = %v, want no error", err)
	}
	for _, tt := range []struct {
		change func(*Options)
		want   string
	}{
		{func(o *Options) { *o = Options{} }, "capture options: found spillStep 0 B, want one from 1 B to 256 TB"},
		{func(o *Options) { o.Ready = math.NaN() }, "capture options: found ready NaN, want one from 0 to 4096"},
		{func(o *Options) { o.IdleNode = o.BusyNode }, "capture options: found idleNode 0.8, want less than busyNode 0.8"},
		{func(o *Options) { o.Window = time.Microsecond }, "capture options: found window 1µs, want one from 1ms to 8784h0m0s"},
		{func(o *Options) { o.Window += time.Microsecond }, "capture options: found window 10m0.000001s, want whole milliseconds"},
	} {
		o := some
		tt.change(&o)
		if err := o.Check(); err == nil || err.Error() != tt.want {
			t.Errorf("Check() = %v, want %s", err, tt.want)
		}
	}
}

package capture

import (
	"fmt"
	"math"
	"time"

	"homenode/numa"
)

// Check returns an error when nothing can be counted by these limits.
func (o *Options) Check() error {
	for _, one := range []struct {
		name  string
		value float64
		from  float64
		to    float64
	}{
		{"locality", o.Locality, 0, 1},
		{"remote", float64(o.Remote), 0, float64(most)},
		{"busyNode", o.BusyNode, 0, mostShare},
		{"idleNode", o.IdleNode, 0, math.Nextafter(o.BusyNode, 0)}, // no node is both
		{"ready", o.Ready, 0, mostShare},
		{"spillFree", float64(o.SpillFree), 0, float64(most)},
		{"spillStep", float64(o.SpillStep), 1, float64(most)},
		{"lopsided", o.Lopsided, 0, 1},
		{"window in seconds", o.Window.Seconds(), resolution.Seconds(), mostTime.Seconds()},
		{"gap in seconds", o.Gap.Seconds(), 0, mostTime.Seconds()},
		{"buckets", float64(o.Buckets), 1, mostBuckets},
	} {
		if !(one.value >= one.from && one.value <= one.to) {
			return fmt.Errorf("capture options: found %s %v, want one from %v to %v", one.name, one.value, one.from, one.to)
		}
	}
	if o.Window%resolution != 0 {
		return fmt.Errorf("capture options: found a window of %v, want whole milliseconds", o.Window)
	}
	return nil
}

// What a tick states beyond these is damaged and counts as not stated, so that no sum
// overflows: shares of mostShare for seven years, KiB of most in a Timeline for 20
// million ticks (more than a year of ticks every 2 seconds).
const (
	most        = 256 * numa.TiB // ten times the largest host and VM there is
	mostShare   = 4096           // of one PCPU; more than any host has
	mostMoves   = 1 << 30        // between two ticks
	mostTime    = 366 * 24 * time.Hour
	mostBuckets = 1 << 16
	resolution  = time.Millisecond // of times; ticks of esxtop tell seconds
)

// The times of ticks lie between these: nanoseconds since 1970 fill 63 bits in 2262.
var (
	earliest = time.Unix(0, 0).UTC()
	latest   = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

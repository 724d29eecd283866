package capture

import (
	"cmp"
	"fmt"
	"time"

	"example.org/homenode/numa"
)

// Check returns an error if the limits are invalid.
func (o *Options) Check() error {
	err := cmp.Or(
		between("locality", o.Locality, 0, 1),
		between("remote", o.Remote, 0, most),
		between("busyNode", o.BusyNode, 0, mostShare),
		between("idleNode", o.IdleNode, 0, mostShare),
		between("ready", o.Ready, 0, mostShare),
		between("spillFree", o.SpillFree, 0, most),
		between("spillStep", o.SpillStep, 1, most),
		between("lopsided", o.Lopsided, 0, 1),
		between("window", o.Window, resolution, mostTime),
		between("gap", o.Gap, 0, mostTime),
		between("buckets", o.Buckets, 1, mostBuckets),
	)
	switch {
	case err != nil:
		return err
	case o.IdleNode >= o.BusyNode:
		return fmt.Errorf("capture options: found idleNode %v, want less than busyNode %v", o.IdleNode, o.BusyNode)
	case o.Window%resolution != 0:
		return fmt.Errorf("capture options: found window %v, want whole milliseconds", o.Window)
	}
	return nil
}

func between[T cmp.Ordered](name string, value, from, to T) error {
	if value >= from && value <= to { // NaN is not
		return nil
	}
	return fmt.Errorf("capture options: found %s %v, want one from %v to %v", name, value, from, to)
}

// Values of a tick beyond these limits are damaged and count as not stated, so that no sum
// overflows: shares of mostShare for seven years, KiB of most in a Timeline for 20 million
// ticks (more than a year of ticks every 2 seconds).
const (
	most        = 256 * numa.TiB // ten times the largest existing host and VM
	mostShare   = 4096           // of one PCPU; more than any host has
	mostMoves   = 1 << 30        // between two ticks
	mostTime    = 366 * 24 * time.Hour
	mostBuckets = 1 << 16
	resolution  = time.Millisecond // of times; ticks of esxtop have seconds
)

// Ticks must lie between these times: nanoseconds since 1970 fill 63 bits in 2262.
var (
	earliest = time.Unix(0, 0).UTC()
	latest   = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

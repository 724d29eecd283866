package capture

import (
	"math/bits"
	"time"
)

// The width of a Timeline is the smallest with which the time from its first to its last tick
// fits in the maximum number of buckets. So it depends only on these two times, not on the
// ticks between them. A wider bucket combines two narrower ones, which loses only detail.

// A bucket of type B can add the next one.
type bucket[B any] interface {
	*B
	join(next *B)
}

// place returns the bucket for a time, which is not before the earlier times.
func place[B any, P bucket[B]](t *Timeline[B], at time.Time, most int) *B {
	sec := at.Unix()
	if len(t.Buckets) == 0 {
		t.Width, t.Start = time.Second, sec
	}
	i := sec>>t.shift() - t.Start
	if i < int64(len(t.Buckets)) {
		return &t.Buckets[i]
	}
	for i >= int64(most) {
		widen[B, P](t)
		i = sec>>t.shift() - t.Start
	}
	for int64(len(t.Buckets)) <= i {
		var zero B
		t.Buckets = append(t.Buckets, zero)
	}
	return &t.Buckets[i]
}

// shift returns the binary logarithm of Width in seconds.
func (t *Timeline[B]) shift() int {
	return bits.TrailingZeros64(uint64(t.Width / time.Second))
}

// widen doubles the width.
func widen[B any, P bucket[B]](t *Timeline[B]) {
	start := t.Start >> 1
	n := 0
	for i := range t.Buckets {
		to := int((t.Start+int64(i))>>1 - start)
		if to == n {
			t.Buckets[n] = t.Buckets[i] // n ≤ i
			n++
		} else {
			P(&t.Buckets[to]).join(&t.Buckets[i])
		}
	}
	t.Buckets, t.Start, t.Width = t.Buckets[:n], start, 2*t.Width
}

// join adds the timeline of the next stretch.
func join[B any, P bucket[B]](t, next *Timeline[B], most int) {
	if len(next.Buckets) == 0 {
		return
	}
	if len(t.Buckets) == 0 {
		t.Width, t.Start = next.Width, next.Start
	}
	for t.Width < next.Width {
		widen[B, P](t)
	}
	up := t.shift() - next.shift()
	last := next.Start + int64(len(next.Buckets)) - 1
	for last>>up-t.Start >= int64(most) {
		widen[B, P](t)
		up++
	}
	for i := range next.Buckets {
		to := (next.Start+int64(i))>>up - t.Start
		for int64(len(t.Buckets)) <= to {
			var zero B
			t.Buckets = append(t.Buckets, zero)
		}
		P(&t.Buckets[to]).join(&next.Buckets[i])
	}
}

func (b *VMBucket) join(next *VMBucket) {
	if next.Memory > 0 {
		b.least(next.Least)
	}
	b.Ticks += next.Ticks
	b.Memory += next.Memory
	b.Local += next.Local
	b.Remote += next.Remote
	b.Homes |= next.Homes
	b.Moves += next.Moves
	b.Rates += next.Rates
	b.Ready += next.Ready
	b.MostReady = max(b.MostReady, next.MostReady)
	b.CoStop += next.CoStop
}

// least records an N%L before Memory counts its tick.
func (b *VMBucket) least(share int32) {
	if b.Memory == 0 || share < b.Least {
		b.Least = share
	}
}

func (b *NodeBucket) join(next *NodeBucket) {
	if next.Frees > 0 {
		b.least(next.Least)
	}
	b.Ticks += next.Ticks
	b.Frees += next.Frees
	b.Free += next.Free
	b.Loads += next.Loads
	b.Busy += next.Busy
	b.MostBusy = max(b.MostBusy, next.MostBusy)
}

// least records free KiB before Frees counts its tick.
func (b *NodeBucket) least(free int64) {
	if b.Frees == 0 || free < b.Least {
		b.Least = free
	}
}

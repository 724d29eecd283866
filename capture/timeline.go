package capture

import (
	"encoding/binary"
	"iter"
	"math/bits"
	"time"

	"example.org/homenode/numa"
)

// The width of a Timeline is the smallest with which the time from its first to its last tick
// fits in the maximum number of buckets. So it depends only on these two times, not on the
// ticks between them. A wider bucket combines two narrower ones, which loses only detail.
//
// The last bucket is open. The others are packed, because a fleet has millions of them and most
// differ little from the one before: a bucket is a mask of the numbers that differ, then their
// differences, as varints; an empty one is a mask alone and is not compared with.

// numbers are those of a bucket; a bucket with fewer of them leaves the last ones 0.
type numbers [11]int64

// A bucket of type B can add the next one, and is read from its numbers and written to them.
type bucket[B any] interface {
	*B
	numbered
	join(next *B)
}

// numbered is a bucket as its numbers, those that differ most often first.
type numbered interface {
	numbers() numbers
	set(*numbers)
}

func (b *VMBucket) numbers() numbers {
	return numbers{int64(b.Ticks), int64(b.Memory), int64(b.Rates), b.Local, b.Ready, int64(b.MostReady), b.Remote, int64(b.Least), b.CoStop, b.Moves, int64(b.Homes)}
}

func (b *VMBucket) set(n *numbers) {
	*b = VMBucket{Ticks: int32(n[0]), Memory: int32(n[1]), Rates: int32(n[2]), Local: n[3], Ready: n[4], MostReady: int32(n[5]), Remote: n[6], Least: int32(n[7]),
		CoStop: n[8], Moves: n[9], Homes: numa.NodeSet(n[10])}
}

func (b *NodeBucket) numbers() numbers {
	return numbers{int64(b.Ticks), int64(b.Frees), int64(b.Loads), b.Busy, int64(b.MostBusy), b.Free, b.Least}
}

func (b *NodeBucket) set(n *numbers) {
	*b = NodeBucket{Ticks: int32(n[0]), Frees: int32(n[1]), Loads: int32(n[2]), Busy: n[3], MostBusy: int32(n[4]), Free: n[5], Least: n[6]}
}

// empty is the mask of a bucket without ticks. The other masks are multiples of 2.
const empty = 1

// pack appends a bucket to packed ones, and keeps its numbers in last.
func pack(to []byte, last *numbers, n *numbers) []byte {
	mask, any := uint64(0), int64(0)
	for i := range n {
		if any |= n[i]; n[i] != last[i] {
			mask |= 2 << i
		}
	}
	if any == 0 {
		return append(to, empty)
	}
	to = binary.AppendUvarint(to, mask)
	for ; mask != 0; mask &= mask - 1 {
		i := bits.TrailingZeros64(mask) - 1
		to = binary.AppendVarint(to, n[i]-last[i])
		last[i] = n[i]
	}
	return to
}

// unpack returns the numbers of the next bucket of packed ones, and the rest. It reports false for bytes that pack does not write.
func unpack(from []byte, last *numbers) (n numbers, rest []byte, ok bool) {
	mask, size := binary.Uvarint(from)
	if size <= 0 || mask >= 2<<len(last) || mask&empty != 0 && mask != empty {
		return n, from, false
	}
	from = from[size:]
	if mask == empty {
		return n, from, true
	}
	for mask >>= 1; mask != 0; mask &= mask - 1 {
		d, size := binary.Varint(from)
		if size <= 0 {
			return n, from, false
		}
		last[bits.TrailingZeros64(mask)] += d
		from = from[size:]
	}
	return *last, from, true
}

// NewTimeline returns the timeline of these buckets, the first of which begins at start × width since 1970.
func NewTimeline[B any, P bucket[B]](width time.Duration, start int64, buckets []B) (t Timeline[B]) {
	t.Width, t.Start = width, start
	for i := range buckets {
		*reach[B, P](&t, i) = buckets[i]
	}
	return t
}

// Len returns the number of buckets.
func (t *Timeline[B]) Len() int { return t.n }

// All yields the buckets with their index. A bucket is valid until the next one.
func (t *Timeline[B]) All() iter.Seq2[int, *B] {
	return func(yield func(int, *B) bool) {
		one := new(B)
		to := any(one).(numbered)
		var last, n numbers
		rest := t.packed
		for i := range t.n - 1 {
			n, rest, _ = unpack(rest, &last)
			to.set(&n)
			if !yield(i, one) {
				return
			}
		}
		if t.n > 0 {
			*one = t.open
			yield(t.n-1, one)
		}
	}
}

// Buckets returns all buckets.
func (t *Timeline[B]) Buckets() []B {
	all := make([]B, 0, t.n)
	for _, b := range t.All() {
		all = append(all, *b)
	}
	return all
}

// Last returns the last bucket, which may be changed; nil when there is none.
func (t *Timeline[B]) Last() *B {
	if t.n == 0 {
		return nil
	}
	return &t.open
}

// reach returns bucket i, the open one or a later one, which becomes the open one.
func reach[B any, P bucket[B]](t *Timeline[B], i int) *B {
	if i < t.n {
		return &t.open
	}
	if t.n > 0 {
		n := P(&t.open).numbers()
		t.packed = pack(t.packed, &t.last, &n)
	}
	for ; t.n < i; t.n++ {
		t.packed = append(t.packed, empty)
	}
	var zero B
	t.n, t.open = i+1, zero
	return &t.open
}

// place returns the bucket for a time in seconds since 1970, which is not before the earlier times.
func place[B any, P bucket[B]](t *Timeline[B], sec int64, most int) *B {
	if t.n > 0 && sec>>t.shift()-t.Start < int64(t.n) {
		return &t.open
	}
	fit[B, P](t, sec, most)
	return reach[B, P](t, int(sec>>t.shift()-t.Start))
}

// fit widens the buckets until there is one for a time, as place does.
func fit[B any, P bucket[B]](t *Timeline[B], sec int64, most int) {
	if t.n == 0 {
		t.Width, t.Start = time.Second, sec
	}
	up := 0
	for sec>>(t.shift()+up)-t.Start>>up >= int64(most) {
		up++
	}
	widen[B, P](t, up)
}

// shift returns the binary logarithm of Width in seconds.
func (t *Timeline[B]) shift() int {
	return bits.TrailingZeros64(uint64(t.Width / time.Second))
}

// widen doubles the width so many times.
func widen[B any, P bucket[B]](t *Timeline[B], times int) {
	if times == 0 {
		return
	}
	wide := Timeline[B]{Width: t.Width << times, Start: t.Start >> times, packed: make([]byte, 0, len(t.packed)>>times)}
	joinAll[B, P](&wide, t, times)
	if len(wide.packed) == 0 { // as a timeline that was never wider
		wide.packed = nil
	}
	*t = wide
}

// joinAll adds the buckets of the next stretch, 1<<up of which are one of t. Empty ones add nothing, and the last is not empty.
func joinAll[B any, P bucket[B]](t, next *Timeline[B], up int) {
	var one B
	var last, n numbers
	rest := next.packed
	for i := range next.n {
		switch {
		case i == next.n-1:
			one = next.open
		case rest[0] == empty:
			rest = rest[1:]
			continue
		default:
			n, rest, _ = unpack(rest, &last)
			P(&one).set(&n)
		}
		P(reach[B, P](t, int((next.Start+int64(i))>>up-t.Start))).join(&one)
	}
}

// join adds the timeline of the next stretch.
func join[B any, P bucket[B]](t, next *Timeline[B], most int) {
	if next.n == 0 {
		return
	}
	if t.n == 0 {
		t.Width, t.Start = next.Width, next.Start
	}
	widen[B, P](t, max(0, next.shift()-t.shift()))
	up := t.shift() - next.shift()
	for last := next.Start + int64(next.n) - 1; last>>up-t.Start >= int64(most); up++ {
		widen[B, P](t, 1)
	}
	joinAll[B, P](t, next, up)
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

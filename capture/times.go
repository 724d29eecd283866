package capture

import (
	"math/bits"
	"slices"
	"time"

	"example.org/homenode/numa"
)

// A Times is the time that a value spent in each of a row of buckets, so percentiles over any
// duration need bounded memory. It stores whole milliseconds, so two Times merge without loss.
// The zero value means never stated over any time.
//
// Buckets are those of a share (shareBucket) or of memory (memoryBucket). A bucket ranges from
// above the top of the previous bucket up to its own top, so a percentile that is read off as a
// top is never too low.
type Times struct {
	First int     `json:"first"` // the bucket of MS[0]
	MS    []int64 `json:"ms"`    // milliseconds by bucket; neither end is 0
}

// Buckets of shares: bucket 0 is 0, bucket n goes up to n percent, and the last one has
// everything above shareBuckets-1 percent. That is ten times the possible share of a vCPU,
// including turbo and kernel time spent for the VM.
const (
	percent      = Whole / 100
	shareBuckets = 1001
)

// shareBucket returns the bucket of a share in hundredths of a percent.
func shareBucket(share int64) int {
	return int(min((share+percent-1)/percent, shareBuckets-1))
}

// ShareTop returns the highest share of a bucket, in hundredths of a percent.
func ShareTop(bucket int) int64 { return int64(bucket) * percent }

// Buckets of memory: 1 MiB wide up to memoryLinear MiB, then memoryLinear/2 of equal width for
// each doubling, so that none is wider than a 32nd of its memory.
const (
	memoryLinear  = 64
	memoryOctave  = memoryLinear / 2
	memoryBuckets = memoryLinear + 1 + memoryOctave*24 // to 3 × most, that is 2^30 MiB: 24 doublings
)

// memoryBucket returns the bucket of an amount of memory.
func memoryBucket(b numa.Bytes) int {
	mib := (b + numa.MiB - 1) / numa.MiB
	if mib <= memoryLinear {
		return int(mib)
	}
	below := uint64(mib - 1)
	shift := bits.Len64(below) - bits.Len64(memoryLinear) + 1
	return memoryLinear + 1 + (shift-1)*memoryOctave + int(below>>shift) - memoryOctave
}

// MemoryTop returns the upper limit of a memory bucket.
func MemoryTop(bucket int) numa.Bytes {
	if bucket <= memoryLinear {
		return numa.Bytes(bucket) * numa.MiB
	}
	at := bucket - memoryLinear - 1
	shift := at/memoryOctave + 1
	return numa.Bytes(at%memoryOctave+memoryOctave+1) << shift * numa.MiB
}

// last adds a duration in a bucket.
func (t *Times) last(bucket int, d time.Duration) {
	ms := d.Milliseconds()
	if i := bucket - t.First; uint(i) < uint(len(t.MS)) {
		t.MS[i] += ms
		return
	}
	if ms > 0 {
		t.stretch(bucket, bucket+1)
		t.MS[bucket-t.First] += ms
	}
}

// stretch makes room for the buckets in [from, to).
func (t *Times) stretch(from, to int) {
	if len(t.MS) == 0 {
		t.First = from
	}
	if more := t.First - from; more > 0 {
		t.MS = slices.Insert(t.MS, 0, make([]int64, more)...)
		t.First = from
	}
	if more := to - t.First - len(t.MS); more > 0 {
		t.MS = append(t.MS, make([]int64, more)...)
	}
}

func (t *Times) join(next *Times) {
	if len(next.MS) == 0 {
		return
	}
	t.stretch(next.First, next.First+len(next.MS))
	for i, ms := range next.MS {
		t.MS[next.First-t.First+i] += ms
	}
}

func (t *Times) clone() Times { return Times{t.First, slices.Clone(t.MS)} }

// check reports whether the buckets are valid in a row of n.
func (t *Times) check(n int) bool {
	last := len(t.MS) - 1
	if last < 0 {
		return t.First == 0
	}
	return t.First >= 0 && t.First < n && last < n-t.First && t.MS[0] > 0 && t.MS[last] > 0 && slices.Min(t.MS) >= 0
}

// Total returns the total time of all buckets.
func (t *Times) Total() time.Duration {
	var ms int64
	for _, n := range t.MS {
		ms += n
	}
	return time.Duration(ms) * time.Millisecond
}

// Percentile returns the lowest bucket such that the value was in it or below for at least this
// share of the time (above 0, at most 1). It reports false without any time.
func (t *Times) Percentile(share float64) (bucket int, ok bool) {
	all := t.Total().Milliseconds()
	if all <= 0 {
		return 0, false
	}
	var sum int64
	for i, ms := range t.MS {
		sum += ms
		if float64(sum) >= float64(share*float64(all)) {
			return t.First + i, true
		}
	}
	return t.First + len(t.MS) - 1, true
}

// Above returns the time above a bucket.
func (t *Times) Above(bucket int) time.Duration {
	var ms int64
	for i := max(0, bucket+1-t.First); i < len(t.MS); i++ {
		ms += t.MS[i]
	}
	return time.Duration(ms) * time.Millisecond
}

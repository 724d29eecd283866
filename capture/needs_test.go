package capture

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/numa"
)

// checkNeeds asks each question of all ticks of a VM.
func checkNeeds(t *testing.T, got *Needs, life []*seen) {
	t.Helper()
	want := &Needs{LeastVCPUs: math.MaxInt}
	used, run, wanted, active, consumed := map[int]int64{}, map[int]int64{}, map[int]int64{}, map[int]int64{}, map[int]int64{}
	for _, s := range life {
		v := s.vm
		want.LeastVCPUs, want.MostVCPUs = min(want.LeastVCPUs, v.VCPUs), max(want.MostVCPUs, v.VCPUs)
		ms := s.over.Milliseconds()
		share := func(rate float64) int64 { return hundredths(rate / float64(v.VCPUs)) }
		if v.Has&numa.HasUsed != 0 {
			used[shareBucket(share(v.Used))] += ms
		}
		if v.Has&(numa.HasRun|numa.HasUsed) != 0 {
			ran := share(v.Used)
			if v.Has&numa.HasRun != 0 {
				ran = share(v.Run)
			}
			specLevel(&want.Run.Level, ran, s)
			run[shareBucket(ran)] += ms
			if v.Has&numa.HasReady != 0 {
				both := ran + share(v.Ready)
				specLevel(&want.Demand.Level, both, s)
				wanted[shareBucket(both)] += ms
			}
		}
		if v.Has&numa.HasActive != 0 {
			specUse(&want.Active, v.Active, s, active)
		}
		if v.Has&numa.HasConsumed != 0 {
			all := v.Consumed
			if v.Has&numa.HasBalloon != 0 {
				all += v.Balloon + v.Swapped
			}
			specUse(&want.Consumed, all, s, consumed)
		}
	}
	want.Used, want.Run.Times, want.Demand.Times = specTimes(used), specTimes(run), specTimes(wanted)
	want.Active.Times, want.Consumed.Times = specTimes(active), specTimes(consumed)
	equal(t, "Needs", got, want)
}

func specLevel(l *Level, share int64, s *seen) {
	l.Sum += share * s.over.Milliseconds()
	l.Time += s.over
	if l.At.IsZero() || share > l.Most {
		l.Most, l.At = share, s.tick.Time
	}
}

func specUse(u *Use, b numa.Bytes, s *seen, times map[int]int64) {
	if u.At.IsZero() || b > u.Most {
		u.Most, u.At = b, s.tick.Time
	}
	times[memoryBucket(b)] += s.length().Milliseconds()
}

// specTimes returns times by bucket as a row.
func specTimes(times map[int]int64) (t Times) {
	first, last := math.MaxInt, -1
	for bucket, ms := range times {
		if ms > 0 {
			first, last = min(first, bucket), max(last, bucket)
		}
	}
	if last < 0 {
		return t
	}
	t.First, t.MS = first, make([]int64, last-first+1)
	for bucket, ms := range times {
		if ms > 0 {
			t.MS[bucket-first] = ms
		}
	}
	return t
}

// A percentile that is read off the buckets is that of the sorted values, rounded up to
// the top of its bucket.
func TestPercentileOfSorted(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := 1 + rnd.IntN(400)
		var c Curve
		var u Use
		var cpu []int64
		var mem []numa.Bytes
		at, top := start, int64(1+rnd.IntN(30000))
		for range n {
			share, b := rnd.Int64N(top), numa.Bytes(rnd.Int64N(1<<(20+rnd.IntN(20))))
			cpu, mem = append(cpu, share), append(mem, b)
			c.Level.see(share, at)
			c.last(share, 5*time.Second)
			u.see(b, at)
			u.Times.last(memoryBucket(b), 5*time.Second)
		}
		slices.Sort(cpu)
		slices.Sort(mem)
		for _, part := range []float64{0.01, 0.5, 0.95, 0.99, 1, rnd.Float64() + 1e-9} {
			part = min(part, 1)
			k := 0 // the least value that part of them do not exceed
			for float64(k+1) < float64(part*float64(n)) {
				k++
			}
			share, ok := c.Percentile(part)
			if exact := cpu[k]; !ok || share < exact || share-exact >= percent {
				t.Fatalf("percentile %v of %d shares = %d, %v; want from %d to less than a percent more", part, n, share, ok, exact)
			}
			b, ok := u.Percentile(part)
			if exact := mem[k]; !ok || b < exact || b-exact > max(numa.MiB, exact/32+numa.MiB) {
				t.Fatalf("percentile %v of %d amounts = %v, %v; want from %v to at most a 32nd more", part, n, b, ok, exact)
			}
		}
		equal(t, "peak", c.Level.Most, cpu[n-1])
	}
}

// Every amount lies in a bucket between the top of the one below and its own.
func TestBuckets(t *testing.T) {
	for bucket := range memoryBuckets {
		top := MemoryTop(bucket)
		equal(t, "bucket of its top", memoryBucket(top), bucket)
		if bucket+1 < memoryBuckets {
			equal(t, "bucket above its top", memoryBucket(top+1), bucket+1)
		}
	}
	equal(t, "bucket of three times the most", memoryBucket(3*most) < memoryBuckets, true)
	for _, tt := range []struct {
		share  int64
		bucket int
	}{{0, 0}, {1, 1}, {100, 1}, {101, 2}, {Whole, 100}, {Whole + 1, 101}, {99_999, 1000}, {100_000, 1000}, {100_001, 1000}, {40_000_000, 1000}} {
		equal(t, "bucket of a share", shareBucket(tt.share), tt.bucket)
	}
	c := Curve{}
	c.Level.see(12*Whole, start)
	c.last(12*Whole, time.Second)
	share, ok := c.Percentile(0.5)
	equal(t, "percentile above all buckets", []any{share, ok}, []any{int64(12 * Whole), true})
}

func TestTimesAbove(t *testing.T) {
	var none Times
	_, ok := none.Percentile(1)
	equal(t, "percentile of no time", ok, false)
	equal(t, "above, of no time", none.Above(0), time.Duration(0))
	some := Times{First: 3, MS: []int64{1000, 0, 500}}
	equal(t, "total", some.Total(), 1500*time.Millisecond)
	for bucket, want := range []time.Duration{1500, 1500, 1500, 500, 500, 0, 0} {
		equal(t, "above", some.Above(bucket), want*time.Millisecond)
	}
}

// A VM of which nothing is stated has needs without anything, not none.
func TestNeedsOfNothing(t *testing.T) {
	bare := func(t *numa.Tick) { t.VMs[0].VCPUs = 0 }
	r := stretch("a.csv", 0, 3, bare)
	equal(t, "needs without the option", r.VMs[0].Needs, (*Needs)(nil))
	o := some
	o.Needs = true
	rec := NewRecorder(o)
	rec.Add(&numa.Tick{Host: "esx01", Time: start, VMs: []numa.VMTick{{GID: 1, Name: "a", Has: numa.HasUsed | numa.HasReady, Used: 1}}})
	equal(t, "needs of an unknown number of vCPUs", rec.Recording().VMs[0].Needs, &Needs{})
}

func TestDecodeNeeds(t *testing.T) {
	o := some
	o.Needs = true
	good := string(encode(t, record(o, 0, newWorld(8).ticks(4))))
	for _, tt := range []struct{ name, old, new, want string }{
		{"options without", `"buckets":256,"needs":true`, `"buckets":256`, "found needs true, want false by the options"},
		{"bucket", `"used":{"first":`, `"used":{"first":9`, "found needs in buckets that there are not, or of less than no time"},
		{"time", `"ms":[`, `"ms":[-`, "found needs in buckets that there are not, or of less than no time"},
		{"end", `"ms":[`, `"ms":[0,`, "found needs in buckets that there are not, or of less than no time"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bad := strings.Replace(good, tt.old, tt.new, 1)
			if tt.name == "bucket" {
				bad = strings.ReplaceAll(good, tt.old, tt.new+"9")
			}
			if bad == good {
				t.Fatalf("%s is not in the recording", tt.old)
			}
			_, _, err := Decode([]byte(bad))
			if err == nil || !strings.HasSuffix(err.Error(), tt.want) {
				t.Errorf("Decode() = %v, want one that ends in %s", err, tt.want)
			}
		})
	}
}

package capture

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"example.org/homenode/numa"
)

// busyHost is a host of 120 VMs on 4 nodes, of which one in ten does what is counted.
func busyHost() *numa.Tick {
	t := &numa.Tick{
		Host: "esx01", Time: start, Line: 2, Since: 5 * time.Second,
		Has: numa.HasFree | numa.HasMinFree | numa.HasState, Free: 20 * numa.GiB, MinFree: 4 * numa.GiB,
	}
	for id := range 4 {
		t.Nodes = append(t.Nodes, numa.NodeTick{
			ID: id, Has: numa.HasTotal | numa.HasFree | numa.HasUtil | numa.HasCore,
			Total: 512 * numa.GiB, Free: 5 * numa.GiB, Util: 0.3 + 0.1*float64(id), Core: 0.5 + 0.1*float64(id),
		})
	}
	for i := range 120 {
		v := numa.VMTick{
			GID: int64(1000 + i), Name: fmt.Sprintf("app-server-%03d", i), VCPUs: 8,
			Has: numa.HasHomes | numa.HasMemory | numa.HasPercent | numa.HasMoves | numa.HasUsed | numa.HasRun |
				numa.HasReady | numa.HasCoStop | numa.HasSize | numa.HasActive | numa.HasShared,
			Homes: numa.SetOf(i % 4), Local: 16 * numa.GiB, Percent: 100,
			Used: 2.5, Run: 2.4, Ready: 0.1, CoStop: 0.01, Size: 16 * numa.GiB, Active: numa.GiB, Shared: numa.GiB / 2,
		}
		if i%10 == 0 {
			v.Local, v.Remote, v.Percent = 8*numa.GiB, 8*numa.GiB, 50
			v.OnNode = []numa.MemoryOnNode{{Node: 0, Guest: 8 * numa.GiB}, {Node: 1, Guest: 8 * numa.GiB}}
		}
		t.VMs = append(t.VMs, v)
	}
	return t
}

// later makes the tick the next one: some VMs move.
func later(t *numa.Tick, n int) {
	t.Time = t.Time.Add(5 * time.Second)
	t.Line++
	for i := n % 7; i < len(t.VMs); i += 40 {
		v := &t.VMs[i]
		v.Homes = numa.SetOf((i + n/7) % 4)
		v.Moves.All = int64(n % 2)
	}
}

func BenchmarkRecorder(b *testing.B) {
	for _, needs := range []bool{false, true} {
		b.Run(fmt.Sprintf("vms=120/needs=%t", needs), func(b *testing.B) { benchmarkRecorder(b, needs) })
	}
}

func benchmarkRecorder(b *testing.B, needs bool) {
	o := some
	o.Needs = needs
	r, t := NewRecorder(o), busyHost()
	n := 0
	for ; n < 2000; n++ {
		later(t, n)
		r.Add(t)
	}
	b.ReportAllocs()
	for b.Loop() {
		n++
		later(t, n)
		r.Add(t)
	}
	if got := r.Recording().Ticks; got < 2000+b.N {
		b.Fatalf("found %d ticks, want %d", got, 2000+b.N)
	}
}

// recorded returns the Recording of n ticks of busyHost.
func recorded(n int) *Recording {
	r, t := NewRecorder(some), busyHost()
	r.Open("a.csv", "esxtop batch CSV")
	for i := range n {
		later(t, i)
		r.Add(t)
	}
	return r.Recording()
}

func BenchmarkMerge(b *testing.B) {
	all, t := NewRecorder(some), busyHost()
	parts := []*Recording{nil, nil}
	for i := range parts {
		part := NewRecorder(some)
		for n := range 5000 {
			later(t, n)
			part.Add(t)
			all.Add(t)
		}
		parts[i] = part.Recording()
	}
	want := all.Recording()
	b.ReportAllocs()
	for b.Loop() {
		merged, _, err := Merge(parts)
		if err != nil || merged[0].Covered != want.Covered {
			b.Fatal("the parts do not merge to the whole")
		}
	}
}

func BenchmarkCodec(b *testing.B) {
	r := recorded(5000)
	whole := encode(b, r)
	b.Run("encode", func(b *testing.B) {
		b.SetBytes(int64(len(whole)))
		for b.Loop() {
			encode(b, r)
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(int64(len(whole)))
		for b.Loop() {
			decode(b, whole)
		}
	})
}

// A tick of the VMs of the tick before allocates nothing.
func TestAddAllocatesNothing(t *testing.T) {
	for _, needs := range []bool{false, true} {
		o := some
		o.Needs = needs
		r, tick := NewRecorder(o), busyHost()
		n := 0
		add := func() {
			later(tick, n)
			r.Add(tick)
			n++
		}
		for range 2000 { // all Timelines have all their buckets, and VMs all their home nodes
			add()
		}
		if got := testing.AllocsPerRun(1000, add); got != 0 {
			t.Errorf("a tick allocates %v times, want 0 (needs %t)", got, needs)
		}
	}
}

// Ten times the ticks take the same memory.
func TestMemoryIsFlat(t *testing.T) {
	heap := func(ticks int) uint64 {
		var before, after runtime.MemStats
		r, tick := NewRecorder(some), busyHost()
		runtime.GC()
		runtime.GC() // a pool gives up its memory in the second one
		runtime.ReadMemStats(&before)
		for n := range ticks {
			later(tick, n)
			r.Add(tick)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if got := r.Recording().Ticks; got != ticks {
			t.Fatalf("found %d ticks, want %d", got, ticks)
		}
		return after.HeapAlloc - before.HeapAlloc
	}
	once, tenfold := heap(1500), heap(15000)
	if once < 1<<19 || tenfold > once+once/4 {
		t.Errorf("15,000 ticks take %d bytes, want at most a quarter more than 1,500 with %d", tenfold, once)
	}
}

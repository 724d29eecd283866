package capture

import (
	"fmt"
	"testing"
	"time"

	"homenode/numa"
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
	b.Run("vms=120", func(b *testing.B) {
		r, t := NewRecorder(some), busyHost()
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
	})
}

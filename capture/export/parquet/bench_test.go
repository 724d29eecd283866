package parquet

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.org/homenode/capture/export/series"
	"example.org/homenode/numa"
)

// everyCounter is what a batch file of esxtop states of a VM.
const everyCounter = numa.HasHomes | numa.HasMemory | numa.HasPercent | numa.HasMoves | numa.HasUsed | numa.HasRun | numa.HasReady |
	numa.HasCoStop | numa.HasSize | numa.HasGranted | numa.HasConsumed | numa.HasActive | numa.HasShared | numa.HasZero | numa.HasBalloon | numa.HasSwapped

// benchTick is a host of two nodes with this many VMs, whose numbers next changes as a
// capture's do: most of them a little.
func benchTick(vms int) *numa.Tick {
	t := &numa.Tick{Host: "esx01.example.com", Time: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), Line: 2, Since: 5 * time.Second,
		Has: numa.HasFree | numa.HasMinFree | numa.HasState, MinFree: 6 * numa.GiB}
	for n := range 2 {
		t.Nodes = append(t.Nodes, numa.NodeTick{ID: n, Has: numa.HasTotal | numa.HasFree | numa.HasUsed | numa.HasUtil, Total: 512 * numa.GiB})
	}
	for i := range vms {
		size := numa.Bytes(4+i%28) * numa.GiB
		t.VMs = append(t.VMs, numa.VMTick{GID: int64(100000 + 37*i), Name: fmt.Sprintf("app%04d", i), Has: everyCounter, VCPUs: 2 + i%6,
			Homes: numa.SetOf(i % 2), Size: size, Granted: size, Consumed: size, Shared: 100 * numa.MiB})
	}
	return t
}

func next(t *numa.Tick, rng *rand.Rand) {
	t.Time = t.Time.Add(5 * time.Second)
	t.Line++
	cent := func(n int) numa.Bytes { return numa.Bytes(rng.IntN(n)) * numa.MiB / 100 } // esxtop prints MiB with two decimals
	t.Free = 100*numa.GiB + cent(100<<10)
	for i := range t.Nodes {
		n := &t.Nodes[i]
		n.Free, n.Used, n.Util = 50*numa.GiB+cent(100<<10), float64(rng.IntN(10000))/10000, float64(rng.IntN(10000))/10000
	}
	for i := range t.VMs {
		v := &t.VMs[i]
		v.Remote = cent(int(v.Size / numa.MiB))
		v.Local = v.Size - v.Remote
		v.Percent = int(100 * v.Local / v.Size)
		v.Active = cent(int(v.Size / numa.MiB))
		v.Used, v.Run, v.Ready = float64(rng.IntN(20000))/10000, float64(rng.IntN(20000))/10000, float64(rng.IntN(500))/10000
	}
}

// BenchmarkWriter writes an hour of a host with 200 VMs, 5 seconds apart.
func BenchmarkWriter(b *testing.B) {
	t := benchTick(200)
	rng := rand.New(rand.NewPCG(1, 2))
	var ticks []numa.Tick
	rows := 0
	for range 48 { // different numbers, made before the clock runs; more of them than a page holds
		next(t, rng)
		c := *t
		c.Nodes, c.VMs = append([]numa.NodeTick(nil), t.Nodes...), append([]numa.VMTick(nil), t.VMs...)
		ticks = append(ticks, c)
	}
	for range series.Values(t) {
		rows++
	}
	dir := b.TempDir()
	b.ReportAllocs()
	for b.Loop() {
		w, err := New(dir, "bench")
		if err != nil {
			b.Fatal(err)
		}
		for i := range 720 {
			c := &ticks[i%len(ticks)]
			c.Time, c.Line = t.Time.Add(time.Duration(i)*5*time.Second), i+2
			if err := w.Add("batch.csv", c); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
	info, err := os.Stat(filepath.Join(dir, "host=esx01.example.com", "day=2026-11-20", "part-bench.parquet"))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)*720*float64(rows)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(info.Size())/720/float64(rows), "bytes/row")
}

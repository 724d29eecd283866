package archive

import (
	"fmt"
	"testing"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/numa"
	"example.org/homenode/source/ticks"
)

// BenchmarkPack packs what a day of a host with 100 VMs comes to.
func BenchmarkPack(b *testing.B) {
	rec := capture.NewRecorder(options().Capture)
	rec.Open("esx01.csv", ticks.Batch)
	t := &numa.Tick{Host: "esx01", VMs: make([]numa.VMTick, 100)}
	for i := range 2000 {
		t.Time = time.Unix(1_800_000_000+int64(i)*40, 0).UTC()
		for j := range t.VMs {
			t.VMs[j] = numa.VMTick{GID: int64(j), Name: fmt.Sprintf("vm%03d", j), VCPUs: 4, Has: numa.HasMemory | numa.HasReady | numa.HasHomes,
				Homes: numa.SetOf(j % 2), Local: numa.Bytes(16-(i+j)%3) * numa.GiB, Remote: numa.Bytes((i+j)%3) * numa.GiB, Ready: float64((i*j)%500) / 1e5}
		}
		rec.Add(t)
	}
	r := &Result{Recordings: []*capture.Recording{rec.Recording()}}
	var packed []byte
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if packed, err = r.Pack(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(packed)), "packed-bytes")
}

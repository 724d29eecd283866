package snapshot

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/source/scenario/given"
)

// fleetOf returns a fleet of n VMs on n/20 hosts in the words of a scenario.
func fleetOf(t testing.TB, n int) *numa.Fleet {
	t.Helper()
	f := given.Fleet(t, "bench.txt", fmt.Appendf(nil, `
release 8.0U3
cluster prod
host esx[1-%d] nodes=2 cores=32 memory=1024GB cpu="Intel(R) Xeon(R) Gold 6430" vendor=Dell power=Balanced
vm   app[1-%d] vcpus=16 coresPerSocket=2 memory=64GB hw=21 guest=windows2019srvNext_64Guest stored=16
`, max(1, n/20), n))
	return f
}

func BenchmarkRead(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("vms=%d", n), func(b *testing.B) {
			var buf bytes.Buffer
			if err := Write(&buf, fleetOf(b, n)); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(buf.Len()))
			b.ReportAllocs()
			for b.Loop() {
				f, err := Read("fleet.json", bytes.NewReader(buf.Bytes()))
				if err != nil || len(f.VMs) != n {
					b.Fatal(f, err)
				}
			}
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("vms=%d", n), func(b *testing.B) {
			f := fleetOf(b, n)
			var buf bytes.Buffer
			if err := Write(&buf, f); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(buf.Len()))
			b.ReportAllocs()
			for b.Loop() {
				if err := Write(io.Discard, f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

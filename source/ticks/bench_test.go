package ticks

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"example.org/homenode/numa"
)

// BenchmarkLoop reads a day of a loop over sched-stats, a round a minute, on a host of 100 VMs.
func BenchmarkLoop(b *testing.B) {
	var round strings.Builder
	round.WriteString(clientsHead)
	for i := range 100 {
		fmt.Fprintf(&round, "vm.%d %d 0 %d 3 4 4 1048576 0 100 100\n", 1000+i, 100+i, i%2)
	}
	round.WriteString(pnodeHead + "0 5000 15000 1 0 20 4 4096 65536\n1 1000 19000 1 0 5 2 8192 65536\n")
	var in strings.Builder
	at := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	for i := range 1440 {
		in.WriteString(at.Add(time.Duration(i) * time.Minute).Format(time.RFC3339))
		in.WriteString("\n" + round.String())
	}
	b.SetBytes(int64(in.Len()))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		f, err := Read(context.Background(), "loop", strings.NewReader(in.String()), Options{}, func(t *numa.Tick) error {
			n += len(t.VMs)
			return nil
		})
		if err != nil || f.Ticks != 1440 || n != 144_000 {
			b.Fatal(f, n, err)
		}
	}
}

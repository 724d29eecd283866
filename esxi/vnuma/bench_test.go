package vnuma

import (
	"testing"

	"example.org/homenode/numa"
)

// BenchmarkPredict measures one core. Each run predicts a fixed mix of VMs: small
// and wide, with and without cores per socket, hot add and stored sizes.
func BenchmarkPredict(b *testing.B) {
	for _, band := range []struct {
		name     string
		release  numa.Release
		hardware int32
		event    Event
		move     bool
	}{
		{"6.0", numa.ESXi60, 11, PowerCycle, false},
		{"6.5", numa.ESXi65, 13, PowerCycle, false},
		{"8.0", numa.ESXi80, 19, PowerCycle, false},
		{"8.0-vmotion", numa.ESXi80, 19, VMotionIn, true},
	} {
		b.Run(band.name, func(b *testing.B) {
			m := machineOf(b, band.release, 2, 20, 40, 256*gib)
			from := machineOf(b, band.release, 4, 12, 24, 128*gib)
			c := Case{Event: band.event}
			if band.move {
				c.From = &from
			}
			guests := benchGuests(band.hardware)
			vpds, want := 0, 0
			for i := range guests {
				want += len(spec(&guests[i], &m, &c).vpds)
			}
			b.ReportAllocs()
			for b.Loop() {
				vpds = 0
				for i := range guests {
					l := Predict(&guests[i], &m, &c)
					vpds += l.VPDs.Len()
				}
			}
			if vpds != want {
				b.Errorf("the mix has %d VPDs, want %d", vpds, want)
			}
			b.ReportMetric(float64(b.N)*float64(len(guests))/b.Elapsed().Seconds(), "predictions/s")
		})
	}
}

// benchGuests returns 64 VMs of 1 to 40 vCPUs with this version of virtual hardware.
func benchGuests(hardware int32) []Guest {
	guests := make([]Guest, 64)
	for i := range guests {
		n := int32(1 + i*39/63)
		g := Guest{VCPUs: n, CoresPerSocket: 1, Memory: int64(n) * 8 * gib, Hardware: hardware}
		switch i % 8 {
		case 3:
			if n%2 == 0 {
				g.CoresPerSocket = 2
			}
		case 5:
			g.HotAdd = true
		case 7:
			g.Stored, g.CookieVCPUs = min(n, 20), n
		}
		guests[i] = g
	}
	return guests
}

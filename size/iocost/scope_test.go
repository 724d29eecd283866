package iocost

import (
	"math"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
)

// TestNetworkByBits checks that the network part goes by the traffic outside of the measured
// sizes, in cycles of an I/O: half the block, half the network. The rest does not.
func TestNetworkByBits(t *testing.T) {
	m := model(t)
	const of32 = (36*0.163 + 37.6*0.373) * 1e9 * 6 / 602702.73 // of 6 hosts, by I/Os a second
	for _, tt := range []struct {
		block numa.Bytes
		want  float64
	}{{512, of32 / 64}, {4 * numa.KiB, of32 / 8}, {8 * numa.KiB, of32 / 4}, {16 * numa.KiB, of32 / 2}, {32 * numa.KiB, of32}} {
		c := cost(t, m, Kind{VSANESA, tt.block, 0.7, 1})
		if c.Network == nil || math.Abs(float64(c.Network.Value)/tt.want-1) > 1e-7 || c.PerIO.Low < c.Network.Value {
			t.Errorf("%s: found network %+v of %+v, want %.3f", c.Kind, c.Network, c.PerIO, tt.want)
		}
	}
	sequential := cost(t, m, Kind{VSANESA, 4 * numa.MiB, 1, 0}).Network.Value
	if of1 := cost(t, m, Kind{VSANESA, numa.MiB, 1, 0}).Network.Value; !near(float64(sequential), 4*float64(of1)) {
		t.Errorf("4 MiB: found %v, want 4 times the %v of 1 MiB", sequential, of1)
	}
}

// TestScope checks that costs of a guest's CPU are lower bounds, and those of hosts are not.
func TestScope(t *testing.T) {
	m := model(t)
	if c := cost(t, m, Kind{NVMe, 4 * numa.KiB, 1, 1}); c.Scope != Guest || !c.Digits {
		t.Errorf("%s: found scope %s, digits %v; want guest, a range of digits", c.Kind, c.Scope, c.Digits)
	}
	if c := cost(t, m, Kind{VSANESA, 64 * numa.KiB, 1, 1}); c.Scope != Host || c.Digits {
		t.Errorf("%s: found scope %s, digits %v; want host, a range of two laws", c.Kind, c.Scope, c.Digits)
	}
	mine, err := New(Point{Kind: Kind{VSANESA, 32 * numa.KiB, 1, 1}, PerIO: unit.Exactly[unit.Cycles](9e5, unit.Measured, "own", "")})
	if err != nil || mine.Unused(VSANESA) != 6 || mine.Unused(NVMe) != 0 || m.Unused(VSANESA) != 0 {
		t.Errorf("published kinds not used: found %d, %d, %d, %v; want 6 and 0 with an own one of vSAN, 0 without", mine.Unused(VSANESA), mine.Unused(NVMe), m.Unused(VSANESA), err)
	}
}

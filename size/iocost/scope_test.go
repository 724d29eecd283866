package iocost

import (
	"math"
	"testing"

	"homenode/numa"
	"homenode/numa/unit"
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
	// 100,000 I/Os of 8 KiB a second need a quarter of what those of 32 KiB do.
	at := func(block numa.Bytes) unit.Hz {
		return load(t, m, Workload{Kind: Kind{VSANESA, block, 0.7, 1}, Rate: 100e3}, Options{}).Network.Value
	}
	if got, whole := at(8*numa.KiB), at(32*numa.KiB); !near(float64(got), float64(whole)/4) || math.Abs(float64(got/unit.GHz)-4.9509) > 0.00005 {
		t.Errorf("8 KiB: found %v of %v, want a quarter, 4.95 GHz", got, whole)
	}
	sequential := cost(t, m, Kind{VSANESA, 4 * numa.MiB, 1, 0}).Network.Value
	if of1 := cost(t, m, Kind{VSANESA, numa.MiB, 1, 0}).Network.Value; !near(float64(sequential), 4*float64(of1)) {
		t.Errorf("4 MiB: found %v, want 4 times the %v of 1 MiB", sequential, of1)
	}
}

// TestScope checks that costs of a guest's CPU are lower bounds, and those of hosts are not.
func TestScope(t *testing.T) {
	m := model(t)
	local := Workload{Kind: Kind{NVMe, 4 * numa.KiB, 1, 1}, Rate: 1000}
	vsan := Workload{Kind: Kind{VSANESA, 32 * numa.KiB, 1, 1}, Rate: 1000}
	for _, tt := range []struct {
		w     []Workload
		rules bool
		want  bool
	}{{[]Workload{local}, false, true}, {[]Workload{local}, true, true}, {[]Workload{vsan}, false, false}, {[]Workload{vsan}, true, false}, {[]Workload{vsan, local}, false, true}} {
		s, err := m.Sum(tt.w, Options{Rules: tt.rules})
		if err != nil || s.AtLeast != tt.want {
			t.Errorf("%v: found %v, %v; want %v", tt.w, s.AtLeast, err, tt.want)
		}
	}
	if c := cost(t, m, local.Kind); c.Scope != Guest || !c.Digits {
		t.Errorf("%s: found scope %s, digits %v; want guest, a range of digits", c.Kind, c.Scope, c.Digits)
	}
	if c := cost(t, m, Kind{VSANESA, 64 * numa.KiB, 1, 1}); c.Scope != Host || c.Digits {
		t.Errorf("%s: found scope %s, digits %v; want host, a range of two laws", c.Kind, c.Scope, c.Digits)
	}
	mine, err := New(Point{Kind: vsan.Kind, PerIO: unit.Exactly[unit.Cycles](9e5, unit.Measured, "own", "")})
	if err != nil || mine.Unused(VSANESA) != 6 || mine.Unused(NVMe) != 0 || m.Unused(VSANESA) != 0 {
		t.Errorf("published kinds not used: found %d, %d, %d, %v; want 6 and 0 with an own one of vSAN, 0 without", mine.Unused(VSANESA), mine.Unused(NVMe), m.Unused(VSANESA), err)
	}
}

package iocost

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
)

func model(t testing.TB, own ...Point) *Model {
	t.Helper()
	m, err := New(own...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func cost(t testing.TB, m *Model, k Kind) Cost {
	t.Helper()
	c, err := m.Cost(k)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// near reports whether a is b but for the rounding of sums.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }

// TestMeasured checks that each measured kind has its own cost, to the last bit, and nothing
// to explain.
func TestMeasured(t *testing.T) {
	m, points := model(t), Published()
	if len(points) != 20 {
		t.Fatalf("found %d points, want 14 of Iometer and 6 of HCIBench", len(points))
	}
	for _, p := range points {
		c := cost(t, m, p.Kind)
		if c.PerIO != p.PerIO || c.Basis != Measured || c.Why != nil || c.Core != p.Core || !reflect.DeepEqual(c.Network, p.Network) {
			t.Errorf("%s: found %+v, want %+v, measured", p.Kind, c, p)
		}
	}
}

// curves are the kinds that the published points are curves of, blocks ascending.
func curves() map[Kind][]Point {
	out := map[Kind][]Point{}
	for _, p := range Published() {
		k := p.Kind
		k.Block = 0
		out[k] = append(out[k], p)
	}
	return out
}

// TestMonotone checks what the data allow: the cost of an I/O rises with its block, but for
// two measured falls, and the cost of a bit falls, but for one measured rise. Between two
// measured sizes the cost stays between theirs.
func TestMonotone(t *testing.T) {
	m := model(t)
	falls := map[Kind]numa.Bytes{ // of the cost per I/O, ending at this block
		{Path: NVMe, Read: 1, Random: 1}: 4 * numa.KiB,  // 153.4 to 145.3 kHz
		{Path: NVMe, Read: 0, Random: 1}: 32 * numa.KiB, // 198.0 to 197.1 kHz
	}
	rises := map[Kind]numa.Bytes{{Path: NVMe, Read: 0, Random: 0}: numa.MiB} // of the cost per bit: 0.166 to 0.173 Hz
	for k, points := range curves() {
		for i := 1; i < len(points); i++ {
			a, b := &points[i-1], &points[i]
			if got, want := a.PerIO.Value > b.PerIO.Value, falls[k] == b.Block; got != want {
				t.Errorf("%s: fall of the cost per I/O: found %v, want %v", b.Kind, got, want)
			}
			if got, want := a.PerIO.Value.PerBit(a.Block) < b.PerIO.Value.PerBit(b.Block), rises[k] == b.Block; got != want {
				t.Errorf("%s: rise of the cost per bit: found %v, want %v", b.Kind, got, want)
			}
			last := a.PerIO.Value
			for block := a.Block; block <= b.Block; block += max((b.Block-a.Block)/37, 1) {
				k.Block = block
				c := cost(t, m, k).PerIO.Value
				if c < min(a.PerIO.Value, b.PerIO.Value) || c > max(a.PerIO.Value, b.PerIO.Value) {
					t.Errorf("%s: found %v, want between %v and %v", k, c, a.PerIO.Value, b.PerIO.Value)
				}
				if rising := a.PerIO.Value <= b.PerIO.Value; rising && c < last || !rising && c > last {
					t.Errorf("%s: found %v after %v", k, c, last)
				}
				last = c
			}
			k.Block = 0
		}
	}
}

// TestOutside checks that a cost outside of the measurements says so, rises with the block
// and costs no more by the bit, and that its range is what the two laws leave.
func TestOutside(t *testing.T) {
	m := model(t)
	for _, tt := range []struct {
		kind      Kind
		value     float64 // in cycles
		low, high float64
		why       []string
	}{
		{ // an eighth of the measured 32 KiB: between an eighth of its cost and all of it
			Kind{VSANESA, 4 * numa.KiB, 1, 1}, 640494.86, 636335.79 / 8, 644653.92,
			[]string{"random read was measured at 32 KiB only", "below 32 KiB: as many cycles per I/O"},
		},
		{ // sequential: no more than random
			Kind{VSANESA, 32 * numa.KiB, 1, 0}, 640494.86, 15547826.63 / 32, 644653.92,
			[]string{"sequential read was measured at 1 MiB only: the other pattern stands in"},
		},
		{
			Kind{VSANESA, 2 * numa.MiB, 0, 0}, 2 * 23329256.47, 23131550.91, 2 * 23526962.03,
			[]string{"sequential write was measured at 1 MiB only", "above 1 MiB: as many cycles per bit"},
		},
		{ // random: no less than sequential, no more by the bit than 256 KiB
			Kind{NVMe, numa.MiB, 1, 1}, 411180.12, 410760.48, 4 * 362968.00,
			[]string{"random read was measured at 512 B to 256 KiB only: the other pattern stands in"},
		},
	} {
		c := cost(t, m, tt.kind)
		got := []float64{float64(c.PerIO.Value), float64(c.PerIO.Low), float64(c.PerIO.High)}
		for i, want := range []float64{tt.value, tt.low, tt.high} {
			if math.Abs(got[i]/want-1) > 1e-6 {
				t.Errorf("%s: found %.2f, want %.2f, %.2f, %.2f", tt.kind, got, tt.value, tt.low, tt.high)
				break
			}
		}
		if c.Basis != Extrapolated || !reflect.DeepEqual(c.Why, tt.why) || c.PerIO.Origin != unit.Derived {
			t.Errorf("%s: found %s %q %s, want extrapolated %q derived", tt.kind, c.Basis, c.Why, c.PerIO.Origin, tt.why)
		}
	}
	for k := range curves() {
		var last Cost
		for k.Block = 512; k.Block <= 16*numa.MiB; k.Block *= 2 {
			c := cost(t, m, k)
			if c.PerIO.Low > c.PerIO.Value || c.PerIO.High < c.PerIO.Value {
				t.Errorf("%s: found a range that leaves out the cost: %+v", k, c.PerIO)
			}
			if last.Block > 0 && c.Basis == Extrapolated && last.Basis == Extrapolated && c.PerIO.Value < last.PerIO.Value*(1-1e-12) && c.Block > 32*numa.KiB {
				t.Errorf("%s: costs %v, %s costs %v", k, c.PerIO.Value, last.Kind, last.PerIO.Value)
			}
			last = c
		}
	}
}

// TestMixes checks how directions and patterns that were not measured are weighted.
func TestMixes(t *testing.T) {
	m := model(t)
	read := cost(t, m, Kind{NVMe, 4 * numa.KiB, 1, 1}).PerIO.Value
	write := cost(t, m, Kind{NVMe, 4 * numa.KiB, 0, 1}).PerIO.Value
	c := cost(t, m, Kind{NVMe, 4 * numa.KiB, 0.7, 1})
	if want := 0.7*read + 0.3*write; !near(float64(c.PerIO.Value), float64(want)) || c.Basis != Interpolated ||
		!reflect.DeepEqual(c.Why, []string{"70/30: between write and read"}) {
		t.Errorf("70/30 of 4 KiB: found %v %s %q, want %v interpolated", c.PerIO.Value, c.Basis, c.Why, want)
	}
	// A measured mix is a corner of the line: half way from it to reads.
	mixed := cost(t, m, Kind{VSANESA, 32 * numa.KiB, 0.7, 1}).PerIO.Value
	all := cost(t, m, Kind{VSANESA, 32 * numa.KiB, 1, 1}).PerIO.Value
	c = cost(t, m, Kind{VSANESA, 32 * numa.KiB, 0.85, 1})
	if want := (mixed + all) / 2; !near(float64(c.PerIO.Value), float64(want)) || c.Basis != Interpolated {
		t.Errorf("85/15 of 32 KiB: found %v %s, want %v interpolated", c.PerIO.Value, c.Basis, want)
	}
	random := cost(t, m, Kind{NVMe, 256 * numa.KiB, 1, 1}).PerIO.Value
	seq := cost(t, m, Kind{NVMe, 256 * numa.KiB, 1, 0}).PerIO.Value
	c = cost(t, m, Kind{NVMe, 256 * numa.KiB, 1, 0.25})
	if want := 0.25*random + 0.75*seq; !near(float64(c.PerIO.Value), float64(want)) || c.Basis != Interpolated ||
		!reflect.DeepEqual(c.Why, []string{"25 % random I/O was not measured: random and sequential are weighted"}) {
		t.Errorf("25 %% random: found %v %s %q, want %v interpolated", c.PerIO.Value, c.Basis, c.Why, want)
	}
	// 64 KiB is half way in log size from 16 KiB to 256 KiB: the geometric mean.
	own := []Point{
		{Kind: Kind{NVMe, 16 * numa.KiB, 1, 1}, PerIO: unit.Exactly[unit.Cycles](100e3, unit.Measured, "own", "")},
		{Kind: Kind{NVMe, 256 * numa.KiB, 1, 1}, PerIO: unit.Exactly[unit.Cycles](400e3, unit.Measured, "own", "")},
	}
	c = cost(t, model(t, own...), Kind{NVMe, 64 * numa.KiB, 1, 1})
	if !near(float64(c.PerIO.Value), 200e3) || c.Basis != Interpolated || !reflect.DeepEqual(c.Why, []string{"between 16 KiB and 256 KiB"}) {
		t.Errorf("64 KiB: found %v %s %q, want 200 k cycles", c.PerIO.Value, c.Basis, c.Why)
	}
}

// TestOwn checks that points of the user's own replace those of their path only, and that
// what they leave out is extrapolated.
func TestOwn(t *testing.T) {
	own := Point{Kind: Kind{VSANESA, 8 * numa.KiB, 1, 1}, PerIO: unit.Exactly[unit.Cycles](300e3, unit.Measured, "own.csv", "mine")}
	m := model(t, own)
	if got := m.Points(VSANESA); !reflect.DeepEqual(got, []Point{own}) {
		t.Errorf("found %v, want the point of the user's own alone", got)
	}
	if got := len(m.Points(NVMe)); got != 14 {
		t.Errorf("found %d points of %s, want the published 14", got, NVMe)
	}
	c := cost(t, m, Kind{VSANESA, 8 * numa.KiB, 0, 0})
	want := []string{"write was not measured: taken to cost as much as read", "sequential I/O was not measured: taken to cost as much as random"}
	if c.PerIO.Value != 300e3 || c.Basis != Extrapolated || !reflect.DeepEqual(c.Why, want) {
		t.Errorf("found %v %s %q, want 300 k cycles extrapolated %q", c.PerIO.Value, c.Basis, c.Why, want)
	}
	if c.Network != nil {
		t.Errorf("found network %v, want none: it is not known", c.Network)
	}
	bad := func(change func(*Point)) Point { p := own; change(&p); return p }
	for _, tt := range []struct {
		points []Point
		err    string
	}{
		{[]Point{own, own}, "vsan-esa 8 KiB read random is measured twice, want one cost of each kind"},
		{[]Point{bad(func(p *Point) { p.Path = RAM })}, `path "ram" has no I/Os, want nvme or vsan-esa`},
		{[]Point{bad(func(p *Point) { p.Block = 0 })}, "found a block of 0 bytes, want more than 0"},
		{[]Point{bad(func(p *Point) { p.Read = 1.1 })}, "found a read share of 1.1, want 0 to 1"},
		{[]Point{bad(func(p *Point) { p.Random = unit.Share(math.NaN()) })}, "found a random share of NaN, want 0 to 1"},
		{[]Point{bad(func(p *Point) { p.PerIO.Value = 0 })}, "vsan-esa 8 KiB read random: found a cost of 0 cycles (300000 to 300000), want more than 0 within its range"},
		{[]Point{bad(func(p *Point) { p.Network = &unit.Figure[unit.Cycles]{Value: 400e3} })}, "vsan-esa 8 KiB read random: found 400000 cycles of network, want at most the 300000 of the I/O"},
	} {
		if _, err := New(tt.points...); err == nil || err.Error() != tt.err {
			t.Errorf("found %v, want %q", err, tt.err)
		}
	}
}

// TestBetween checks that the range between two measured sizes is what the two laws leave,
// not what the digits of its ends do.
func TestBetween(t *testing.T) {
	m := model(t)
	for _, tt := range []struct {
		kind             Kind
		value, low, high float64
	}{
		// No less than 4 KiB, no more than 32 KiB.
		{Kind{NVMe, 8 * numa.KiB, 1, 1}, 153035.60, 145220.93, 169892.89},
		// Half of 1 MiB and twice 256 KiB, of which the second should be more and is not.
		{Kind{NVMe, 512 * numa.KiB, 0, 0}, 711743.87, 698607.78, 724258.29},
	} {
		c := cost(t, m, tt.kind)
		for _, q := range [][2]float64{{float64(c.PerIO.Value), tt.value}, {float64(c.PerIO.Low), tt.low}, {float64(c.PerIO.High), tt.high}} {
			if math.Abs(q[0]/q[1]-1) > 1e-6 {
				t.Errorf("%s: found %.2f, %.2f, %.2f; want %.2f, %.2f, %.2f", tt.kind, float64(c.PerIO.Value), float64(c.PerIO.Low), float64(c.PerIO.High), tt.value, tt.low, tt.high)
				break
			}
		}
		if c.Basis != Interpolated {
			t.Errorf("%s: found %s, want interpolated", tt.kind, c.Basis)
		}
	}
}

// TestPartlyKnownNetwork checks that the network of one kind is known when that of others is
// not.
func TestPartlyKnownNetwork(t *testing.T) {
	network := unit.Exactly[unit.Cycles](100e3, unit.Derived, "traffic", "mine")
	own := []Point{
		{Kind: Kind{VSANESA, numa.MiB, 1, 0}, PerIO: unit.Exactly[unit.Cycles](9e6, unit.Measured, "own", "mine")},
		{Kind: Kind{VSANESA, 32 * numa.KiB, 1, 1}, PerIO: unit.Exactly[unit.Cycles](600e3, unit.Measured, "own", "mine"), Network: &network},
	}
	if c := cost(t, model(t, own...), own[1].Kind); c.Network == nil || *c.Network != network {
		t.Errorf("found network %v, want %v", c.Network, network)
	}
	if c := cost(t, model(t, own...), own[0].Kind); c.Network != nil {
		t.Errorf("found network %v, want none: it is not known", *c.Network)
	}
}

// TestRandomKinds holds for any kind: a cost within its range, its network within it, and a
// basis that says why when it is not measured.
func TestRandomKinds(t *testing.T) {
	m := model(t)
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		k := Kind{[]Path{NVMe, VSANESA}[r.IntN(2)], numa.Bytes(1 + r.IntN(8<<20)), unit.Share(r.Float64()), unit.Share(r.IntN(3)) / 2}
		c := cost(t, m, k)
		if !(c.PerIO.Value > 0) || c.PerIO.Low > c.PerIO.Value*(1+1e-12) || c.PerIO.High < c.PerIO.Value*(1-1e-12) {
			t.Fatalf("%s: found %+v", k, c.PerIO)
		}
		if (c.Network != nil) != (k.Path == VSANESA) || c.Network != nil && !(c.Network.Value > 0 && c.Network.Value < c.PerIO.Value) {
			t.Fatalf("%s: found network %+v of %+v", k, c.Network, c.PerIO)
		}
		if c.Basis == Measured || len(c.Why) == 0 {
			t.Fatalf("%s: found %s %q, want why it is not measured", k, c.Basis, c.Why)
		}
	}
}

// TestMixOfSizes checks that reads and writes which were measured at a size come before a mix
// that was not.
func TestMixOfSizes(t *testing.T) {
	point := func(block numa.Bytes, read unit.Share, cycles unit.Cycles) Point {
		return Point{Kind: Kind{NVMe, block, read, 1}, PerIO: unit.Exactly(cycles, unit.Measured, "own", "")}
	}
	m := model(t, point(4*numa.KiB, 1, 100e3), point(4*numa.KiB, 0, 200e3), point(32*numa.KiB, 1, 150e3), point(32*numa.KiB, 0, 300e3), point(32*numa.KiB, 0.7, 250e3))
	c := cost(t, m, Kind{NVMe, 4 * numa.KiB, 0.7, 1})
	if !near(float64(c.PerIO.Value), 130e3) || c.Basis != Interpolated {
		t.Errorf("70/30 of 4 KiB: found %v %s, want 130 k interpolated: 70 %% of 100 k and 30 %% of 200 k", c.PerIO.Value, c.Basis)
	}
	if c := cost(t, m, Kind{NVMe, 32 * numa.KiB, 0.7, 1}); c.PerIO.Value != 250e3 || c.Basis != Measured {
		t.Errorf("70/30 of 32 KiB: found %v %s, want 250 k measured", c.PerIO.Value, c.Basis)
	}
}

// TestDirectionNotMeasured checks that a direction which was not measured may cost as much more
// or less as published writes cost of reads at most: 1451.75 of 411.18 thousand cycles.
func TestDirectionNotMeasured(t *testing.T) {
	const most = 1451748.25 / 411180.12
	for _, tt := range []struct {
		measured, asked unit.Share
		low, high       float64
	}{
		{1, 0, 300e3, 300e3 * most},
		{0, 1, 300e3 / most, 300e3},
		{1, 0.5, 300e3, 300e3 * (1 + (most-1)/2)},
	} {
		own := Point{Kind: Kind{NVMe, 8 * numa.KiB, tt.measured, 1}, PerIO: unit.Exactly[unit.Cycles](300e3, unit.Measured, "own", "")}
		c := cost(t, model(t, own), Kind{NVMe, 8 * numa.KiB, tt.asked, 1})
		if c.PerIO.Value != 300e3 || math.Abs(float64(c.PerIO.Low)/tt.low-1) > 1e-6 || math.Abs(float64(c.PerIO.High)/tt.high-1) > 1e-6 {
			t.Errorf("reads %v measured, %v asked: found %v, %v to %v; want 300000, %v to %v", tt.measured, tt.asked, float64(c.PerIO.Value), float64(c.PerIO.Low), float64(c.PerIO.High), tt.low, tt.high)
		}
	}
}

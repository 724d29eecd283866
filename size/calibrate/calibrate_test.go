package calibrate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/size/iocost"
)

var options = Options{
	Transmit: unit.Exactly[unit.CyclesPerBit](0.163, unit.Published, "b-network", ""),
	Receive:  unit.Exactly[unit.CyclesPerBit](0.373, unit.Published, "b-network", ""),
}

// trialOf is a run on one host without a printed digit in doubt.
func trialOf(place string, k iocost.Kind, iops unit.IORate, cpu unit.Hz) Trial {
	return Trial{
		Test: place, Place: place, Source: place, Kind: k, IOPS: Reading[unit.IORate]{Value: iops},
		Load: &Load{Scope: Host, Hosts: 1, CPU: Reading[unit.Hz]{Value: cpu}},
	}
}

func kind(block numa.Bytes, read unit.Share) iocost.Kind {
	return iocost.Kind{Path: iocost.NVMe, Block: block, Read: read, Random: 1}
}

func near(got, want, tolerance float64) bool { return math.Abs(got-want) <= tolerance }

// iometer are the five random sizes of b-nvme: CPU in percent of 4 GHz, IOPS, and kHz per
// I/O as the record recomputes it.
var iometer = []struct {
	block                  numa.Bytes
	read                   unit.Share
	iops                   unit.IORate
	percent, kilo, printed float64
}{
	{512, 1, 4040, 15.49, 153.37, 153.4}, {512, 0, 4874, 19.45, 159.62, 159.6},
	{4 << 10, 1, 3813, 13.85, 145.29, 145.3}, {4 << 10, 0, 4413, 21.84, 197.96, 197.9},
	{32 << 10, 1, 2568, 10.9, 169.78, 169.8}, {32 << 10, 0, 2873, 14.16, 197.15, 197.1},
	{64 << 10, 1, 1826, 9.06, 198.47, 198.5}, {64 << 10, 0, 2242, 12.15, 216.77, 216.7},
	{256 << 10, 1, 735, 6.66, 362.45, 362.4}, {256 << 10, 0, 703, 7.73, 439.83, 439.9},
}

func iometerTrials() []Trial {
	var out []Trial
	for i, r := range iometer {
		out = append(out, trialOf(fmt.Sprintf("iometer.csv:%d", i), kind(r.block, r.read), r.iops, unit.Hz(r.percent/100)*4*unit.GHz))
	}
	return out
}

func TestIometerRows(t *testing.T) {
	costs := Costs(iometerTrials(), options).Costs
	if len(costs) != len(iometer) {
		t.Fatalf("%d costs, want %d", len(costs), len(iometer))
	}
	for _, c := range costs {
		for _, r := range iometer {
			if r.block != c.Block || r.read != c.Read {
				continue
			}
			if got := float64(c.PerIO.Value) / 1000; !near(got, r.kilo, 0.005) || !near(got, r.printed, 0.1) {
				t.Errorf("%s: %.3f k, want %.2f (printed %.1f)", KindText(c.Kind), got, r.kilo, r.printed)
			}
		}
	}
}

// TestPublishedLine checks the least squares that the record states for these rows:
// read 145.7 + 0.844 × KiB, write 167.8 + 1.045 × KiB, in thousands.
func TestPublishedLine(t *testing.T) {
	fits := Costs(iometerTrials(), options).Fits
	if len(fits) != 2 {
		t.Fatalf("%d lines, want 2", len(fits))
	}
	for i, want := range []struct {
		read unit.Share
		a, b float64
	}{{1, 145.7, 0.844}, {0, 167.8, 1.045}} {
		f := fits[i]
		a, b := float64(f.Fixed.Value)/1000, float64(f.PerBit.Value.PerIO(1024))/1000
		if f.Read != want.read || f.Sizes != 5 || !near(a, want.a, 0.05) || !near(b, want.b, 0.0005) {
			t.Errorf("read %v of %d sizes: %.2f + %.4f × KiB; want %v, 5, %v + %v", float64(f.Read), f.Sizes, a, b, float64(want.read), want.a, want.b)
		}
		if !(f.Fixed.Low < f.Fixed.Value && f.Fixed.Value < f.Fixed.High && f.PerBit.Low < f.PerBit.Value && f.PerBit.Value < f.PerBit.High) {
			t.Errorf("intervals: a %+v, b %+v", f.Fixed, f.PerBit)
		}
	}
}

// TestLine compares with a line worked out by hand: (1, 2), (2, 3), (3, 5) KiB and
// thousands have b = 1.5, a = 1/3; the squares left are 1/6 of one degree of freedom, so
// b is off by 12.706 × √(1/6 ÷ 2) and a by 12.706 × √(1/6 × (1/3 + 4/2)).
func TestLine(t *testing.T) {
	var trials []Trial
	for i, y := range []float64{2000, 3000, 5000} {
		trials = append(trials, trialOf(fmt.Sprint(i), kind(numa.Bytes(i+1)*numa.KiB, 1), 1, unit.Hz(y)))
	}
	f := Costs(trials, options).Fits[0]
	got := []float64{
		float64(f.Fixed.Value), float64(f.Fixed.High - f.Fixed.Value), float64(f.PerBit.Value.PerIO(1024)), float64((f.PerBit.High - f.PerBit.Value).PerIO(1024)),
		float64(f.Residual),
	}
	q := quantile(1)
	want := []float64{1000.0 / 3, q * 1000 * math.Sqrt(1.0/6*(1.0/3+2)), 1500, q * 1000 * math.Sqrt(1.0/12), 1000 * math.Sqrt(1.0/6)}
	for i := range want {
		if !near(got[i], want[i], 1e-6*want[i]) {
			t.Errorf("figure %d: %v, want %v", i, got[i], want[i])
		}
	}
	// Nine more runs of the first two sizes pull the line there.
	for i := range 18 {
		trials = append(trials, trialOf(fmt.Sprint("more", i), kind(numa.Bytes(i%2+1)*numa.KiB, 1), 1, unit.Hz(2000+1000*(i%2))))
	}
	if b := float64(Costs(trials, options).Fits[0].PerBit.Value.PerIO(1024)); !(b > 1000 && b < 1500) {
		t.Errorf("weighted: b %v, want between that of the first two, 1000, and 1500", b)
	}
}

// vsan is b-vsan with the figures that b-vsan-bits makes of it: GHz of a host with 1 GHz idle,
// IOPS of six hosts, Gb/s sent and received; thousands of cycles for each I/O, and of
// storage alone.
var vsan = []struct {
	kind          iocost.Kind
	cpu, iops     float64
	tx, rx        float64
	kilo, storage float64
}{
	{iocost.Kind{Path: iocost.VSANESA, Block: 32 << 10, Read: 1, Random: 1}, 78, 721317.28, 27.2, 27.2, 640.5, 519.2},
	{iocost.Kind{Path: iocost.VSANESA, Block: 32 << 10, Read: 0, Random: 1}, 88, 285892.55, 35.5, 40, 1825.9, 1391.3},
	{iocost.Kind{Path: iocost.VSANESA, Block: 32 << 10, Read: 0.7, Random: 1}, 95, 602702.73, 36, 37.6, 935.8, 737.7},
	{iocost.Kind{Path: iocost.VSANESA, Block: 1 << 20, Read: 1, Random: 0}, 60, 22575.50, 27.2, 25.6, 15681, 11965},
	{iocost.Kind{Path: iocost.VSANESA, Block: 1 << 20, Read: 0, Random: 0}, 60, 15174.08, 31.2, 31.2, 23329, 16717},
	{iocost.Kind{Path: iocost.VSANESA, Block: 1 << 20, Read: 0.7, Random: 0}, 62, 19740.90, 34.4, 33.2, 18540, 13072},
}

func vsanTrials() []Trial {
	ghz := func(v float64) Reading[unit.Hz] {
		return Reading[unit.Hz]{Value: unit.Hz(v) * unit.GHz, Half: 0.5 * unit.GHz}
	}
	gbs := func(v float64) *Reading[unit.BitRate] {
		return &Reading[unit.BitRate]{Value: unit.BitRate(v * 1e9), Half: 0.05e9}
	}
	var out []Trial
	for _, r := range vsan {
		t := trialOf(KindText(r.kind), r.kind, unit.IORate(r.iops), 0)
		idle := ghz(1)
		t.Load = &Load{Scope: Host, Hosts: 6, CPU: ghz(r.cpu), Idle: &idle, Capacity: 115.2 * unit.GHz, Transmit: gbs(r.tx), Receive: gbs(r.rx)}
		out = append(out, t)
	}
	return out
}

func TestVSANRows(t *testing.T) {
	r := Costs(vsanTrials(), options)
	if len(r.Costs) != len(vsan) || len(r.Left)+len(r.Doubts) != 0 {
		t.Fatalf("%d costs, left out %v, doubts %v", len(r.Costs), r.Left, r.Doubts)
	}
	for _, c := range r.Costs {
		for _, row := range vsan {
			if row.kind != c.Kind {
				continue
			}
			half := 0.05
			if row.kilo > 10000 {
				half = 0.5
			}
			if got := float64(c.PerIO.Value) / 1000; !near(got, row.kilo, half) {
				t.Errorf("%s: %.2f k, want %.1f", KindText(c.Kind), got, row.kilo)
			}
			if got := float64(c.Storage.Value) / 1000; !near(got, row.storage, half) {
				t.Errorf("%s: %.2f k of storage, want %.1f", KindText(c.Kind), got, row.storage)
			}
			if sum := c.Storage.Value + c.Network.Value; !near(float64(sum), float64(c.PerIO.Value), 1e-6) {
				t.Errorf("%s: storage and network are %v, the whole is %v", KindText(c.Kind), sum, c.PerIO.Value)
			}
			// One run: 77 GHz ± 0.5 of it and ± 0.5 of the idle 1.
			want := float64(c.PerIO.Value) * (1 - 1/(row.cpu-1))
			if !near(float64(c.PerIO.Low), want, want*1e-6) || c.Method != "1 run: no interval; the range is what the printed digits leave open" {
				t.Errorf("%s: from %v, want %v; %s", KindText(c.Kind), c.PerIO.Low, want, c.Method)
			}
		}
	}
}

// TestRepetitions works the interval out by hand: 90, 100 and 110 have a deviation of 10,
// so the mean is within 4.303 × 10 ÷ √3.
func TestRepetitions(t *testing.T) {
	var trials []Trial
	for i, v := range []float64{90, 100, 110} {
		trials = append(trials, trialOf(fmt.Sprint(i), kind(4096, 1), 1000, unit.Hz(v*1000)))
	}
	c := Costs(trials, options).Costs[0]
	half := quantile(2) * 10 / math.Sqrt(3)
	if c.Runs != 3 || c.PerIO.Value != 100 || !near(float64(c.PerIO.Low), 100-half, 1e-9) || !near(float64(c.PerIO.High), 100+half, 1e-9) {
		t.Errorf("%d runs: %+v; want 3, 100 ± %v", c.Runs, c.PerIO, half)
	}
	if want := "3 runs: 95 % interval of the mean, Student's t (4.303), at least what the printed digits leave open"; c.Method != want {
		t.Errorf("method: %s, want %s", c.Method, want)
	}
	// Equal runs that are printed in whole kHz are no more certain than that.
	for i := range trials {
		trials[i].Load.CPU = Reading[unit.Hz]{Value: 100e3, Half: 500}
	}
	if c := Costs(trials, options).Costs[0]; !near(float64(c.PerIO.Low), 99.5, 1e-9) || !near(float64(c.PerIO.High), 100.5, 1e-9) {
		t.Errorf("equal runs: %v to %v, want 99.5 to 100.5", c.PerIO.Low, c.PerIO.High)
	}
	// Two have no interval: their own range.
	trials = trials[:2]
	trials[0].Load.CPU.Value = 90e3
	c = Costs(trials, options).Costs[0]
	if c.PerIO.Value != 95 || c.PerIO.Low != 89.5 || c.PerIO.High != 100.5 || !strings.HasPrefix(c.Method, "2 runs: no interval;") {
		t.Errorf("two runs: %+v, %s; want 95, 89.5 to 100.5", c.PerIO, c.Method)
	}
}

// TestOrder checks that neither the order of the files nor that of their runs matters, to
// the last bit.
func TestOrder(t *testing.T) {
	trials := append(vsanTrials(), iometerTrials()...)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 40 {
		r := trials[i%len(trials)]
		r.Place, r.IOPS.Value = fmt.Sprint("again", i), r.IOPS.Value*unit.IORate(0.95+0.1*rng.Float64())
		trials = append(trials, r)
	}
	want := Costs(trials, options)
	for range 20 {
		rng.Shuffle(len(trials), func(i, j int) { trials[i], trials[j] = trials[j], trials[i] })
		if got := Costs(trials, options); !reflect.DeepEqual(got, want) {
			t.Fatal("another order gives another result")
		}
	}
}

// TestScale checks that a cost is proportional to CPU and inversely so to IOPS.
func TestScale(t *testing.T) {
	for _, factor := range []float64{0.5, 2, 3.7} {
		cpu, iops := vsanTrials(), vsanTrials()
		for i := range cpu {
			l := cpu[i].Load
			l.Capacity = 0
			l.CPU.Value *= unit.Hz(factor)
			l.Idle.Value *= unit.Hz(factor)
			l.Transmit.Value, l.Receive.Value = l.Transmit.Value*unit.BitRate(factor), l.Receive.Value*unit.BitRate(factor)
			iops[i].IOPS.Value /= unit.IORate(factor)
		}
		was, byCPU, byIOPS := Costs(vsanTrials(), options).Costs, Costs(cpu, options).Costs, Costs(iops, options).Costs
		for i := range was {
			for _, pair := range [][2]unit.Cycles{
				{byCPU[i].PerIO.Value, was[i].PerIO.Value}, {byCPU[i].Network.Value, was[i].Network.Value}, {byCPU[i].Storage.Value, was[i].Storage.Value},
				{byIOPS[i].PerIO.Value, was[i].PerIO.Value}, {byIOPS[i].Network.Value, was[i].Network.Value},
			} {
				if got := float64(pair[0] / pair[1]); !near(got, factor, 1e-9) {
					t.Errorf("%s by %v: %v", KindText(was[i].Kind), factor, got)
				}
			}
		}
	}
}

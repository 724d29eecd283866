package calibrate

import (
	"math"
	"reflect"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/size/iocost"
)

func TestLeftOut(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Trial)
		want   string
	}{
		{"0 IOPS", func(t *Trial) { t.IOPS.Value = 0 }, "0 I/Os a second: no I/O has no cost"},
		{"infinite", func(t *Trial) { t.IOPS.Value = unit.IORate(math.Inf(1)) }, "0 I/Os a second: no I/O has no cost"},
		{"NaN", func(t *Trial) { t.IOPS.Value = unit.IORate(math.NaN()) }, "0 I/Os a second: no I/O has no cost"},
		{"no CPU", func(t *Trial) { t.Load = nil }, "its CPU use is not known"},
		{"no block", func(t *Trial) { t.Kind.Block = 0 }, "the block size is not stated, or several are mixed"},
		{"no hosts", func(t *Trial) { t.Load.Hosts = 0 }, "the number of hosts is not known (--host-count)"},
		{"more than all", func(t *Trial) { t.Load.Capacity = 5 * unit.GHz }, "6 GHz of CPU is more than the host has (5 GHz)"},
		{"idle", func(t *Trial) { t.Load.Idle = &Reading[unit.Hz]{Value: 6 * unit.GHz} }, "6 GHz of CPU is not more than the idle host has (6 GHz)"},
		{"CPU 0", func(t *Trial) { t.Load.CPU.Value = 0 }, "it used no CPU"},
		{"the reader says", func(t *Trial) { t.Unusable = "it is cut off" }, "it is cut off"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bad, good := trialOf("a:1", kind(4096, 1), 1000, 6*unit.GHz), trialOf("b:2", kind(4096, 1), 1000, 6*unit.GHz)
			tt.change(&bad)
			r := Costs([]Trial{bad, good}, options)
			want := []Left{{"a:1", "a:1", tt.want}}
			if !reflect.DeepEqual(r.Left, want) || len(r.Costs) != 1 || r.Costs[0].Runs != 1 || r.Costs[0].PerIO.Value != 6e6 {
				t.Errorf("left out %+v, want %+v; costs %+v", r.Left, want, r.Costs)
			}
		})
	}
}

func TestDoubts(t *testing.T) {
	k := iocost.Kind{Path: iocost.VSANESA, Block: 32 << 10, Read: 1, Random: 1}
	traffic := func(mib float64) *Reading[unit.BitRate] {
		return &Reading[unit.BitRate]{Value: unit.BitRate(mib * 8 * (1 << 20))}
	}
	tr := trialOf("a.txt:4", k, 721317.28, 77*unit.GHz)
	for _, tt := range []struct {
		traffic *Reading[unit.BitRate]
		limit   unit.IORate
		want    []string
	}{
		{traffic(22540), 0, nil},
		{traffic(22541 * 1.019), 0, nil},
		{traffic(22541 * 1.024), 0, []string{"a.txt:4: 721,317 IOPS of 32 KiB are 23.6 GB/s, but printed are 24.2 GB/s (+2.4 %): the block may be another"}},
		{traffic(2254), 0, []string{"a.txt:4: 721,317 IOPS of 32 KiB are 23.6 GB/s, but printed are 2.36 GB/s (-90 %): the block may be another"}},
		{nil, 720000, []string{"a.txt:4: 721,317 IOPS are the configured limit (720,000 IOPS), not what the cluster can do; their cost holds"}},
		{nil, 750000, nil},
	} {
		tr.Traffic, tr.Limit = tt.traffic, tt.limit
		if got := Costs([]Trial{tr}, options).Doubts; !reflect.DeepEqual(got, tt.want) {
			t.Errorf("traffic %v, limit %v: %q, want %q", tt.traffic, tt.limit, got, tt.want)
		}
	}
}

func TestSpread(t *testing.T) {
	var trials []Trial
	for i, v := range []float64{99, 100, 101, 115} {
		trials = append(trials, trialOf(string(rune('a'+i)), kind(4096, 0), 1000, unit.Hz(v*1e6)))
	}
	want := []string{"d: 115 k cycles for each I/O, +14 % off the middle of the 4 runs of 4 KiB write random: it is used, look at it"}
	if got := Costs(trials, options).Doubts; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSameRun checks that a copy of a result counts once, and a repetition twice.
func TestSameRun(t *testing.T) {
	a, b := trialOf("a:1", kind(4096, 1), 1000, 6e9), trialOf("b:1", kind(4096, 1), 1000, 7e9)
	a.Test, b.Test = "case-1700000000", "case-1700000000"
	if r := Costs([]Trial{a, b}, options); r.Costs[0].Runs != 2 {
		t.Errorf("%d runs without a time, want 2", r.Costs[0].Runs)
	}
	a.Started, b.Started = "2024-11-07", "2024-11-07"
	r := Costs([]Trial{b, a}, options)
	if want := []Left{{"case-1700000000", "b:1", "the same run is in another file, too: it counts once"}}; r.Costs[0].Runs != 1 || !reflect.DeepEqual(r.Left, want) {
		t.Errorf("%d runs, left out %+v; want 1, %+v", r.Costs[0].Runs, r.Left, want)
	}
	b.IOPS.Value++
	if r := Costs([]Trial{a, b}, options); r.Costs[0].Runs != 2 {
		t.Errorf("%d runs of other results, want 2", r.Costs[0].Runs)
	}
}

// TestScopes checks that the CPU of guests and hosts does not mix, and that the network is
// split off only where every run knows it.
func TestScopes(t *testing.T) {
	host, guest, threads := trialOf("a", kind(4096, 1), 1000, 6e9), trialOf("b", kind(4096, 1), 1000, 3e9), trialOf("c", kind(4096, 1), 1000, 1e9)
	guest.Load.Scope, threads.Load.Scope = Guest, Process
	host.Load.Transmit, host.Load.Receive = &Reading[unit.BitRate]{Value: 1e9}, &Reading[unit.BitRate]{Value: 1e9}
	more := trialOf("d", kind(8192, 1), 1000, 6e9)
	more.Load.Transmit, more.Load.Receive = host.Load.Transmit, host.Load.Receive
	half := trialOf("e", kind(8192, 1), 1000, 6e9)
	costs := Costs([]Trial{host, guest, threads, more, half}, options).Costs
	type row struct {
		scope   Scope
		value   unit.Cycles
		split   bool
		atLeast bool
	}
	var got []row
	for _, c := range costs {
		got = append(got, row{c.Scope, c.PerIO.Value, c.Network != nil && c.Storage != nil, c.AtLeast()})
	}
	want := []row{{Host, 6e6, true, false}, {Guest, 3e6, false, false}, {Process, 1e6, false, true}, {Host, 6e6, false, false}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := costs[0].Network.Value; !near(float64(got), 536000, 1e-6) { // (0.163 + 0.373) × 1e9 ÷ 1000
		t.Errorf("network %v, want 536 k", got)
	}
}

func TestCompare(t *testing.T) {
	point := func(block numa.Bytes, v, low, high float64, hardware string) iocost.Point {
		return iocost.Point{Kind: kind(block, 1), PerIO: unit.Figure[unit.Cycles]{
			Value: unit.Cycles(v), Low: unit.Cycles(low), High: unit.Cycles(high), Hardware: hardware,
		}}
	}
	published := []iocost.Point{point(4096, 100, 95, 105, "6 hosts, 2 × Xeon Gold 6544Y 3.6 GHz"), point(8192, 0, 0, 0, "")}
	for _, tt := range []struct {
		own       iocost.Point
		verdict   Verdict
		deviation float64
	}{
		{point(4096, 110, 104, 116, ""), Agrees, 0.1},
		{point(4096, 110, 106, 116, ""), Differs, 0.1},
		{point(4096, 80, 79, 94, "2 x Intel(R) Xeon(R) Gold 6544Y"), Differs, -0.2},
		{point(4096, 80, 79, 94, "AMD EPYC 9554, 3.6GHz"), Other, -0.2},
		{point(4096, 100, 79, 94, "AMD EPYC 9554"), Other, 0},
		{point(4096, 101, 101, 101, "AMD EPYC 9554"), Agrees, 0.01},
	} {
		got := Compare([]Cost{{Point: tt.own, Scope: Guest}}, published)
		if len(got) != 1 || got[0].Verdict != tt.verdict || !near(float64(got[0].Deviation), tt.deviation, 1e-9) {
			t.Errorf("%+v: %+v, want %s, %v", tt.own.PerIO, got, tt.verdict, tt.deviation)
		}
	}
	for _, c := range []Cost{
		{Point: point(16384, 1, 1, 1, ""), Scope: Guest}, {Point: point(8192, 1, 1, 1, ""), Scope: Guest},
		{Point: point(4096, 1, 1, 1, ""), Scope: Process},
		{Point: point(4096, 1, 1, 1, ""), Scope: Host}, // published of NVMe is what a guest sees
	} {
		if got := Compare([]Cost{c}, published); got != nil {
			t.Errorf("%s, %s: %+v, want none", KindText(c.Kind), c.Scope, got)
		}
	}
}

func TestKindText(t *testing.T) {
	for want, k := range map[string]iocost.Kind{
		"32 KiB read random":       {Block: 32 << 10, Read: 1, Random: 1},
		"512 B write sequential":   {Block: 512},
		"1 MiB 70/30 random":       {Block: 1 << 20, Read: 0.7, Random: 1},
		"1,536 B 33.3/66.7 random": {Block: 1536, Read: 0.333, Random: 1},
		"8 KiB read 40 % random":   {Block: 8 << 10, Read: 1, Random: 0.4},
	} {
		if got := KindText(k); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A size that ran more often weighs more: 100, 200 and 600 k cycles at 1, 2 and 3 times
// the bits, with 1, 1 and 4 runs. The mean size is 2.5 and the mean cost 450 k, the slope
// (1.5 · 350 + 0.5 · 250 + 4 · 0.5 · 150) ÷ (2.25 + 0.25 + 4 · 0.25).
func TestLineWeighted(t *testing.T) {
	var costs []*Cost
	for i, v := range []float64{100e3, 200e3, 600e3} {
		c := &Cost{Point: iocost.Point{Kind: kind(numa.Bytes(4096*(i+1)), 1), Runs: []int{1, 1, 4}[i]}}
		c.PerIO.Value = unit.Cycles(v)
		costs = append(costs, c)
	}
	f := line(costs)
	slope := 950e3 / 3.5
	if !near(float64(f.PerBit.Value)*32768, slope, 1e-6) || !near(float64(f.Fixed.Value), 450e3-2.5*slope, 1e-6) {
		t.Errorf("found %v + %v a bit; want %v + %v", float64(f.Fixed.Value), float64(f.PerBit.Value), 450e3-2.5*slope, slope/32768)
	}
}

// Traffic that would cost more than all the CPU is said to be wrong, and nothing is taken
// off.
func TestTrafficOfAnother(t *testing.T) {
	one := trialOf("a.txt:1", kind(4096, 1), 1000, 6e9)
	one.Load.Transmit, one.Load.Receive = &Reading[unit.BitRate]{Value: 20e9}, &Reading[unit.BitRate]{Value: 20e9}
	r := Costs([]Trial{one}, options) // 20e9 × 0.536 is 10.72 of 6 GHz
	want := []string{"a.txt:1: 4 KiB read random: the traffic alone would cost more CPU than was used: it is not that of the test, and nothing is taken off for it"}
	if c := r.Costs[0]; c.Network != nil || c.Storage != nil || !reflect.DeepEqual(r.Doubts, want) {
		t.Errorf("found network %v, storage %v, %q; want none, none, %q", c.Network, c.Storage, r.Doubts, want)
	}
	one.Load.Transmit, one.Load.Receive = &Reading[unit.BitRate]{Value: 1e9}, &Reading[unit.BitRate]{Value: 1e9}
	if r := Costs([]Trial{one}, options); r.Costs[0].Network == nil || r.Doubts != nil {
		t.Errorf("found network %v, %q; want some and no doubt", r.Costs[0].Network, r.Doubts)
	}
}

// TestContradiction checks that two runs of a kind which are more than a factor of 2 apart
// make no cost: both are listed with both places.
func TestContradiction(t *testing.T) {
	a, b := trialOf("a", kind(4096, 1), 1000, 145e6), trialOf("b", kind(4096, 1), 1000, 291e6)
	r := Costs([]Trial{a, b}, options)
	why := "two runs of one kind are a factor of 2.01 apart: 145 k cycles (" + a.Place + "), 291 k cycles (" + b.Place + ")"
	if want := []Left{{a.Test, a.Place, why}, {b.Test, b.Place, why}}; len(r.Costs) != 0 || !reflect.DeepEqual(r.Left, want) {
		t.Errorf("found %d costs, left out %+v; want none, %+v", len(r.Costs), r.Left, want)
	}
	b.Load.CPU.Value = 290e6
	if r := Costs([]Trial{a, b}, options); len(r.Costs) != 1 || r.Costs[0].PerIO.Value != 217500 {
		t.Errorf("twice as much: found %+v, want one cost of 217.5 k", r.Costs)
	}
	c := trialOf("c", kind(4096, 1), 1000, 600e6)
	if r := Costs([]Trial{a, b, c}, options); len(r.Costs) != 1 || r.Costs[0].Runs != 3 {
		t.Errorf("three runs: found %+v, want one cost of them", r.Costs)
	}
}

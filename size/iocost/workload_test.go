package iocost

import (
	"math"
	"math/rand/v2"
	"testing"

	"homenode/numa"
	"homenode/numa/unit"
)

func load(t testing.TB, m *Model, w Workload, o Options) Load {
	t.Helper()
	l, err := m.Load(w, o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// anyWorkload returns a workload of some path and its options.
func anyWorkload(r *rand.Rand) (Workload, Options) {
	w := Workload{Kind: Kind{Path: Path(paths[r.IntN(4)])}, IPC: 0.5 + r.Float64()}
	switch {
	case w.storage():
		w.Block, w.Read, w.Random, w.Rate = numa.Bytes(512+r.IntN(4<<20)), unit.Share(r.Float64()), unit.Share(r.IntN(2)), unit.IORate(1+r.Float64()*1e6)
	case w.Path == Network:
		w.TX, w.RX = unit.BitRate(r.Float64()*1e11), unit.BitRate(1+r.Float64()*1e11)
	default:
		w.Traffic = unit.BitRate(1 + r.Float64()*1e12)
	}
	return w, Options{RDMA: r.IntN(2) == 0, Rules: r.IntN(3) == 0}
}

// TestInverse checks that the traffic that fits in what a workload costs is that of the
// workload, and that CPU rises with the load.
func TestInverse(t *testing.T) {
	m := model(t)
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		w, o := anyWorkload(r)
		l := load(t, m, w, o)
		more := load(t, m, w.Times(1.001), o)
		if more.CPU.Value <= l.CPU.Value || more.CPU.Low < l.CPU.Low || more.CPU.High <= l.CPU.High {
			t.Fatalf("%+v: %v costs no more than %v", w, more.CPU, l.CPU)
		}
		// Its traffic says only how the directions relate.
		got, bits, err := m.Within(w.Times(7), l.CPU.Value, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, pair := range [][2]float64{
			{float64(got.Rate), float64(w.Rate)}, {float64(got.TX), float64(w.TX)}, {float64(got.RX), float64(w.RX)},
			{float64(got.Traffic), float64(w.Traffic)}, {float64(bits.Value), float64(w.Bits())},
		} {
			if !near(pair[0], pair[1]) {
				t.Fatalf("%+v: found %+v within what it costs", w, got)
			}
		}
		if bits.Low > bits.Value*(1+1e-12) || bits.High < bits.Value*(1-1e-12) {
			t.Fatalf("%+v: found %v, want a range around the value", w, bits)
		}
	}
}

// TestLoad checks the calculations of the articles: by the cost of an I/O, by network and RAM, and by
// the rules of thumb.
func TestLoad(t *testing.T) {
	m := model(t)
	gbit, gigabyte := unit.GbitPerSecond, 1e9*unit.BytePerSecond
	vsan := Workload{Kind: Kind{VSANESA, 32 * numa.KiB, 0.7, 1}, Rate: 602702.73}
	for _, tt := range []struct {
		name  string
		w     Workload
		o     Options
		want  float64 // GHz
		half  float64
		basis Basis
	}{
		{"six hosts of b-vsan, 94 GHz each", vsan, Options{}, 6 * 94, 1e-9, Measured},
		{"30 Gb/s each way, b-network", Workload{Kind: Kind{Path: Network}, TX: 30 * gbit, RX: 30 * gbit}, Options{}, 16.08, 1e-9, Measured},
		{"the same by the rule", Workload{Kind: Kind{Path: Network}, TX: 30 * gbit, RX: 30 * gbit}, Options{Rules: true}, 15, 1e-9, Estimated},
		{"17.2 GB/s of vSAN by the rule, b-vsan-rule", Workload{Kind: vsan.Kind, Rate: (17.2 * gigabyte).Rate(vsan.Block)}, Options{Rules: true}, 481.6, 1e-9, Estimated},
		{"100 GB/s of RAM by the rule", Workload{Kind: Kind{Path: RAM}, Traffic: 100 * gigabyte}, Options{Rules: true}, 8, 1e-9, Estimated},
		{"100 GB/s of RAM", Workload{Kind: Kind{Path: RAM}, Traffic: 100 * gigabyte}, Options{}, 6.103515625, 1e-9, Estimated},
		{"1 GB/s of NVMe by the rule", Workload{Kind: Kind{NVMe, 4096, 1, 1}, Rate: gigabyte.Rate(4096)}, Options{Rules: true}, 4, 1e-9, Estimated},
		{"twice the work per cycle", vsan, Options{IPC: 2}, 3 * 94, 1e-9, Measured},
		{"that of the workload comes first", Workload{Kind: vsan.Kind, Rate: vsan.Rate, IPC: 4}, Options{IPC: 2}, 1.5 * 94, 1e-9, Measured},
		{"RAID-6", Workload{Kind: vsan.Kind, Rate: vsan.Rate, Policy: RAID6}, Options{}, 6 * 94, 1e-9, Extrapolated},
	} {
		l := load(t, m, tt.w, tt.o)
		if got := float64(l.CPU.Value / unit.GHz); math.Abs(got-tt.want) > tt.half || l.Basis != tt.basis {
			t.Errorf("%s: found %v GHz, %s; want %v, %s", tt.name, got, l.Basis, tt.want, tt.basis)
		}
		if got := l.PerBit.Value.At(tt.w.Bits()); !near(float64(got), float64(l.CPU.Value)) {
			t.Errorf("%s: %v of %v are %v, want %v", tt.name, l.PerBit.Value, tt.w.Bits(), got, l.CPU.Value)
		}
	}
}

// TestRDMA checks that the saving is a range, the published one, and that the network part
// is not known with it.
func TestRDMA(t *testing.T) {
	for name, pair := range map[string][2]float64{
		"least": {float64(RDMASaving.Low), 0.128}, "mean": {float64(RDMASaving.Value), 0.184}, "most": {float64(RDMASaving.High), 0.233},
	} {
		if math.Abs(pair[0]-pair[1]) > 0.0005 {
			t.Errorf("%s saving: found %v, want %v", name, pair[0], pair[1])
		}
	}
	m, w := model(t), Workload{Kind: Kind{VSANESA, 32 * numa.KiB, 1, 1}, Rate: 1000}
	tcp, rdma := load(t, m, w, Options{}), load(t, m, w, Options{RDMA: true})
	for name, pair := range map[string][2]unit.Hz{
		"value": {rdma.CPU.Value, tcp.CPU.Value * unit.Hz(1-rdmaRows[0].saving())},
		"low":   {rdma.CPU.Low, tcp.CPU.Low * unit.Hz(1-RDMASaving.High)},
		"high":  {rdma.CPU.High, tcp.CPU.High * unit.Hz(1-RDMASaving.Low)},
	} {
		if !near(float64(pair[0]), float64(pair[1])) {
			t.Errorf("%s: found %v, want %v", name, pair[0], pair[1])
		}
	}
	if tcp.Basis != Measured || rdma.Basis != Estimated {
		t.Errorf("found %s with TCP, %s with RDMA; want measured, estimated: the saving is of another cluster", tcp.Basis, rdma.Basis)
	}
	if tcp.Network == nil || rdma.Network != nil {
		t.Errorf("network: found %v with TCP, %v with RDMA; want it with TCP only", tcp.Network, rdma.Network)
	}
	local := Workload{Kind: Kind{NVMe, 32 * numa.KiB, 1, 1}, Rate: 1000}
	if a, b := load(t, m, local, Options{}), load(t, m, local, Options{RDMA: true}); a.CPU != b.CPU {
		t.Errorf("local NVMe over RDMA: found %v, want %v", b.CPU, a.CPU)
	}
}

func TestLoadErrors(t *testing.T) {
	m := model(t)
	for _, tt := range []struct {
		w   Workload
		err string
	}{
		{Workload{Kind: Kind{VSANESA, 4096, 1, 1}}, "vsan-esa: found no traffic, want more than 0"},
		{Workload{Kind: Kind{VSANESA, 4096, 1, 1}, Rate: unit.IORate(math.Inf(1))}, "vsan-esa: found no traffic, want more than 0"},
		{Workload{Kind: Kind{VSANESA, 4096, 1, 1}, Rate: 1, IPC: -1}, "found -1 times the work per cycle, want more than 0"},
		{Workload{Kind: Kind{Path: "disk"}, Traffic: 1}, `unknown path "disk"`},
	} {
		if _, err := m.Load(tt.w, Options{}); err == nil || err.Error() != tt.err {
			t.Errorf("found %v, want %q", err, tt.err)
		}
	}
	w := Workload{Kind: Kind{Path: RAM}, Traffic: 1}
	if _, _, err := m.Within(w, 0, Options{}); err == nil || err.Error() != "found 0 Hz of CPU, want more than 0" {
		t.Errorf("found %v", err)
	}
	if _, err := m.Sum([]Workload{w, {Kind: Kind{Path: RAM}}}, Options{}); err == nil || err.Error() != "workload 2: ram: found no traffic, want more than 0" {
		t.Errorf("found %v", err)
	}
}

// TestLimit checks that an I/O counts once for each 32 KiB that it begins: the reads of 1 MiB
// of b-vsan stopped at 22,500 IOPS.
func TestLimit(t *testing.T) {
	for _, tt := range []struct {
		block numa.Bytes
		want  unit.IORate
	}{{512, 720e3}, {32 * numa.KiB, 720e3}, {32*numa.KiB + 1, 360e3}, {64 * numa.KiB, 360e3}, {numa.MiB, 22500}} {
		if got := Limit(144, 5000, tt.block); got != tt.want {
			t.Errorf("blocks of %d: found %v, want %v", tt.block, got, tt.want)
		}
	}
}

// TestRules checks the rules of b-rules and the means that they round.
func TestRules(t *testing.T) {
	for i, want := range []struct {
		path        Path
		rule, exact float64
	}{{RAM, 0.01, 0.00763}, {Network, 0.25, 0.268}, {NVMe, 0.5, 0.405}, {VSANESA, 3.5, 3.51}} {
		r := Rules()[i]
		if r.Path != want.path || float64(r.Cost.Value) != want.rule || math.Abs(float64(r.Exact)/want.exact-1) > 0.002 {
			t.Errorf("found %s %v, exact %v; want %v", r.Path, float64(r.Cost.Value), float64(r.Exact), want)
		}
		if r.Cost.Low > r.Exact || r.Cost.High < r.Exact || r.Cost.Source == "" || r.Cost.Hardware == "" {
			t.Errorf("%s: found %+v, want a range around the mean and a source", r.Path, r.Cost)
		}
	}
}

// TestRDMASaved checks that a kind saves what the nearest measured one did, in percent.
func TestRDMASaved(t *testing.T) {
	for _, tt := range []struct {
		kind             Kind
		value, low, high float64
		note             string
	}{
		{Kind{VSANESA, 4 * numa.KiB, 1, 1}, 17.2, 17.2, 17.2, ""},
		{Kind{VSANESA, 4 * numa.KiB, 0.7, 1}, 20.5, 20.5, 20.5, ""},
		{Kind{VSANESA, 8 * numa.KiB, 0.5, 1}, 23.3, 23.3, 23.3, ""},
		{Kind{VSANESA, 256 * numa.KiB, 0, 0}, 12.8, 12.8, 12.8, ""},
		{Kind{VSANESA, numa.MiB, 1, 0}, 12.8, 12.8, 23.3, "nearest measured: 256 KiB write seq"},
		{Kind{VSANESA, 32 * numa.KiB, 0.7, 1}, 20.5, 12.8, 23.3, "nearest measured: 4 KiB 70/30 random"},
		{Kind{VSANESA, 16 * numa.KiB, 0, 1}, 23.3, 12.8, 23.3, "nearest measured: 8 KiB 50/50 random"},
	} {
		f := RDMASaved(tt.kind)
		for _, q := range [][2]float64{{float64(f.Value), tt.value}, {float64(f.Low), tt.low}, {float64(f.High), tt.high}} {
			if math.Abs(q[0]*100-q[1]) > 0.05 || f.Note != tt.note {
				t.Errorf("%s: found %.4f (%.4f to %.4f), %q; want %v", tt.kind, float64(f.Value), float64(f.Low), float64(f.High), f.Note, tt)
				break
			}
		}
	}
}

package latency

import (
	"maps"
	"math"
	"reflect"
	"strings"
	"testing"

	"homenode/esxi/cost"
	"homenode/numa"
	"homenode/numa/unit"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }

// matrix is a latency matrix as Intel MLC prints it.
func matrix(names ...string) []Measurement {
	var out []Measurement
	for i, n := range names {
		out = append(out, Measurement{Tool: "Intel MLC", Metric: "idle latency " + n, Unit: "ns", Value: 80 + float64(i)*10, Where: "mlc.txt:4"})
	}
	return out
}

func steps(t *testing.T, all []Measurement, o Options) []Step {
	t.Helper()
	samples, _, err := Place(all, o)
	if err != nil {
		t.Fatal(err)
	}
	var out []Step
	for _, s := range samples {
		out = append(out, s.Step)
	}
	return out
}

func TestPlace(t *testing.T) {
	four := matrix("node 0 → node 0", "node 0 → node 1", "node 0 → node 2", "node 1 → node 3", "node 2 → node 3", "node 3 → node 0")
	one := func(tool, metric string, chased float64) []Measurement {
		return []Measurement{{Tool: tool, Metric: metric, Unit: "ms", Value: 1, Where: "f:1", Chased: chased}}
	}
	for _, tt := range []struct {
		name string
		in   []Measurement
		o    Options
		want []Step
	}{
		{"two nodes", matrix("node 0 → node 0", "node 0 → node 1", "node 1 → node 1"), Options{}, []Step{RAM, RAMFar, RAM}},
		{"sockets", matrix("socket 0 → node 0", "socket 1 → node 0"), Options{}, []Step{RAM, RAMFar}},
		{"a node without CPUs", matrix("node 0 → node 0", "node 0 → node 1"), Options{}, []Step{RAM, RAMOnly}},
		{"four nodes, packages unknown", four, Options{}, []Step{RAM, RAMFar, RAMFar, RAMFar, RAMFar, RAMFar}},
		{"four nodes in two packages", four, Options{Packages: 2}, []Step{RAM, RAMNear, RAMFar, RAMFar, RAMNear, RAMFar}},
		{"random beats sequential", matrix("(random) node 0 → node 0", "(sequential) node 0 → node 0"), Options{}, []Step{RAM}},
		{"sequential alone", matrix("(sequential) node 0 → node 0"), Options{}, []Step{RAM}},
		{"one line", one("Intel MLC", "idle latency", 0), Options{}, []Step{RAM}},
		{"multichase of 256 MiB", one("multichase", "latency", 256<<20), Options{}, []Step{RAM}},
		{"multichase in a cache", one("multichase", "latency", 1<<20), Options{}, nil},
		{"loaded latency", one("Intel MLC", "loaded latency, inject delay 0", 0), Options{}, nil},
		{"fio", one("fio", "read latency, mean", 0), Options{}, []Step{NVMeRead}},
		{"fio on vSAN", one("fio", "write latency, mean", 0), Options{Storage: VSANRead}, []Step{VSANWrite}},
		{"a percentile", one("fio", "read completion latency, 99 %", 0), Options{}, nil},
		{"HCIBench", one("HCIBench", "read latency", 0), Options{}, []Step{VSANRead}},
		{"HCIBench on NVMe", one("HCIBench", "write latency", 0), Options{Storage: NVMeRead}, []Step{NVMeWrite}},
		{"Iometer", one("Iometer", "average write response time", 0), Options{}, []Step{NVMeWrite}},
	} {
		if got := steps(t, tt.in, tt.o); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: found %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestPlaceErrors(t *testing.T) {
	clocks := matrix("node 0 → node 0", "node 1 → node 1", "node 2 → node 2")
	clocks[2].Unit = "clocks"
	if _, _, err := Place(clocks, Options{}); err == nil || err.Error() != `mlc.txt:4: idle latency node 2 → node 2: found the unit "clocks", want ns, µs, ms or s` {
		t.Errorf("found %v, want an error about the unit", err)
	}
	if _, _, err := Place(clocks[:2], Options{Packages: 3}); err == nil || err.Error() != "3 packages: found 2 nodes with CPUs in the latency matrix, want a multiple" {
		t.Errorf("found %v, want an error about the packages", err)
	}
	_, notes, err := Place([]Measurement{{Tool: "Intel MLC", Metric: "idle latency node 0 → node 0", Unit: "ns", Value: 139, Where: "mlc.txt:4"}}, Options{})
	if err != nil || len(notes) != 1 || !strings.HasPrefix(notes[0], "mlc.txt:4: 139 ns of a single node is more than any published host has locally: ") {
		t.Errorf("found %q, %v; want a note about interleaved memory", notes, err)
	}
	_, notes, err = Place(matrix("node 0 → node 0", "node 1 → node 1", "node 2 → node 2"), Options{})
	if err != nil || len(notes) != 1 {
		t.Errorf("found %v, %v; want one note that packages are not known", notes, err)
	}
}

// The published ladder: values, multiples and what fits.
func TestStudy(t *testing.T) {
	r, err := Study(&Ask{Remote: 0.5, Calls: 20, Budget: 10e-3})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		step                        Step
		value, perRAM, cycles, fits float64
	}{
		{L1, 1.6e-9, 1.6 / 81.075, 4, 6.25e6},
		{RAM, 81.075e-9, 1, 202.6875, 123342},
		{RAMFar, 138.575e-9, 138.575 / 81.075, 346.4375, 72163},
		{RDMA, 3e-6, 3000 / 81.075, 7500, 3333},
		{NVMeRead, 0.26e-3, 0.26e6 / 81.075, 650e3, 38},
		{RPC, 0.28, 0.28e9 / 81.075, 700e6, 0},
	} {
		l := r.line(tt.step)
		if !near(float64(l.Value), tt.value) || !near(l.PerRAM, tt.perRAM) || !near(float64(l.Cycles), tt.cycles) || *l.Fits != tt.fits {
			t.Errorf("%s: found %v s, %v × RAM, %v cycles, %v fit; want %v, %v, %v, %v", tt.step, float64(l.Value), l.PerRAM, float64(l.Cycles), *l.Fits, tt.value, tt.perRAM, tt.cycles, tt.fits)
		}
	}
	if got, ok := r.Slowest(); !ok || got.Step != NVMeRead || !near(float64(got.Takes), 5.2e-3) {
		t.Errorf("the slowest step that fits 20 times: found %+v, want NVMe read in 5.2 ms", got)
	}
	// Of the 8 hosts the fourth and fifth ratios are 131.1 ÷ 81.35 and 138.9 ÷ 80.8.
	if p := r.Published; r.Yours != nil || !near(p.Value, (131.1/81.35+138.9/80.8)/2) || !near(p.Low, 1.44) || !near(p.High, 138.25/74.2) {
		t.Errorf("remote ÷ local: found %+v, want 1.665 (1.44 to 1.863)", r.Published)
	}
	if want := (81.075 + 138.575) / 2; !near(float64(r.Memory.Value)*1e9, want) {
		t.Errorf("half remote: found %v, want %v ns", float64(r.Memory.Value)*1e9, want)
	}
}

// The user's own values count, and are compared.
func TestOwn(t *testing.T) {
	var samples []Sample
	for step, values := range map[Step][]float64{RAM: {90.5, 91.5}, RAMFar: {150.5, 151.5, 210}} {
		for _, v := range values {
			samples = append(samples, Sample{Step: step, Value: unit.Seconds(v * 1e-9)})
		}
	}
	r, err := Study(&Ask{Samples: samples, Core: 3 * unit.GHz})
	if err != nil {
		t.Fatal(err)
	}
	far := r.line(RAMFar)
	if !near(float64(far.Value), 151.5e-9) || !near(float64(far.Yours.High), 210e-9) || !*far.Yours.Within || !near(float64(*far.Yours.Deviation), 151.5/138.575-1) {
		t.Errorf("remote RAM: found %+v", far.Yours)
	}
	if r.Yours == nil || !near(r.Yours.Value, 151.5/91) || !near(r.Yours.Low, 150.5/91.5) || !near(r.Yours.High, 210/90.5) {
		t.Errorf("your remote ÷ local: found %+v, want 1.665 (1.645 to 2.320)", r.Yours)
	}
	if l := r.line(L1); !near(float64(l.Value), 4/3e9) || !near(float64(l.Cycles), 4) || l.Published.Origin != unit.Derived {
		t.Errorf("L1 at 3 GHz: found %v, %v; want 4 cycles", l.Value, l.Cycles)
	}
	// Local alone: remote follows by the published ratio, not by another host's figure.
	r, err = Study(&Ask{Samples: samples[:0:0], Remote: 1})
	if err != nil {
		t.Fatal(err)
	}
	published := r.Memory
	r, err = Study(&Ask{Samples: []Sample{{Step: RAM, Value: 200e-9}}, Remote: 1})
	if err != nil {
		t.Fatal(err)
	}
	if far := r.line(RAMFar); !near(far.PerRAM, r.Published.Value) || !near(float64(r.line(RAMNear).Value), 200e-9*81.5/74.2) {
		t.Errorf("remote of 200 ns: found %v × local, want %v", far.PerRAM, r.Published.Value)
	}
	if !near(float64(r.Memory.Value), 200e-9*r.Published.Value) || near(float64(r.Memory.Value), float64(published.Value)) {
		t.Errorf("all remote of 200 ns: found %v, want %v times that", r.Memory.Value, r.Published.Value)
	}
}

func TestStudyErrors(t *testing.T) {
	for _, tt := range []struct {
		ask  Ask
		want string
	}{
		{Ask{Core: -1}, "core: found -1 Hz, want a clock above 0"},
		{Ask{Calls: math.NaN()}, "calls: found NaN, want a number above 0"},
		{Ask{Budget: -1}, "budget: want a time above 0"},
		{Ask{Remote: 1.5}, "remote share: found 150 %, want 0 to 100 %"},
		{Ask{Samples: []Sample{{Step: RAM, What: "idle latency", Where: "f:1"}}}, "f:1: idle latency: found 0 ns, want a time above 0"},
	} {
		if _, err := Study(&tt.ask); err == nil || err.Error() != tt.want {
			t.Errorf("found %v, want %s", err, tt.want)
		}
	}
}

// The published processors: theirs, not the median; one of an unknown family is assumed.
func TestMachine(t *testing.T) {
	for _, tt := range []struct {
		cpu        string
		local, far float64
		origin     unit.Origin
	}{
		{"Intel(R) Xeon(R) Gold 6154 CPU @ 3.00GHz", 80.8, 138.9, unit.Published},
		{"AMD EPYC 7543", 129, 205, unit.Assumed},
	} {
		m := cost.For(&numa.Host{CPUModel: numa.ReadAt(tt.cpu, "")})
		r, err := Study(&Ask{Machine: &m})
		if err != nil {
			t.Fatal(err)
		}
		local, far := r.line(RAM), r.line(RAMFar)
		if !near(float64(local.Value), tt.local*1e-9) || !near(float64(far.Value), tt.far*1e-9) || local.Published.Origin != tt.origin {
			t.Errorf("%s: found %v and %v, %s; want %v and %v ns, %s", tt.cpu, local.Value, far.Value, local.Published.Origin, tt.local, tt.far, tt.origin)
		}
	}
}

// More remote accesses never make memory faster while the far latency is above the local
// one, and every figure lies in its own range.
func TestMonotone(t *testing.T) {
	r, err := Study(&Ask{})
	if err != nil {
		t.Fatal(err)
	}
	before := unit.Seconds(0)
	for share := unit.Share(0); share <= 1; share += 1.0 / 64 {
		m := r.Mixed(share)
		if m.Value < before {
			t.Errorf("%v remote: %v, less than %v before", share, m.Value, before)
		}
		before = m.Value
	}
	for _, rung := range Ladder(CoreOf2019, nil) {
		if p := rung.Published; p != nil && (p.Value < p.Low || p.Value > p.High || p.Low <= 0 || p.Source == "") {
			t.Errorf("%s: %v is not in %v to %v, or has no source", rung.Name, p.Value, p.Low, p.High)
		}
	}
	for _, budget := range []unit.Seconds{1e-9, 1e-3, 1, 1000} {
		for _, step := range []unit.Seconds{1e-9, 3e-7, 0.28} {
			n := fits(budget, step)
			if float64(step)*n > float64(budget)*(1+1e-9) || float64(step)*(n+1) <= float64(budget)*(1-1e-9) {
				t.Errorf("%v of %v fit %v", n, step, budget)
			}
		}
	}
}

func TestChecks(t *testing.T) {
	checks, verdicts := Checks(), map[string]int{}
	for i := range checks {
		c := &checks[i]
		verdicts[c.Verdict()]++
		if c.Verdict() == "MISSED" && c.Note == "" {
			t.Errorf("%s, %s: printed %s, computed %v: %s without a reason", c.ID, c.What, c.Printed, c.Computed, c.Verdict())
		}
	}
	// All 14 latencies of b-nvme, those that miss too: 256 KiB and 1 MiB writes.
	if want := map[string]int{"restated": 16, "unit": 4, "circular": 4, "MISSED": 2}; !maps.Equal(verdicts, want) {
		t.Errorf("found %v, want %v", verdicts, want)
	}
}

// FuzzPlace checks that any names and values are placed or refused, and that what is placed
// can be studied or is refused.
func FuzzPlace(f *testing.F) {
	f.Add("idle latency node 0 → node 99999999999999999999", "ns", 1.0, 2)
	f.Add("read latency", "ms", -1.0, 0)
	f.Add("idle latency", "clocks", math.Inf(1), -1)
	f.Fuzz(func(t *testing.T, metric, unit string, v float64, packages int) {
		samples, _, err := Place([]Measurement{{Tool: "Intel MLC", Metric: metric, Unit: unit, Value: v, Where: "f"}, {Tool: "fio", Metric: metric, Unit: unit, Value: v}}, Options{Packages: packages})
		if err != nil {
			return
		}
		r, err := Study(&Ask{Samples: samples, Remote: 0.5})
		if err == nil && !finite(float64(r.Memory.Value)) && v < 1e300 {
			t.Errorf("memory of %v", r.Memory.Value)
		}
	})
}

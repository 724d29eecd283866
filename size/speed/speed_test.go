package speed

import (
	"context"
	"math"
	"slices"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/size/fit"
)

// ask returns 12 VMs of 8 vCPUs at 1 GHz on 2 sockets of 18 cores of 3 GHz: the host of a
// published experiment (a-one-node).
func ask(t testing.TB) *Ask {
	t.Helper()
	kind, err := fit.ParseType("2x18c/1TB", numa.ESXi80)
	if err != nil {
		t.Fatal(err)
	}
	return &Ask{
		Model: PayAsYouGo, Speed: unit.GHz, Guarantee: 0.2, VCPUs: 8, Memory: 64 * numa.GiB,
		Core: 3 * unit.GHz, Hosts: 1, Kernel: 0.1, VMs: 12, Host: kind.Host,
	}
}

func TestTerms(t *testing.T) {
	const g = unit.GHz
	for _, tt := range []struct {
		model              Model
		vcpus              int
		speed              unit.Hz
		guarantee          unit.Share
		limit, reservation unit.Hz
		pool               bool
	}{
		{PayAsYouGo, 8, g, 0.2, 8 * g, 1.6 * g, false},
		{PayAsYouGo, 1, 2.6 * g, 1, 2.6 * g, 2.6 * g, false},
		{PayAsYouGo, 4, 0.26 * g, 0, 1.04 * g, 0, false},
		{Flex, 2, 1.5 * g, 0.5, 3 * g, 1.5 * g, false},
		{AllocationPool, 8, g, 0.5, 0, 4 * g, true},
		{ReservationPool, 8, g, 1, 0, 0, false},
	} {
		got := TermsOf(tt.model, tt.vcpus, tt.speed, tt.guarantee)
		if !near(got.Limit, tt.limit) || !near(got.Reservation, tt.reservation) || got.InPool != tt.pool {
			t.Errorf("%s, %d vCPUs at %v, %v: limit %v, reservation %v, in the pool %t; want %v, %v, %t", tt.model, tt.vcpus, tt.speed, tt.guarantee,
				got.Limit, got.Reservation, got.InPool, tt.limit, tt.reservation, tt.pool)
		}
	}
}

func near(a, b unit.Hz) bool { return math.Abs(float64(a-b)) <= 1e-9*math.Abs(float64(b)) }

func TestShareAndHeld(t *testing.T) {
	for _, tt := range []struct {
		speed, core unit.Hz
		demand      unit.Share
		share, held float64
	}{
		{1e9, 3e9, 1, 1. / 3, 2. / 3},
		{1e9, 3e9, 0.5, 1. / 3, 1. / 6},
		{1e9, 3e9, 0.25, 1. / 3, 0},
		{3e9, 3e9, 1, 1, 0},
		{3.5e9, 3e9, 1, 1, 0}, // never acts
	} {
		a := ask(t)
		a.Speed, a.Core = tt.speed, tt.core
		share := a.Share()
		if held := Held(tt.demand, share); math.Abs(float64(share)-tt.share) > 1e-12 || math.Abs(float64(held)-tt.held) > 1e-12 {
			t.Errorf("%v of %v, demand %v: share %v, held back %v; want %v, %v", tt.speed, tt.core, tt.demand, float64(share), float64(held), tt.share, tt.held)
		}
	}
}

func TestAdmit(t *testing.T) {
	for _, tt := range []struct {
		name      string
		change    func(*Ask)
		bounded   bool
		perHost   int
		all, less int
		perCore   float64
	}{
		{"97.2 GHz by 1.6", func(*Ask) {}, true, 60, 60, 0, 480. / 36},
		{"whole", func(a *Ask) { a.Kernel, a.Guarantee = 0, 1 }, true, 13, 13, 0, 104. / 36},
		{"exactly full", func(a *Ask) { a.Kernel, a.Guarantee, a.Speed = 0, 1, 1.5*unit.GHz }, true, 9, 9, 0, 2},
		{"four hosts", func(a *Ask) { a.Hosts = 4 }, true, 60, 240, 180, 480. / 36},
		{"too large", func(a *Ask) { a.Guarantee, a.VCPUs = 1, 98 }, true, 0, 0, 0, 0},
		{"nothing reserved", func(a *Ask) { a.Guarantee = 0 }, false, 0, 0, 0, 0},
		{"by the tenant", func(a *Ask) { a.Model = ReservationPool }, false, 0, 0, 0, 0},
		{"in the pool", func(a *Ask) { a.Model = AllocationPool }, true, 60, 60, 0, 480. / 36},
	} {
		a := ask(t)
		tt.change(a)
		got := a.Admit()
		if got.Bounded != tt.bounded || got.PerHost != tt.perHost || got.All != tt.all || got.NPlus1 != tt.less || math.Abs(got.PerCore.VCPUs-tt.perCore) > 1e-9 {
			t.Errorf("%s: %+v; want bounded %t, %d a host, %d, %d with one fewer, %v vCPUs a core", tt.name, got, tt.bounded, tt.perHost, tt.all, tt.less, tt.perCore)
		}
	}
}

// TestAdmitAtMost checks that no more VMs are admitted than a host runs at most.
func TestAdmitAtMost(t *testing.T) {
	a := ask(t)
	a.Hosts, a.VCPUs, a.Speed, a.Guarantee = 3, 1, 0.001*unit.GHz, 0.01 // 97.2 GHz by 10 kHz
	if got := a.Admit(); got.PerHost != 1024 || got.All != 3072 || got.NPlus1 != 2048 {
		t.Errorf("%d a host, %d, %d with one fewer; want 1024, 3072, 2048", got.PerHost, got.All, got.NPlus1)
	}
}

// TestInMemory checks how many VMs have memory: 1 TB less its soft reserve of 43.3 GB is
// 980.7 GB; more of them than that power on only where memory is overcommitted.
func TestInMemory(t *testing.T) {
	for _, tt := range []struct {
		host        string
		vcpus       int
		memory      numa.Bytes
		want, local int
	}{
		{"2x18c/1TB", 8, 64 * numa.GiB, 15, 14},      // 64.5 GB each; 7 in 468.7 GB of a node
		{"2x32c/1TB", 4, 16 * numa.GiB, 60, 58},      // as size fit --vm 4x16GB --hosts 2x32c/1TB
		{"2x18c/1TB", 8, 600 * numa.GiB, 1, 0},       // a part of it is on the other node
		{"2x18c/1TB", 8, numa.TiB, 0, 0},             // nothing is left for the VMkernel
		{"2x18c/1TB", 8, 512 * numa.MiB, 1024, 1024}, // as many as a host runs
		{"1x4c/16GB", 8, 8 * numa.GiB, 1, 1},         // 16 GB less 2.6
	} {
		kind, err := fit.ParseType(tt.host, numa.ESXi80)
		if err != nil {
			t.Fatal(err)
		}
		a := ask(t)
		a.Host, a.VCPUs, a.Memory = kind.Host, tt.vcpus, tt.memory
		if got, local := a.Admit().InMemory, a.Local(); got == nil || *got != tt.want || local == nil || *local != tt.local {
			t.Errorf("%s, %s: %v, %v local; want %d, %d", tt.host, tt.memory, got, local, tt.want, tt.local)
		}
	}
	a := ask(t)
	a.Host.Memory = numa.Fact[numa.Bytes]{}
	if got := a.Admit().InMemory; got != nil {
		t.Errorf("memory of the host unknown: %d, want none", *got)
	}
}

// TestContentionIsNotLimit checks that a limit takes nothing of VMs that the host keeps
// below it: 60 VMs of 8 vCPUs share 45 cores' worth of 36 cores, 9 % of a core for each
// vCPU, and their limit is 33 %.
func TestContentionIsNotLimit(t *testing.T) {
	a := ask(t)
	a.VMs = 60
	loads, err := a.Simulate(context.Background(), quarters, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range loads {
		want := float64(l.Demand) - 45./480
		if l.Limited != 0 || math.Abs(float64(l.Contended)-want) > 2e-3 {
			t.Errorf("demand %v: %v by the limit, %v contended; want 0, %v", l.Demand, l.Limited, float64(l.Contended), want)
		}
	}
}

// TestLimitNeverActs checks that where cores run out below the limit none of the ready time
// is the limit's: 100 VMs of 4 vCPUs share 64 cores with a second thread of 25 %, 80 cores'
// worth, so 0.2 of a core for each vCPU or 2.08 GHz of a limit of 4; 12 of 8 on 32 cores get
// 40 ÷ 96 of one, 8.67 GHz of 16.
func TestLimitNeverActs(t *testing.T) {
	for _, tt := range []struct {
		host       string
		vcpus, vms int
		speed      unit.Hz
		share      float64
	}{{"2x32c/1TB", 4, 100, 1e9, 0.2}, {"2x16c/1TB", 8, 12, 2e9, 40. / 96}} {
		kind, err := fit.ParseType(tt.host, numa.ESXi80)
		if err != nil {
			t.Fatal(err)
		}
		a := ask(t)
		a.Host, a.VCPUs, a.VMs, a.Speed, a.Core, a.Memory = kind.Host, tt.vcpus, tt.vms, tt.speed, 2.6e9, 16*numa.GiB
		for _, limited := range []bool{true, false} {
			loads, err := a.Simulate(context.Background(), []unit.Share{1}, limited)
			if err != nil {
				t.Fatal(err)
			}
			l := loads[0]
			used := float64(l.Used) / (float64(tt.vcpus) * 2.6e9)
			if l.Limited != 0 || math.Abs(used-tt.share) > 2e-3 || math.Abs(float64(l.Contended)-(1-tt.share)) > 2e-3 || l.Contended != l.Ready {
				t.Errorf("%s, limit %t: %v by the limit, %v used, %v contended of %v ready; want 0, %v, %v", tt.host, limited, l.Limited, used, float64(l.Contended), float64(l.Ready), tt.share, 1-tt.share)
			}
		}
	}
}

// TestSpeedForIsInverse checks that at the speed that is computed for a number of VMs that
// number is admitted, and no more; and that a little more speed admits fewer.
func TestSpeedForIsInverse(t *testing.T) {
	for _, guarantee := range []unit.Share{0.05, 0.2, 0.5, 0.75, 1} {
		for vcpus := 1; vcpus <= 40; vcpus += 3 {
			for vms := 1; vms <= 200; vms++ {
				a := ask(t)
				a.Guarantee, a.VCPUs = guarantee, vcpus
				var ok bool
				if a.Speed, ok = a.SpeedFor(vms); !ok {
					t.Fatalf("no speed for %d VMs", vms)
				}
				if got := a.Admit().PerHost; got != vms {
					t.Fatalf("%d vCPUs, %v: %v admits %d VMs, want %d", vcpus, guarantee, a.Speed, got, vms)
				}
				a.Speed *= 1 + 1e-9
				if got := a.Admit().PerHost; got != vms-1 {
					t.Fatalf("%d vCPUs, %v: more than %v admits %d VMs, want %d", vcpus, guarantee, a.Speed, got, vms-1)
				}
			}
		}
	}
	a := ask(t)
	a.Guarantee = 0
	if s, ok := a.SpeedFor(3); ok {
		t.Errorf("nothing reserved: speed %v, want none", s)
	}
}

var quarters = []unit.Share{0.25, 0.5, 0.75, 1}

// TestTwinIsClosedForm checks that VMs that find a core free use what they demand up to
// the limit, and are ready for the rest: in the simulation as by the formula.
func TestTwinIsClosedForm(t *testing.T) {
	for _, vcpus := range []int{1, 3, 8, 12, 18, 24} { // the last is wide
		for _, speed := range []unit.Hz{0.5e9, 1e9, 1.3e9, 2e9, 3e9, 4e9} {
			a := ask(t)
			a.VCPUs, a.Speed, a.VMs, a.Guarantee = vcpus, speed, max(1, 18/vcpus*2), 0 // a core for each, node by node
			loads, err := a.Simulate(context.Background(), quarters, true)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range loads {
				want := min(float64(l.Demand)*float64(a.Core), float64(speed)) * float64(vcpus)
				held := max(0, float64(l.Demand)-float64(speed/a.Core))
				if math.Abs(float64(l.Used)-want) > 1e-3*want || math.Abs(float64(l.Ready)-held) > 1e-3 || l.Contended != 0 || l.CoStop != 0 || l.Local < 0.999 {
					t.Errorf("%d vCPUs at %v, demand %v: %+v; want %v used, %v ready, all of it by the limit", vcpus, speed, l.Demand, l, unit.Hz(want), held)
				}
				if math.Abs(float64(l.Expected)-want) > 1e-9*want {
					t.Errorf("%d vCPUs at %v: closed form %v, want %v", vcpus, speed, l.Expected, unit.Hz(want))
				}
			}
		}
	}
}

// TestTwinIsMonotone holds on a host that is too small that no VM uses more than its
// limit, that ready time falls with the speed, and grows with the demand.
func TestTwinIsMonotone(t *testing.T) {
	var before []Load
	for _, speed := range []unit.Hz{0.3e9, 0.6e9, 1e9, 1.5e9, 2.2e9, 3e9} {
		a := ask(t)
		a.Speed, a.VMs, a.Guarantee = speed, 20, 0
		loads, err := a.Simulate(context.Background(), quarters, true)
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range loads {
			if limit := a.Terms().Limit; l.Used > limit*(1+1e-9) {
				t.Errorf("at %v, demand %v: %v used, the limit is %v", speed, l.Demand, l.Used, limit)
			}
			if sum := l.Limited + l.Contended; math.Abs(float64(sum-l.Ready)) > rounding {
				t.Errorf("at %v, demand %v: ready %v, by limit and contention %v", speed, l.Demand, float64(l.Ready), float64(sum))
			}
			if before != nil && l.Ready > before[i].Ready+1e-9 {
				t.Errorf("at %v, demand %v: ready %v, at less speed %v", speed, l.Demand, float64(l.Ready), float64(before[i].Ready))
			}
			if i > 0 && l.Ready < loads[i-1].Ready {
				t.Errorf("at %v, demand %v: ready %v, at less demand %v", speed, l.Demand, float64(l.Ready), float64(loads[i-1].Ready))
			}
		}
		before = loads
	}
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		change func(*Ask)
		want   string
	}{
		{func(a *Ask) { a.Speed = 0 }, "vCPU speed: found 0 Hz, want more than 0"},
		{func(a *Ask) { a.Core = 0 }, "core: found 0 Hz, want more than 0, up to 100 GHz"},
		{func(a *Ask) { a.Guarantee = 1.2 }, "guarantee: found 120 %, want 0 to 100 %"},
		{func(a *Ask) { a.Kernel = 1 }, "kernel: found 100 %, want 0 to less than 100 %"},
		{func(a *Ask) { a.VCPUs = 0 }, "vCPUs: found 0, want 1 to 4096"},
		{func(a *Ask) { a.VCPUs = 73 }, "vCPUs: 73 are more than the 72 logical CPUs of a host: such a VM does not power on"},
		{func(a *Ask) { a.Memory = 0 }, "memory: found 0 bytes, want more than 0"},
		{func(a *Ask) { a.Memory = 2 * numa.TiB }, "memory: 2 TB are more than the 1 TB of a host"},
		{func(a *Ask) { a.Hosts = 0 }, "hosts: found 0, want 1 to 10000"},
		{func(a *Ask) { a.Hosts = 10_001 }, "hosts: found 10001, want 1 to 10000"},
		{func(a *Ask) { a.VMs = 1025 }, "VMs: found 1025, want 1 to 1024 on a host"},
		{func(a *Ask) { a.Host.Nodes = numa.Fact[[]numa.Node]{} }, "host 2x18c/1TB: its NUMA nodes are unknown"},
		{func(a *Ask) { a.Host.Release = numa.Fact[numa.Release]{} }, "host 2x18c/1TB: its release is unknown"},
		{func(*Ask) {}, ""},
	} {
		a := ask(t)
		tt.change(a)
		got := ""
		if err := a.Check(); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("found %q, want %q", got, tt.want)
		}
	}
}

func TestParseModel(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Model
		err  string
	}{
		{"flex", Flex, ""}, {"Flex ", Flex, ""}, {"payg", PayAsYouGo, ""}, {"Pay-As-You-Go", PayAsYouGo, ""}, {"AllocationVApp", PayAsYouGo, ""},
		{"AllocationPool", AllocationPool, ""}, {"reservation", ReservationPool, ""},
		{"flexi", "", `found "flexi", is flex meant?`}, {"pay-as-you-gow", "", `found "pay-as-you-gow", is pay-as-you-go meant?`},
		{"alocation", "", `found "alocation", is allocation meant?`},
		{"spot", "", `found "spot", want an allocation model: flex, pay-as-you-go, allocation, reservation`},
		{"", "", `found "", want an allocation model: flex, pay-as-you-go, allocation, reservation`},
	} {
		got, err := ParseModel(tt.text)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if got != tt.want || text != tt.err {
			t.Errorf("%q: found %q, %q; want %q, %q", tt.text, got, text, tt.want, tt.err)
		}
	}
}

func FuzzParseModel(f *testing.F) {
	for _, s := range []string{"flex", "reservation", "payg", "AllocationVApp", "flexx", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, err := ParseModel(s)
		if (err == nil) != (m != "") {
			t.Errorf("%q: %q, %v", s, m, err)
		}
		if again, err := ParseModel(string(m)); m != "" && (err != nil || again != m) {
			t.Errorf("%q: %q, which reads as %q, %v", s, m, again, err)
		}
	})
}

// TestStudy checks that every expression of the sheets finds what it looks up.
func TestStudy(t *testing.T) {
	share := unit.Exactly(unit.Share(0.2), unit.Given, "", "")
	r, err := Study(context.Background(), ask(t), share, share)
	if err != nil {
		t.Fatal(err)
	}
	demands, changes, schedulers := r.Sheets(true)
	if unknown := slices.Concat(demands.Unknown(), changes.Unknown(), schedulers.Unknown()); unknown != nil {
		t.Errorf("nothing has %q", unknown)
	}
}

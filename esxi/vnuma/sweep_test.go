package vnuma

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/homenode/numa"
)

// checkSpec compares a prediction with the specification.
func checkSpec(t *testing.T, g *Guest, m *Machine, c *Case) bool {
	t.Helper()
	l := predict(g, m, c, nil)
	got := specLayout{l.VPDs.Sizes(), l.PPDs.Sizes(), l.VSockets.Sizes(), l.Managed, l.Stored.Written, l.Stored.Size, l.Stored.Cookie}
	want := spec(g, m, c)
	if !slices.Equal(got.vpds, want.vpds) || !slices.Equal(got.ppds, want.ppds) || !slices.Equal(got.sockets, want.sockets) ||
		got.managed != want.managed || got.written != want.written || got.size != want.size || got.cookie != want.cookie {
		from := ""
		if c.From != nil {
			from = fmt.Sprintf(" from %s %s", c.From.Release, c.From.Shape())
		}
		t.Errorf("%s, %s, %s%s\nguest %+v\n got %+v\nwant %+v", m.Release, m.Shape(), c.Event, from, *g, got, want)
		return false
	}
	return true
}

// sweepHosts are hosts of 1 to 8 nodes: nodes, cores and memory of a node in GB.
var sweepHosts = [][3]int{
	{1, 10, 128}, {1, 64, 0}, {2, 6, 64}, {2, 8, 128}, {2, 10, 64}, {2, 18, 384}, {2, 20, 256},
	{3, 12, 96}, {4, 6, 0}, {4, 14, 128}, {6, 12, 64}, {8, 6, 64}, {8, 8, 128},
}

// sweepReleases are all described releases, and the updates that B-19 names.
func sweepReleases() []numa.Release {
	return append(slices.Clone(numa.Modelled), numa.ESXi65U3, numa.ESXi67U2, numa.NewRelease(7, 0, 3), numa.NewRelease(9, 1, 0))
}

// sweepCases are the settings and events that each shape of VM is tried with.
var sweepCases = []struct {
	name string
	set  func(g *Guest, c *Case)
}{
	{"plain", func(*Guest, *Case) {}},
	{"hot add", func(g *Guest, _ *Case) { g.HotAdd = true }},
	{"vNUMA hot add", func(g *Guest, _ *Case) { g.HotAdd, g.VNUMAHotAdd, g.Hardware = true, true, 20 }},
	{"vNUMA hot add on old hardware", func(g *Guest, _ *Case) { g.HotAdd, g.VNUMAHotAdd, g.Hardware = true, true, 19 }},
	{"hardware 4", func(g *Guest, _ *Case) { g.Hardware = 4 }},
	{"hardware 7", func(g *Guest, _ *Case) { g.Hardware = 7 }},
	{"hardware 8", func(g *Guest, _ *Case) { g.Hardware = 8 }},
	{"automatic", func(g *Guest, _ *Case) { g.AutoCPS, g.Hardware = true, 21 }},
	{"automatic on old hardware", func(g *Guest, _ *Case) { g.AutoCPS, g.Hardware = true, 19 }},
	{"stored", func(g *Guest, _ *Case) { g.Stored, g.CookieVCPUs = 10, g.VCPUs }},
	{"stored, void", func(g *Guest, _ *Case) { g.Stored, g.CookieVCPUs = 10, g.VCPUs+1 }},
	{"stored without cookie", func(g *Guest, _ *Case) { g.Stored = 8 }},
	{"stored, each time", func(g *Guest, _ *Case) { g.Stored, g.CookieVCPUs, g.SizeEachTime = 7, g.VCPUs, true }},
	{"stored, first power-on", func(g *Guest, c *Case) { g.Stored, g.CookieVCPUs, c.Event = 7, g.VCPUs, FirstPowerOn }},
	{"by hand", func(g *Guest, _ *Case) { g.MaxPerVirtualNode = 5 }},
	{"by hand, 8.0", func(g *Guest, _ *Case) { g.CoresPerNode = 6 }},
	{"threshold 1", func(g *Guest, _ *Case) { g.Min = 1 }},
	{"threshold 17", func(g *Guest, _ *Case) { g.Min = 17 }},
	{"preferHT", func(g *Guest, _ *Case) { g.PreferHT = true }},
	{"spread", func(g *Guest, _ *Case) { g.Spread = true }},
	{"spread, 300 GB", func(g *Guest, _ *Case) { g.Spread, g.Memory = true, 300*gib }},
	{"4 per node", func(g *Guest, _ *Case) { g.MaxPerMachineNode = 4 }},
	{"3 per client", func(g *Guest, _ *Case) { g.MaxPerClient = 3 }},
	{"follow", func(g *Guest, _ *Case) { g.Follow = true }},
	{"autosize", func(g *Guest, _ *Case) { g.Autosize = true }},
	{"affinity", func(g *Guest, _ *Case) { g.Affinity = true }},
	{"reboot", func(g *Guest, c *Case) { c.Event = Reboot }},
	{"power cycle at reboot", func(g *Guest, c *Case) { c.Event, g.PowerCycleReboot = Reboot, true }},
	{"vMotion", func(_ *Guest, c *Case) { c.Event = VMotionIn }},
	{"resume", func(_ *Guest, c *Case) { c.Event = Resume }},
	{"vCPUs changed", func(_ *Guest, c *Case) { c.Event = VCPUsChanged }},
}

// TestPredictMatchesSpec compares every release, host, vCPU count, divisor of it
// as cores per socket, and setting.
func TestPredictMatchesSpec(t *testing.T) {
	most, n := 80, 0
	if testing.Short() {
		most = 24
	}
	// Releases of one band differ in nothing but their number: all vCPU counts
	// for the first of a band, every seventh for the others.
	firsts := []numa.Release{numa.ESX35, numa.ESX41, numa.ESXi60, numa.ESXi65, numa.ESXi67U2, numa.ESXi80}
	for _, r := range sweepReleases() {
		step := 7
		if slices.Contains(firsts, r) {
			step = 1
		}
		for i, h := range sweepHosts {
			m := machineOf(t, r, h[0], h[1], h[1]*(1+i%2), int64(h[2])*gib)
			m.EPYC = i%3 == 0
			from := machineOf(t, r, 2, 18, 36, 256*gib)
			for vcpus := 1; vcpus <= most; vcpus += step {
				for cps := 1; cps <= vcpus; cps++ {
					if vcpus%cps != 0 {
						continue
					}
					for _, sc := range sweepCases {
						g := Guest{VCPUs: int32(vcpus), CoresPerSocket: int32(cps), Memory: 96 * gib, Hardware: 13}
						var c Case
						sc.set(&g, &c)
						if n++; n%2 == 0 {
							c.From = &from
						}
						if !checkSpec(t, &g, &m, &c) {
							t.Fatalf("with %s", sc.name)
						}
					}
				}
			}
		}
	}
	t.Logf("%d predictions compared", n)
}

// TestPredictMatchesSpecMixed compares combinations of everything, the same ones
// in every run.
func TestPredictMatchesSpecMixed(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	n := 200_000
	if testing.Short() {
		n = 20_000
	}
	for range n {
		a := caseArgs{
			release: byte(rnd.Uint32()), nodes: byte(rnd.IntN(8)), cores: uint16(rnd.IntN(40)), nodeGB: uint16(rnd.IntN(4) * 64),
			from: byte(rnd.IntN(8)), vcpus: uint16(rnd.IntN(80)), cps: uint16(rnd.IntN(20)), memoryGB: uint16(rnd.IntN(1000)),
			hardware: byte(rnd.IntN(24)), stored: uint16(rnd.IntN(24)), cookie: byte(rnd.IntN(4)),
			manual: uint16(max(0, rnd.IntN(40)-30)), limit: uint16(max(0, rnd.IntN(40)-30)), least: byte(max(0, rnd.IntN(60)-40)),
			flags: uint16(rnd.Uint32() & rnd.Uint32() & rnd.Uint32()), event: byte(rnd.Uint32()),
		}
		g, m, c := a.build(t)
		if !checkSpec(t, &g, &m, &c) {
			t.Fatalf("%+v", a)
		}
	}
}

package vnuma

import (
	"math"
	"slices"
	"testing"

	"example.org/homenode/numa"
)

// TestWorkedCases is the table B-7 of the rule book: published hosts and VMs, up
// to 6.0 and from 6.5 on.
func TestWorkedCases(t *testing.T) {
	type want struct{ vpds, ppds string }
	none := want{}
	for _, tt := range []struct {
		name                string
		nodes, cores, nodeG int
		guest               Guest
		until60, from65     want
	}{
		{"10 vCPU", 2, 10, 64, Guest{VCPUs: 10}, want{"10", "10"}, want{"10", "10"}},
		{"12 vCPU", 2, 10, 64, Guest{VCPUs: 12}, want{"2 × 6", "2 × 6"}, want{"2 × 6", "2 × 6"}},
		{"10 vCPU, CPS 5", 2, 10, 64, Guest{VCPUs: 10, CoresPerSocket: 5}, want{"2 × 5", "2 × 5"}, want{"10", "10"}},
		{"16 vCPU, CPS 2", 2, 10, 64, Guest{VCPUs: 16, CoresPerSocket: 2}, want{"8 × 2", "8 × 2"}, want{"2 × 8", "2 × 8"}},
		{"12 vCPU, hot add", 2, 10, 64, Guest{VCPUs: 12, HotAdd: true}, want{"12", "2 × 6"}, want{"12", "2 × 6"}},
		{"12 vCPU, preferHT", 2, 10, 64, Guest{VCPUs: 12, PreferHT: true}, want{"12", "12"}, want{"12", "12"}},
		{"40 vCPU, CPS 20", 4, 10, 64, Guest{VCPUs: 40, CoresPerSocket: 20}, want{"2 × 20", "4 × 10"}, want{"4 × 10", "4 × 10"}},
		{"30 vCPU, CPS 2", 2, 20, 256, Guest{VCPUs: 30, CoresPerSocket: 2}, want{"15 × 2", "15 × 2"}, want{"16 + 14", "16 + 14"}},
		{"30 vCPU, CPS 6", 2, 20, 256, Guest{VCPUs: 30, CoresPerSocket: 6}, want{"5 × 6", "5 × 6"}, want{"18 + 12", "18 + 12"}},
		{"30 vCPU, CPS 15", 2, 20, 256, Guest{VCPUs: 30, CoresPerSocket: 15}, want{"2 × 15", "2 × 15"}, want{"2 × 15", "2 × 15"}},
		{"21 vCPU", 2, 20, 256, Guest{VCPUs: 21}, want{"11 + 10", "11 + 10"}, want{"11 + 10", "11 + 10"}},
		{"32 vCPU, CPS 32", 2, 18, 512, Guest{VCPUs: 32, CoresPerSocket: 32}, want{"32", "2 × 16"}, want{"2 × 16", "2 × 16"}},
		{"8 vCPU on 6-core nodes", 8, 6, 64, Guest{VCPUs: 8}, want{"8", "2 × 4"}, want{"8", "2 × 4"}},
		{"96 GB on nodes of 64", 2, 12, 64, Guest{VCPUs: 8, Memory: 96 * gib}, none, want{"8", "8"}},
		{"consolidate FALSE", 2, 12, 64, Guest{VCPUs: 8, Memory: 96 * gib, Spread: true}, none, want{"8", "2 × 4"}},
		{"21 vCPU on 20 cores (F-4)", 2, 10, 64, Guest{VCPUs: 21}, want{"3 × 7", "3 × 7"}, want{"11 + 10", "11 + 10"}},
		{"24 vCPU on 20 cores (B-5)", 2, 10, 64, Guest{VCPUs: 24}, none, want{"2 × 12", "2 × 12"}},
	} {
		for _, of := range []struct {
			releases []numa.Release
			want     want
		}{
			{[]numa.Release{numa.ESXi50, numa.ESXi51, numa.ESXi55, numa.ESXi60}, tt.until60},
			{[]numa.Release{numa.ESXi65, numa.ESXi67, numa.ESXi70, numa.ESXi80, numa.ESXi90}, tt.from65},
		} {
			for _, r := range of.releases {
				if of.want == none {
					continue
				}
				g := tt.guest
				g.CoresPerSocket = max(1, g.CoresPerSocket)
				m := machineOf(t, r, tt.nodes, tt.cores, 2*tt.cores, int64(tt.nodeG)*gib)
				l := predict(&g, &m, &Case{}, nil)
				if got := (want{l.VPDs.String(), l.PPDs.String()}); got != of.want {
					t.Errorf("%s on %s: %+v, want %+v", tt.name, r, got, of.want)
				}
			}
		}
	}
}

// TestWorkedMoves are the published changes of host (D-1, D-3).
func TestWorkedMoves(t *testing.T) {
	from := machineOf(t, numa.ESXi70, 2, 20, 40, 256*gib)
	here := machineOf(t, numa.ESXi70, 4, 14, 28, 128*gib)
	g := Guest{VCPUs: 36, CoresPerSocket: 2}
	for _, tt := range []struct {
		name       string
		event      Event
		stored     int32
		vpds, ppds string
	}{
		{"vMotion keeps 2 VPDs over 3 PPDs (Denneman 2022)", VMotionIn, 0, "2 × 18", "3 × 12"},
		{"resume likewise", Resume, 0, "2 × 18", "3 × 12"},
		{"reboot there kept them", Reboot, 0, "2 × 18", "3 × 12"},
		{"power cycle with the stored size", PowerCycle, 18, "2 × 18", "3 × 12"},
		{"power cycle without", PowerCycle, 0, "3 × 12", "3 × 12"},
		{"vCPU count changed", VCPUsChanged, 18, "3 × 12", "3 × 12"},
	} {
		g := g
		if g.Stored = tt.stored; g.Stored > 0 {
			g.CookieVCPUs = g.VCPUs
		}
		l := Predict(&g, &here, &Case{Event: tt.event, From: &from})
		if l.VPDs.String() != tt.vpds || l.PPDs.String() != tt.ppds {
			t.Errorf("%s: VPDs %v, PPDs %v; want %s, %s", tt.name, l.VPDs, l.PPDs, tt.vpds, tt.ppds)
		}
	}
}

// TestWorkedMemory are the published amounts of memory per node.
func TestWorkedMemory(t *testing.T) {
	for _, tt := range []struct {
		name        string
		release     numa.Release
		nodes       int
		cores       int
		nodeMemory  int64
		guest       Guest
		placement   Placement
		local       numa.Bytes
		far         float64
		firstSlice  numa.Bytes
		homeNodes   int
		writtenSize int
		first       numa.Bytes // of local
	}{
		{"96 GB fill a node of 64 first (B-17)", numa.ESXi65, 2, 12, 64 * gib,
			Guest{VCPUs: 8, CoresPerSocket: 1, Memory: 96 * gib}, Overflowing, 64574 * numa.MiB, 0.343, 96 * numa.GiB, 1, 8, 6730 * numa.MiB},
		{"12 vCPU with hot add are interleaved (B-15)", numa.ESXi65, 2, 10, 64 * gib,
			Guest{VCPUs: 12, CoresPerSocket: 1, Memory: 32 * gib, HotAdd: true}, Interleaved, 32 * numa.GiB, 0.5, 32 * numa.GiB, 2, 0, 0},
		{"two VPDs over two nodes each are half far (C-13)", numa.ESXi60, 4, 10, 64 * gib,
			Guest{VCPUs: 40, CoresPerSocket: 20, Memory: 64 * gib}, Interleaved, 64 * numa.GiB, 0.5, 32 * numa.GiB, 4, 20, 0},
		{"384 GB on two nodes of 256 (B-22)", numa.ESXi80, 2, 20, 256 * gib,
			Guest{VCPUs: 24, CoresPerSocket: 12, Memory: 384 * gib}, Local, 384 * numa.GiB, 0, 192 * numa.GiB, 2, 12, 0},
		{"uneven VPDs share by vCPUs (F-12)", numa.ESXi70, 2, 20, 256 * gib,
			Guest{VCPUs: 30, CoresPerSocket: 2, Memory: 300 * gib}, Local, 300 * numa.GiB, 0, 160 * numa.GiB, 2, 16, 0},
		{"wide on a host of one node is local", numa.ESXi60, 1, 10, 64 * gib,
			Guest{VCPUs: 16, CoresPerSocket: 1, Memory: 32 * gib, HotAdd: true}, Local, 32 * numa.GiB, 0, 32 * numa.GiB, 1, 0, 0},
		{"without NUMA management nothing is local (C-12)", numa.ESXi70, 4, 10, 64 * gib,
			Guest{VCPUs: 8, CoresPerSocket: 1, Memory: 32 * gib, Affinity: true}, Anywhere, 0, 0.75, 32 * numa.GiB, 0, 8, 0},
		{"wider than a node of 4.0 (C-14)", numa.ESX40, 2, 4, 32 * gib,
			Guest{VCPUs: 8, CoresPerSocket: 1, Memory: 16 * gib}, Anywhere, 0, 0.5, 16 * numa.GiB, 0, 0, 0},
	} {
		m := machineOf(t, tt.release, tt.nodes, tt.cores, tt.cores, tt.nodeMemory)
		l := Predict(&tt.guest, &m, &Case{})
		want := Residency{true, tt.placement, tt.local, numa.Bytes(tt.guest.Memory) - tt.local, tt.first, 0, 0, l.Memory.far, false}
		got := l.Memory
		got.Local, got.First = got.Local/numa.MiB*numa.MiB, got.First/numa.MiB*numa.MiB
		got.Remote = numa.Bytes(tt.guest.Memory) - got.Local
		if got != want || math.Abs(l.FarShare()-tt.far) > 0.0005 || l.Slice(0) != tt.firstSlice || l.HomeNodes != tt.homeNodes || l.Stored.Size != tt.writtenSize {
			t.Errorf("%s: %+v, slice %v, %d home nodes, stored %d\nwant %+v, %v, %d, %d", tt.name,
				l.Memory, l.Slice(0), l.HomeNodes, l.Stored.Size, want, tt.firstSlice, tt.homeNodes, tt.writtenSize)
		}
	}
	beyond := Guest{VCPUs: 12, CoresPerSocket: 1, Memory: 150 * gib, HotAdd: true}
	m := machineOf(t, numa.ESXi65, 2, 10, 10, 64*gib)
	if l := Predict(&beyond, &m, &Case{}); l.Memory.Nowhere == 0 || math.Abs(l.FarShare()-0.5) > 1e-6 {
		t.Errorf("interleaved memory beyond the host: %v far, want the half of what is in memory", l.FarShare())
	}
	alike := Guest{VCPUs: 12, CoresPerSocket: 6, Memory: 150 * gib}
	if l := Predict(&alike, &m, &Case{}); l.Memory.Nowhere == 0 || l.Memory.Crossed == 0 || l.FarShare() != 0 {
		t.Errorf("two clients alike on a full host: %v far, want none: which of them shares the rest is unpredictable", l.FarShare())
	}
}

// TestSocketsStay checks that a move changes no socket of the guest (D-1), even to a
// release that would not choose them.
func TestSocketsStay(t *testing.T) {
	from := machineOf(t, numa.ESXi80, 2, 20, 20, 64*gib)
	to := machineOf(t, numa.ESXi70, 4, 14, 14, 64*gib)
	g := Guest{VCPUs: 36, CoresPerSocket: 1, AutoCPS: true, Hardware: 20}
	l := predict(&g, &to, &Case{Event: VMotionIn, From: &from}, nil)
	if l.VSockets.String() != "2 × 18" || l.CoresPerSocket != 18 || l.VPDs.String() != "2 × 18" || l.PPDs.String() != "3 × 12" {
		t.Errorf("sockets %v of %d, VPDs %v, PPDs %v; want 2 × 18 of 18, 2 × 18, 3 × 12", l.VSockets, l.CoresPerSocket, l.VPDs, l.PPDs)
	}
}

// TestJoined holds the most clients of a VM on 6.0 (rule book B-29) and says where it is
// assumed which vCPUs share one.
func TestJoined(t *testing.T) {
	for _, tt := range []struct {
		name         string
		release      numa.Release
		option       string
		vcpus, cps   int32
		nodes, cores int
		vpds, ppds   string
		assumed      bool
	}{
		{"32 virtual nodes", numa.ESXi60, "", 64, 2, 4, 16, "32 × 2", "16 × 4", true},
		{"16 virtual nodes", numa.ESXi60, "", 32, 2, 4, 16, "16 × 2", "16 × 2", false},
		{"17 virtual nodes", numa.NewRelease(6, 0, 3), "", 34, 2, 4, 16, "17 × 2", "8 × 4 + 2", true},
		{"the option", numa.ESXi60, "4", 16, 2, 4, 16, "8 × 2", "4 × 4", true},
		{"the option unset by 0", numa.ESXi60, "0", 64, 2, 4, 16, "32 × 2", "16 × 4", true},
		{"a virtual node over many nodes", numa.ESXi60, "4", 64, 32, 16, 4, "2 × 32", "4 × 16", true},
		{"5.5: of it nothing is known", numa.ESXi55, "", 64, 2, 4, 16, "32 × 2", "32 × 2", false},
		{"6.5 follows", numa.ESXi65, "4", 64, 2, 4, 16, "4 × 16", "4 × 16", false},
	} {
		h := hostOf(tt.release, tt.nodes, tt.cores, 2*tt.cores, 256*gib)
		if tt.option != "" {
			h.Options.Value = numa.Settings{{Key: "Numa.MaxProximityDomains", Value: tt.option}}
		}
		vm := vmOf(&Guest{VCPUs: tt.vcpus, CoresPerSocket: tt.cps})
		l, trace, _, err := Explain(&vm, &h, &Case{})
		if err != nil {
			t.Fatal(err)
		}
		if l.VPDs.String() != tt.vpds || l.PPDs.String() != tt.ppds || l.Assumes&AssumedJoined > 0 != tt.assumed {
			t.Errorf("%s: VPDs %v, PPDs %v, %q", tt.name, l.VPDs, l.PPDs, l.Assumes.Texts())
		}
		if told := slices.ContainsFunc(trace, func(s Step) bool { return s.Rules == "B-29" }); told != tt.assumed {
			t.Errorf("%s: told %v", tt.name, told)
		}
	}
}

// TestStoredIn80 demands that a stored size of a VM whose nodes 8.0 assigns at power-on is
// said to be assumed (B-8), and only there.
func TestStoredIn80(t *testing.T) {
	for _, tt := range []struct {
		release  numa.Release
		hardware int32
		want     bool
	}{{numa.ESXi80, 20, true}, {numa.ESXi80, 19, false}, {numa.ESXi70 + 3, 19, false}} {
		g := Guest{VCPUs: 24, CoresPerSocket: 1, Hardware: tt.hardware, Stored: 8, CookieVCPUs: 24}
		m := machineOf(t, tt.release, 2, 16, 32, 256*gib)
		if l := Predict(&g, &m, &Case{}); l.Why != ByStored || l.Assumes&AssumedStored > 0 != tt.want {
			t.Errorf("%v, hardware %d: %v, %q", tt.release, tt.hardware, l.Why, l.Assumes.Texts())
		}
	}
}

// Uneven splits over three or more nodes, and clients of pairs of virtual threads, are
// marked as not published (B-24, B-21).
func TestSplitsNotPublished(t *testing.T) {
	for _, tt := range []struct {
		vcpus, hardware int32
		nodes           int
		virtualHT       bool
		ppds            string
		want            Assumptions
	}{
		{40, 20, 4, false, "2 × 14 + 12", AssumedOddSplit},
		{30, 20, 4, false, "2 × 15", 0},
		{30, 20, 4, true, "2 × 15", AssumedPairs},
		{30, 19, 4, true, "2 × 15", 0},
		{28, 20, 4, true, "2 × 14", AssumedPairs},
		{14, 20, 4, true, "14", 0},
	} {
		h := hostOf(numa.ESXi80, tt.nodes, 15, 30, 256*gib)
		m, err := NewMachine(&h)
		if err != nil {
			t.Fatal(err)
		}
		g := Guest{VCPUs: tt.vcpus, CoresPerSocket: 1, Hardware: tt.hardware, VirtualHT: tt.virtualHT, Memory: 16 * gib}
		l := Predict(&g, &m, &Case{})
		if got := l.Assumes & (AssumedOddSplit | AssumedPairs); l.PPDs.String() != tt.ppds || got != tt.want {
			t.Errorf("%d vCPUs, hardware %d, pairs %v: %v, %q", tt.vcpus, tt.hardware, tt.virtualHT, l.PPDs, got.Texts())
		}
	}
}

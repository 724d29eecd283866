package vnuma

import (
	"fmt"
	"slices"
	"testing"

	"example.org/homenode/numa"
)

// TestChoices takes each alternative of the rule book's section F in the case it is
// about.
func TestChoices(t *testing.T) {
	type host struct {
		release      numa.Release
		nodes, cores int
		nodeGB       int64
		amd          bool
	}
	show := func(l *Layout) string {
		text := fmt.Sprintf("VPDs %v, PPDs %v, vSockets %v, first slice %v", l.VPDs, l.PPDs, l.VSockets, l.Slice(0))
		if l.Memory.First > 0 {
			text += fmt.Sprintf(", at first %v remote", l.Memory.First)
		}
		return text
	}
	cases := map[string]struct {
		host                host
		guest               Guest
		standard, otherwise string
	}{
		"F-1": {host{numa.ESXi65, 2, 6, 64, false}, Guest{VCPUs: 8},
			"VPDs 8, PPDs 2 × 4, vSockets 8 × 1, first slice 0 B", "VPDs 2 × 4, PPDs 2 × 4, vSockets 8 × 1, first slice 0 B"},
		"F-2": {host{numa.ESX41, 8, 6, 32, true}, Guest{VCPUs: 8},
			"VPDs 8, PPDs 2 × 4, vSockets 8 × 1, first slice 0 B", "VPDs 8, PPDs 6 + 2, vSockets 8 × 1, first slice 0 B"},
		"F-4": {host{numa.ESXi70, 2, 10, 64, false}, Guest{VCPUs: 21},
			"VPDs 11 + 10, PPDs 11 + 10, vSockets 21 × 1, first slice 0 B", "VPDs 3 × 7, PPDs 3 × 7, vSockets 21 × 1, first slice 0 B"},
		"F-5": {host{numa.ESXi80, 2, 20, 256, false}, Guest{VCPUs: 12, Memory: 384 * gib},
			"VPDs 12, PPDs 12, vSockets 12 × 1, first slice 384 GB, at first 20.0 GB remote", "VPDs 2 × 6, PPDs 2 × 6, vSockets 12 × 1, first slice 192 GB"},
		"F-6": {host{numa.ESXi80, 2, 10, 64, false}, Guest{VCPUs: 12, PreferHT: true},
			"VPDs 12, PPDs 12, vSockets 12 × 1, first slice 0 B", "VPDs 2 × 6, PPDs 2 × 6, vSockets 12 × 1, first slice 0 B"},
		"F-8": {host{numa.ESXi65, 2, 10, 64, false}, Guest{VCPUs: 16, CoresPerSocket: 2},
			"VPDs 2 × 8, PPDs 2 × 8, vSockets 8 × 2, first slice 0 B", "VPDs 8 × 2, PPDs 8 × 2, vSockets 8 × 2, first slice 0 B"},
		"F-9": {host{numa.ESXi60, 2, 10, 64, false}, Guest{VCPUs: 20},
			"VPDs 2 × 10, PPDs 2 × 10, vSockets 20 × 1, first slice 0 B", "VPDs 2 × 7 + 6, PPDs 2 × 7 + 6, vSockets 20 × 1, first slice 0 B"},
		"F-10": {host{numa.NewRelease(6, 0, 3), 2, 10, 64, false}, Guest{VCPUs: 12, HotAdd: true},
			"VPDs 12, PPDs 2 × 6, vSockets 12 × 1, first slice 0 B", "VPDs 2 × 6, PPDs 2 × 6, vSockets 12 × 1, first slice 0 B"},
		"F-12": {host{numa.ESXi70, 2, 20, 256, false}, Guest{VCPUs: 30, CoresPerSocket: 2, Memory: 300 * gib},
			"VPDs 16 + 14, PPDs 16 + 14, vSockets 15 × 2, first slice 160 GB", "VPDs 16 + 14, PPDs 16 + 14, vSockets 15 × 2, first slice 150 GB"},
		"F-13": {host{numa.ESXi70, 2, 20, 256, false}, Guest{VCPUs: 24, CoresPerSocket: 12, Stored: 24, CookieVCPUs: 24, CookieCPS: 2},
			"VPDs 24, PPDs 2 × 12, vSockets 2 × 12, first slice 0 B", "VPDs 2 × 12, PPDs 2 × 12, vSockets 2 × 12, first slice 0 B"},
		"F-14": {host{numa.ESXi80, 4, 8, 256, false}, Guest{VCPUs: 22, AutoCPS: true, Hardware: 20},
			"VPDs 2 × 8 + 6, PPDs 2 × 8 + 6, vSockets 11 × 2, first slice 0 B", "VPDs 2 × 8 + 6, PPDs 2 × 8 + 6, vSockets 22 × 1, first slice 0 B"},
		"F-16": {host{numa.ESXi67U2, 8, 6, 64, true}, Guest{VCPUs: 8},
			"VPDs 2 × 4, PPDs 2 × 4, vSockets 8 × 1, first slice 0 B", "VPDs 8, PPDs 2 × 4, vSockets 8 × 1, first slice 0 B"},
		"F-18": {host{numa.ESXi65, 2, 10, 64, false}, Guest{VCPUs: 12, Stored: 8, CookieVCPUs: 12},
			"VPDs 8 + 4, PPDs 2 × 6, vSockets 12 × 1, first slice 0 B", "VPDs 2 × 6, PPDs 2 × 6, vSockets 12 × 1, first slice 0 B"},
		"F-20": {host{numa.ESXi60, 2, 10, 64, false}, Guest{VCPUs: 10, CoresPerSocket: 5},
			"VPDs 2 × 5, PPDs 2 × 5, vSockets 2 × 5, first slice 0 B", "VPDs 10, PPDs 10, vSockets 2 × 5, first slice 0 B"},
		"F-22": {host{numa.ESXi51, 2, 10, 64, false}, Guest{VCPUs: 2, MaxPerVirtualNode: 1},
			"VPDs 2 × 1, PPDs 2 × 1, vSockets 2 × 1, first slice 0 B", "VPDs 2 × 1, PPDs 2, vSockets 2 × 1, first slice 0 B"},
		"F-23": {host{numa.ESXi80, 2, 20, 256, false}, Guest{VCPUs: 16, Memory: 240 * gib},
			"VPDs 16, PPDs 16, vSockets 16 × 1, first slice 240 GB, at first 6.9 GB remote", "VPDs 16, PPDs 16, vSockets 16 × 1, first slice 240 GB"},
		// Only the scheduler takes it.
		"F-24": {host{numa.ESXi80, 2, 20, 256, false}, Guest{VCPUs: 16}, "VPDs 16, PPDs 16, vSockets 16 × 1, first slice 0 B", "VPDs 16, PPDs 16, vSockets 16 × 1, first slice 0 B"},
		"F-25": {host{numa.ESXi80, 2, 20, 256, false}, Guest{VCPUs: 24, Hardware: 20, HotAdd: true},
			"VPDs 24, PPDs 2 × 12, vSockets 24 × 1, first slice 0 B", "VPDs 2 × 12, PPDs 2 × 12, vSockets 24 × 1, first slice 0 B"},
		"F-26": {host{numa.ESXi80, 2, 20, 256, false}, Guest{VCPUs: 16, CoresPerSocket: 4, Hardware: 20},
			"VPDs 16, PPDs 16, vSockets 4 × 4, first slice 0 B", "VPDs 4 × 4, PPDs 4 × 4, vSockets 4 × 4, first slice 0 B"},
		"F-27": {host{numa.ESXi70, 4, 16, 128, false}, Guest{VCPUs: 12, Memory: 300 * gib, Spread: true},
			"VPDs 3 × 4, PPDs 3 × 4, vSockets 12 × 1, first slice 100 GB", "VPDs 4 × 3, PPDs 4 × 3, vSockets 12 × 1, first slice 75 GB"},
		"F-28": {host{numa.ESXi67, 2, 8, 128, false}, Guest{VCPUs: 8, MaxPerVirtualNode: 4},
			"VPDs 8, PPDs 8, vSockets 8 × 1, first slice 0 B", "VPDs 2 × 4, PPDs 2 × 4, vSockets 8 × 1, first slice 0 B"},
		"F-29": {host{numa.ESXi80, 2, 8, 128, false}, Guest{VCPUs: 8, CoresPerNode: 4, Hardware: 20},
			"VPDs 2 × 4, PPDs 2 × 4, vSockets 8 × 1, first slice 0 B", "VPDs 8, PPDs 8, vSockets 8 × 1, first slice 0 B"},
		"F-31": {host{numa.ESXi80, 2, 10, 64, false}, Guest{VCPUs: 12, NoPreferHT: true},
			"VPDs 12, PPDs 12, vSockets 12 × 1, first slice 0 B", "VPDs 2 × 6, PPDs 2 × 6, vSockets 12 × 1, first slice 0 B"},
		"F-30": {host{numa.ESXi67, 2, 10, 64, false}, Guest{VCPUs: 12, MaxPerVirtualNode: 8},
			"VPDs 2 × 6, PPDs 2 × 6, vSockets 12 × 1, first slice 0 B", "VPDs 8 + 4, PPDs 2 × 6, vSockets 12 × 1, first slice 0 B"},
	}
	if len(cases) != len(ChoiceList) {
		t.Errorf("%d cases for %d choices", len(cases), len(ChoiceList))
	}
	for _, choice := range ChoiceList {
		tt, ok := cases[choice.ID]
		if !ok {
			t.Errorf("no case for %s", choice.ID)
			continue
		}
		g := tt.guest
		g.CoresPerSocket = max(1, g.CoresPerSocket)
		m := machineOf(t, tt.host.release, tt.host.nodes, tt.host.cores, 2*tt.host.cores, tt.host.nodeGB*gib)
		m.EPYC, m.PreferHT = tt.host.amd, choice.ID == "F-31"
		l := predict(&g, &m, &Case{}, nil)
		if got := show(&l); got != tt.standard {
			t.Errorf("%s: %s, want %s", choice.ID, got, tt.standard)
		}
		var c Case
		if err := c.Choices.Take(choice.ID); err != nil {
			t.Error(err)
		}
		l = predict(&g, &m, &c, nil)
		if got := show(&l); got != tt.otherwise {
			t.Errorf("%s, the alternative: %s, want %s", choice.ID, got, tt.otherwise)
		}
		checkChoiceNamed(t, choice.ID, &g, &m)
	}
}

// unnamed are the choices that no step of a trace names: they change the outcome
// of a step, not which step decides.
var unnamed = map[string]bool{"F-8": true, "F-9": true, "F-12": true, "F-13": true, "F-14": true, "F-23": true, "F-24": true}

// checkChoiceNamed demands that the trace of the case names the choice it rests on.
func checkChoiceNamed(t *testing.T, id string, g *Guest, m *Machine) {
	t.Helper()
	vm := vmOf(g)
	h := hostOf(m.Release, int(m.Nodes), int(m.Cores), int(m.Threads), m.NodeMemory)
	if m.PreferHT {
		h.Options = numa.ReadAt(numa.Settings{{Key: "Numa.PreferHT", Value: "1"}}, "options")
	}
	if m.EPYC {
		h.CPUModel = numa.ReadAt("AMD EPYC", "cpu")
	}
	_, trace, _, err := Explain(&vm, &h, &Case{})
	if err != nil {
		t.Fatal(err)
	}
	named := false
	for _, s := range trace {
		named = named || s.Choice == id
	}
	if named == unnamed[id] {
		t.Errorf("%s: named in the trace %v, want %v", id, named, !unnamed[id])
	}
}

func TestTakeChoice(t *testing.T) {
	var c Choices
	if err := c.Take("f-4"); err != nil || !c.UnboundedClients {
		t.Errorf("f-4: %+v, %v", c, err)
	}
	const want = `found "F-3", want one of F-1, F-2, F-4, F-5, F-6, F-8, F-9, F-10, F-12, F-13, F-14, F-16, F-18, F-20, F-22, F-23, F-24, F-25, F-26, F-27, F-28, F-29, F-30, F-31`
	if err := c.Take("F-3"); err == nil || err.Error() != want {
		t.Errorf("F-3: %v, want %s", err, want)
	}
}

func TestEventNames(t *testing.T) {
	for _, name := range EventNames() {
		e, ok := ParseEvent(name)
		if !ok || e.String() != name {
			t.Errorf("ParseEvent(%q) = %v, %v", name, e, ok)
		}
	}
	if _, ok := ParseEvent("vMotion"); ok {
		t.Error("ParseEvent knows vMotion")
	}
}

func TestAssumptionsHaveTexts(t *testing.T) {
	all := ^Assumptions(0) // every bit is used
	if n, m := len(all.Texts()), len(all.Names()); n != len(assumptionTexts) || m != n {
		t.Errorf("%d texts and %d names for %d assumptions", n, m, len(assumptionTexts))
	}
	a := AssumedRelease | AssumedCPS
	if got := fmt.Sprintf("%q", a.Texts()); got != `["this release is not described yet: the rules of ESXi 9.0 are used" "cores per socket are unknown: 1 is taken (B-12)"]` {
		t.Error(got)
	}
}

// TestForced plays the experiment of hypervisor.fr, 10 January 2013 (C-2): two virtual nodes
// of a small VM, shown by one setting and forced apart by another.
func TestForced(t *testing.T) {
	for _, tt := range []struct {
		name    string
		release numa.Release
		guest   Guest
		shows   bool // F-22 the other way
		want    string
	}{
		{"shown and forced", numa.ESXi51, Guest{VCPUs: 2, MaxPerVirtualNode: 1, MaxPerMachineNode: 1}, false, "VPDs 2 × 1, PPDs 2 × 1"},
		{"shown and forced, as the article reads it", numa.ESXi51, Guest{VCPUs: 2, MaxPerVirtualNode: 1, MaxPerMachineNode: 1}, true, "VPDs 2 × 1, PPDs 2 × 1"},
		{"shown only, as the article reads it", numa.ESXi51, Guest{VCPUs: 2, MaxPerVirtualNode: 1}, true, "VPDs 2 × 1, PPDs 2"},
		{"forced only", numa.ESXi51, Guest{VCPUs: 2, MaxPerMachineNode: 1}, false, "VPDs 2, PPDs 2 × 1"},
		{"6.7: UMA below numa.vcpu.min", numa.ESXi67, Guest{VCPUs: 2, MaxPerVirtualNode: 1, MaxPerMachineNode: 1}, false, "VPDs 2, PPDs 2 × 1"},
		{"8.0: NUMA nodes by hand are shown", numa.ESXi80, Guest{VCPUs: 2, CoresPerNode: 1}, false, "VPDs 2 × 1, PPDs 2 × 1"},
		{"6.7: with numa.vcpu.min", numa.ESXi67, Guest{VCPUs: 2, MaxPerVirtualNode: 1, MaxPerMachineNode: 1, Min: 2}, false, "VPDs 2 × 1, PPDs 2 × 1"},
	} {
		m := machineOf(t, tt.release, 2, 8, 8, 0)
		tt.guest.CoresPerSocket = 1
		l := Predict(&tt.guest, &m, &Case{Choices: Choices{ManualShows: tt.shows}})
		if got := fmt.Sprintf("VPDs %v, PPDs %v", l.VPDs, l.PPDs); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestLimitedByHand: a limit set by hand is obeyed, also with more clients than nodes, and where
// whole sockets would not go into it (B-10; manuals 5.0 to 7.0, GUID-89C52376).
func TestLimitedByHand(t *testing.T) {
	for _, tt := range []struct {
		name  string
		guest Guest
		want  string
	}{
		{"4 a client on 2 nodes", Guest{VCPUs: 12, CoresPerSocket: 1, MaxPerClient: 4}, "3 × 4 F-4:false"},
		{"4 a machine node, the default of a client", Guest{VCPUs: 12, CoresPerSocket: 1, MaxPerMachineNode: 4}, "3 × 4 F-4:false"},
		{"whole sockets of 3", Guest{VCPUs: 12, CoresPerSocket: 3, MaxPerClient: 4}, "4 × 3 F-4:false"},
		{"spread beside it", Guest{VCPUs: 12, CoresPerSocket: 1, MaxPerClient: 4, Spread: true}, "3 × 4 F-4:false"},
		{"a limit that a node holds anyway", Guest{VCPUs: 21, CoresPerSocket: 1, MaxPerClient: 16}, "11 + 10 F-4:true"},
		{"no limit", Guest{VCPUs: 21, CoresPerSocket: 1}, "11 + 10 F-4:true"},
	} {
		m := machineOf(t, numa.ESXi70, 2, 10, 20, 0)
		vm, h := vmOf(&tt.guest), hostOf(numa.ESXi70, 2, 10, 20, 0)
		l, trace, _, err := Explain(&vm, &h, &Case{})
		if err != nil {
			t.Fatal(err)
		}
		named := slices.ContainsFunc(trace, func(s Step) bool { return s.Choice == "F-4" })
		if got := fmt.Sprintf("%v F-4:%v", l.PPDs, named); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		if p := Predict(&tt.guest, &m, &Case{}); !p.PPDs.Equal(l.PPDs) {
			t.Errorf("%s: Predict has %v", tt.name, p.PPDs)
		}
	}
}

// TestCrossed: three clients of 133 GB on two nodes of 256 GB: two share a node that does not hold
// both, and what goes to the node of the third counts as local.
func TestCrossed(t *testing.T) {
	m := machineOf(t, numa.ESXi70, 2, 32, 64, 256*gib)
	for memory, want := range map[int64]string{400 * gib: "33.5 GB", 180 * gib: "0 B"} {
		g := Guest{VCPUs: 12, CoresPerSocket: 1, MaxPerClient: 4, Memory: memory}
		l := Predict(&g, &m, &Case{})
		if l.Memory.Crossed.String() != want || l.Memory.Remote != 0 {
			t.Errorf("%v: %v crossed, %v remote; want %v and none", numa.Bytes(memory), l.Memory.Crossed, l.Memory.Remote, want)
		}
	}
}

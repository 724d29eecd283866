package vnuma

import (
	"testing"

	"example.org/homenode/numa"
)

// FuzzPredictInvariants checks what must hold of every prediction, whatever the
// VM, the host, the event and the choices.
func FuzzPredictInvariants(f *testing.F) {
	fuzzCases(f, func(t *testing.T, a caseArgs) {
		g, m, c := a.build(t)
		// Fourteen choices and sixteen flags: spread bits that seeds leave alone.
		for i, ch := range ChoiceList {
			*ch.Field(&c.Choices) = int(a.least)*int(a.memoryGB)>>i&1 == 1
		}
		l := predict(&g, &m, &c, nil)
		checkGroups(t, "VPDs", l.VPDs, &g)
		checkGroups(t, "PPDs", l.PPDs, &g)
		checkGroups(t, "vSockets", l.VSockets, &g)
		checkNodes(t, &l, &g, &m, &c)
		checkMemory(t, &l, &g, &m)
		checkStored(t, &l, &g, &m, &c)
		whole := Predict(&g, &m, &c)
		checkExplain(t, &whole, &g, &m, &c)
		if !whole.Refused.Any() && whole != l {
			t.Errorf("a VM that powers on: %+v", whole)
		}
		for i, line := range LogLines(&l, &g, &m) {
			if line == "" {
				t.Errorf("log line %d is empty", i)
			}
		}
		if t.Failed() {
			t.Logf("%s %s, %s\nguest %+v\ncase %+v\nlayout %+v", m.Release, m.Shape(), c.Event, g, c, l)
		}
	})
}

// checkGroups demands every vCPU in exactly one group.
func checkGroups(t *testing.T, name string, s Split, g *Guest) {
	t.Helper()
	next := 0
	for i := range s.Len() {
		first, size := s.Group(i)
		if first != next || size < 1 {
			t.Fatalf("%s %d: vCPUs %d+%d, want from %d", name, i, first, size, next)
		}
		for _, v := range []int{first, first + size - 1} {
			if s.Of(v) != i {
				t.Fatalf("%s: vCPU %d is in %d, want %d", name, v, s.Of(v), i)
			}
		}
		next += size
	}
	if next != int(g.VCPUs) {
		t.Fatalf("%s hold %d of %d vCPUs", name, next, g.VCPUs)
	}
}

// checkNodes checks clients and virtual nodes against the host.
func checkNodes(t *testing.T, l *Layout, g *Guest, m *Machine, c *Case) {
	t.Helper()
	if l.HomeNodes > int(m.Nodes) || l.HomeNodes > l.PPDs.Len() || l.Managed != (l.HomeNodes > 0) {
		t.Errorf("%d home nodes, %d clients, %d nodes, managed %v", l.HomeNodes, l.PPDs.Len(), m.Nodes, l.Managed)
	}
	if l.Least < 1 || l.Least > int(m.Nodes) || l.Capacity < 1 {
		t.Errorf("Least = %d, Capacity = %d", l.Least, l.Capacity)
	}
	gen := generationOf(g, m, &c.Choices)
	if gen == socketSized && l.PPDs.Crosses(l.VPDs) {
		t.Errorf("up to 6.0 no PPD crosses a VPD: %v over %v", l.PPDs, l.VPDs)
	}
	if gen == hostSized && !c.keeps(g) && (l.Why == ByClients || l.Why == ByFit || l.Why == ByThreshold) && l.PPDs.Crosses(l.VPDs) {
		t.Errorf("a PPD crosses a VPD that ESXi sized: %v over %v", l.PPDs, l.VPDs)
	}
	if gen == hostSized && !c.Choices.UnboundedClients && g.MaxPerClient == 0 && g.MaxPerMachineNode == 0 && l.Why != ByManual && l.PPDs.Len() > int(m.Nodes) {
		t.Errorf("%d clients on %d nodes", l.PPDs.Len(), m.Nodes)
	}
	if g.HotAdd && !g.VNUMAHotAdd && !c.Choices.HotAdd60 && l.GuestSeesNUMA() {
		t.Errorf("CPU hot add, and %d VPDs", l.VPDs.Len())
	}
	if g.Hardware > 0 && g.Hardware < 8 && l.GuestSeesNUMA() {
		t.Errorf("hardware %d, and %d VPDs", g.Hardware, l.VPDs.Len())
	}
}

// checkMemory demands that no byte is lost.
func checkMemory(t *testing.T, l *Layout, g *Guest, m *Machine) {
	t.Helper()
	sum := numa.Bytes(0)
	for i := range l.VPDs.Len() {
		s := l.Slice(i)
		if s < 0 {
			t.Errorf("slice %d is %d bytes", i, s)
		}
		sum += s
	}
	if sum != numa.Bytes(g.Memory) {
		t.Errorf("slices of %d bytes, want %d", sum, g.Memory)
	}
	r := &l.Memory
	if r.Known != (g.Memory > 0 && m.NodeMemory > 0) {
		t.Errorf("known %v with %d bytes on nodes of %d", r.Known, g.Memory, m.NodeMemory)
	}
	if r.Known && (r.Local < 0 || r.Remote < 0 || r.Local+r.Remote != numa.Bytes(g.Memory)) {
		t.Errorf("local %d and remote %d bytes, want %d in all", r.Local, r.Remote, g.Memory)
	}
	if l.FarShare() < 0 || l.FarShare() > 1 {
		t.Errorf("FarShare() = %v", l.FarShare())
	}
	if share, ok := r.Locality(); ok != r.Known || share < 0 || share > 1 {
		t.Errorf("Locality() = %v, %v", share, ok)
	}
	if m.Nodes == 1 && l.FarShare() > 0 && r.Remote == 0 {
		t.Errorf("memory is far on a host of one node")
	}
	if m.Nodes == 1 && r.Placement == Interleaved {
		t.Errorf("memory is interleaved on a host of one node")
	}
}

// checkStored demands that what the VM stores gives the same guest at the next
// power cycle.
func checkStored(t *testing.T, l *Layout, g *Guest, m *Machine, c *Case) {
	t.Helper()
	if !l.Stored.Written || g.CoresPerSocket > 999 || c.Choices != (Choices{}) {
		return
	}
	next := *g
	next.Stored = int32(l.Stored.Size)
	vcpus, cps, ok := cookieParts(l.Stored.Cookie)
	if !ok || vcpus != g.VCPUs {
		t.Errorf("stored cookie %d for %d vCPUs", l.Stored.Cookie, g.VCPUs)
	}
	next.CookieVCPUs, next.CookieCPS, next.SizeEachTime = vcpus, cps, false
	again := predict(&next, m, &Case{Event: PowerCycle}, nil)
	if !again.SameGuest(l) {
		t.Errorf("stored %d, and the next power cycle gives %v, not %v", l.Stored.Size, again.VPDs, l.VPDs)
	}
}

// checkExplain demands that Explain tells of the same layout, and of one decision.
func checkExplain(t *testing.T, l *Layout, g *Guest, m *Machine, c *Case) {
	t.Helper()
	read := vmOf(g)
	got, problems, err := NewGuest(&read)
	if err != nil || len(problems) > 0 {
		t.Fatalf("NewGuest: %v, %q", err, problems)
	}
	want := *g
	if g.Hardware == 0 {
		want.assumes |= AssumedHardware
	}
	if got != want {
		t.Fatalf("NewGuest\n got %+v\nwant %+v", got, want)
	}
	h := hostOf(m.Release, int(m.Nodes), int(m.Cores), int(m.Threads), m.NodeMemory)
	for _, o := range []struct {
		key string
		set bool
	}{{"Numa.FollowCoresPerSocket", m.Follow}, {"Numa.PreferHT", m.PreferHT}} {
		if o.set {
			h.Options.Value = append(h.Options.Value, numa.Setting{Key: o.key, Value: "1"})
		}
	}
	if m.EPYC {
		h.CPUModel = numa.ReadAt("AMD EPYC 7601", "cpu")
	}
	layout, trace, _, err := Explain(&read, &h, c)
	if err != nil {
		t.Fatal(err)
	}
	layout.Assumes = l.Assumes // of the read VM
	if layout != *l {
		t.Errorf("Explain\n got %+v\nwant %+v", layout, *l)
	}
	decisions := 0
	for i, s := range trace {
		if s.Rules == "" || s.Because == "" || s.Result == "" {
			t.Errorf("step %d is incomplete: %+v", i, s)
		}
		if s.Decides {
			decisions++
		}
	}
	if decisions != 1 {
		t.Errorf("%d steps decide, want 1", decisions)
	}
}

// cookieParts is ParseCookie for a number.
func cookieParts(n int) (vcpus, cps int32, ok bool) {
	switch {
	case n%10000 == 1:
		return int32(n / 10000), 0, true
	case n%10 == 2:
		return int32(n / 10000), int32(n % 10000 / 10), true
	}
	return 0, 0, false
}

func TestPredictAllocatesNothing(t *testing.T) {
	for _, a := range seeds {
		g, m, c := a.build(t)
		if n := testing.AllocsPerRun(100, func() { predict(&g, &m, &c, nil) }); n != 0 {
			t.Errorf("%+v: %v allocations a prediction, want 0", a, n)
		}
	}
}

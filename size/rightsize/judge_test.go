package rightsize

import (
	"fmt"
	"testing"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// counts are the options of the recordings here.
var counts = capture.Options{
	Locality: 0.8, Remote: 4 * numa.GiB, BusyNode: 0.8, IdleNode: 0.2, Ready: 0.05, SpillFree: 12 * numa.GiB, SpillStep: 256 * numa.MiB,
	Lopsided: 0.95, Window: 10 * time.Minute, Gap: 6 * time.Minute, Buckets: 64, Needs: true,
}

var day = time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)

// A stretch is a VM that does the same for some time.
type stretch struct {
	long time.Duration
	vm   numa.VMTick
}

// cpu is a VM of vCPUs that run and wait; has is all but what is left out.
func cpu(vcpus int, run, ready float64) numa.VMTick {
	return numa.VMTick{GID: 1, Name: "db01", VCPUs: vcpus, Has: numa.HasRun | numa.HasUsed | numa.HasReady | numa.HasActive | numa.HasConsumed | numa.HasSize,
		Run: run, Used: run * 1.1, Ready: ready, Active: 10 * numa.GiB, Consumed: 40 * numa.GiB, Size: 64 * numa.GiB}
}

// on records stretches on a host from a time on, a tick a minute.
func on(host string, from time.Time, stretches ...stretch) *capture.Recording {
	r := capture.NewRecorder(counts)
	at := from
	for _, s := range stretches {
		for end := at.Add(s.long); at.Before(end); at = at.Add(time.Minute) {
			t := &numa.Tick{Host: host, Time: at, Since: time.Minute, Nodes: []numa.NodeTick{{ID: 0, Has: numa.HasTotal, Total: 256 * numa.GiB}, {ID: 1, Has: numa.HasTotal, Total: 256 * numa.GiB}}}
			if s.vm.Name != "" {
				t.VMs = []numa.VMTick{s.vm}
			}
			r.Add(t)
		}
	}
	return r.Recording()
}

// machine is a host of two nodes.
func machine(t *testing.T, cores int, memory numa.Bytes) vnuma.Machine {
	t.Helper()
	var nodes []numa.Node
	for id := range 2 {
		nodes = append(nodes, numa.Node{ID: id, Cores: cores, Threads: 2 * cores, Memory: numa.ReadAt(memory, "test")})
	}
	m, err := vnuma.NewMachine(&numa.Host{Name: "esx01", Release: numa.ReadAt(numa.ESXi80, "test"), Nodes: numa.ReadAt(nodes, "test")})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// configured is a VM of the inventory on these machines.
func configured(t *testing.T, s *Seen, c numa.Config, machines ...vnuma.Machine) *VM {
	t.Helper()
	one := &numa.VM{Name: s.Name, Config: c}
	one.VCPUs = numa.ReadAt(s.VCPUs, "test")
	if !one.Memory.Known() {
		one.Memory = numa.ReadAt(s.Size, "test")
	}
	g, _, err := vnuma.NewGuest(one)
	if err != nil {
		t.Fatal(err)
	}
	return &VM{Seen: s, Config: one, Guest: g, Machines: machines}
}

func TestJudge(t *testing.T) {
	// Busy for a tenth of a day: p95 and p99 are the busy hours, p50 is not.
	rec := on("esx01", day, stretch{22 * time.Hour, cpu(16, 1.6, 0)}, stretch{2*time.Hour + time.Minute, cpu(16, 6.4, 0.32)})
	seen := See([]*capture.Recording{rec}, nil)
	if len(seen) != 1 {
		t.Fatalf("%d VMs, want 1", len(seen))
	}
	v := configured(t, seen[0], numa.Config{CoresPerSocket: numa.ReadAt(8, "test"), CPUHotAdd: numa.ReadAt(true, "test")}, machine(t, 10, 256*numa.GiB))
	a := Judge(v, &p99)
	equal(t, "demand", *a.Demand, Percentiles{P50: 1.6, P95: 6.72, P99: 6.72, At: 6.72, Peak: 6.72})
	equal(t, "used", *a.Used, Percentiles{P50: 1.76, P95: 7.04, P99: 7.04, At: 7.04, Peak: 7.04})
	equal(t, "need, suggested, verdict", []any{a.Need, a.Suggested, a.Verdict}, []any{9, 10, Smaller}) // 8.064
	equal(t, "seen, gap", []any{a.Seen, a.Gap}, []any{24*time.Hour + time.Minute, time.Duration(0)})
	equal(t, "before", a.Kinds[0].Before, Layout{[]int{8, 8}, []int{16}, 8})
	equal(t, "after", a.Kinds[0].After, Layout{[]int{10}, []int{10}, 10})
	equal(t, "steps", a.Steps, []string{"set cores per socket to 10 (1 socket)"})
	equal(t, "hot add", a.HotAdd, "CPU hot add does no harm: the VM fits one node")
	equal(t, "power cycle", a.PowerCycle, true)
	equal(t, "memory", a.Memory, Memory{Size: 64 * numa.GiB, ActivePeak: 10 * numa.GiB, ActiveAt: 10 * numa.GiB, Consumed: 40 * numa.GiB, Low: 12 * numa.GiB, High: 40 * numa.GiB})

	low := p99
	low.Percentile = 0.5
	b := Judge(v, &low)
	equal(t, "suggested for half of the time", []any{b.Suggested, fmt.Sprintf("%.3f", b.Above)}, []any{2, "0.084"})
}

func TestUnjudged(t *testing.T) {
	without := func(bits numa.Counters) numa.VMTick {
		v := cpu(8, 2, 0)
		v.Has &^= bits
		return v
	}
	whole := 25 * time.Hour
	for _, tt := range []struct {
		name string
		rec  *capture.Recording
		want string
	}{
		{"short", on("esx01", day, stretch{40 * time.Minute, cpu(8, 2, 0)}), "40 min of 24 h observed"},
		{"nearly a day", on("esx01", day, stretch{24*time.Hour - 30*time.Minute, cpu(8, 2, 0)}), ""},
		{"too little of a day", on("esx01", day, stretch{22 * time.Hour, cpu(8, 2, 0)}), "22 h of 24 h observed"},
		{"no vCPUs", on("esx01", day, stretch{whole, cpu(0, 2, 0)}), "its number of vCPUs is not stated"},
		{"no CPU", on("esx01", day, stretch{whole, without(numa.HasUsed | numa.HasRun)}), "no counters of CPU time (% Used, % Run)"},
		{"no ready", on("esx01", day, stretch{whole, without(numa.HasReady)}), "no ready time: what it got understates what it wanted"},
		{"hot added", on("esx01", day, stretch{whole, cpu(8, 2, 0)}, stretch{whole, cpu(10, 2, 0)}), "its vCPUs changed from 8 to 10 while it ran"},
		{"used alone", on("esx01", day, stretch{whole, without(numa.HasRun)}), ""},
	} {
		a := Judge(&VM{Seen: See([]*capture.Recording{tt.rec}, nil)[0]}, &p99)
		equal(t, tt.name, a.Reason, tt.want)
		equal(t, tt.name+": is not judged", a.Verdict == NotJudged, tt.want != "")
	}
}

// What the inventory states of a VM can say that what it ran is no measure of what it needs.
func TestHeld(t *testing.T) {
	for _, tt := range []struct {
		name       string
		run, ready float64
		config     numa.Config
		v          Verdict
		reason     string
	}{
		{"waits", 5, 2.9, numa.Config{}, Keep, "waits for cores of the host: more vCPUs would wait, too"},
		{"no limit", 5, 2.9, numa.Config{CPULimit: numa.ReadAt(-1, "")}, Keep, "waits for cores of the host: more vCPUs would wait, too"},
		{"limited", 5, 2.9, numa.Config{CPULimit: numa.ReadAt(15000, "")}, Keep,
			"waits for cores of the host, or is held back by its CPU limit of 15000 MHz: look at the limit first"},
		{"limited and idle", 1, 0, numa.Config{CPULimit: numa.ReadAt(15000, "")}, Smaller, ""},
		{"full", 7.9, 0, numa.Config{LatencySensitivity: numa.ReadAt("normal", "")}, Larger, ""},
		{"exclusive", 7.9, 0, numa.Config{LatencySensitivity: numa.ReadAt("high", "")}, NotJudged,
			"latency sensitivity high: its vCPUs hold cores of their own, busy or not"},
	} {
		s := See([]*capture.Recording{on("esx01", day, stretch{25 * time.Hour, cpu(8, tt.run, tt.ready)})}, nil)[0]
		a := Judge(configured(t, s, tt.config, machine(t, 10, 256*numa.GiB)), &p99)
		equal(t, tt.name, []any{a.Verdict, a.Reason}, []any{tt.v, tt.reason})
	}
}

// A VM that moves or restarts is one; two of a name at the same time are two, of which none
// is judged; a life with another number of vCPUs is left out.
func TestSee(t *testing.T) {
	other := cpu(4, 1, 0)
	other.GID = 2
	a := on("esx01", day, stretch{20 * time.Hour, cpu(8, 2, 0)}, stretch{time.Hour, numa.VMTick{}})
	b := on("esx02", day.Add(20*time.Hour), stretch{10 * time.Hour, cpu(8, 4, 0)})
	c := on("esx03", day.Add(-10*time.Hour), stretch{5 * time.Hour, other})
	seen := See([]*capture.Recording{b, a, c}, nil)
	if len(seen) != 1 {
		t.Fatalf("%d VMs, want 1", len(seen))
	}
	s := seen[0]
	equal(t, "moved", []any{s.Host, s.VCPUs, s.Lives, s.Other, s.Time, s.From, s.To, s.Gap},
		[]any{"esx02", 8, 2, 1, 30 * time.Hour, day, day.Add(30*time.Hour - time.Minute), time.Duration(0)})
	share, _ := s.Needs.Demand.Percentile(0.6)
	equal(t, "p60 of both", share, 2500)
	share, _ = s.Needs.Demand.Percentile(0.7)
	equal(t, "p70 of both", share, 5000)
	share, _ = a.VMs[0].Needs.Demand.Percentile(1)
	equal(t, "the first life is as it was", share, 2500)

	in := func(host string) string { return host[len(host)-1:] }
	if n := len(See([]*capture.Recording{b, a, c}, in)); n != 3 {
		t.Errorf("%d VMs in three clusters, want 3", n)
	}

	// Clocks of hosts differ by a minute or two, not by ten.
	for minutes, want := range map[int]int{1: 1, 10: 2} {
		over := on("esx02", day.Add(20*time.Hour-time.Duration(minutes)*time.Minute), stretch{10 * time.Hour, cpu(8, 4, 0)})
		if n := len(See([]*capture.Recording{a, over}, nil)); n != want {
			t.Errorf("%d minutes on both hosts: %d VMs, want %d", minutes, n, want)
		}
	}

	at := on("esx02", day.Add(time.Hour), stretch{30 * time.Hour, cpu(8, 4, 0)})
	seen = See([]*capture.Recording{a, at}, nil)
	if len(seen) != 2 {
		t.Fatalf("%d VMs, want 2", len(seen))
	}
	for _, s := range seen {
		equal(t, "of two", Judge(&VM{Seen: s}, &p99).Reason, "several VMs of this name run at the same time")
	}
}

func TestMemory(t *testing.T) {
	gb := func(n int) numa.Bytes { return numa.Bytes(n) * numa.GiB }
	seen := func(change func(*numa.VMTick)) *Seen {
		v := cpu(8, 2, 0)
		change(&v)
		return See([]*capture.Recording{on("esx01", day, stretch{25 * time.Hour, v})}, nil)[0]
	}
	plain := func(*numa.VMTick) {}
	big := func(v *numa.VMTick) { v.Size, v.Consumed, v.Active = gb(287), gb(287), gb(100) }
	for _, tt := range []struct {
		name   string
		s      *Seen
		config numa.Config
		want   Memory
	}{
		{"reserved", seen(plain), numa.Config{MemoryReservation: numa.ReadAt(gb(50), "")},
			Memory{Size: gb(64), ActivePeak: gb(10), ActiveAt: gb(10), Consumed: gb(40), Reserved: gb(50), Low: gb(50), High: gb(50)}},
		{"limited", seen(plain), numa.Config{Memory: numa.ReadAt(gb(64), ""), MemoryLimit: numa.ReadAt(gb(32), "")},
			Memory{Size: gb(64), ActivePeak: gb(10), ActiveAt: gb(10), Consumed: gb(40), Reason: "its memory limit of 32 GB keeps it from using all its memory: remove the limit first, no downtime is needed"}},
		{"locked", seen(plain), numa.Config{MemoryReservationLocked: numa.ReadAt(true, "")},
			Memory{Size: gb(64), ActivePeak: gb(10), ActiveAt: gb(10), Consumed: gb(40), Reason: "all its memory is reserved and locked"}},
		{"latency", seen(plain), numa.Config{LatencySensitivity: numa.ReadAt("high", "")},
			Memory{Size: gb(64), ActivePeak: gb(10), ActiveAt: gb(10), Consumed: gb(40), Reason: "all its memory is reserved and locked"}},
		{"busy", seen(func(v *numa.VMTick) { v.Active = gb(60) }), numa.Config{},
			Memory{Size: gb(64), ActivePeak: gb(60), ActiveAt: gb(60), Consumed: gb(40), Reason: "peak active memory with headroom, or what is reserved, is its size"}},
		{"no active", seen(func(v *numa.VMTick) { v.Has &^= numa.HasActive }), numa.Config{},
			Memory{Size: gb(64), Consumed: gb(40), Reason: "no active memory (Touched MBytes)"}},
		{"no consumed", seen(func(v *numa.VMTick) { v.Has &^= numa.HasConsumed }), numa.Config{},
			Memory{Size: gb(64), ActivePeak: gb(10), ActiveAt: gb(10), Low: gb(12), High: gb(64)}},
		{"over its node", seen(big), numa.Config{},
			Memory{Size: gb(287), ActivePeak: gb(100), ActiveAt: gb(100), Consumed: gb(287), Low: gb(120), High: gb(287), Node: gb(256), Nodes: 1, Over: gb(31), Fits: true}},
		{"over its node and active", seen(func(v *numa.VMTick) { big(v); v.Active = gb(220) }), numa.Config{},
			Memory{Size: gb(287), ActivePeak: gb(220), ActiveAt: gb(220), Consumed: gb(287), Low: gb(264), High: gb(287), Node: gb(256), Nodes: 1, Over: gb(31)}},
	} {
		a := Judge(configured(t, tt.s, tt.config, machine(t, 10, gb(256))), &p99)
		equal(t, tt.name, a.Memory, tt.want)
	}
}

// A VM that grows is powered off for it, but for one with CPU hot add.
func TestPowerCycle(t *testing.T) {
	for _, tt := range []struct {
		run    float64
		hotAdd bool
		want   bool
	}{{7.9, true, false}, {7.9, false, true}, {2, true, true}, {6, false, false}} {
		s := See([]*capture.Recording{on("esx01", day, stretch{25 * time.Hour, cpu(8, tt.run, 0)})}, nil)[0]
		a := Judge(configured(t, s, numa.Config{CPUHotAdd: numa.ReadAt(tt.hotAdd, "")}, machine(t, 20, 256*numa.GiB)), &p99)
		equal(t, fmt.Sprintf("%v of 8, hot add %t: %s", tt.run, tt.hotAdd, a.Verdict), a.PowerCycle, tt.want)
	}
}

func TestTotals(t *testing.T) {
	var vms []*VM
	for i, run := range []float64{4, 15.5, 8} {
		v := cpu(16, run, 0)
		v.Name = fmt.Sprintf("db%02d", i+1)
		s := See([]*capture.Recording{on("esx01", day, stretch{25 * time.Hour, v})}, nil)[0]
		vms = append(vms, configured(t, s, numa.Config{}, machine(t, 10, 256*numa.GiB)))
	}
	s := See([]*capture.Recording{on("esx01", day, stretch{time.Hour, cpu(16, 1, 0)})}, nil)[0]
	vms = append(vms, configured(t, s, numa.Config{}, machine(t, 10, 256*numa.GiB)))
	r, err := All(t.Context(), vms, p99)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "totals", r.Totals, Totals{VMs: 4, Judged: 3, Smaller: 2, Larger: 1, VCPUs: 48, Suggested: 36, Freed: 16, Added: 4,
		Placed: 3, WideBefore: 3, WideAfter: 1, Ranges: 3, FreedLow: 72 * numa.GiB, FreedHigh: 156 * numa.GiB})
	var names []string
	for _, a := range r.VMs {
		names = append(names, fmt.Sprintf("%s %d", a.Name, a.Suggested))
	}
	equal(t, "order", names, []string{"db02 20", "db01 6", "db03 10", "db01 0"})
}

package capture

import (
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"example.org/homenode/numa"
)

// at returns the time so many seconds after start.
func at(sec int) time.Time { return start.Add(time.Duration(sec) * time.Second) }

// story records a host of two nodes and one VM of 4 vCPUs with 8 GiB on node 0. Each
// tick comes 10 seconds after the one before, unless change says otherwise.
func story(o Options, changes ...func(t *numa.Tick, v *numa.VMTick)) *Recording {
	r := NewRecorder(o)
	r.Open("a.csv", "esxtop batch CSV")
	for i, change := range changes {
		t := &numa.Tick{Host: "esx01", Time: at(10 * i), Line: 2 + i, Since: 10 * time.Second}
		for id := range 2 {
			t.Nodes = append(t.Nodes, numa.NodeTick{
				ID: id, Has: numa.HasTotal | numa.HasFree | numa.HasCore, Total: 64 * numa.GiB, Free: 20 * numa.GiB, Core: 0.5,
			})
		}
		t.VMs = append(t.VMs, numa.VMTick{
			GID: 7, Name: "db01", VCPUs: 4, Has: numa.HasHomes | numa.HasMemory | numa.HasMoves | numa.HasReady | numa.HasUsed,
			Homes: numa.SetOf(0), Local: 8 * numa.GiB, Used: 2,
		})
		change(t, &t.VMs[0])
		r.Add(t)
	}
	return r.Recording()
}

type change = func(t *numa.Tick, v *numa.VMTick)

func quiet(*numa.Tick, *numa.VMTick) {}

func gone(t *numa.Tick, _ *numa.VMTick) { t.VMs = nil }

// memory sets local and remote memory in GiB.
func memory(local, remote numa.Bytes) change {
	return func(_ *numa.Tick, v *numa.VMTick) { v.Local, v.Remote = local*numa.GiB, remote*numa.GiB }
}

func homes(nodes ...int) change {
	return func(_ *numa.Tick, v *numa.VMTick) { v.Homes = numa.SetOf(nodes...) }
}

func after(sec int, c change) change {
	return func(t *numa.Tick, v *numa.VMTick) {
		t.Time = at(sec)
		c(t, v)
	}
}

func equal[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s = %+v, want %+v", what, got, want)
	}
}

func TestLocality(t *testing.T) {
	r := story(some, quiet, memory(6, 2), memory(4, 4), quiet, memory(3, 5), memory(0, 0), memory(3, 5))
	v := &r.VMs[0]
	equal(t, "Present", v.Present, 60*time.Second)
	equal(t, "Managed", v.Managed, 50*time.Second)
	// 8, 6, 4, 8, 3 of 8 GiB local for 10 seconds each.
	equal(t, "Local", v.Local, Amount{Sum: Sum{Lo: 29 * 1024 * 1024 * 10000}, Most: 8 * numa.GiB, At: at(0)})
	equal(t, "Remote", v.Remote, Amount{Sum: Sum{Lo: 11 * 1024 * 1024 * 10000}, Most: 5 * numa.GiB, At: at(40)})
	if mean, ok := v.Remote.Mean(v.Managed); !ok || mean != 2306867*numa.KiB { // 2.2 GiB, in whole KiB
		t.Errorf("Mean() = %d, %v; want %d, true", mean, ok, 2306867*numa.KiB)
	}
	equal(t, "Least", v.Least, Locality{Time: at(40), Local: 3 * numa.GiB, Remote: 5 * numa.GiB, Homes: numa.SetOf(0)})
	// 0.75 and 0.5, until 30 s; 0.375 at 40 s until there is none; and the last tick.
	long := Spell{From: at(10), To: at(30), Ticks: 2, Worst: 0.5, At: at(20)}
	last := Spell{From: at(60), To: at(60), Ticks: 1, Worst: 0.375, At: at(60)}
	equal(t, "Low", v.Low, Spells{Count: 3, Time: 30 * time.Second, Ticks: 4, Longest: long, Last: last, Tail: last})
	short := Spell{From: at(20), To: at(30), Ticks: 1, Worst: float64(4 * numa.GiB), At: at(20)}
	last.Worst = float64(5 * numa.GiB)
	equal(t, "Far", v.Far, Spells{Count: 3, Time: 20 * time.Second, Ticks: 3, Longest: short, Last: last, Tail: last})
	equal(t, "LastLocal", v.LastLocal, 3*numa.GiB)
	equal(t, "Covered", r.Covered, 60*time.Second)
	equal(t, "Files", r.Files, []File{{Name: "a.csv", Format: "esxtop batch CSV", First: at(0), Last: at(60), Ticks: 7}})
}

// A spell ends at its last tick before a gap, and where the VM is gone.
func TestGaps(t *testing.T) {
	low := memory(1, 7)
	r := story(some, low, low, after(1000, low), after(1010, low), after(1020, gone), after(1030, low), after(1045, quiet))
	v := &r.VMs[0]
	equal(t, "Low", v.Low, Spells{
		Count: 3, Time: 35 * time.Second, Ticks: 5,
		Longest: Spell{From: at(1030), To: at(1045), Ticks: 1, Worst: 0.125, At: at(1030)},
		Last:    Spell{From: at(1030), To: at(1045), Ticks: 1, Worst: 0.125, At: at(1030)},
		Head:    Spell{From: at(0), To: at(10), Ticks: 2, Worst: 0.125, At: at(0)},
	})
	equal(t, "Present", v.Present, 35*time.Second)
	equal(t, "Covered", r.Covered, 55*time.Second)
	equal(t, "Ticks", v.Ticks, 6)
	equal(t, "Appeared, Left", [2]bool{v.Appeared, v.Left}, [2]bool{})
}

func TestLives(t *testing.T) {
	other := func(t *numa.Tick, v *numa.VMTick) { v.GID = 8 }
	two := func(t *numa.Tick, v *numa.VMTick) {
		v.GID = -1
		t.VMs = append(t.VMs, *v)
	}
	r := story(some, quiet, gone, quiet, other, two, two)
	type life struct {
		GID            int64
		Nth, Ticks     int
		Appeared, Left bool
		Present        time.Duration
	}
	var got []life
	for _, v := range r.VMs {
		got = append(got, life{v.GID, v.Nth, v.Ticks, v.Appeared, v.Left, v.Present})
	}
	equal(t, "lives", got, []life{
		{-1, 0, 2, true, false, 10 * time.Second}, {-1, 1, 2, true, false, 10 * time.Second},
		{7, 0, 2, false, true, 0}, {8, 0, 1, true, true, 0},
	})
}

func TestHomes(t *testing.T) {
	kinds := func(n int64) change {
		return func(t *numa.Tick, v *numa.VMTick) {
			v.Has |= numa.HasKinds
			v.Homes, v.Moves = numa.SetOf(1), numa.Moves{All: n, Locality: n}
		}
	}
	r := story(some, homes(), homes(0), kinds(2), homes(), homes(0), homes(0, 1), after(660, homes(0)))
	v := &r.VMs[0]
	equal(t, "Homes", v.Homes, []HomeTime{{0, 20 * time.Second}, {1, 20 * time.Second}, {2, 10 * time.Second}, {3, 0}})
	equal(t, "Changes", v.Changes, []Change{
		{at(20), 1, 2}, {at(40), 2, 1}, {at(50), 1, 3}, {at(660), 3, 1},
	})
	window := start.Truncate(10 * time.Minute) // 08:00:00
	next := window.Add(10 * time.Minute)
	equal(t, "Changed", v.Changed, Burst{Total: 4, Most: 3, At: window, HeadAt: window, Head: 3, TailAt: next, Tail: 1})
	equal(t, "Returns", v.Returns, Burst{Total: 2, Most: 1, At: window, HeadAt: window, Head: 1, TailAt: next, Tail: 1})
	equal(t, "Moves", v.Moves, numa.Moves{All: 2, Locality: 2})
	equal(t, "Migrated", v.Migrated, Burst{Total: 2, Most: 2, At: window, HeadAt: window, Head: 2, TailAt: window, Tail: 2})
	equal(t, "host's Moves", r.Moves, v.Migrated)
	equal(t, "LastHomes", v.LastHomes, numa.SetOf(0))
}

func TestSpill(t *testing.T) {
	full := func(c change) change { // no node has room
		return func(t *numa.Tick, v *numa.VMTick) {
			c(t, v)
			t.Nodes[0].Free = 11 * numa.GiB
		}
	}
	moved := func(t *numa.Tick, v *numa.VMTick) {
		memory(8, 7)(t, v)
		v.Moves.All = 1
	}
	v := story(some, quiet, memory(8, 1), memory(8, 3), full(memory(8, 3)), full(memory(8, 5)), memory(8, 6), moved, memory(8, 9)).VMs[0]
	equal(t, "Spilled", v.Spilled, Spill{Time: at(20), Node: 0, Free: 20 * numa.GiB, Grown: 2 * numa.GiB, Remote: 3 * numa.GiB})
	first := Spell{From: at(0), To: at(20), Ticks: 2, Worst: float64(2 * numa.GiB), At: at(20)}
	last := Spell{From: at(60), To: at(70), Ticks: 1, Worst: float64(2 * numa.GiB), At: at(70)}
	equal(t, "Spill", v.Spill, Spells{Count: 2, Time: 30 * time.Second, Ticks: 3, Longest: first, Last: last, Head: first, Tail: last})
}

func TestCPU(t *testing.T) {
	// ready is of each of 4 vCPUs.
	cpu := func(busy, idle, ready float64) change {
		return func(t *numa.Tick, v *numa.VMTick) {
			t.Nodes[0].Core, t.Nodes[1].Core = busy, idle
			v.Ready = 4 * ready
		}
	}
	first := func(t *numa.Tick, v *numa.VMTick) {
		cpu(0.5, 0.5, 0.9)(t, v)
		t.Since = 0
		v.Has |= numa.HasCoStop
	}
	r := story(some, first, cpu(0.9, 0.1, 0.2), cpu(0.95, 0.05, 0.1), cpu(0.9, 0.3, 0.2), cpu(0.9, 0.1, 0.04))
	v := &r.VMs[0]
	// The first tick does not say what time its rates are over.
	equal(t, "Ready", v.Ready, Level{Sum: (2000 + 1000 + 2000 + 400) * 10000, Time: 40 * time.Second, Most: 9000, At: at(0)})
	equal(t, "Used", v.Used, Level{Sum: 5000 * 40000, Time: 40 * time.Second, Most: 5000, At: at(0)})
	equal(t, "CoStop", v.CoStop, Level{At: at(0)}) // stated once, and 0
	starved := Spell{From: at(10), To: at(30), Ticks: 2, Worst: 0.2, At: at(10)}
	equal(t, "Starved", v.Starved, Spells{Count: 1, Time: 20 * time.Second, Ticks: 2, Longest: starved, Last: starved})
	equal(t, "StarvedAt", v.StarvedAt, Uneven{Time: at(10), Busiest: 0, Busy: 0.9, Idlest: 1, Idle: 0.1, Ready: 0.2})
	equal(t, "At", r.At, Uneven{Time: at(20), Busiest: 0, Busy: 0.95, Idlest: 1, Idle: 0.05})
	equal(t, "Imbalance", [3]int{r.Imbalance.Count, r.Imbalance.Ticks, int(r.Imbalance.Time / time.Second)}, [3]int{2, 3, 20})
	equal(t, "Busy", r.Nodes[0].Busy, Level{Sum: (9000 + 9500 + 9000 + 9000) * 10000, Time: 40 * time.Second, Most: 9500, At: at(20)})
	equal(t, "Least", [2]numa.Bytes{r.Nodes[1].Least, r.Nodes[1].LastFree}, [2]numa.Bytes{20 * numa.GiB, 20 * numa.GiB})
}

// Rates without a time of their own are over the time since the tick before, unless that
// is a gap or the VM was not there.
func TestRatesWithoutTime(t *testing.T) {
	bare := func(t *numa.Tick, v *numa.VMTick) { t.Since, v.Ready = 0, 0.4 }
	r := story(some, bare, bare, after(1000, bare), after(1010, gone), after(1020, bare), after(1030, bare))
	equal(t, "Ready", r.VMs[0].Ready, Level{Sum: 1000 * 20000, Time: 20 * time.Second, Most: 1000, At: at(0)})
	equal(t, "Busy", r.Nodes[0].Busy, Level{Sum: 5000 * 40000, Time: 40 * time.Second, Most: 5000, At: at(0)})
}

func TestLopsided(t *testing.T) {
	on := func(nodes numa.NodeSet, mib ...numa.Bytes) change {
		return func(t *numa.Tick, v *numa.VMTick) {
			v.Homes = nodes
			for node, m := range mib {
				v.OnNode = append(v.OnNode, numa.MemoryOnNode{Node: node, Guest: m * numa.MiB, Overhead: -1})
			}
		}
	}
	v := story(some, on(3, 900, 0), on(3, 9600, 400), on(3, 5000, 5000), on(1, 9900, 100), on(6, 9900, 100), on(3, 0, 1024)).VMs[0]
	first := Spell{From: at(10), To: at(20), Ticks: 1, Worst: 0.96, At: at(10)}
	last := Spell{From: at(50), To: at(50), Ticks: 1, Worst: 1, At: at(50)}
	equal(t, "Lopsided", v.Lopsided, Spells{Count: 2, Time: 10 * time.Second, Ticks: 2, Longest: first, Last: last, Tail: last})
	equal(t, "LastNode", v.LastNode, []numa.MemoryOnNode{{Node: 0, Overhead: -1}, {Node: 1, Guest: numa.GiB, Overhead: -1}})
}

func TestPercents(t *testing.T) {
	shows := func(n int, c change) change {
		return func(t *numa.Tick, v *numa.VMTick) {
			c(t, v)
			v.Has |= numa.HasPercent
			v.Percent = n
		}
	}
	two := memory(2, 1) // 66.6 %
	v := story(some, shows(100, quiet), shows(66, two), shows(67, two), shows(65, two), shows(68, two), shows(64, two), shows(0, memory(0, 0))).VMs[0]
	equal(t, "Percents", v.Percents, Percents{
		Ticks: 6, Full: 1, Wrong: 2, To: at(50), At: at(40), File: "a.csv", Line: 6, Shown: 68, Local: 2 * numa.GiB, Remote: numa.GiB,
	})
}

// N%L without the memory that it follows from is kept at its least, for the verdict.
func TestPercentsAlone(t *testing.T) {
	alone := func(n int) change {
		return func(t *numa.Tick, v *numa.VMTick) { v.Has, v.Percent = numa.HasPercent, n }
	}
	v := story(some, alone(100), alone(55), alone(0), alone(90)).VMs[0]
	equal(t, "Percents", v.Percents, Percents{Alone: 55})
	equal(t, "Low", v.Low, Spells{})
}

func TestHost(t *testing.T) {
	state := func(s numa.MemoryState) change {
		return func(t *numa.Tick, v *numa.VMTick) {
			t.Has, t.State, t.MinFree = numa.HasState|numa.HasMinFree, s, numa.GiB
		}
	}
	r := story(some, state(numa.High), state(numa.Soft), state(numa.Soft), state(numa.Low))
	equal(t, "States", r.States, [numa.Low + 1]time.Duration{numa.High: 10 * time.Second, numa.Soft: 20 * time.Second})
	equal(t, "MinFree", r.MinFree, numa.GiB)
	equal(t, "Lacks", r.Lacks, []string{"% CoStop", "GST_NDx", "Memory Size MBytes", "Numa % Local"})
	equal(t, "HasStates", r.HasStates, true)
	// A VM without memory on any node is stated to have no home: the counter is there.
	r = story(some, none, none)
	equal(t, "Lacks", r.Lacks, []string{"% CoStop", "GST_NDx", "Kernel MinFree MBytes", "Kernel State", "Memory Size MBytes", "Numa % Local"})
}

func none(_ *numa.Tick, v *numa.VMTick) {
	v.Local, v.Remote, v.Homes = 0, 0, 0
	v.Has &^= numa.HasHomes
}

// What cannot be is not stated.
func TestDamagedValues(t *testing.T) {
	bad := func(t *numa.Tick, v *numa.VMTick) {
		v.Remote, v.Ready, v.Used, v.Moves.All = -1, math.NaN(), math.Inf(1), -3
		t.Nodes[0].Core, t.Nodes[0].Free = -1, 1<<60
		t.Nodes = append(t.Nodes, numa.NodeTick{ID: 1}, numa.NodeTick{ID: 64}, numa.NodeTick{ID: -1})
	}
	r := story(some, bad)
	equal(t, "Lacks", r.Lacks, []string{
		"% CoStop", "% Ready", "% Used", "GST_NDx", "Kernel MinFree MBytes", "Kernel State",
		"Memory Size MBytes", "Numa % Local", "Numa Local Memory MBytes", "Numa Rebalance Count Delta",
	})
	equal(t, "Nodes", len(r.Nodes), 2)
	equal(t, "Busy", r.Nodes[0].Busy, Level{})
	equal(t, "Least", r.Nodes[0].Least, unknown)
	equal(t, "Moves", r.VMs[0].Moves, numa.Moves{})
	same(t, "decoded", decode(t, encode(t, r)), r)
}

// A tick that does not follow is left out, and said.
func TestOutOfOrder(t *testing.T) {
	r := story(some, quiet, after(-5, quiet), after(0, quiet), quiet)
	equal(t, "Ticks", r.Ticks, 2)
	equal(t, "Warnings", r.Files[0].Warnings, []string{
		"a.csv:3:1: found a tick whose time, 2026-11-20T07:59:58Z, is earlier than that of the tick before, 2026-11-20T08:00:03Z: it is left out (and 1 more)",
	})
	equal(t, "Left", r.Files[0].Left, 2)
}

func TestChangesAreBounded(t *testing.T) {
	var all []change
	for i := range MaxChanges + 50 {
		all = append(all, homes(i%2))
	}
	v := story(some, all...).VMs[0]
	equal(t, "Changes", len(v.Changes), MaxChanges)
	equal(t, "Changed", v.Changed.Total, MaxChanges+49)
	equal(t, "Returns", v.Returns.Total, MaxChanges+48)
}

func TestRecorders(t *testing.T) {
	r := NewRecorders(some)
	r.Open("a.json", "FetchStats")
	r.Warn("a.json:1:1: odd")
	tick := func(host string, sec int) {
		r.Add(&numa.Tick{Host: host, Time: at(sec)})
	}
	tick("esx02", 0)
	tick("esx01", 0)
	tick("esx02", 10)
	r.Warn("a.json:9:1: cut")
	r.LeaveOut(2, true)
	r.Open("b.json", "FetchStats")
	tick("esx02", 20)
	all := r.Recordings()
	var got []string
	for _, rec := range all {
		got = append(got, rec.Host)
	}
	equal(t, "hosts", got, []string{"esx01", "esx02"})
	told := []string{"a.json:1:1: odd", "a.json:9:1: cut"}
	equal(t, "Files of esx01", all[0].Files, []File{{Name: "a.json", Format: "FetchStats", First: at(0), Last: at(0), Ticks: 1, Left: 2, Cut: true, Warnings: told}})
	equal(t, "Files of esx02", all[1].Files, []File{
		{Name: "a.json", Format: "FetchStats", First: at(0), Last: at(10), Ticks: 2, Left: 2, Cut: true, Warnings: told},
		{Name: "b.json", Format: "FetchStats", First: at(20), Last: at(20), Ticks: 1},
	})
	if rec := NewRecorder(some).Recording(); rec != nil {
		t.Errorf("Recording() of no tick = %v, want nil", rec)
	}
	// A part of several hosts merges host by host.
	merged, notes, err := Merge(slices.Concat(all[1:], []*Recording{nil}, all[:1]))
	if err != nil || len(notes) > 0 || !reflect.DeepEqual(merged, all) {
		t.Errorf("Merge() = %v, %v, %v; want the recordings as they are", merged, notes, err)
	}
}

// TestHidden checks that a tick that does not state which memory is far does not count as one without far memory.
func TestHidden(t *testing.T) {
	far := func(_ *numa.Tick, v *numa.VMTick) { v.Has, v.Far = v.Has|numa.HasFar, 4*numa.GiB }
	for _, tt := range []struct {
		ticks []change
		share float64
		ok    bool
	}{
		{[]change{far, far, far}, 0.5, true},
		{[]change{far, far, quiet, quiet}, 0, false},
		{[]change{quiet, quiet}, 0, false},
	} {
		share, ok := story(some, tt.ticks...).VMs[0].Hidden()
		equal(t, "share", share, tt.share)
		equal(t, "ok", ok, tt.ok)
	}
}

package fetchstats

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/numa"
)

// infoA and infoB are the CounterInfo of two releases: B has other columns.
const (
	infoA = `|Server|MinFetchIntervalInUsec,U64|IsVMVisor,B|TimeStampInUsec,U64|Time,S64|
|PCPU|NumOfLCPUs,U32|NumOfCores,U32|NumOfPackages,U32|
|LCPU|LCPUID,U32|UsedTimeInUsec,U64|HaltTimeInUsec,U64|CoreHaltTimeInUsec,U64|ElapsedTimeInUsec,U64|
|PMem|PhysicalMemInKB,U32|FreeMemInKB,U32|SchedMinFreeInKB,U32|SchedStateStr,CSTR|NumOfNUMANodes,U32|
|NUMANode|NodeID,U32|TotalInPages,U32|FreeInPages,U32|
|Sched|NumOfSchedGroups,U32|
|SchedGroup|GroupID,U32|GroupName,STR|IsValid,B|IsVM,B|VMName,STR|TimerPeriod,U32|IsNUMAValid,B|HomeNodes,U32|NumOfBalanceMigrations,U32|NumOfLocalitySwap,U32|NumOfLoadSwap,U32|RemoteMemoryInKB,U32|LocalMemoryInKB,U32|LocalityPct,U32|
|CPUClient|CPUClientID,U32|IsValid,B|NumOfVCPUs,U32|
|VCPU|VCPUID,U32|WorldName,STR|UpTimeInUsec,U64|UsedTimeInUsec,U64|RunTimeInUsec,U64|CoStopTimeInUsec,U64|ReadyTimeInUsec,U64|
|VMem|MemClientID,U32|IsValid,B|CurrentSwapInKB,U32|ClientTouchedInKB,U32|ClientSizeInKB,U32|MappedInKB,U32|SharedInKB,U32|ZeroInKB,U32|BalloonSizeInKB,U32|
|VMNUMANodeMem|NodeID,U32|IsValid,B|GuestMemInKB,U32|OverheadMemInKB,U32|
`
	infoB = `|Server|TimeStampInUsec,U64|Time,S64|
|PMem|PhysicalMemInKB,U32|NumOfNUMANodes,U32|
|NUMANode|NodeID,U32|FreeInPages,U32|TotalInPages,U32|
|Sched|NumOfSchedGroups,U32|
|SchedGroup|GroupID,U32|IsVM,B|VMName,STR|GroupName,STR|LocalMemoryInKB,U32|RemoteMemoryInKB,U32|IsNUMAValid,B|HomeNodes,U32|
`
)

// answerA is an answer of host A, n intervals of 10 s after its first.
func answerA(n int, name string) string {
	const second = 1_000_000
	up := 10 * second * n
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("==NUM-OF-OBJ==\n|Server|PCPU,1|PMem,1|Sched,1|\n|SchedGroup|GroupID,7|GroupName,vm.100|VMNUMANodeMem,2|CPUClient,3|\n==COUNTER-VALUE==")
	p("|Server|2000000|1|%d|%d|", 1000*second+up, 1_790_000_000+10*n)
	p("|PCPU|4|2|2|")
	for i := range 4 { // PCPU i is busy for i/10 of the time, its core for i/10 more
		p("|LCPU|%d|%d|%d|%d|%d|", i, 500+i*up/10, 900*second+up-i*up/10, 800*second+up-i*up/5, 1000*second+up)
	}
	p("|PMem|8388608|%d|65536|high|2|", 1048576-n)
	p("|NUMANode|0|1048576|%d|\n|NUMANode|1|1048576|131072|", 131072-n)
	p("|Sched|4|")
	p("|SchedGroup|1|system|1|0|system|0|0|0|0|0|0|0|0|0|")
	// 2 balance migrations, 1 locality swap, 3 load swaps an interval.
	p("|SchedGroup|7|vm.100|1|1|%s|0|1|3|%d|%d|%d|%d|%d|75|", name, 40+2*n, 5+n, 3*n, 262144, 786432)
	p("|VMNUMANodeMem|0|1|786432|1024|\n|VMNUMANodeMem|1|1|262144|2048|")
	p("|CPUClient|100|1|1|\n|VCPU|100|vmx|%d|%d|0|0|%d|", 5000*second+up, up, up)
	p("|CPUClient|101|1|2|")
	for i := range 2 { // each: 50 % used, 60 % run, 10 % co-stop, 20 % and 30 % ready
		p("|VCPU|%d|vmx-vcpu-%d:%s|%d|%d|%d|%d|%d|", 101+i, i, name, 4000*second+up, 7+up/2, 8+up*6/10, 9+up/10, 3+up*(2+i)/10)
	}
	p("|VMem|100|1|0|1|9999999|1|1|1|0|")
	p("|SchedGroup|8|vmm.100|1|0|%s|0|0|0|0|0|0|0|0|0|", name)
	p("|VMem|101|1|11|52428|1048576|1048000|300|200|100|")
	p("|SchedGroup|9|vm.200|1|1|plain|0|0|0|0|0|0|0|0|0|")
	return b.String()
}

// answerB is one of host B.
func answerB(n int) string {
	return fmt.Sprintf(`==COUNTER-VALUE==
|Server|%d|%d|
|PMem|4194304|2|
|NUMANode|0|1000|524288|
|NUMANode|1|2000|524288|
|Sched|1|
|SchedGroup|3|1|b|vm.3|4096|%d|1|2|
`, (50+10*n)*1_000_000, 1_790_000_003+10*n, 1024*n)
}

// read returns copies of the ticks of a text, and the warnings.
func read(t testing.TB, s *Series, name, in string) (ticks []numa.Tick, warnings []string, err error) {
	t.Helper()
	list, err := s.Read(name, strings.NewReader(in), func(tick *numa.Tick) error {
		c := *tick
		c.Nodes, c.VMs = slices.Clone(c.Nodes), slices.Clone(c.VMs)
		ticks = append(ticks, c)
		return nil
	})
	for _, w := range list {
		warnings = append(warnings, fmt.Sprintf("%s: %s", numa.Place(name, w.Line, w.Col), w.Text))
	}
	return ticks, warnings, err
}

func TestRead(t *testing.T) {
	machine := &numa.Host{Nodes: numa.ReadAt([]numa.Node{{ID: 0, Cores: 1, Threads: 2}, {ID: 1, Cores: 1, Threads: 2}}, "")}
	s := &Series{Host: "esx01", Machine: machine}
	ticks, warnings, err := read(t, s, "a", infoA+answerA(0, "db")+answerA(1, "db")+answerA(2, "db"))
	if err != nil || warnings != nil || len(ticks) != 3 {
		t.Fatalf("%d ticks, %q, %v", len(ticks), warnings, err)
	}
	const sizes = numa.HasSize | numa.HasGranted | numa.HasActive | numa.HasShared | numa.HasZero | numa.HasBalloon | numa.HasSwapped
	const placed = numa.HasHomes | numa.HasMemory | numa.HasPercent
	const rates = numa.HasUsed | numa.HasRun | numa.HasReady | numa.HasCoStop
	db := numa.VMTick{
		GID: 7, Name: "db", Has: placed | sizes, VCPUs: 2, Homes: numa.SetOf(0, 1), Local: 768 * numa.MiB, Remote: 256 * numa.MiB, Percent: 75,
		Size: numa.GiB, Granted: 1048000 * numa.KiB, Active: 52428 * numa.KiB, Shared: 300 * numa.KiB, Zero: 200 * numa.KiB, Balloon: 100 * numa.KiB, Swapped: 11 * numa.KiB,
		OnNode: []numa.MemoryOnNode{{Node: 0, Guest: 768 * numa.MiB, Overhead: numa.MiB}, {Node: 1, Guest: 256 * numa.MiB, Overhead: 2 * numa.MiB}},
	}
	plain := numa.VMTick{GID: 9, Name: "plain", Has: numa.HasHomes}
	first := numa.Tick{
		Host: "esx01", Time: time.Unix(1_790_000_000, 0).UTC(), Line: 12, Has: numa.HasFree | numa.HasMinFree | numa.HasState | numa.HasTotal, Memory: 8 * numa.GiB,
		Free: numa.GiB, MinFree: 64 * numa.MiB, State: numa.High,
		Nodes: []numa.NodeTick{
			{ID: 0, Has: numa.HasTotal | numa.HasFree, Total: 4 * numa.GiB, Free: 512 * numa.MiB},
			{ID: 1, Has: numa.HasTotal | numa.HasFree, Total: 4 * numa.GiB, Free: 512 * numa.MiB},
		},
		VMs: []numa.VMTick{db, plain},
	}
	want(t, ticks[0], first)

	second := first
	second.Time, second.Line, second.Since = first.Time.Add(10*time.Second), 39, 10*time.Second
	second.Free -= numa.KiB
	const load = numa.HasUsed | numa.HasUtil | numa.HasCore
	second.Nodes = []numa.NodeTick{
		{ID: 0, Has: numa.HasTotal | numa.HasFree | load, Total: 4 * numa.GiB, Free: 512*numa.MiB - numa.PageSize, Used: 0.05, Util: 0.05, Core: 0.1},
		{ID: 1, Has: numa.HasTotal | numa.HasFree | load, Total: 4 * numa.GiB, Free: 512 * numa.MiB, Used: 0.25, Util: 0.25, Core: 0.5},
	}
	db.Has |= rates | numa.HasMoves | numa.HasKinds
	db.Moves = numa.Moves{All: 6, Balance: 2, LocalitySwap: 1, LoadSwap: 3}
	db.Used, db.Run, db.Ready, db.CoStop = 1, 1.2, 0.5, 0.2
	second.VMs = []numa.VMTick{db, plain}
	want(t, ticks[1], second)
	if again := ticks[2].VMs[0].Moves; again != db.Moves {
		t.Errorf("third answer: %+v", again)
	}
}

// want compares ticks; shares within what floating point adds.
func want(t *testing.T, got, want numa.Tick) {
	t.Helper()
	round := func(x float64) float64 { return float64(int64(x*1e9+0.5)) / 1e9 }
	for _, tick := range []*numa.Tick{&got, &want} {
		tick.VMs, tick.Nodes = slices.Clone(tick.VMs), slices.Clone(tick.Nodes)
		for i := range tick.VMs {
			v := &tick.VMs[i]
			v.Used, v.Run, v.Ready, v.CoStop = round(v.Used), round(v.Run), round(v.Ready), round(v.CoStop)
		}
		for i := range tick.Nodes {
			n := &tick.Nodes[i]
			n.Used, n.Util, n.Core = round(n.Used), round(n.Util), round(n.Core)
		}
	}
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		t.Errorf("got  %s\nwant %s", g, w)
	}
}

// TestNames checks that the sign that separates fields can be part of a name.
func TestNames(t *testing.T) {
	for _, name := range []string{"a|b", "a|1|b|", "|", "1|1", "0|0|1|3"} {
		ticks, warnings, err := read(t, &Series{Host: "h"}, "a", infoA+answerA(0, name)+answerA(1, name))
		if err != nil || warnings != nil || len(ticks) != 2 {
			t.Fatalf("%q: %d ticks, %q, %v", name, len(ticks), warnings, err)
		}
		v := ticks[1].VMs[0]
		if v.Name != name || v.Homes != numa.SetOf(0, 1) || v.Local != 768*numa.MiB || v.VCPUs != 2 || v.Moves.All != 6 {
			t.Errorf("%q: %+v", name, v)
		}
	}
}

// TestLongName cuts a name that no server has: each series of a VM repeats it.
func TestLongName(t *testing.T) {
	ticks, _, err := read(t, &Series{Host: "h"}, "a", infoA+answerA(0, strings.Repeat("é", 1<<15)))
	if err != nil || len(ticks) != 1 || ticks[0].VMs[0].Name != strings.Repeat("é", 500) {
		t.Errorf("%d ticks, %v", len(ticks), err)
	}
}

// TestLife follows VMs that come, go and come again: counters of a group that is new
// began after the answer before.
func TestLife(t *testing.T) {
	second := answerA(1, "db")
	without, _, _ := strings.Cut(answerA(0, "db"), "|SchedGroup|7|vm.100")
	without = strings.Replace(without, "|Sched|4|", "|Sched|1|", 1)
	ticks, warnings, err := read(t, &Series{Host: "h"}, "a", infoA+without+second)
	if err != nil || warnings != nil || len(ticks) != 2 || len(ticks[0].VMs) != 0 {
		t.Fatalf("%v, %q, %v", ticks, warnings, err)
	}
	// Its worlds are older than the span: their past is not known.
	if v := ticks[1].VMs[0]; v.Moves != (numa.Moves{All: 51, Balance: 42, LocalitySwap: 6, LoadSwap: 3}) || v.Has&numa.HasReady != 0 {
		t.Errorf("%+v", v)
	}
	young := second
	for i := range 2 {
		young = strings.Replace(young, fmt.Sprintf("vmx-vcpu-%d:db|4010000000|5000007|6000008|1000009|%d|", i, 3+1_000_000*(2+i)), fmt.Sprintf("vmx-vcpu-%d:db|8000000|4000000|6000000|0|2000000|", i), 1)
	}
	ticks, _, _ = read(t, &Series{Host: "h"}, "a", infoA+without+young)
	if v := ticks[1].VMs[0]; v.Used != 1 || v.Run != 1.5 || v.Ready != 0.5 || v.CoStop != 0 || v.Has&numa.HasCoStop == 0 {
		t.Errorf("%+v", v)
	}
	// Counters that run backwards say nothing.
	back := strings.Replace(second, "|0|1|3|42|6|3|", "|0|1|3|2|0|0|", 1)
	ticks, _, _ = read(t, &Series{Host: "h"}, "a", infoA+answerA(0, "db")+back)
	if v := ticks[1].VMs[0]; v.Has&(numa.HasMoves|numa.HasKinds) != 0 || v.Moves != (numa.Moves{}) {
		t.Errorf("%+v", v)
	}
}

// TestTwoHosts reads answers of two hosts of two releases in one file.
func TestTwoHosts(t *testing.T) {
	s := &Series{Host: "esx"}
	in := infoA + infoB + answerA(0, "db") + answerB(0) + answerA(1, "db") + answerB(1) + answerA(2, "db") + answerB(2)
	ticks, warnings, err := read(t, s, "f", in)
	if err != nil || len(ticks) != 6 || !slices.Equal(s.Hosts(), []string{"esx", "esx (2)"}) {
		t.Fatalf("%d ticks, %q, %v, %q", len(ticks), warnings, err, s.Hosts())
	}
	wantWarning := []string{"f:44: the answer is of another host than those before, which started at another time or has another size: it is called esx (2)"}
	if !slices.Equal(warnings, wantWarning) {
		t.Errorf("got  %q\nwant %q", warnings, wantWarning)
	}
	want(t, ticks[5], numa.Tick{
		Host: "esx (2)", Time: time.Unix(1_790_000_023, 0).UTC(), Line: 112, Since: 10 * time.Second, Has: numa.HasTotal, Memory: 4 * numa.GiB,
		Nodes: []numa.NodeTick{
			{ID: 0, Has: numa.HasTotal | numa.HasFree, Total: 2 * numa.GiB, Free: 1000 * numa.PageSize},
			{ID: 1, Has: numa.HasTotal | numa.HasFree, Total: 2 * numa.GiB, Free: 2000 * numa.PageSize},
		},
		VMs: []numa.VMTick{{GID: 3, Name: "b", Has: numa.HasHomes | numa.HasMemory, Homes: numa.SetOf(1), Local: 4 * numa.MiB, Remote: 2 * numa.MiB}},
	})
	if got := ticks[4].VMs[0]; got.Moves.All != 6 || ticks[4].Host != "esx" {
		t.Errorf("%+v", got)
	}
}

// TestTwins checks that hosts of one size that started together are not one host.
func TestTwins(t *testing.T) {
	twin := strings.NewReplacer("|7|", "|17|", "|9|", "|19|", "vm.100", "vm.500", "db", "web").Replace(answerA(1, "db"))
	s := &Series{Host: "esx"}
	ticks, _, err := read(t, s, "f", infoA+answerA(0, "db")+twin+answerA(2, "db"))
	if err != nil || len(ticks) != 3 || ticks[1].Host != "esx (2)" || ticks[1].Since != 0 || ticks[2].Since != 20*time.Second {
		t.Errorf("%v, %v", ticks, err)
	}
}

func TestRestart(t *testing.T) {
	after := strings.Replace(answerA(0, "db"), "|2000000|1|1000000000|1790000000|", "|2000000|1|90000000|1790009000|", 1)
	s := &Series{Host: "esx"}
	ticks, warnings, err := read(t, s, "f", infoA+answerA(5, "db")+after)
	if err != nil || len(ticks) != 2 || ticks[1].Host != "esx" || ticks[1].Since != 0 || ticks[1].VMs[0].Has&numa.HasMoves != 0 ||
		!slices.Equal(warnings, []string{"f:39: host esx was started again at 2026-09-21T16:41:50Z"}) {
		t.Errorf("%v, %q, %v", ticks, warnings, err)
	}
}

// TestRestartAtOnce restarts a host within the second of its last answer, as only a clock
// that is set back can make it seem: what has no later time is left out.
func TestRestartAtOnce(t *testing.T) {
	after := strings.Replace(answerA(0, "db"), "|2000000|1|1000000000|1790000000|", "|2000000|1|1000000|1790000050|", 1)
	later := strings.Replace(answerA(0, "db"), "|2000000|1|1000000000|1790000000|", "|2000000|1|11000000|1790000060|", 1)
	s := &Series{Host: "esx"}
	ticks, warnings, err := read(t, s, "f", infoA+answerA(5, "db")+after+later)
	if err != nil || len(ticks) != 2 || ticks[1].Host != "esx" || ticks[1].Since != 0 || !slices.Equal(warnings, []string{
		"f:39: host esx was started again at 2026-09-21T14:14:09Z (and 1 more of this kind)",
		"f:39: the clock of the host was set back: the answer of 2026-09-21T14:14:10Z is left out"}) {
		t.Errorf("%v, %q, %v", ticks, warnings, err)
	}
}

// Hosts returns how the hosts are named whose answers were read.
func (s *Series) Hosts() []string {
	names := make([]string, len(s.hosts))
	for i, h := range s.hosts {
		names[i] = h.name
	}
	return names
}

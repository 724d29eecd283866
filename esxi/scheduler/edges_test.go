package scheduler_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/numa"
	"example.org/homenode/source/story"
)

// read returns a story.
func read(t *testing.T, text string) *numa.Story {
	t.Helper()
	s, err := story.Read("test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ticks runs a story and returns its outcome and all ticks of the first host.
func ticks(t *testing.T, s *numa.Story) (*scheduler.Outcome, []numa.Tick) {
	t.Helper()
	var all []numa.Tick
	o, err := scheduler.Run(context.Background(), s, scheduler.Options{Log: true, Observe: func(host int, x *numa.Tick, _ *scheduler.Look) {
		if host == 0 {
			one := *x
			one.VMs, one.Nodes = slices.Clone(x.VMs), slices.Clone(x.Nodes)
			all = append(all, one)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	return o, all
}

// TestUnknownMemory checks that a host of unknown memory states no minFree: it would be 0.
func TestUnknownMemory(t *testing.T) {
	s := read(t, "release 7.0\nhost esx01 nodes=2 cores=12\nvm a vcpus=4 memory=8GB\nrun 1m every=20s\n")
	_, all := ticks(t, s)
	for i := range all {
		if has := all[i].Has & (numa.HasFree | numa.HasMinFree | numa.HasState); has != 0 {
			t.Fatalf("tick %d states %b of free, minFree and state, want none: the memory of the host is unknown", i, has)
		}
	}
}

// TestLoneNode checks that a host with one node of an odd ID is refused, not shown wrongly.
func TestLoneNode(t *testing.T) {
	for _, id := range []int{-1, 64} {
		s := read(t, "release 7.0\nhost esx01 nodes=1 cores=12 nodeMemory=64GB\nvm a vcpus=4 memory=8GB\nrun 1m every=20s\n")
		s.Fleet.Hosts[0].Nodes.Value[0].ID = id
		o, _ := ticks(t, s)
		want := []numa.Note{{At: "esx01", Text: "its nodes have IDs outside 0 to 63: it is not simulated"}}
		if !slices.Equal(o.Problems, want) {
			t.Errorf("node %d: problems %q, want %q", id, o.Problems, want)
		}
	}
}

// TestHugeLimits checks that a limit beyond all bounds binds nothing, that a reservation beyond what the vCPUs take reserves them,
// and that a VM of one beyond the host does not run.
func TestHugeLimits(t *testing.T) {
	text := "release 7.0\nhost esx01 nodes=2 cores=4 nodeMemory=64GB mhz=2600\nvm a vcpus=4 memory=8GB\nvm b vcpus=12 memory=8GB\nload * cpu=100%\nrun 1m every=20s\n"
	set := func(limit, reserved int, keep numa.Bytes) *numa.Story {
		s := read(t, text)
		c := &s.Fleet.VMs[0].Config
		c.CPULimit, c.CPUReservation = numa.ReadAt(limit, "test"), numa.ReadAt(reserved, "test")
		c.MemoryReservation = numa.ReadAt(keep, "test")
		return s
	}
	want, _ := ticks(t, set(4*2600, 4*2600, 8*numa.GiB))
	got, _ := ticks(t, set(math.MaxInt, 2*4*2600, 8*numa.GiB))
	if !slices.Equal(got.VMs, want.VMs) {
		t.Errorf("outcome %+v\nwant %+v", got.VMs, want.VMs)
	}
	if run := got.VMs[0].Run; run != 4*10000*30 {
		t.Errorf("a ran %d, want all it asks for", run)
	}
	for _, s := range []*numa.Story{set(-1, math.MaxInt, 0), set(-1, 2*4*2700, 0), set(-1, 0, math.MaxInt64)} {
		if got, _ := ticks(t, s); got.VMs[0].Steps != 0 || len(got.Denied) != 1 || got.Denied[0].VM != 0 {
			t.Errorf("a ran %d steps, denied %+v", got.VMs[0].Steps, got.Denied)
		}
	}
}

// TestHotAddOfUnknown checks that a VM whose new configuration cannot be predicted stays as
// it was, wherever it goes from there.
func TestHotAddOfUnknown(t *testing.T) {
	s := read(t, "release 7.0\ncluster c\nhost esx01 cluster=c nodes=2 cores=12 nodeMemory=64GB\nhost esx02 cluster=c nodes=2 cores=12 nodeMemory=64GB\nvm a host=esx01 vcpus=4 memory=8GB hotAdd=on\nvm b host=esx01 vcpus=4 memory=8GB\nrun 10m every=20s\nat 1m hot-add a vcpus=8\nat 2m vmotion a host=esx02\nat 3m power-off a\n")
	s.Events[0].Config.VCPUs = numa.Fact[int]{}
	o, _ := ticks(t, s)
	if got, want := o.VMs[0].Steps, int64(3*time.Minute/numa.Step); got != want {
		t.Errorf("a ran %d steps, want %d", got, want)
	}
	if got, want := o.VMs[1].Steps, int64(10*time.Minute/numa.Step); got != want {
		t.Errorf("b ran %d steps, want %d", got, want)
	}
}

// TestWhy checks what decisions say, one story each: the deciding numbers, by the rules of
// the release.
func TestWhy(t *testing.T) {
	for _, tt := range []struct {
		name  string
		story string
		want  string // one line of the log
	}{
		{"placed by load", "release 7.0\nhost h nodes=2 cores=12 nodeMemory=64GB\nvm a vcpus=6 memory=8GB\nvm b vcpus=4 memory=8GB\nrun 1m every=20s\n",
			"0s b.0 placed: 4 vCPUs on node 1, of 2 it may use: known load there 0.0 % (node 0: 40.0 %), where 6 vCPUs count as whole cores until they are measured, 64 GB free"},
		{"placed in turn", "release 4.0\nhost h nodes=2 cores=12 nodeMemory=64GB\nvm a vcpus=6 memory=8GB\nvm b vcpus=4 memory=8GB\nrun 1m every=20s\n",
			"0s b.0 placed: 4 vCPUs on node 1, of 2 it may use: the next in turn, 64 GB free"},
		{"placed by memory", "release 4.1U2\nhost h nodes=2 cores=12 nodeMemory=64GB\nvm a vcpus=6 memory=8GB\nrun 1m every=20s\nused h node=0 memory=4GB\n",
			"0s a.0 placed: 6 vCPUs on node 1, of 2 it may use: most free memory, 64 GB free"},
		{"4.1 without room", "release 4.1U2\nhost h nodes=2 cores=12 nodeMemory=64GB\nvm a vcpus=6 memory=60GB\nrun 1m every=20s\nused h node=0 memory=9GB\nused h node=1 memory=8GB\n",
			"0s a.0 placed: 6 vCPUs on node 0, of 2 it may use: the next in turn, 55 GB free"},
		{"the other client of a wide VM", "release 7.0\nhost h nodes=2 cores=12 nodeMemory=64GB\nvm a vcpus=16 memory=8GB\nrun 1m every=20s\n",
			"0s a.1 placed: 8 vCPUs on node 1, of 1 it may use: known load there 0.0 %, 64 GB free"},
		{"a node of unknown memory", "release 7.0\nhost h nodes=2 cores=12\nvm a vcpus=6 memory=8GB\nrun 1m every=20s\n",
			"0s a.0 placed: 6 vCPUs on node 0, of 2 it may use: known load there 0.0 % (node 1: 0.0 %), memory unknown"},
		{"to a partner, with memory there too",
			"release 7.0\nhost h nodes=2 cores=12 nodeMemory=64GB Numa.CoreCapRatioPct=0\nvm a host=h vcpus=2 memory=8GB\nvm b host=h vcpus=2 memory=8GB\nrun 1m every=20s\nplaced a homes=0 local=7GB remote=1GB\nplaced b homes=1 onNode=0,8GB\nload * cpu=20%\nat 20s talk a b rate=1000\n",
			"24s a.0 moved for locality: node 0 → 1, where a VM is that it talks to: gain 49, load there then 5.3 %"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			log, _ := tell(t, tt.story)
			if !slices.Contains(log, tt.want) {
				t.Errorf("log\n%s\nwant among it\n%s", strings.Join(log, "\n"), tt.want)
			}
		})
	}
}

// TestLongLog checks that the why-log has an end, that events of the story stay in it, and
// that what is left out is said.
func TestLongLog(t *testing.T) {
	defer scheduler.ShortenLog(10)()
	s := read(t, "release 7.0\nhost h nodes=2 cores=12 nodeMemory=64GB\nvm a vcpus=2 memory=8GB\nvm b vcpus=2 memory=8GB\nrun 2h every=20s\nload * cpu=20%\nat 1h59m power-off a\n")
	for i := range 50 {
		rate := float64(1000 * (i % 2))
		at := time.Duration(i+1) * time.Minute
		s.Events = slices.Insert(s.Events, 2*i, numa.Event{At: at, Kind: numa.TalkChange, Talk: &numa.Talk{A: "a", B: "b", Rate: rate}},
			numa.Event{At: at, Kind: numa.OptionChange, Host: s.Fleet.Hosts[0].ID, Options: numa.Settings{{Key: "Numa.MigImbalanceThreshold", Value: "1"}}})
	}
	for i := range s.Events {
		if x := s.Events[i].Talk; x != nil {
			x.A, x.B = s.Fleet.VMs[0].ID, s.Fleet.VMs[1].ID
		}
	}
	o, _ := ticks(t, s)
	scheduled, events, last := 0, 0, o.Decisions[len(o.Decisions)-1]
	for _, d := range o.Decisions {
		switch d.Kind {
		case scheduler.OptionSet:
			events++
		case scheduler.LocalityMoved, scheduler.BalanceMoved, scheduler.AllLocal, scheduler.LocalitySwapped:
			scheduled++
		}
	}
	if scheduled != 10 {
		t.Errorf("the log has %d decisions of the scheduler, want 10", scheduled)
	}
	want := []numa.Note{{At: "h", Text: "the why-log is full: 39 decisions from 12m4s on are left out; sums and findings have all"}}
	if moves := o.VMs[0].Moves.All + o.VMs[1].Moves.All; moves != 49 || !slices.Equal(o.Problems, want) {
		t.Errorf("%d moves and problems %q, want 49 and %q", moves, o.Problems, want)
	}
	if last.Kind != scheduler.PoweredOff || events != 50 {
		t.Errorf("the log has %d options and ends with %s, want 50 and the last event", events, last.Kind)
	}
}

// TestOptionNotes checks that an option event that changes nothing says so.
func TestOptionNotes(t *testing.T) {
	o, _ := ticks(t, read(t, "release 7.0\nhost h nodes=2 cores=12 nodeMemory=64GB\nvm a vcpus=2 memory=8GB\nrun 1m every=20s\nat 20s set h hyperthreadingMitigation=TRUE Numa.SwapInterval=0 Numa.PreferHT=1\n"))
	want := []numa.Note{
		{At: "h", Text: `Numa.SwapInterval: found "0", want a number from 1 to 10000, set at 20s: it stays as it was`},
		{At: "h", Text: "hyperthreadingMitigation, set at 20s, changes nothing in the simulation"},
	}
	if !slices.Equal(o.Problems, want) {
		t.Errorf("problems %q\nwant %q", o.Problems, want)
	}
}

// TestSwapsWeighLocality: two large VMs whose load varies by 20 % do not change places, for
// all their memory would be remote. Without the weight they did 24 times.
func TestSwapsWeighLocality(t *testing.T) {
	o, _ := ticks(t, read(t, `release 8.0U3
host h nodes=2 cores=16 memory=1024GB
vm big[01-02] host=h vcpus=16 memory=380GB
vm small[01-02] host=h vcpus=6 memory=16GB
run 144m every=20s
load big* cpu=80% noise=20% memory=100%
load small* cpu=40% noise=20%
`))
	for i := range o.Decisions {
		if d := &o.Decisions[i]; d.Kind == scheduler.BalanceSwapped {
			t.Errorf("swapped for load: %+v", d)
		}
	}
}

// TestArrivalTakesIdleMemory: a VM that powers on where others hold idle memory gets that,
// and is not swapped itself. Before, 44 of its 60 GB were.
func TestArrivalTakesIdleMemory(t *testing.T) {
	_, all := ticks(t, read(t, `release 7.0U3
host h nodes=2 cores=16 memory=256GB
vm old[01-04] host=h vcpus=4 memory=60GB
vm new host=h vcpus=4 memory=60GB power=off
run 2h every=20s
load * cpu=30% memory=100% active=30%
at 1h power-on new
`))
	for _, v := range all[len(all)-1].VMs {
		if least, most := numa.Bytes(5<<30), numa.Bytes(11<<30); v.Swapped < least || v.Swapped > most {
			t.Errorf("%s: %v swapped, want a part of its idle memory as of all: %v to %v", v.Name, v.Swapped, least, most)
		}
	}
}

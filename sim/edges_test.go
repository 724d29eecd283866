package sim_test

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"homenode/numa"
	"homenode/sim"
	"homenode/source/story"
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
func ticks(t *testing.T, s *numa.Story) (*sim.Outcome, []numa.Tick) {
	t.Helper()
	var all []numa.Tick
	o, err := sim.Run(context.Background(), s, sim.Options{Log: true, Observe: func(host int, x *numa.Tick, _ *sim.Look) {
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

// TestUnknownMemory holds that a host of unknown memory states no minFree: it would be 0.
func TestUnknownMemory(t *testing.T) {
	s := read(t, "release 7.0\nhost esx01 nodes=2 cores=12\nvm a vcpus=4 memory=8GB\nrun 1m every=20s\n")
	_, all := ticks(t, s)
	for i := range all {
		if has := all[i].Has & (numa.HasFree | numa.HasMinFree | numa.HasState); has != 0 {
			t.Fatalf("tick %d states %b of free, minFree and state, want none: the memory of the host is unknown", i, has)
		}
	}
}

// TestLoneNode holds that a host with one node of an odd ID is refused, not shown wrongly.
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

// TestHugeLimits holds that limits and reservations beyond all bounds are as those that
// bind nothing, and reserve everything.
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
	got, _ := ticks(t, set(math.MaxInt, math.MaxInt, math.MaxInt64))
	if !slices.Equal(got.VMs, want.VMs) {
		t.Errorf("outcome %+v\nwant %+v", got.VMs, want.VMs)
	}
	if run := got.VMs[0].Run; run != 4*10000*30 {
		t.Errorf("a ran %d, want all it asks for", run)
	}
}

// TestHotAddOfUnknown holds that a VM whose new configuration cannot be predicted stays as
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

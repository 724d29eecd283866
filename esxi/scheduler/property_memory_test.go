package scheduler

import (
	"math/rand/v2"
	"testing"
	"time"

	"example.org/homenode/numa"
)

// TestTalkEnds checks that a client which only its partner held back moves for load once
// they talk no more, although no demand has changed.
func TestTalkEnds(t *testing.T) {
	s := oneVM(numa.ESXi70, 16384, 1024, []int{0, 0})
	second := s.Fleet.VMs[0]
	second.ID, second.Name = "w", "partner"
	s.Fleet.VMs = append(s.Fleet.VMs, second)
	s.Unstated.Value.CPU = numa.Demand{Low: 0.6, High: 0.6} // both: 60 % of a node of 4 cores
	s.Fleet.Hosts[0].Options = numa.ReadAt(numa.Settings{{Key: "Numa.CoreCapRatioPct", Value: "50"}}, "")
	s.Talks = []numa.Talk{{A: "v", B: "w", Rate: 1000}}
	for _, v := range s.Fleet.VMs {
		s.Seen = append(s.Seen, numa.SeenVM{VM: v.ID, Host: "h", Homes: numa.SetOf(0), Local: numa.GiB})
	}
	s.Events = []numa.Event{{At: 30 * numa.Step, Kind: numa.TalkChange, Talk: &numa.Talk{A: "v", B: "w"}}}
	s.Length = 60 * numa.Step
	r := runKernel(t, s, vnumaChoices(1), 1)
	at := -1
	for i, tick := range r.ticks[0] {
		if at < 0 && tick.VMs[0].Moves.Balance > 0 {
			at = i
		}
	}
	if at != 32 { // the talk ends before step 30; moves are for even periods
		t.Errorf("moved after %d steps, want 32", at)
	}
	if diff := plainDiff(t, s, vnumaChoices(1)); diff != "" {
		t.Error(diff)
	}
}

// oneVM returns a story of one VM of 2 vCPUs on a host with this much memory in use on
// each node, in MB.
func oneVM(release numa.Release, nodeMB, vmMB int, usedMB []int) *numa.Story {
	s := &numa.Story{
		Name: "one VM", Start: time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC), Length: numa.Step, Every: numa.Step,
		Fleet: &numa.Fleet{},
	}
	var nodes []numa.Node
	for n, used := range usedMB {
		nodes = append(nodes, numa.Node{ID: n, Package: n, Cores: 4, Threads: 4, Memory: numa.ReadAt(numa.Bytes(nodeMB)*numa.MiB, "")})
		s.Used = append(s.Used, numa.NodeUse{Host: "h", Node: n, Memory: numa.Bytes(used) * numa.MiB})
	}
	s.Fleet.Hosts = []numa.Host{{ID: "h", Name: "esx", Release: numa.ReadAt(release, ""), Nodes: numa.ReadAt(nodes, "")}}
	s.Fleet.VMs = []numa.VM{{ID: "v", Name: "vm", Host: "h", Config: numa.Config{
		VCPUs: numa.ReadAt(2, ""), Memory: numa.ReadAt(numa.Bytes(vmMB)*numa.MiB, ""), Power: numa.ReadAt(numa.PoweredOn, "")}}}
	s.Unstated = numa.AssumedFor(numa.Load{Memory: -1}, "test")
	return s
}

// placed returns the VM as it is at the start.
func placed(t *testing.T, s *numa.Story) *numa.VMTick {
	t.Helper()
	return &runKernel(t, s, vnumaChoices(1), 1).ticks[0][0].VMs[0]
}

// TestMoreMemory checks that more free memory on the home node of a VM never lowers its
// locality at placement, nor takes it elsewhere.
func TestMoreMemory(t *testing.T) {
	better, tight := 0, 0
	for seed := range 10 * stories() {
		r := rand.New(rand.NewPCG(seed, 4))
		release, nodeMB, vmMB := releases[1+r.IntN(len(releases)-1)], 1024+r.IntN(16384), 64+r.IntN(16384)
		used := make([]int, 1+r.IntN(4))
		for n := range used {
			used[n] = r.IntN(nodeMB)
		}
		before := placed(t, oneVM(release, nodeMB, vmMB, used))
		for home := range before.Homes.All() { // those it was widened by too
			used[home] -= r.IntN(used[home] + 1)
			break
		}
		if before.Homes.Len() != 1 {
			continue // larger than a node
		}
		after := placed(t, oneVM(release, nodeMB, vmMB, used))
		was, ok := before.Locality()
		is, _ := after.Locality()
		if is < was || ok && after.Homes != before.Homes || after.Swapped > before.Swapped {
			t.Fatalf("seed %d, %s: more memory on node %s: %s %v %d, was %s %v %d", seed, release, before.Homes, after.Homes, is, after.Swapped, before.Homes, was, before.Swapped)
		}
		if is > was {
			better++
		}
		if was < 1 {
			tight++
		}
	}
	if better < int(stories())/10 || tight < int(stories())/10 {
		t.Errorf("more memory was better %d times, of %d tight ones: this shows nothing", better, tight)
	}
}

// TestMoreMemoryElsewhere checks the exception that the early spill makes (C-15): what
// another node has above what it keeps takes pages that would have been local.
func TestMoreMemoryElsewhere(t *testing.T) {
	// 2 nodes of 64 GB: minFree is 899 MB + 1 % of 100 GB = 1923 MB, a node keeps 7692 MB.
	for _, tt := range []struct {
		name string
		used []int
		want numa.Bytes // local
	}{
		{"the other node has less than it keeps", []int{57344, 58000}, 6144 * numa.MiB},
		{"the other node has 400 MB more than it keeps", []int{57344, 65536 - 7692 - 400}, (6144 - 400) * numa.MiB},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := placed(t, oneVM(numa.ESXi70, 65536, 6144, tt.used))
			if diff := v.Local - tt.want; v.Homes != numa.SetOf(0) || diff < -numa.MiB || diff > numa.MiB { // minFree is no whole MB
				t.Errorf("found %s local at home %s, want %s on node 0", v.Local, v.Homes, tt.want)
			}
		})
	}
}

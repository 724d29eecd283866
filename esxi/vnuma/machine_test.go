package vnuma

import (
	"strings"
	"testing"
	"unique"

	"example.org/homenode/numa"
)

func TestNewMachine(t *testing.T) {
	node := func(id, cores, threads int, memory int64) numa.Node {
		n := numa.Node{ID: id, Cores: cores, Threads: threads}
		if memory >= 0 {
			n.Memory = numa.ReadAt(numa.Bytes(memory), "memory")
		}
		return n
	}
	mib := int64(numa.MiB)
	for _, tt := range []struct {
		name  string
		nodes []numa.Node
		set   func(*numa.Host)
		want  Machine
		shape string
	}{
		{"equal nodes", []numa.Node{node(0, 10, 20, 64*gib), node(1, 10, 20, 64*gib)}, nil,
			Machine{Nodes: 2, Cores: 10, Threads: 20, AllCores: 20, AllThreads: 40, NodeMemory: 64 * gib, MaxMemory: 64 * gib, AllMemory: 128 * gib},
			"2 nodes of 10 cores and 64 GB"},
		{"what the kernel keeps is no difference (A-5)", []numa.Node{node(0, 10, 20, 65423*mib), node(1, 10, 20, 65536*mib)}, nil,
			Machine{Nodes: 2, Cores: 10, Threads: 20, AllCores: 20, AllThreads: 40, NodeMemory: 65423 * mib, MaxMemory: 65536 * mib, AllMemory: 130959 * mib,
				unlike: unique.Make(unlike{n: 2, cores: 2, id: [numa.MaxNodes]uint8{0, 1}, order: [numa.MaxNodes]uint8{1, 0}, memory: [numa.MaxNodes]int64{65423 * mib, 65536 * mib}})},
			"2 nodes of 10 cores and 63.9 GB"},
		{"unequal DIMMs", []numa.Node{node(0, 10, 20, 256*gib), node(1, 10, 20, 128*gib)}, nil,
			Machine{Nodes: 2, Cores: 10, Threads: 20, AllCores: 20, AllThreads: 40, NodeMemory: 128 * gib, MaxMemory: 256 * gib, AllMemory: 384 * gib,
				assumes: AssumedNodeMemory, unlike: unique.Make(unlike{n: 2, cores: 2, id: [numa.MaxNodes]uint8{0, 1}, order: [numa.MaxNodes]uint8{0, 1}, memory: [numa.MaxNodes]int64{256 * gib, 128 * gib}})}, "2 nodes of 10 cores and 128 GB or more"},
		{"unequal cores", []numa.Node{node(0, 12, 24, 64*gib), node(1, 10, 20, 64*gib)}, nil,
			Machine{Nodes: 2, Cores: 10, Threads: 20, AllCores: 22, AllThreads: 44, NodeMemory: 64 * gib, MaxMemory: 64 * gib, AllMemory: 128 * gib,
				assumes: AssumedNodeCores}, "2 nodes of 10 cores or more and 64 GB"},
		{"hyper-threading off", []numa.Node{node(0, 10, 20, 64*gib)}, func(h *numa.Host) { h.HyperThreading = numa.ReadAt(false, "ht") },
			Machine{Nodes: 1, Cores: 10, Threads: 10, AllCores: 10, AllThreads: 10, NodeMemory: 64 * gib, MaxMemory: 64 * gib, AllMemory: 64 * gib},
			"1 node of 10 cores and 64 GB"},
		{"a node of memory only", []numa.Node{node(0, 10, 20, 64*gib), node(1, 0, 0, 512*gib)}, nil,
			Machine{Nodes: 1, Cores: 10, Threads: 20, AllCores: 10, AllThreads: 20, NodeMemory: 64 * gib, MaxMemory: 64 * gib, AllMemory: 576 * gib,
				unlike: unique.Make(unlike{n: 2, cores: 1, id: [numa.MaxNodes]uint8{0, 1}, memory: [numa.MaxNodes]int64{64 * gib, 512 * gib}})},
			"1 node of 10 cores and 64 GB"},
		{"unknown memory", []numa.Node{node(0, 10, 20, 64*gib), node(1, 10, 20, -1)}, nil,
			Machine{Nodes: 2, Cores: 10, Threads: 20, AllCores: 20, AllThreads: 40}, "2 nodes of 10 cores"},
		{"host options", []numa.Node{node(0, 8, 16, -1)}, func(h *numa.Host) {
			h.Options = numa.ReadAt(numa.Settings{{Key: "numa.preferht", Value: "1"}, {Key: "Numa.FollowCoresPerSocket", Value: "1"}}, "options")
			h.CPUModel = numa.ReadAt("AMD EPYC 7302P 16-Core Processor", "cpu")
			h.Packages = numa.ReadAt(1, "packages")
		}, Machine{Nodes: 1, Cores: 8, Threads: 16, AllCores: 8, AllThreads: 16, PreferHT: true, Follow: true, EPYC: true}, "1 node of 8 cores"},
		{"assumed nodes, unknown options", []numa.Node{node(0, 8, 16, -1)}, func(h *numa.Host) {
			h.Nodes, h.Options = numa.AssumedFor(h.Nodes.Value, "packages"), numa.Fact[numa.Settings]{}
		}, Machine{Nodes: 1, Cores: 8, Threads: 16, AllCores: 8, AllThreads: 16, assumes: AssumedNodes | AssumedOptions}, "1 node of 8 cores"},
		{"a release to come", []numa.Node{node(0, 8, 16, -1)}, func(h *numa.Host) { h.Release = numa.ReadAt(numa.NewRelease(9, 1, 0), "release") },
			Machine{Release: numa.NewRelease(9, 1, 0), model: numa.ESXi90, Nodes: 1, Cores: 8, Threads: 16, AllCores: 8, AllThreads: 16,
				assumes: AssumedRelease}, "1 node of 8 cores"},
	} {
		h := numa.Host{Name: "esx01", Release: numa.ReadAt(numa.ESXi70, "release"), Options: numa.ReadAt(numa.Settings(nil), "options")}
		h.Nodes = numa.ReadAt(tt.nodes, "nodes")
		if tt.set != nil {
			tt.set(&h)
		}
		if tt.want.Release == 0 {
			tt.want.Release, tt.want.model = numa.ESXi70, numa.ESXi70
		}
		tt.want.ThreadsKnown = tt.want.AllThreads > tt.want.AllCores || h.HyperThreading.Known()
		tt.want.Reservable = tt.want.AllMemory - int64(numa.MinFree(numa.Bytes(tt.want.AllMemory), numa.ESXi70))/4096*4096
		got, err := NewMachine(&h)
		if err != nil || got != tt.want || got.Shape() != tt.shape {
			t.Errorf("%s: %+v, %q, %v\nwant %+v, %q", tt.name, got, got.Shape(), err, tt.want, tt.shape)
		}
	}
}

func TestNewMachineErrors(t *testing.T) {
	release, nodes := numa.ReadAt(numa.ESXi70, "release"), numa.ReadAt([]numa.Node{{Cores: 4, Threads: 4}}, "nodes")
	for _, tt := range []struct {
		host numa.Host
		want string
	}{
		{numa.Host{Name: "a", Nodes: nodes}, "host a: the ESXi release is unknown"},
		{numa.Host{Name: "a", Nodes: nodes, Release: numa.ReadAt(numa.NewRelease(2, 5, 0), "release")},
			"host a: release 2.5 is older than ESX 3.5, the first described"},
		{numa.Host{Name: "a", Nodes: nodes, Release: numa.ReadAt(numa.NewRelease(5, 9, 0), "release")},
			"host a: there is no release 5.9: 5.5 is followed by 6.0"},
		{numa.Host{Name: "a", Release: release}, "host a: the NUMA nodes are unknown"},
		{numa.Host{Name: "a", Release: release, Nodes: numa.ReadAt([]numa.Node{{ID: 0}}, "nodes")}, "host a: no NUMA node has cores"},
	} {
		if _, err := NewMachine(&tt.host); err == nil || err.Error() != tt.want {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}

func TestMerged(t *testing.T) {
	m := machineOf(t, numa.ESXi70, 4, 9, 18, 0)
	m.NodeMemory, m.MaxMemory = 96, 100
	if got := m.Merged(2); got.Nodes != 2 || got.Cores != 18 || got.Threads != 36 || got.NodeMemory != 192 || got.MaxMemory != 200 ||
		got.AllCores != 36 || !strings.HasPrefix(got.Shape(), "2 nodes of 18 cores") {
		t.Errorf("merged: %+v", got)
	}
}

// TestHiddenPackages: behind the only node of two packages half of the memory is far, whatever else holds; a nested host hides none.
func TestHiddenPackages(t *testing.T) {
	for _, tt := range []struct {
		packages int
		model    string
		far      float64
	}{{1, "", 0}, {2, "", 0.5}, {4, "", 0.75}, {2, "VMware20,1", 0}} {
		h := numa.Host{Name: "esx01", Release: numa.ReadAt(numa.ESXi80, "release"), Packages: numa.ReadAt(tt.packages, "packages"), Model: numa.ReadAt(tt.model, "model"),
			Nodes: numa.ReadAt([]numa.Node{{Cores: 40, Threads: 80, Memory: numa.ReadAt(768*numa.GiB, "memory")}}, "nodes")}
		m, err := NewMachine(&h)
		if err != nil {
			t.Fatal(err)
		}
		g, _, err := NewGuest(&numa.VM{Name: "db", Config: numa.Config{VCPUs: numa.ReadAt(8, "vcpus"), Memory: numa.ReadAt(16*numa.GiB, "memory")}})
		if err != nil {
			t.Fatal(err)
		}
		if l := Predict(&g, &m, &Case{}); l.FarShare() != tt.far {
			t.Errorf("%d packages %s: %v far, want %v", tt.packages, tt.model, l.FarShare(), tt.far)
		}
	}
}

// TestSchedules has hosts whose NUMA scheduler is on or off: without it VMs have no home node, and see what they would with it.
func TestSchedules(t *testing.T) {
	for _, tt := range []struct {
		nodes, cores int
		options      string
		schedules    bool
	}{
		{2, 16, "", true}, {2, 16, "Numa.RebalanceEnable=0", false}, {2, 16, "Numa.RebalanceEnable=1", true}, {1, 16, "Numa.RebalanceEnable=0", true},
		{2, 1, "", false}, {4, 1, "", false}, {2, 2, "", true}, {2, 1, "Numa.RebalanceCoresTotal=2 Numa.RebalanceCoresNode=1", true},
		{4, 1, "Numa.RebalanceCoresNode=1", true}, {2, 4, "Numa.RebalanceCoresNode=8", false}, {2, 8, "Numa.RebalanceCoresTotal=32", false},
	} {
		h := numa.Host{Name: "h", Release: numa.ReadAt(numa.ESXi80, "test"), Options: numa.ReadAt(numa.Settings(nil), "test")}
		for i := range tt.nodes {
			h.Nodes.Value = append(h.Nodes.Value, numa.Node{ID: i, Cores: tt.cores, Threads: tt.cores, Memory: numa.ReadAt(64*numa.GiB, "test")})
		}
		h.Nodes = numa.ReadAt(h.Nodes.Value, "test")
		for _, o := range strings.Fields(tt.options) {
			key, value, _ := strings.Cut(o, "=")
			h.Options.Value = h.Options.Value.With(key, value)
		}
		m, err := NewMachine(&h)
		if err != nil {
			t.Fatal(err)
		}
		h.Options.Value = h.Options.Value.With("Numa.RebalanceEnable", "1").With("Numa.RebalanceCoresTotal", "1").With("Numa.RebalanceCoresNode", "1")
		on, err := NewMachine(&h)
		if err != nil {
			t.Fatal(err)
		}
		g := Guest{VCPUs: int32(tt.nodes * tt.cores), CoresPerSocket: 1, Memory: 32 << 30, Hardware: 19, Min: 2}
		l, with := Predict(&g, &m, &Case{}), Predict(&g, &on, &Case{})
		if m.Schedules() != tt.schedules || l.Managed != tt.schedules || (l.Memory.Placement == Anywhere) == tt.schedules || !l.SameGuest(&with) {
			t.Errorf("%d nodes of %d cores, %q: %+v", tt.nodes, tt.cores, tt.options, l)
		}
		if wide := l.VPDs.Len() > 1; (l.Assumes&AssumedUnscheduled != 0) != (wide && !tt.schedules) {
			t.Errorf("%d nodes of %d cores, %q: assumes %q", tt.nodes, tt.cores, tt.options, l.Assumes.Names())
		}
	}
}

package numa

import (
	"slices"
	"testing"
)

// testFleet returns two clusters, three hosts and four VMs.
func testFleet() *Fleet {
	node := func(id int) Node { return Node{ID: id, Cores: 10, Threads: 20, Memory: ReadAt(64*GiB, "m")} }
	return &Fleet{
		Clusters: []Cluster{{ID: "c1", Name: "prod"}, {ID: "c2", Name: "test"}},
		Hosts: []Host{
			{ID: "h1", Name: "esx01.example.org", Cluster: "c1", Nodes: ReadAt([]Node{node(0), node(1)}, "n")},
			{ID: "h2", Name: "esx02.example.org", Cluster: "c1",
				Packages: ReadAt(2, "p"), Cores: ReadAt(32, "c"), Threads: ReadAt(64, "t"), Memory: ReadAt(256*GiB, "m")},
			{ID: "h3", Name: "lab"},
		},
		VMs: []VM{
			{ID: "v1", Name: "db01", Cluster: "c1", Host: "h1", Config: Config{VCPUs: ReadAt(12, "n")}},
			{ID: "v2", Name: "DB01", Cluster: "c2"},
			{ID: "v3", Name: "web", Host: "h3"},
			{ID: "v4", Name: "web", Cluster: "c1"},
		},
	}
}

func TestFleetCheck(t *testing.T) {
	if err := testFleet().Check(); err != nil {
		t.Fatal(err)
	}
	if err := (&Fleet{}).Check(); err != nil {
		t.Errorf("an empty fleet: %v", err)
	}
	nodes := func(list ...Node) func(*Fleet) {
		return func(f *Fleet) { f.Hosts[0].Nodes = ReadAt(list, "n") }
	}
	for _, tt := range []struct {
		want   string
		damage func(*Fleet)
	}{
		{`cluster "prod": no id`, func(f *Fleet) { f.Clusters[0].ID = "" }},
		{`cluster "test": id "c1" is used twice`, func(f *Fleet) { f.Clusters[1].ID = "c1" }},
		{`host "lab": no id`, func(f *Fleet) { f.Hosts[2].ID = "" }},
		{`host "lab": id "h1" is used twice`, func(f *Fleet) { f.Hosts[2].ID = "h1" }},
		{`host "lab": cluster "c9" is not in the fleet`, func(f *Fleet) { f.Hosts[2].Cluster = "c9" }},
		{`VM "web": no id`, func(f *Fleet) { f.VMs[2].ID = "" }},
		{`VM "DB01": id "v1" is used twice`, func(f *Fleet) { f.VMs[1].ID = "v1" }},
		{`VM "db01": cluster "c9" is not in the fleet`, func(f *Fleet) { f.VMs[0].Cluster = "c9" }},
		{`VM "db01": host "h9" is not in the fleet`, func(f *Fleet) { f.VMs[0].Host = "h9" }},
		{`host "esx01.example.org": memory of 0 bytes`, func(f *Fleet) { f.Hosts[0].Memory = ReadAt(Bytes(0), "m") }},
		{`host "esx01.example.org": memory of 1125899906842625 bytes`, func(f *Fleet) { f.Hosts[0].Memory = ReadAt(MaxHostMemory+1, "m") }},
		{`host "esx01.example.org": 0 packages`, func(f *Fleet) { f.Hosts[0].Packages = ReadAt(0, "p") }},
		{`host "esx01.example.org": -4 cores`, func(f *Fleet) { f.Hosts[0].Cores = ReadAt(-4, "c") }},
		{`host "esx01.example.org": 262145 threads`, func(f *Fleet) { f.Hosts[0].Threads = ReadAt(MaxNodes*MaxCoresPerNode+1, "t") }},
		{`host "esx01.example.org": 65 NUMA nodes, more than 64`, nodes(make([]Node, MaxNodes+1)...)},
		{`host "esx01.example.org": NUMA node 1 does not come after node 1`, nodes(Node{ID: 1}, Node{ID: 1})},
		{`host "esx01.example.org": NUMA node 0 does not come after node 2`, nodes(Node{ID: 2}, Node{ID: 0})},
		{`host "esx01.example.org": NUMA node 0 with -1 cores and 0 threads`, nodes(Node{Cores: -1})},
		{`host "esx01.example.org": NUMA node 0 with 4097 cores and 4097 threads`, nodes(Node{Cores: 4097, Threads: 4097})},
		{`host "esx01.example.org": NUMA node 0 with 8 cores and 4 threads`, nodes(Node{Cores: 8, Threads: 4})},
		{`host "esx01.example.org": NUMA node 0 with 8 cores and 32769 threads`, nodes(Node{Cores: 8, Threads: 8*MaxCoresPerNode + 1})},
		{`host "esx01.example.org": NUMA node 3 with -1 bytes of memory`, nodes(Node{ID: 3, Memory: ReadAt(Bytes(-1), "m")})},
		{`VM "db01": 0 vCPUs`, func(f *Fleet) { f.VMs[0].VCPUs = ReadAt(0, "n") }},
		{`VM "db01": 4097 vCPUs`, func(f *Fleet) { f.VMs[0].VCPUs = ReadAt(MaxVCPUs+1, "n") }},
		{`VM "db01": -1 cores per socket`, func(f *Fleet) { f.VMs[0].CoresPerSocket = ReadAt(-1, "n") }},
		{`VM "db01": memory of -1 bytes`, func(f *Fleet) { f.VMs[0].Memory = ReadAt(Bytes(-1), "m") }},
		{`VM "db01": memory of 70368744177665 bytes`, func(f *Fleet) { f.VMs[0].Memory = ReadAt(MaxVMMemory+1, "m") }},
	} {
		f := testFleet()
		tt.damage(f)
		if err := f.Check(); err == nil || err.Error() != tt.want {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}

func TestFind(t *testing.T) {
	f := testFleet()
	for _, tt := range []struct {
		name string
		want []string
	}{
		{"db01", []string{"v1"}}, // exact beats folded
		{"DB01", []string{"v2"}},
		{"Db01", []string{"v1", "v2"}},
		{"v3", []string{"v3"}},
		{"web", []string{"v3", "v4"}},
		{"prod/web", []string{"v4"}},
		{"PROD/WEB", []string{"v4"}},
		{"/web", []string{"v3"}}, // of no cluster
		{"test/web", nil},
		{"", nil},
	} {
		var got []string
		for _, v := range f.FindVMs(tt.name) {
			got = append(got, v.ID)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("FindVMs(%q) = %v, want %v", tt.name, got, tt.want)
		}
	}
	for _, tt := range []struct {
		name string
		want []string
	}{
		{"esx01.example.org", []string{"h1"}}, {"ESX01.EXAMPLE.ORG", []string{"h1"}}, {"esx01", []string{"h1"}}, {"Esx02", []string{"h2"}},
		{"h3", []string{"h3"}}, {"H3", nil}, {"lab", []string{"h3"}}, {"esx", nil},
	} {
		var got []string
		for _, h := range f.FindHosts(tt.name) {
			got = append(got, h.ID)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("FindHosts(%q) = %v, want %v", tt.name, got, tt.want)
		}
	}
	if f.ClusterName("c1") != "prod" || f.ClusterName("c9") != "c9" || f.ClusterName("") != "" {
		t.Error("ClusterName", f.ClusterName("c1"), f.ClusterName("c9"), f.ClusterName(""))
	}
	if got := (Note{"a:1", "text"}).String() + "|" + (Note{Text: "text"}).String(); got != "a:1: text|text" {
		t.Errorf("notes %q", got)
	}
}

// TestCheckAlone: sources check the facts of one object one by one.
func TestCheckAlone(t *testing.T) {
	good := Host{Cores: ReadAt(32, "c"), Nodes: ReadAt([]Node{{Cores: 16, Threads: 32}}, "n")}
	bad := Host{Name: "esx01", Nodes: ReadAt([]Node{{Cores: 16, Threads: 8}}, "n")}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	if err := bad.Check(); err == nil || err.Error() != "NUMA node 0 with 16 cores and 8 threads" {
		t.Errorf("host: %v", err)
	}
	vm := VM{Name: "db01", Config: Config{VCPUs: ReadAt(1<<20, "n")}}
	if err := vm.Check(); err == nil || err.Error() != "1048576 vCPUs" {
		t.Errorf("VM: %v", err)
	}
	if err := (&VM{Config: Config{CoresPerSocket: ReadAt(4, "n")}}).Check(); err != nil {
		t.Error(err)
	}
}

// TestSetNodesPerSocketTwice: the general first, then the exception.
func TestSetNodesPerSocketTwice(t *testing.T) {
	f := testFleet()
	f.Hosts = f.Hosts[1:2]
	for _, tt := range []struct {
		where   string
		k, want int
	}{{"*", 1, 2}, {"esx02*", 2, 4}} {
		if err := f.Hosts[0].SetNodesPerSocket(tt.k, tt.where); err != nil {
			t.Fatal(err)
		}
		if got := f.Hosts[0].Nodes; len(got.Value) != tt.want || got.Origin != (Origin{Derived, tt.where}) {
			t.Errorf("after %s=%d: %d nodes, %v; want %d", tt.where, tt.k, len(got.Value), got.Origin, tt.want)
		}
	}
}

func TestSetNodesPerSocket(t *testing.T) {
	const where = "-nodes-per-socket"
	f := testFleet()
	if err := f.Hosts[1].SetNodesPerSocket(2, where); err != nil {
		t.Fatal(err)
	}
	memory := DerivedFrom(64*GiB, where)
	want := []Node{{0, 0, 8, 16, memory}, {1, 0, 8, 16, memory}, {2, 1, 8, 16, memory}, {3, 1, 8, 16, memory}}
	if got := f.Hosts[1].Nodes; !slices.Equal(got.Value, want) || got.Origin != (Origin{Derived, where}) {
		t.Errorf("nodes %+v\nwant %+v", got, want)
	}
	if err := f.Check(); err != nil {
		t.Error(err)
	}
	for _, tt := range []struct {
		host, k int
		set     func(*Host)
		want    string
	}{
		{0, 2, nil, "its 2 NUMA nodes were read from the source and stay"},
		{2, 2, nil, "its packages and cores are unknown"},
		{1, 1, func(h *Host) { h.Packages = Fact[int]{} }, "its packages are unknown, and its 32 cores are not: --assume-host can say its nodes"},
		{1, 1, func(h *Host) { h.Cores = Fact[int]{} }, "its cores are unknown"},
		{1, 0, nil, "32 cores on 2 packages do not divide into 0 nodes a package"},
		{1, -1, nil, "32 cores on 2 packages do not divide into -1 nodes a package"},
		{1, 5, nil, "32 cores on 2 packages do not divide into 5 nodes a package"},
		{1, 33, nil, "32 cores on 2 packages do not divide into 33 nodes a package"},
	} {
		f := testFleet()
		if tt.set != nil {
			tt.set(&f.Hosts[1])
		}
		if err := f.Hosts[tt.host].SetNodesPerSocket(tt.k, where); err == nil || err.Error() != tt.want {
			t.Errorf("%d %d: %v, want %s", tt.host, tt.k, err, tt.want)
		}
	}
	f = testFleet()
	f.Hosts[1].Threads, f.Hosts[1].Memory = Fact[int]{}, Fact[Bytes]{}
	f.Hosts[1].Nodes = AssumedFor([]Node{{Cores: 32, Threads: 32}}, "one node")
	if err := f.Hosts[1].SetNodesPerSocket(1, where); err != nil {
		t.Error(err)
	}
	if got, want := f.Hosts[1].Nodes.Value, []Node{{ID: 0, Cores: 16, Threads: 16}, {ID: 1, Package: 1, Cores: 16, Threads: 16}}; !slices.Equal(got, want) {
		t.Errorf("without threads and memory: %+v, want %+v", got, want)
	}
}

func TestNamesNobody(t *testing.T) {
	for name, want := range map[string]bool{"": true, "localhost": true, "LOCALHOST.localdomain": true, "local": true, "esx": true, "ESXi": true,
		"esx01": false, "localhost1": false, "esx.example.com": false, "10.0.0.1": false} {
		if got := NamesNobody(name); got != want {
			t.Errorf("NamesNobody(%q) = %v, want %v", name, got, want)
		}
	}
}

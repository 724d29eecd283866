package fit

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/source/scenario"
)

// Memory beyond a node is local once the VM is divided into virtual NUMA nodes, and that of several clients once the guest sees
// theirs: a VM that is only described counts so.
func TestLocalAs(t *testing.T) {
	for _, tt := range []struct {
		shape, host string
		vms         int
		as          string
	}{
		{"24x600GB", "2x32c/1TB", 1, "2 virtual NUMA nodes of 12 vCPUs: set cores per socket to 12 (2 sockets), set numa.consolidate = FALSE"},
		{"24x600GB", "2x64c/2TB", 2, ""},
		{"24x470GB", "2x32c/1TB", 1, "2 virtual NUMA nodes of 12 vCPUs: set cores per socket to 12 (2 sockets), set numa.vcpu.maxPerVirtualNode = 12, set numa.vcpu.maxPerMachineNode = 12"},
		{"40x700GB", "2x48c/1.5TB", 1, "2 virtual NUMA nodes of 20 vCPUs: set cores per socket to 20 (2 sockets), set numa.vcpu.maxPerVirtualNode = 20, set numa.vcpu.maxPerMachineNode = 20"},
		{"32x768GB", "2x32c/1TB/nps2", 1, "4 virtual NUMA nodes of 8 vCPUs: set cores per socket to 8 (4 sockets), set numa.vcpu.maxPerVirtualNode = 8, set numa.vcpu.maxPerMachineNode = 8"},
		{"15x600GB", "2x32c/1TB", 1, "3 virtual NUMA nodes of 5 vCPUs: set cores per socket to 5 (3 sockets), set numa.vcpu.maxPerVirtualNode = 5, set numa.vcpu.maxPerMachineNode = 5"},
		{"2x500GB", "2x32c/1TB", 1, "2 virtual NUMA nodes of 1 vCPU: set cores per socket to 1 (2 sockets), set numa.vcpu.maxPerVirtualNode = 1, set numa.vcpu.maxPerMachineNode = 1, set numa.vcpu.min = 2"},
		{"7x600GB", "2x32c/1TB", 0, ""},  // does not divide
		{"7x32GB", "2x4c/256GB", 0, ""},  // wide, not shown, and does not divide
		{"24x960GB", "2x32c/1TB", 0, ""}, // 937 GB are there for VMs
		{"48x64GB", "2x32c/1TB", 1, ""},  // wide by itself
		{"8x32GB", "2x4c/256GB", 1, "2 virtual NUMA nodes of 4 vCPUs: set cores per socket to 4 (2 sockets), set numa.vcpu.min = 8"}, // wide, and not shown
	} {
		o := plain()
		s := shapeOf(t, tt.shape)
		c := roomOf(t, typeOf(t, tt.host), o).count(&s, &o)
		as := ""
		if c.LocalAs != nil {
			as = c.LocalAs.String() + ": " + strings.Join(c.LocalAs.Steps, ", ")
		}
		if c.VMs != tt.vms || as != tt.as {
			t.Errorf("%s on %s:\ngot  %d %s\nwant %d %s", tt.shape, tt.host, c.VMs, as, tt.vms, tt.as)
		}
	}
}

// VMs of a fleet count as they are set up, and how many an edit makes local beside it; VMs
// that are only described count as they are to be set up.
func TestMixLocalAs(t *testing.T) {
	fleet := clusterOf(t, `release 8.0
cluster a
host h[1-4] nodes=2 cores=48 memory=2TB
vm hana01 host=h1 vcpus=16 memory=768GB
vm hana02 host=h2 vcpus=32 memory=768GB
vm oracle01 host=h3 vcpus=32 memory=600GB
vm sap[01-02] host=h4 vcpus=40 memory=700GB
vm odd01 host=h4 vcpus=7 memory=800GB
`, "a")
	for _, tt := range []struct {
		host                  string
		hosts, remote, cured  int
		first                 string
		described, alsoEdited int
	}{
		// sap01 and sap02 are wide by themselves; odd01 does not divide.
		{"2x32c/1TB", 6, 4, 3, "odd01 <nil>", 6, 3},
		// 40 vCPUs fit one node, whose 705 GB do not hold 700 GB and 5.9 GB of overhead.
		// oracle01 finds room beside hana01, which is remote in part; not beside its halves.
		{"2x48c/1.5TB", 5, 5, 4, "odd01 <nil>", 6, 4},
	} {
		o := plain()
		o.PerCore = 2
		ask := Ask{Types: []Type{typeOf(t, tt.host)}, Shapes: fleet.Shapes(), Options: o}
		m := resultOf(t, &ask).Types[0].Mix
		if got, want := fmt.Sprint(m.Hosts, m.Remote, m.RemoteCured, len(m.Edited)), fmt.Sprint(tt.hosts, tt.remote, tt.cured, 0); got != want {
			t.Errorf("%s: found %s, want %s", tt.host, got, want)
		}
		if got := fmt.Sprint(m.RemoteVMs[0].VMs[0], " ", m.RemoteVMs[0].LocalAs); got != tt.first {
			t.Errorf("%s: found %s, want %s", tt.host, got, tt.first)
		}
		for i := range ask.Shapes {
			ask.Shapes[i].VMs = nil
		}
		m = resultOf(t, &ask).Types[0].Mix
		edited := 0
		for _, f := range m.Edited {
			edited += f.Count
		}
		if got, want := fmt.Sprint(m.Hosts, m.Remote, m.RemoteCured, edited), fmt.Sprint(tt.described, 1, 0, tt.alsoEdited); got != want {
			t.Errorf("%s, described: found %s, want %s", tt.host, got, want)
		}
	}
}

// A host takes a VM of a shape that is local only as it is to be set up.
func TestRoomLocalAs(t *testing.T) {
	c := clusterOf(t, "release 8.0\ncluster a\nhost h[1-2] nodes=2 cores=16 memory=512GB\nvm small host=h1 vcpus=2 memory=8GB\n", "a")
	r, err := c.Room(t.Context(), NewShape(8, 300*numa.GiB), 0, &Options{PerCore: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range r.Hosts {
		if h.More != 1 || h.LocalAs == nil || h.LocalAs.String() != "2 virtual NUMA nodes of 4 vCPUs" {
			t.Errorf("%s: found %d as %v, want 1 as 2 virtual NUMA nodes of 4 vCPUs", h.Host, h.More, h.LocalAs)
		}
	}
}

// The price of a VM is that of its host, or of a cluster with a failed host, by its VMs.
func TestPriceOfVM(t *testing.T) {
	for _, tt := range []struct {
		host, shape string
		each, spare float64
	}{
		{"2x32c/1TB=21000", "12x96GB", 5250, 210_000.0 / 36},   // 5,833
		{"2x48c/1.5TB=36000", "12x96GB", 4500, 360_000.0 / 72}, // 5,000
		{"2x32c/1TB=21000", "24x600GB", 21_000, 210_000.0 / 9}, // 23,333
		{"2x32c/1TB=21000", "7x600GB", 0, 0},                   // none fits
		{"2x32c/1TB", "12x96GB", 1280, 10 * 1024 * 5 / 36.0},   // 5 for each GB
	} {
		ask := Ask{Types: []Type{typeOf(t, tt.host)}, Shapes: []Shape{shapeOf(t, tt.shape)}, Hosts: 10, Spare: 1, Options: plain()}
		if ask.Types[0].Price == 0 {
			ask.Prices.GB = 5
		}
		c := resultOf(t, &ask).Types[0].Counts[0]
		if c.Price != tt.each || math.Abs(c.PriceFailed-tt.spare) > 1e-9 {
			t.Errorf("%s on %s: found %v and %v, want %v and %v", tt.shape, tt.host, c.Price, c.PriceFailed, tt.each, tt.spare)
		}
	}
}

// Kinds of hosts of one label have two names, and the source's own know how many to add.
func TestBeside(t *testing.T) {
	fleet := clusterOf(t, "release 8.0\ncluster a\nhost h[1-2] nodes=2 cores=32 memory=1TB\nvm db[1-10] host=h1 vcpus=16 memory=200GB\n", "a")
	types := Beside(fleet.Types(), []Type{typeOf(t, "2x32c/1TB"), typeOf(t, "2x48c/2TB")})
	ask := Ask{Types: types, Shapes: fleet.Shapes(), Spare: 1, Options: plain()}
	got := map[string]string{}
	for _, o := range resultOf(t, &ask).Types {
		got[o.Name] = fmt.Sprintf("%d, add %d", o.Mix.Total, o.Mix.Add)
	}
	// 16 vCPUs and 202 GB: two on a node of 32 cores, 469 GB; three of 48 cores, 940 GB.
	want := map[string]string{"2x32c/1TB (has 2)": "4, add 2", "2x32c/1TB": "4, add 0", "2x48c/2TB": "3, add 0"}
	if !maps.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
	// Those that were asked for come first, however good what is there is.
	r := resultOf(t, &ask)
	if a := r.Asked(); len(a) != 2 || a[0].Name != "2x48c/2TB" || a[1].Name != "2x32c/1TB" || r.Types[2].InSource != 2 {
		t.Errorf("asked %+v of %+v", a, r.Types)
	}
}

// TestAlmostAlike has hosts whose firmware keeps some MB more or less: they are one kind.
func TestAlmostAlike(t *testing.T) {
	text := "release 8.0\ncluster a\n"
	for i := range 10 {
		text += fmt.Sprintf("host h%d nodes=2 cores=32 memory=%dMB\n", i, 1047000+37*i)
	}
	types := clusterOf(t, text+"vm db host=h1 vcpus=16 memory=200GB\n", "a").Types()
	if len(types) != 1 || types[0].Hosts != 10 || !strings.HasPrefix(types[0].Name, "2x32c/102") {
		t.Errorf("found %d kinds, first %s with %d hosts", len(types), types[0].Name, types[0].Hosts)
	}
}

// TestReleases: hosts that differ in their release alone are one kind, which counts with the newest.
func TestReleases(t *testing.T) {
	types := clusterOf(t, "cluster a\nhost h1 release=8.0U3 nodes=2 cores=32 memory=1TB\nhost h[2-3] release=7.0U3 nodes=2 cores=32 memory=1023GB\nvm db host=h1 vcpus=16 memory=200GB\n", "a").Types()
	if len(types) != 1 || types[0].Hosts != 3 || types[0].Host.Release.Value != numa.NewRelease(8, 0, 3) || !slices.Equal(types[0].Releases, []numa.Release{numa.NewRelease(7, 0, 3), numa.NewRelease(8, 0, 3)}) {
		t.Errorf("found %+v", types)
	}
}

// TestOneCure: the layout that size fit proposes for a VM is the plan that fix makes for it.
func TestOneCure(t *testing.T) {
	f, err := scenario.Read("x", []byte(`release 8.0U3
host h[1-2] nodes=2 cores=18 memory=512GB cluster=c
vm wide host=h1 vcpus=16 coresPerSocket=16 memory=384GB hw=19
vm flat host=h1 vcpus=12 coresPerSocket=1 memory=300GB hw=20
vm ht host=h2 vcpus=20 coresPerSocket=20 memory=300GB hw=19 numa.vcpu.preferHT=TRUE
`))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Find(f, "c")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	r := roomOf(t, typeOf(t, "2x18c/512GB"), plain())
	for _, s := range c.Shapes() {
		o := plain()
		if _, as, ok := r.localAs(&s, &o); ok {
			got[s.VMs[0]] = strings.Join(as.Steps, ", ")
		}
	}
	for name, want := range map[string]string{
		"wide": "set cores per socket to 8 (2 sockets), set numa.consolidate = FALSE",
		"flat": "set cores per socket to 6 (2 sockets), set NUMA Nodes to 2 (numa.vcpu.coresPerNode = 6)",
		"ht":   "set cores per socket to 10 (2 sockets), remove numa.vcpu.preferHT",
	} {
		if got[name] != want {
			t.Errorf("%s: found %q, want %q", name, got[name], want)
		}
	}
}

package plan_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/esxi/plan"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/testdeps"
	"example.org/homenode/measure/published"
	"example.org/homenode/numa"
	"example.org/homenode/source/scenario"
)

// host returns a host of equal nodes.
func host(t *testing.T, r numa.Release, nodes, cores int) vnuma.Machine {
	t.Helper()
	h := numa.Host{Name: "esx01", Release: numa.ReadAt(r, "test")}
	list := make([]numa.Node, nodes)
	for i := range list {
		list[i] = numa.Node{ID: i, Cores: cores, Threads: 2 * cores}
	}
	h.Nodes = numa.ReadAt(list, "test")
	m, err := vnuma.NewMachine(&h)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// notAdvised are published recommendations that Best does not follow, and why.
var notAdvised = map[string]string{
	"rightsizing-192gb-2vcpu":  "memory beyond a node: two sockets although the vCPUs fit one (F-3)",
	"rightsizing-192gb-4vcpu":  "as 2 vCPU",
	"rightsizing-192gb-6vcpu":  "as 2 vCPU",
	"rightsizing-192gb-8vcpu":  "as 2 vCPU",
	"rightsizing-192gb-10vcpu": "as 2 vCPU",
	"sapcc-hana-48cps":         "names no host and no vCPU count",
}

// TestConfirmAdvice compares the advised sockets and cores per socket with every
// published recommendation: VMware's right-sizing table, VMCO, Denneman, Dell.
func TestConfirmAdvice(t *testing.T) {
	files, err := filepath.Glob("../../measure/published/testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no published cases: %v", err)
	}
	compared := 0
	for _, path := range files {
		cases := testdeps.Input(t, path, published.Read)
		for _, c := range cases {
			if c.Kind != "recommended" {
				continue
			}
			sockets, vcpus := c.Host.Sockets, c.VM.VCPUs
			want := plan.Shape{CoresPerSocket: c.VM.CoresPerSocket}
			if k, ok := c.Observed["optimal_cores_per_socket"].(float64); ok {
				want.CoresPerSocket = int(k)
			}
			reason, excepted := notAdvised[c.ID]
			if sockets == 0 || vcpus == 0 {
				if !excepted {
					t.Errorf("%s has no host or vCPUs", c.ID)
				}
				continue
			}
			m := host(t, numa.ESXi65, sockets*max(1, c.Host.NodesPerSocket), c.Host.CoresPerSocket)
			p := plan.Best(&vnuma.Guest{VCPUs: int32(vcpus), CoresPerSocket: 1}, []vnuma.Machine{m}, vnuma.Choices{})
			got := p.Edit.Shape
			if got == (plan.Shape{}) {
				got.CoresPerSocket = 1
			}
			if (got == want) == excepted {
				t.Errorf("%s: advised %+v, published %+v, exception %q", c.ID, p.Edit, want, reason)
			}
			compared++
		}
	}
	if compared != 28 {
		t.Errorf("%d recommendations compared, want 28", compared)
	}
}

func TestBest(t *testing.T) {
	ten, fourteen, twenty := host(t, numa.ESXi70, 2, 10), host(t, numa.ESXi70, 2, 14), host(t, numa.ESXi70, 2, 20)
	quad := host(t, numa.ESXi70, 4, 14)
	eight := host(t, numa.ESXi80, 2, 14)
	old := host(t, numa.ESXi60, 2, 10)
	for _, tt := range []struct {
		name  string
		guest vnuma.Guest
		hosts []vnuma.Machine
		want  plan.Edit
		after string // VPDs on the first host
		ok    bool
	}{
		{"fits, one socket already", vnuma.Guest{VCPUs: 8, CoresPerSocket: 8}, []vnuma.Machine{ten}, plan.Edit{}, "8", false},
		{"fits everywhere: one socket", vnuma.Guest{VCPUs: 8, CoresPerSocket: 1}, []vnuma.Machine{ten, twenty},
			plan.Edit{Shape: plan.Shape{CoresPerSocket: 8}}, "8", true},
		{"wide everywhere: a socket a node", vnuma.Guest{VCPUs: 24, CoresPerSocket: 1}, []vnuma.Machine{fourteen, twenty},
			plan.Edit{Shape: plan.Shape{CoresPerSocket: 12}}, "2 × 12", true},
		{"automatic from hardware 20 on 8.0", vnuma.Guest{VCPUs: 24, CoresPerSocket: 2, Hardware: 20}, []vnuma.Machine{eight},
			plan.Edit{Shape: plan.Shape{CoresPerSocket: 1, Auto: true}}, "2 × 12", true},
		{"hot add hides NUMA", vnuma.Guest{VCPUs: 24, CoresPerSocket: 12, HotAdd: true}, []vnuma.Machine{twenty},
			plan.Edit{HotAddOff: true}, "2 × 12", true},
		{"hot add and a stored size", vnuma.Guest{VCPUs: 24, CoresPerSocket: 12, HotAdd: true, Stored: 24, CookieVCPUs: 24}, []vnuma.Machine{twenty},
			plan.Edit{HotAddOff: true, ForgetStored: true}, "2 × 12", true},
		{"hot add and a size set by hand", vnuma.Guest{VCPUs: 24, CoresPerSocket: 12, HotAdd: true, MaxPerVirtualNode: 24}, []vnuma.Machine{twenty},
			plan.Edit{HotAddOff: true, ManualOff: true}, "2 × 12", true},
		{"hot add that costs nothing stays", vnuma.Guest{VCPUs: 8, CoresPerSocket: 8, HotAdd: true}, []vnuma.Machine{ten}, plan.Edit{}, "8", false},
		{"cores per socket of 6.0", vnuma.Guest{VCPUs: 16, CoresPerSocket: 2}, []vnuma.Machine{old},
			plan.Edit{Shape: plan.Shape{CoresPerSocket: 8}}, "2 × 8", true},
		{"a mixed cluster: a size that no host divides", vnuma.Guest{VCPUs: 36, CoresPerSocket: 18}, []vnuma.Machine{twenty, quad},
			plan.Edit{Shape: plan.Shape{CoresPerSocket: 9}, PerNode: 9}, "4 × 9", true},
		{"preferHT is counted as the prediction counts it", vnuma.Guest{VCPUs: 16, CoresPerSocket: 16, PreferHT: true}, []vnuma.Machine{ten},
			plan.Edit{}, "16", false},
	} {
		p := plan.Best(&tt.guest, tt.hosts, vnuma.Choices{})
		if p.Edit != tt.want || p.Better != tt.ok || p.After[0].VPDs.String() != tt.after {
			t.Errorf("%s: %+v, better %v, after %v; want %+v, %v, %s", tt.name, p.Edit, p.Better, p.After[0].VPDs, tt.want, tt.ok, tt.after)
		}
		// The plan is stable: what it leads to has no better plan of the same kind.
		after := p.Edit.Apply(tt.guest)
		if again := plan.Best(&after, tt.hosts, vnuma.Choices{}); again.Better {
			t.Errorf("%s: after the plan another: %+v", tt.name, again.Edit)
		}
	}
	odd := plan.Best(&vnuma.Guest{VCPUs: 21, CoresPerSocket: 1}, []vnuma.Machine{twenty}, vnuma.Choices{})
	if odd.Fewer != 20 || odd.More != 22 {
		t.Errorf("21 vCPUs: %d or %d, want 20 or 22", odd.Fewer, odd.More)
	}
}

// TestAlone: the plan says for which other machines it is as it is, and what is best
// without them.
func TestAlone(t *testing.T) {
	machine := func(text string) vnuma.Machine {
		f, err := scenario.Read("alone", []byte("release 8.0U3\nhost a "+text+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		m, err := vnuma.NewMachine(&f.Hosts[0])
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	large, small := machine("nodes=2 cores=32 memory=1024GB"), machine("nodes=4 cores=16 memory=1024GB")
	g := vnuma.Guest{VCPUs: 40, CoresPerSocket: 8, Hardware: 20, HotAdd: true, Memory: 700 << 30}
	p := plan.Best(&g, []vnuma.Machine{large, small}, vnuma.Choices{})
	if !slices.Equal(p.For, []int{1}) || p.Edit.PerNode != 10 || !p.AloneSimpler || p.Alone.Edit.PerNode != 0 || p.Alone.After[0].VPDs.Len() != 2 {
		t.Errorf("%+v", p)
	}
	if p := plan.Best(&g, []vnuma.Machine{large, large}, vnuma.Choices{}); p.For != nil || p.Alone != nil {
		t.Errorf("like machines: %+v", p)
	}
}

// TestNeeded checks that what a cure needs is told apart from what is tidier.
func TestNeeded(t *testing.T) {
	for _, tt := range []struct{ name, vm, needed, all string }{
		{"hot add hides; a socket for each node is optional", "vcpus=24 coresPerSocket=1 hw=19 memory=64GB hotAdd=on",
			"switch CPU hot add off", "switch CPU hot add off, set cores per socket to 12 (2 sockets)"},
		{"16 + 14 is not noticed", "vcpus=30 coresPerSocket=2 hw=19 memory=64GB", "", "set cores per socket to 15 (2 sockets)"},
		{"18 + 12 is", "vcpus=30 coresPerSocket=6 hw=19 memory=64GB", "set cores per socket to 15 (2 sockets)", "set cores per socket to 15 (2 sockets)"},
		{"memory of two nodes: the published cure", "vcpus=16 coresPerSocket=1 hw=19 memory=400GB",
			"set numa.consolidate = FALSE", "set cores per socket to 8 (2 sockets), set numa.consolidate = FALSE"},
		{"few vCPUs must be shown their nodes too", "vcpus=8 coresPerSocket=4 hw=19 memory=400GB",
			"set numa.consolidate = FALSE, set numa.vcpu.min = 8", "set numa.consolidate = FALSE, set numa.vcpu.min = 8"},
		{"by hand where that can be set", "vcpus=16 coresPerSocket=8 hw=20 memory=400GB",
			"set NUMA Nodes to 2 (numa.vcpu.coresPerNode = 8)", "set NUMA Nodes to 2 (numa.vcpu.coresPerNode = 8)"},
		{"preferHT goes first", "vcpus=32 coresPerSocket=16 hw=19 memory=400GB numa.vcpu.preferHT=TRUE",
			"remove numa.vcpu.preferHT", "remove numa.vcpu.preferHT"},
	} {
		g, m, p := planOf(t, "release 8.0U3\nhost h nodes=2 cores=20 memory=512GB\nvm v host=h "+tt.vm)
		needed, all := strings.Join(p.Needed.Steps(&g, &m), ", "), strings.Join(p.Edit.Steps(&g, &m), ", ")
		if needed != tt.needed || all != tt.all {
			t.Errorf("%s: needed %q of %q; want %q of %q", tt.name, needed, all, tt.needed, tt.all)
		}
	}
}

// TestNUMANodes checks that an edit of NUMA Nodes never sets the field of the API and removes the setting behind it, or the other way round.
func TestNUMANodes(t *testing.T) {
	for _, tt := range []struct {
		name   string
		set    func(*numa.Config)
		edit   plan.Edit
		edits  string
		before string
	}{
		{"the setting alone", func(c *numa.Config) { plan.Set(c, numa.NUMANodesKey, "12") }, plan.Edit{PerNode: 6}, "numa.vcpu.coresPerNode 12→6", "numa.vcpu.coresPerNode 6→12"},
		{"the setting beside an automatic field", func(c *numa.Config) {
			plan.Set(c, numa.NUMANodesKey, "12")
			c.AutoCoresPerNUMANode = numa.ReadAt(true, "")
		}, plan.Edit{PerNode: 6}, "numa.vcpu.coresPerNode 12→6", "numa.vcpu.coresPerNode 6→12"},
		{"both", func(c *numa.Config) {
			plan.Set(c, numa.NUMANodesKey, "12")
			c.CoresPerNUMANode, c.AutoCoresPerNUMANode = numa.ReadAt(12, ""), numa.ReadAt(false, "")
		}, plan.Edit{PerNode: 6}, "coresPerNUMANode 12→6, numa.vcpu.coresPerNode 12→6", "numa.vcpu.coresPerNode 6→12, coresPerNUMANode 6→12"},
		{"both removed", func(c *numa.Config) {
			plan.Set(c, numa.NUMANodesKey, "12")
			c.CoresPerNUMANode, c.AutoCoresPerNUMANode = numa.ReadAt(12, ""), numa.ReadAt(false, "")
		}, plan.Edit{ManualOff: true}, "coresPerNUMANode 12→0, numa.vcpu.coresPerNode 12→absent", "numa.vcpu.coresPerNode absent→12, coresPerNUMANode 0→12"},
		{"the field alone", func(c *numa.Config) { c.AutoCoresPerNUMANode = numa.ReadAt(true, "") }, plan.Edit{PerNode: 6}, "coresPerNUMANode 0→6", "coresPerNUMANode 6→0"},
	} {
		c := numa.Config{VCPUs: numa.ReadAt(12, ""), Hardware: numa.ReadAt(20, "")}
		tt.set(&c)
		after := c
		tt.edit.Configure(&after)
		var forth, back []string
		for _, e := range numa.Edits(&c, &after) {
			forth = append(forth, fmt.Sprintf("%s %s→%s", e.Name(), e.From, e.To))
			back = append([]string{fmt.Sprintf("%s %s→%s", e.Name(), e.Undo().From, e.Undo().To)}, back...)
		}
		if got := strings.Join(forth, ", "); got != tt.edits {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.edits)
		}
		if got := strings.Join(back, ", "); got != tt.before {
			t.Errorf("%s: back: %s, want %s", tt.name, got, tt.before)
		}
	}
}

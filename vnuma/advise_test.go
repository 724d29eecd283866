package vnuma_test

import (
	"path/filepath"
	"strings"
	"testing"

	"homenode/numa"
	"homenode/published"
	"homenode/vnuma"
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

// notAdvised are published recommendations that Advise does not follow, and why.
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
	files, err := filepath.Glob("../testdata/published/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no published cases: %v", err)
	}
	compared := 0
	for _, path := range files {
		cases, err := published.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			if c.Kind != "recommended" {
				continue
			}
			n := func(m map[string]any, key string) int { f, _ := m[key].(float64); return int(f) }
			sockets, vcpus := n(c.Host, "sockets"), n(c.VM, "vcpus")
			want := vnuma.Shape{CoresPerSocket: n(c.VM, "cores_per_socket")}
			if k := n(c.Observed, "optimal_cores_per_socket"); k > 0 {
				want.CoresPerSocket = k
			}
			reason, excepted := notAdvised[c.ID]
			if sockets == 0 || vcpus == 0 {
				if !excepted {
					t.Errorf("%s has no host or vCPUs", c.ID)
				}
				continue
			}
			want.Sockets = vcpus / want.CoresPerSocket
			m := host(t, numa.ESXi65, sockets*max(1, n(c.Host, "numa_nodes_per_socket")), n(c.Host, "cores_per_socket"))
			a := vnuma.Advise(&vnuma.Guest{VCPUs: int32(vcpus), CoresPerSocket: 1}, []vnuma.Machine{m})
			if (a.Shape == want) == excepted {
				t.Errorf("%s: advised %+v, published %+v, exception %q", c.ID, a.Shape, want, reason)
			}
			compared++
		}
	}
	if compared != 28 {
		t.Errorf("%d recommendations compared, want 28", compared)
	}
}

func TestAdvise(t *testing.T) {
	for _, tt := range []struct {
		name  string
		vcpus int32
		hw    int32
		hosts []vnuma.Machine
		want  vnuma.Advice
		nodes string // the VPDs on the first host once the advice is followed
	}{
		{"fits everywhere", 8, 13, []vnuma.Machine{host(t, numa.ESXi70, 2, 10), host(t, numa.ESXi70, 2, 20)},
			vnuma.Advice{Shape: vnuma.Shape{Sockets: 1, CoresPerSocket: 8}, Mirrors: true}, "8"},
		{"wide everywhere", 24, 13, []vnuma.Machine{host(t, numa.ESXi70, 2, 14), host(t, numa.ESXi70, 2, 20)},
			vnuma.Advice{Shape: vnuma.Shape{Sockets: 2, CoresPerSocket: 12}, Mirrors: true}, "2 × 12"},
		{"automatic from hardware 20 on 8.0", 24, 20, []vnuma.Machine{host(t, numa.ESXi80, 2, 14)},
			vnuma.Advice{Shape: vnuma.Shape{Sockets: 2, CoresPerSocket: 12, Auto: true}, Mirrors: true}, "2 × 12"},
		{"not automatic while a host is older", 24, 20, []vnuma.Machine{host(t, numa.ESXi80, 2, 14), host(t, numa.ESXi70, 2, 14)},
			vnuma.Advice{Shape: vnuma.Shape{Sockets: 2, CoresPerSocket: 12}, Mirrors: true}, "2 × 12"},
		{"wide on one, not on the other: sockets of the smaller share", 24, 13, []vnuma.Machine{host(t, numa.ESXi70, 2, 14), host(t, numa.ESXi70, 2, 32)},
			vnuma.Advice{Shape: vnuma.Shape{Sockets: 2, CoresPerSocket: 12}}, "2 × 12"},
		{"an odd count beyond a node", 21, 13, []vnuma.Machine{host(t, numa.ESXi70, 2, 20)},
			vnuma.Advice{Shape: vnuma.Shape{Sockets: 21, CoresPerSocket: 1}, Fewer: 20, More: 22}, "11 + 10"},
		{"nodes of three and two", 32, 13, []vnuma.Machine{host(t, numa.ESXi70, 2, 20), host(t, numa.ESXi70, 4, 12)},
			vnuma.Advice{Shape: vnuma.Shape{Sockets: 32, CoresPerSocket: 1}, Fewer: 30, More: 36}, "2 × 16"},
		{"more vCPUs than cores", 24, 13, []vnuma.Machine{host(t, numa.ESXi70, 2, 10)},
			vnuma.Advice{Shape: vnuma.Shape{Sockets: 2, CoresPerSocket: 12}, Mirrors: true}, "2 × 12"},
	} {
		g := vnuma.Guest{VCPUs: tt.vcpus, CoresPerSocket: 1, Hardware: tt.hw}
		got := vnuma.Advise(&g, tt.hosts)
		if got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
		g.HotAdd, g.Stored, g.CookieVCPUs, g.MaxPerVirtualNode, g.Spread = true, 5, g.VCPUs, 3, true
		after := g.Reshaped(got.Shape)
		l := vnuma.Predict(&after, &tt.hosts[0], &vnuma.Case{})
		if l.VPDs.String() != tt.nodes || !l.VPDs.Equal(l.PPDs) {
			t.Errorf("%s: after the advice %v over %v, want %s", tt.name, l.VPDs, l.PPDs, tt.nodes)
		}
	}
	if a := vnuma.Advise(&vnuma.Guest{VCPUs: 6}, nil); a.Shape != (vnuma.Shape{Sockets: 1, CoresPerSocket: 6}) || a.Shape.Auto {
		t.Errorf("without hosts: %+v", a)
	}
}

func TestMerged(t *testing.T) {
	m := host(t, numa.ESXi70, 4, 9)
	m.NodeMemory, m.MaxMemory = 96, 100
	if got := m.Merged(2); got.Nodes != 2 || got.Cores != 18 || got.Threads != 36 || got.NodeMemory != 192 || got.MaxMemory != 200 ||
		got.AllCores != 36 || !strings.HasPrefix(got.Shape(), "2 nodes of 18 cores") {
		t.Errorf("merged: %+v", got)
	}
}

package change

import (
	"strings"
	"testing"

	"example.org/homenode/change/whatif"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/source/scenario"
)

// TestSeen holds the sentence about the nodes that a guest sees: a VM of one client fits a node already.
func TestSeen(t *testing.T) {
	node := numa.Node{Cores: 24, Threads: 48}
	nodes := []numa.Node{node, node}
	nodes[1].ID = 1
	m, err := vnuma.NewMachine(&numa.Host{Release: numa.ReadAt(numa.ESXi70, ""), Nodes: numa.ReadAt(nodes, "")})
	if err != nil {
		t.Fatal(err)
	}
	layout := func(g vnuma.Guest) *vnuma.Layout {
		g.Hardware = 17
		l := vnuma.Predict(&g, &m, &vnuma.Case{})
		return &l
	}
	stored, fresh := layout(vnuma.Guest{VCPUs: 20, CoresPerSocket: 10, Stored: 10, CookieVCPUs: 20, CookieCPS: 10}), layout(vnuma.Guest{VCPUs: 20, CoresPerSocket: 10})
	wide, hot := layout(vnuma.Guest{VCPUs: 40, CoresPerSocket: 20}), layout(vnuma.Guest{VCPUs: 40, CoresPerSocket: 20, HotAdd: true})
	for _, tt := range []struct {
		a, b *vnuma.Layout
		want string
	}{
		{stored, fresh, "lets v see 1 NUMA node instead of 2"},
		{wide, fresh, "makes v fit one NUMA node"},
		{wide, hot, "hides from v the 2 NUMA nodes that it runs on"},
		{hot, wide, "lets v see its 2 NUMA nodes"},
	} {
		if got := seen("v", tt.a, tt.b); got != tt.want {
			t.Errorf("%s → %s: %q, want %q", tt.a.VPDs, tt.b.VPDs, got, tt.want)
		}
	}
}

// TestWorseSaid checks that the sentence about a VM that gets worse says so, although its guest sees its nodes: they have too few cores for it.
func TestWorseSaid(t *testing.T) {
	f, err := scenario.Read("fleet", []byte("release 7.0U3\ncluster c\nhost b nodes=2 cores=24 memory=1TB\nhost a nodes=4 cores=12 memory=1TB\nvm v host=b vcpus=24 memory=64GB numa.nodeAffinity=2\n"))
	if err != nil {
		t.Fatal(err)
	}
	move, err := whatif.Parse("vm=v host=a")
	if err != nil {
		t.Fatal(err)
	}
	r, err := whatif.Judge(t.Context(), nil, f, []whatif.Change{move}, rules.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := oneVM(r); !strings.HasPrefix(got, "The change lets v see its 2 NUMA nodes; all the same it is worse: ") {
		t.Error(got)
	}
}

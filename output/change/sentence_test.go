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
	if got := oneVM(r); !strings.HasPrefix(got, "Moving it to a lets v see its 2 NUMA nodes; all the same it is worse: ") {
		t.Error(got)
	}
}

// TestMoved: a sentence about one VM names the host or cluster that it moves to, which the changes do not state as a setting, and names no VM where several change.
func TestMoved(t *testing.T) {
	f, err := scenario.Read("fleet", []byte("release 7.0U3\nhost alone nodes=2 cores=24 memory=1TB\ncluster c\nhost c1 nodes=2 cores=16 memory=1TB\ncluster d\nhost d[1-2] nodes=2 cores=24 memory=1TB\n"+
		"vm v host=c1 vcpus=20 memory=64GB hotAdd=on power=on\nvm w[1-2] host=c1 vcpus=4 memory=16GB power=on\n"))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"vm=v host=d1":                "Moving it to d1 makes v fit one NUMA node; half of its memory accesses stop being remote.",
		"vm=v host=d":                 "Moving it to d makes v fit one NUMA node; half of its memory accesses stop being remote.",
		"vm=w1 host=alone vcpus=32":   "Moving it to alone and setting vCPUs to 32 ",
		"vm=w1 host=d1":               "Moved to d1, w1 gets the same topology.",
		"vm=w1 memory=8GB":            "w1 gets the same topology.",
		"vm=w1 vcpus=2;vm=w2 vcpus=2": "",
	} {
		var changes []whatif.Change
		for one := range strings.SplitSeq(text, ";") {
			c, err := whatif.Parse(one)
			if err != nil {
				t.Fatal(err)
			}
			changes = append(changes, c)
		}
		r, err := whatif.Judge(t.Context(), nil, f, changes, rules.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := oneVM(r); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		for _, row := range changedRows(r.Drift, true) {
			if row.first == "d/v" {
				t.Errorf("%s: the row of today is of %s", text, row.first)
			}
		}
	}
}

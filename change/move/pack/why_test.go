package pack

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"example.org/homenode/numa"
)

const gib = numa.GiB

// twoNodes returns hosts of two nodes with 16 cores and 128 GB.
func twoNodes(names ...string) (out []Host) {
	for _, name := range names {
		h := Host{Name: name, Distance: [][]int{{10, 21}, {21, 10}}}
		for n := range 2 {
			h.Nodes = append(h.Nodes, Node{ID: n, Cores: 16, Threads: 32, Memory: 128 * gib})
		}
		out = append(out, h)
	}
	return out
}

func vm(name string, cells ...Cell) VM { return VM{Name: name, Cells: cells} }

// TestWhy checks the reasons of VMs that are not placed, and what would make them fit.
func TestWhy(t *testing.T) {
	for _, tt := range []struct {
		name string
		p    Problem
		want string // the last VM's
		more *More
	}{
		{"cell wider than a node", Problem{Hosts: twoNodes("a"), VMs: []VM{vm("v", Cell{24, 96 * gib})}},
			"a cell has 24 vCPUs and the largest node, node 0 of a, has 16 cores for VMs; as 2 cells of 12 vCPUs and 48 GB it fits an empty a; as it is if threads are counted", nil},
		{"cells alike", Problem{Hosts: []Host{{Name: "a", Nodes: []Node{{ID: 0, Cores: 12, Threads: 12, Memory: 64 * gib}, {ID: 1, Cores: 12, Threads: 12, Memory: 64 * gib}, {ID: 2, Cores: 12, Threads: 12, Memory: 64 * gib}, {ID: 3, Cores: 12, Threads: 12, Memory: 64 * gib}}}}, VMs: []VM{vm("v", Cell{28, 56 * gib})}},
			"a cell has 28 vCPUs and the largest node, node 0 of a, has 12 cores for VMs; as 4 cells of 7 vCPUs and 14 GB it fits an empty a", nil},
		{"cell larger than a node", Problem{Hosts: twoNodes("a"), VMs: []VM{vm("v", Cell{8, 200 * gib})}},
			"a cell has 200 GB and the largest node, node 0 of a, has 128 GB for VMs; as 2 cells of 4 vCPUs and 100 GB it fits an empty a", nil},
		{"its own memory beside the guest's", Problem{Hosts: twoNodes("a"), VMs: []VM{{Name: "v", Cells: []Cell{{8, 128 * gib}}, Own: gib}}},
			"a cell has 129 GB and the largest node, node 0 of a, has 128 GB for VMs; as 2 cells of 4 vCPUs and 64 GB it fits an empty a", nil},
		{"software that takes 8 vCPUs of a node", Problem{Hosts: twoNodes("a"), VMs: []VM{{Name: "v", Cells: []Cell{{4, gib}, {4, gib}, {8, gib}}, Most: 8}}},
			"it has 3 cells and a host has at most 2 nodes; as 2 cells of 8 vCPUs and 1.5 GB it fits an empty a", nil},
		{"too large", Problem{Hosts: twoNodes("a"), VMs: []VM{vm("v", Cell{8, 300 * gib})}},
			"a cell has 300 GB and the largest node, node 0 of a, has 128 GB for VMs; hosts with larger nodes", nil},
		{"too many cells", Problem{Hosts: twoNodes("a"), VMs: []VM{vm("v", Cell{4, gib}, Cell{4, gib}, Cell{4, gib}, Cell{4, gib})}},
			"it has 4 cells and a host has at most 2 nodes; as one cell of 16 vCPUs and 4 GB it fits an empty a", nil},
		{"full", Problem{Hosts: twoNodes("a"), VMs: []VM{vm("u", Cell{16, 120 * gib}, Cell{12, 120 * gib}), vm("v", Cell{8, 16 * gib})}},
			"the hosts are full; nearest to taking it: node 0 of a lacks 4 cores and 8 GB; that much more, or one more host like a", &More{"a", 1, 1}},
		{"threads", Problem{Hosts: twoNodes("a"), VMs: []VM{{Name: "v", Cells: []Cell{{20, gib}}}}},
			"a cell has 20 vCPUs and the largest node, node 0 of a, has 16 cores for VMs; as 2 cells of 10 vCPUs and 512 MB it fits an empty a; as it is if threads are counted", nil},
		{"a node of memory alone", Problem{Hosts: []Host{{Name: "a", Nodes: []Node{{ID: 0, Cores: 16, Threads: 16, Memory: 128 * gib}, {ID: 1, Memory: 512 * gib}}}}, VMs: []VM{{Name: "v", Cells: []Cell{{4, 64 * gib}, {4, 64 * gib}}}}},
			"it has 2 cells and a host has at most 1 nodes; as one cell of 8 vCPUs and 128 GB it fits an empty a", nil},
		{"apart", Problem{Hosts: twoNodes("a", "b"), VMs: []VM{{Name: "u", Cells: []Cell{{4, gib}}, Groups: []string{"dc"}}, {Name: "v", Cells: []Cell{{4, gib}}, Groups: []string{"dc"}}, {Name: "w", Cells: []Cell{{2, gib}}, Groups: []string{"dc"}}}},
			`each of 2 hosts that take it has a VM of group "dc"; one more host like a`, &More{"a", 1, 1}},
		{"spare", Problem{Hosts: append(twoNodes("a"), Host{Name: "large", Nodes: []Node{{Cores: 32, Threads: 64, Memory: 512 * gib}}}), VMs: []VM{vm("v", Cell{20, gib})}, Policy: Policy{Spare: 1}},
			"only spare hosts have room for it, such as large; one spare host fewer, or one more host like it", nil},
		{"no host", Problem{VMs: []VM{vm("v", Cell{1, gib})}}, "there is no host; hosts", nil},
	} {
		plan, err := Make(t.Context(), &tt.p)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		v := plan.VMs[len(plan.VMs)-1]
		if got := v.Why + "; " + v.Cure; v.Host >= 0 || got != tt.want {
			t.Errorf("%s:\nfound %s\nwant  %s", tt.name, got, tt.want)
		}
		if !reflect.DeepEqual(plan.More, tt.more) {
			t.Errorf("%s: more hosts: found %+v, want %+v", tt.name, plan.More, tt.more)
		}
	}
}

// TestPlan checks a plan by hand: an exclusive VM with pages, a wide one on near nodes, one that floats.
func TestPlan(t *testing.T) {
	h := Host{Name: "kvm01", Distance: [][]int{{10, 20, 12, 20}, {20, 10, 20, 12}, {12, 20, 10, 20}, {20, 12, 20, 10}}}
	for n := range 4 {
		node := Node{ID: n, Cores: 4, Threads: 8, Memory: 32 * gib, KeptMemory: 2 * gib}
		for c := range 4 {
			node.CPUs = append(node.CPUs, []int{4*n + c, 16 + 4*n + c})
		}
		h.Nodes = append(h.Nodes, node)
	}
	h.Nodes[0].KeptCores = 1
	h.Nodes[3].Pages = []numa.Pool{{Size: gib, Count: 6}}
	p := &Problem{Hosts: []Host{h}, Policy: Policy{Overcommit: map[string]float64{"": 2}}, VMs: []VM{
		{Name: "float", Cells: []Cell{{2, 4 * gib}}, Wave: 2},
		{Name: "alone", Cells: []Cell{{2, 10 * gib}}, Exclusive: true, Page: gib},
		{Name: "wide", Cells: []Cell{{4, 24 * gib}, {4, 24 * gib}}, Wave: 1},
		{Name: "large", Cells: []Cell{{4, 29 * gib}}},
	}}
	plan, err := Make(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, v := range plan.VMs {
		fmt.Fprintf(&b, "%s far=%d", v.VM, v.Far)
		for _, c := range v.Cells {
			fmt.Fprintf(&b, " %d:%v", c.Node, c.CPUs)
		}
		b.WriteString("\n")
	}
	for _, n := range plan.Hosts[0].Nodes {
		fmt.Fprintf(&b, "node %d: %d cores, %d vCPUs, %d exclusive, %v free %v\n", n.Node, n.Cores, n.VCPUs, n.Exclusive, n.Free, n.Pages)
	}
	fmt.Fprintf(&b, "%+v %+v", plan.Waves, plan.Bound)
	if want := checkedByHand; b.String() != want {
		t.Errorf("found\n%s\nwant\n%s", b.String(), want)
	}
	if faults := recheck(p, plan); faults != nil {
		t.Error(faults)
	}
}

const checkedByHand = `float far=0 1:[4 5 6 7 20 21 22 23]
alone far=0 0:[1 2]
wide far=12 1:[4 5 6 7 20 21 22 23] 3:[12 13 14 15 28 29 30 31]
large far=0 2:[8 9 10 11 24 25 26 27]
node 0: 3 cores, 2 vCPUs, 2 exclusive, 20 GB free [{1 GB 10 10 0}]
node 1: 4 cores, 6 vCPUs, 0 exclusive, 2 GB free []
node 2: 4 cores, 4 vCPUs, 0 exclusive, 1 GB free []
node 3: 4 cores, 4 vCPUs, 0 exclusive, 0 B free [{1 GB 0 0 6}]
[{Wave:0 VMs:[1 3] Hosts:[0] VCPUs:6} {Wave:1 VMs:[2] Hosts:[] VCPUs:8} {Wave:2 VMs:[0] Hosts:[] VCPUs:2}] {Hosts:1 VCPUs:16}`

func TestUncovered(t *testing.T) {
	p := &Problem{Hosts: twoNodes("a", "b"), VMs: []VM{vm("v", Cell{16, 100 * gib}, Cell{16, 100 * gib})}, Policy: Policy{Spare: 1}}
	plan, err := Make(t.Context(), p)
	if err != nil || plan.Uncovered != nil || !reflect.DeepEqual(plan.Spare, []int{1}) {
		t.Errorf("found %+v, %v", plan, err)
	}
	p.Hosts = twoNodes("a", "b", "c")[:2]
	p.Hosts[1].Nodes[1].Memory = 64 * gib // smaller, but b has more cores
	p.Hosts[1].Nodes[0].Cores, p.Hosts[1].Nodes[0].Threads = 64, 64
	if plan, err = Make(t.Context(), p); err != nil || !reflect.DeepEqual(plan.Uncovered, []int{0}) || !reflect.DeepEqual(plan.Spare, []int{1}) {
		t.Errorf("found %+v, %v", plan, err)
	}
}

func TestCheck(t *testing.T) {
	for want, change := range map[string]func(p *Problem){
		`host "a": its name is empty or used twice`:                                                           func(p *Problem) { p.Hosts = append(p.Hosts, p.Hosts[0]) },
		`VM "v": its name is empty or used twice`:                                                             func(p *Problem) { p.VMs = append(p.VMs, p.VMs[0]) },
		`VM "v": found 0 cells, want 1 to 64`:                                                                 func(p *Problem) { p.VMs[0].Cells = nil },
		`VM "v": cell 0: found -1 vCPUs and 1 GB`:                                                             func(p *Problem) { p.VMs[0].Cells[0].VCPUs = -1 },
		`host "a": node 1: its number is negative or used twice`:                                              func(p *Problem) { p.Hosts[0].Nodes[0].ID = 1 },
		`host "a": found 1 rows of distances, want one for each of 2 nodes`:                                   func(p *Problem) { p.Hosts[0].Distance = [][]int{{10, 20}} },
		`host "a": node 0: found 16 cores of 4 threads, want as many threads or more, and at most 4096 cores`: func(p *Problem) { p.Hosts[0].Nodes[0].Threads = 4 },
		`host "a": node 0: found the CPUs of 1 cores, want those of 16`:                                       func(p *Problem) { p.Hosts[0].Nodes[0].CPUs = [][]int{{1}} },
		`overcommit of class "x": found 0, want 0.01 to 100 in steps of 0.01`:                                 func(p *Problem) { p.Policy.Overcommit = map[string]float64{"x": 0} },
		`overcommit of class "": found 1.005, want 0.01 to 100 in steps of 0.01`:                              func(p *Problem) { p.Policy.Overcommit = map[string]float64{"": 1.005} },
		`found -1 spare hosts, want 0 or more`:                                                                func(p *Problem) { p.Policy.Spare = -1 },
	} {
		p := &Problem{Hosts: twoNodes("a"), VMs: []VM{vm("v", Cell{1, gib})}}
		change(p)
		if _, err := Make(t.Context(), p); err == nil || err.Error() != want {
			t.Errorf("found %v, want %s", err, want)
		}
	}
}

package optimise

import (
	"math/rand/v2"
	"testing"

	"example.org/homenode/esxi/placement"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// modelOf returns the model of one host without VMs.
func modelOf(h Host) *model {
	at := h.at()
	return &model{hosts: []Host{h}, places: []placement.Host{at}, boards: []*placement.Board{placement.NewBoard(&at)}}
}

// TestPlaceIsPlacement places VMs of random sizes on random nodes as placement.Place does, and
// demands its vCPUs and memory of each node and its remote memory of each VM. A MiB of
// the problem is a byte there.
func TestPlaceIsPlacement(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	remote := 0
	for range 3000 {
		host := Host{}
		var nodes []numa.Node
		for i := range 1 + r.IntN(4) {
			n := Node{ID: i, Package: i / 2, Cores: 4 + r.IntN(3), Memory: int64(r.IntN(100_000))}
			host.Nodes = append(host.Nodes, n)
			nodes = append(nodes, numa.Node{ID: i, Package: i / 2, Cores: n.Cores, Memory: numa.ReadAt(numa.Bytes(n.Memory), "test")})
		}
		m := modelOf(host)
		var requests []placement.Request
		var list []int32
		for v := range r.IntN(12) {
			g := vnuma.Guest{VCPUs: int32(1 + r.IntN(20)), CoresPerSocket: 1, Hardware: 17}
			machine, _ := vnuma.Machine{Nodes: int32(len(nodes)), Cores: int32(2 + r.IntN(6)), AllCores: 64}.WithRelease(numa.ESXi70)
			l := vnuma.Predict(&g, &machine, &vnuma.Case{})
			f := Fit{OK: true, Managed: true}
			for i := range l.PPDs.Len() {
				_, n := l.PPDs.Group(i)
				f.Clients = append(f.Clients, n)
			}
			memory := int64(r.IntN(60_000))
			for i := range f.Clients {
				f.Memory = append(f.Memory, l.PartOf(i, memory))
			}
			requests = append(requests, placement.Request{Layout: l, Memory: numa.Bytes(memory)})
			m.vms = append(m.vms, VM{VCPUs: int(g.VCPUs), Memory: memory, Shapes: []Shape{{Fits: []Fit{f}}}})
			list = append(list, int32(v))
		}
		b := &bench{each: make([]int64, len(list))}
		got := m.place(0, list, make([]int16, len(list)), b)
		placed, _ := placement.Place(&placement.Host{Nodes: nodes}, requests)
		want, each := int64(0), make([]int64, len(list))
		for i, n := range placed {
			if b.board.Load[i] != int64(n.VCPUs) || host.Nodes[i].Memory-b.board.Free[i] != int64(n.Used) {
				t.Fatalf("node %d has %d vCPUs and %d in use; placement.Place has %d and %d", i, b.board.Load[i], host.Nodes[i].Memory-b.board.Free[i], n.VCPUs, n.Used)
			}
			for _, c := range n.Clients {
				each[c.Request] += int64(c.Crossed + c.Remote + c.Nowhere)
				want += int64(c.Crossed + c.Remote + c.Nowhere)
			}
		}
		for v := range each {
			if b.each[v] != each[v] {
				t.Fatalf("VM %d has %d remote; placement.Place has %d", v, b.each[v], each[v])
			}
		}
		if got.remote != want {
			t.Fatalf("%d remote; placement.Place has %d", got.remote, want)
		}
		if want > 0 {
			remote++
		}
	}
	if remote != 2236 { // of this seed: a test that never spills shows nothing
		t.Errorf("%d of 3000 cases have remote memory, want 2236", remote)
	}
}

// TestPlace checks demand, node affinity and VMs without home node.
func TestPlace(t *testing.T) {
	two := Host{Nodes: []Node{{ID: 0, Cores: 10, Memory: 100}, {ID: 1, Cores: 10, Memory: 60}}}
	vm := func(vcpus int, memory, demand int64, f Fit, nodes numa.NodeSet) VM {
		f.OK = true
		v := VM{VCPUs: vcpus, Memory: memory, Demand: demand}
		f.Memory = f.slices(&v)
		v.Shapes = []Shape{{Nodes: nodes, Fits: []Fit{f}}}
		return v
	}
	one := Fit{Managed: true, Clients: []int{8}}
	for _, tt := range []struct {
		name string
		vms  []VM
		want load
	}{
		{"two VMs fit a node each", []VM{vm(8, 100, 10000, one, 0), vm(8, 60, 10000, one, 0)}, load{}},
		{"20 beyond the smaller node go to the other", []VM{vm(8, 80, 10000, one, 0), vm(8, 80, 10000, one, 0)}, load{remote: 20}},
		// The third comes to node 1, both having 8 vCPUs and node 0 less free: 16 vCPUs of 80 % demand 12.8 cores of 10.
		{"demand beyond the cores", []VM{vm(8, 50, 8000, one, 0), vm(8, 0, 8000, one, 0), vm(8, 0, 8000, one, 0)}, load{ready: 28000}},
		{"bound to node 1", []VM{vm(8, 50, 10000, one, numa.SetOf(1)), vm(8, 30, 10000, one, numa.SetOf(1))}, load{remote: 20, ready: 60000}},
		{"bound to a node that is not there", []VM{vm(8, 50, 10000, one, numa.SetOf(5))}, load{}},
		{"a wide client for each node", []VM{vm(16, 160, 10000, Fit{Managed: true, Clients: []int{8, 8}}, 0)}, load{remote: 20}},
		{"far is of the shape", []VM{vm(16, 100, 10000, Fit{Managed: true, Clients: []int{8, 8}, Far: 50}, 0)}, load{far: 50}},
		// 70 lie on each node, 10 of them no more on node 1, where nothing is left for the 40 of the first VM.
		{"no home node", []VM{vm(8, 40, 10000, Fit{Managed: true, Clients: []int{8}}, numa.SetOf(1)), vm(8, 140, 10000, Fit{Clients: []int{8}, Far: 70}, 0)}, load{remote: 50, far: 70, ready: 20000}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := modelOf(two)
			m.vms, m.loose = tt.vms, true
			list := make([]int32, len(tt.vms))
			for i := range list {
				list[i] = int32(i)
			}
			if got := m.place(0, list, make([]int16, len(list)), &bench{}); got != tt.want {
				t.Errorf("place = %+v; want %+v", got, tt.want)
			}
		})
	}
}

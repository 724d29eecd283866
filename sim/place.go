// Package sim predicts what ESXi's NUMA scheduler does with the VMs of a host. Run
// simulates a story step by step (docs/simulation.md); Place is the initial placement
// alone, without time, of pictures and checks that know no load: it counts vCPUs, keeps
// no reserve of memory, and looks neither at distances nor at rules before 5.0.
package sim

import (
	"homenode/numa"
	"homenode/vnuma"
)

// A Request asks for the placement of one running VM.
type Request struct {
	Name   string
	Layout vnuma.Layout
	Memory numa.Bytes
}

// A Client is one NUMA client on its home node.
type Client struct {
	Request int        // index of its VM in the requests
	Index   int        // of the client in the VM: PPD number
	VCPUs   int        //
	Local   numa.Bytes // of its memory slice, on the home node
	Remote  numa.Bytes // on other nodes
	Nowhere numa.Bytes // fits no node of the host: it would be ballooned or swapped
}

// A Share is memory of a request.
type Share struct {
	Request int // index of its VM in the requests
	Memory  numa.Bytes
}

// A Node is a NUMA node with the clients placed on it.
type Node struct {
	numa.Node
	Clients []Client
	VCPUs   int        // of all clients
	Used    numa.Bytes // memory in use, also of clients that live elsewhere
	Foreign []Share    // of Used: memory of clients that live elsewhere, in order of the requests
}

// Free returns the memory that nobody uses; false when the node's memory is unknown.
func (n *Node) Free() (free numa.Bytes, ok bool) {
	return n.Memory.Value - n.Used, n.Memory.Known()
}

// Load returns the vCPUs per core.
func (n *Node) Load() float64 {
	if n.Cores == 0 {
		return 0
	}
	return float64(n.VCPUs) / float64(n.Cores)
}

// Place gives the clients of the requests home nodes, in order, as ESXi 5.0 and
// later do at power-on: so that CPU and memory load stay balanced. The order of
// criteria is inferred (rule book C-4 [I]): the least loaded node, then the one
// with the most free memory, then the first; clients of one VM on different nodes
// while there are enough. Memory is local first, then wherever most is free
// (C-15); what no node has room for is Nowhere. VMs that are not NUMA-managed get no home node and are returned in
// unplaced.
func Place(nodes []numa.Node, requests []Request) (placed []Node, unplaced []int) {
	placed = make([]Node, len(nodes))
	for i, n := range nodes {
		placed[i].Node = n
	}
	for i := range requests {
		r := &requests[i]
		if !r.Layout.Managed || len(nodes) == 0 {
			unplaced = append(unplaced, i)
			continue
		}
		used := make([]bool, len(nodes))
		taken := 0
		for c := range r.Layout.PPDs.Len() {
			first, n := r.Layout.PPDs.Group(c)
			if taken == len(nodes) { // more clients than nodes share them (C-5)
				clear(used)
				taken = 0
			}
			home := leastLoaded(placed, used)
			used[home] = true
			taken++
			all := int64(r.Layout.VPDs.Sum())
			slice := numa.Bytes(int64(r.Memory)*int64(first+n)/all - int64(r.Memory)*int64(first)/all)
			put(placed, home, Client{Request: i, Index: c, VCPUs: n}, slice)
		}
	}
	return placed, unplaced
}

// leastLoaded returns the node for the next client, among those not used.
func leastLoaded(nodes []Node, used []bool) int {
	best := -1
	for i := range nodes {
		if used[i] || nodes[i].Cores == 0 {
			continue
		}
		if best < 0 || less(&nodes[i], &nodes[best]) {
			best = i
		}
	}
	return max(best, 0)
}

func less(a, b *Node) bool {
	if a.Load() != b.Load() {
		return a.Load() < b.Load()
	}
	fa, _ := a.Free()
	fb, _ := b.Free()
	return fa > fb
}

// put places the client and its memory.
func put(nodes []Node, home int, c Client, memory numa.Bytes) {
	n := &nodes[home]
	n.VCPUs += c.VCPUs
	c.Local = memory
	if free, ok := n.Free(); ok {
		c.Local = max(0, min(memory, free))
	}
	n.Used += c.Local
	c.Nowhere = memory - c.Local
	for c.Nowhere > 0 {
		most := home
		for i := range nodes {
			a, _ := nodes[i].Free()
			b, _ := nodes[most].Free()
			if a > b {
				most = i
			}
		}
		free, _ := nodes[most].Free()
		if free <= 0 {
			break
		}
		take := min(free, c.Nowhere)
		nodes[most].lend(c.Request, take)
		c.Remote, c.Nowhere = c.Remote+take, c.Nowhere-take
	}
	n.Clients = append(n.Clients, c)
}

// lend gives memory of the node to a client that lives elsewhere.
func (n *Node) lend(request int, memory numa.Bytes) {
	n.Used += memory
	if k := len(n.Foreign); k > 0 && n.Foreign[k-1].Request == request {
		n.Foreign[k-1].Memory += memory
		return
	}
	n.Foreign = append(n.Foreign, Share{request, memory})
}

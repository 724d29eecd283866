package placement

import (
	"homenode/esxi/vnuma"
	"homenode/numa"
)

// A Request asks for the placement of one running VM.
type Request struct {
	Name   string
	Layout vnuma.Layout
	Memory numa.Bytes
	Nodes  numa.NodeSet // IDs of numa.nodeAffinity; empty for all
}

// RequestOf returns the request of a VM with this layout and its numa.nodeAffinity.
func RequestOf(v *numa.VM, l *vnuma.Layout) Request {
	return Request{Name: v.Name, Layout: *l, Memory: v.Memory.Value, Nodes: numa.SetOf(vnuma.NodeAffinity(v)...)}
}

// Slice returns the memory of client c: in proportion to its vCPUs.
func (r *Request) Slice(c int) numa.Bytes {
	first, n := r.Layout.PPDs.Group(c)
	all := int64(r.Layout.VPDs.Sum())
	return numa.Bytes(int64(r.Memory)*int64(first+n)/all - int64(r.Memory)*int64(first)/all)
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
	Foreign []Share    // of Used: memory of VMs that are not at home here, in order of the requests
}

// Free returns the memory that nothing uses; false when the node's memory is unknown.
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

// Place gives the clients of the requests home nodes, in order, on an empty host, and all
// their memory. VMs that are not NUMA-managed get no home node, memory of all nodes, and are
// returned in unplaced.
func Place(h *Host, requests []Request) (placed []Node, unplaced []int) {
	placed = make([]Node, len(h.Nodes))
	for i, n := range h.Nodes {
		placed[i].Node = n
	}
	b := NewBoard(h)
	for i := range requests {
		r := &requests[i]
		if !r.Layout.Managed || len(h.Nodes) == 0 {
			unplaced = append(unplaced, i)
			b.Spread(int64(r.Memory))
			for m, part := range b.Lent {
				placed[m].lend(i, numa.Bytes(part))
			}
			continue
		}
		b.Begin(h.Allowed(r.Nodes))
		for c := range r.Layout.PPDs.Len() {
			_, vcpus := r.Layout.PPDs.Group(c)
			b.Put(b.Next(int64(r.Slice(c))), int64(vcpus))
		}
		first := make([]int64, len(b.Homes()))
		for c, home := range b.Homes() {
			first[c] = b.TakeHome(int(home), int64(r.Slice(c)))
		}
		for c, home := range b.Homes() {
			_, vcpus := r.Layout.PPDs.Group(c)
			memory := r.Slice(c)
			local, nowhere := b.Take(int(home), int64(memory)-first[c])
			client := Client{Request: i, Index: c, VCPUs: vcpus, Local: numa.Bytes(first[c] + local), Nowhere: numa.Bytes(nowhere)}
			client.Remote = memory - client.Local - client.Nowhere
			n := &placed[home]
			n.VCPUs, n.Used, n.Clients = n.VCPUs+vcpus, n.Used+client.Local, append(n.Clients, client)
			for m, part := range b.Lent {
				placed[m].lend(i, numa.Bytes(part))
			}
		}
	}
	return placed, unplaced
}

// lend gives memory of the node to a VM that is not at home there.
func (n *Node) lend(request int, memory numa.Bytes) {
	if memory == 0 {
		return
	}
	n.Used += memory
	if k := len(n.Foreign); k > 0 && n.Foreign[k-1].Request == request {
		n.Foreign[k-1].Memory += memory
		return
	}
	n.Foreign = append(n.Foreign, Share{request, memory})
}

package placement

import (
	"slices"

	"homenode/esxi/memory"
	"homenode/esxi/vnuma"
	"homenode/numa"
)

// A Request asks for the placement of one running VM.
type Request struct {
	Name   string
	Layout vnuma.Layout
	Memory numa.Bytes
	Nodes  numa.NodeSet // IDs of numa.nodeAffinity; empty for all
	// Seen is where it was observed on the host; nil to choose its home nodes.
	Seen *numa.SeenVM
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
// their memory. Those that were seen are there before the others come. VMs that are not
// NUMA-managed get no home node, memory of all nodes, and are returned in unplaced.
func Place(h *Host, requests []Request) (placed []Node, unplaced []int) {
	placed = make([]Node, len(h.Nodes))
	for i, n := range h.Nodes {
		placed[i].Node = n
	}
	b := NewBoard(h)
	for _, seen := range [...]bool{true, false} {
		for i := range requests {
			r := &requests[i]
			if (r.Seen != nil && r.Seen.Homes != 0) != seen {
				continue
			}
			if !r.Layout.Managed || len(h.Nodes) == 0 {
				unplaced = append(unplaced, i)
				b.Spread(int64(r.Memory))
				for m, part := range b.Lent {
					placed[m].lend(i, numa.Bytes(part))
				}
				continue
			}
			b.place(h, placed, i, r)
		}
	}
	slices.Sort(unplaced)
	return placed, unplaced
}

// seenHomes returns the indices of the nodes that the VM was seen at home on; nil when it
// was not seen, or on none that the host has.
func (r *Request) seenHomes(h *Host) (homes []int) {
	if r.Seen == nil {
		return nil
	}
	for i := range h.Nodes {
		if r.Seen.Homes.Has(h.Nodes[i].ID) {
			homes = append(homes, i)
		}
	}
	return homes
}

// place gives the clients of request i their homes, those seen in turn or those chosen, and
// memory: first what it was seen with, then on the homes, then wherever there is room.
func (b *Board) place(h *Host, placed []Node, i int, r *Request) {
	seen := r.seenHomes(h)
	b.Begin(h.Allowed(r.Nodes))
	n := r.Layout.PPDs.Len()
	clients := make([]Client, n)
	for c := range clients {
		_, vcpus := r.Layout.PPDs.Group(c)
		clients[c] = Client{Request: i, Index: c, VCPUs: vcpus}
		if seen != nil {
			last := b.Last
			b.Put(seen[c%len(seen)], int64(vcpus))
			b.Last = last // its home was not chosen now
		} else {
			b.Put(b.Next(int64(r.Slice(c))), int64(vcpus))
		}
	}
	left := make([]int64, n) // of each slice
	for c := range left {
		left[c] = int64(r.Slice(c))
	}
	lend := func(c int) {
		for m, part := range b.Lent {
			placed[m].lend(i, numa.Bytes(part))
			clients[c].Remote += numa.Bytes(part)
			left[c] -= part
		}
	}
	local := func(c int, part int64) {
		clients[c].Local += numa.Bytes(part)
		left[c] -= part
	}
	if seen != nil {
		b.takeSeen(h, r, left, local, lend)
	}
	for c, home := range b.Homes() {
		local(c, b.TakeHome(int(home), left[c]))
	}
	for c, home := range b.Homes() {
		part, nowhere := b.Take(int(home), left[c])
		local(c, part)
		lend(c)
		clients[c].Nowhere = numa.Bytes(nowhere)
		node := &placed[home]
		node.VCPUs, node.Used, node.Clients = node.VCPUs+clients[c].VCPUs, node.Used+clients[c].Local, append(node.Clients, clients[c])
	}
}

// takeSeen takes the memory that a VM was seen with, of its slices in proportion: on each node
// where that is known, else what is local on the homes and what is remote on the nodes with
// the most free memory. What a node has no room for stays to be placed.
func (b *Board) takeSeen(h *Host, r *Request, left []int64, local func(c int, part int64), lend func(c int)) {
	on := make([]int64, len(h.Nodes))
	sum := int64(r.Seen.Local + r.Seen.Remote)
	if r.Seen.OnNode != nil {
		sum = 0
		for _, m := range r.Seen.OnNode {
			if k := slices.IndexFunc(h.Nodes, func(n numa.Node) bool { return n.ID == m.Node }); k >= 0 {
				on[k] += int64(m.Guest)
				sum += int64(m.Guest)
			}
		}
	}
	if sum <= 0 {
		return
	}
	share := make([]int64, len(left)) // of what was seen, of each client
	for c := range left {
		share[c] = min(left[c], memory.Share(min(sum, int64(r.Memory)), int64(r.Slice(c)), max(1, int64(r.Memory))))
	}
	takeHome := func(c int, want int64) {
		home := b.homes[c]
		part := max(0, min(want, b.Free[home]))
		b.Free[home] -= part
		share[c] -= part
		local(c, part)
	}
	if r.Seen.OnNode == nil {
		for c, home := range b.homes {
			far := memory.Share(share[c], int64(r.Seen.Remote), sum)
			takeHome(c, share[c]-far)
			clear(b.Lent)
			memory.Lend(b.Free, int(home), b.allowed, far, 0, b.Lent)
			b.take()
			lend(c)
		}
		return
	}
	for c, home := range b.homes {
		part := min(share[c], on[home])
		on[home] -= part
		takeHome(c, part)
	}
	for c := range b.homes {
		clear(b.Lent)
		for k := range on {
			part := max(0, min(share[c], on[k], b.Free[k]))
			b.Lent[k] += part
			on[k] -= part
			share[c] -= part
		}
		b.take()
		lend(c)
	}
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

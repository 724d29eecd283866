package placement

import (
	"slices"

	"example.org/homenode/esxi/memory"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// A Request asks for the placement of one running VM.
type Request struct {
	Name   string
	Layout vnuma.Layout
	Memory numa.Bytes
	Nodes  numa.NodeSet // IDs of numa.nodeAffinity; empty for all
	// Seen is its observed place on the host; nil to choose its home nodes.
	Seen *numa.SeenVM
}

// RequestOf returns the request of a VM with this layout and its numa.nodeAffinity.
func RequestOf(v *numa.VM, l *vnuma.Layout) Request {
	return Request{Name: v.Name, Layout: *l, Memory: v.Resident(), Nodes: numa.SetOf(vnuma.NodeAffinity(v)...)}
}

// Slice returns the memory of client c.
func (r *Request) Slice(c int) numa.Bytes {
	return numa.Bytes(r.Layout.PartOf(c, int64(r.Memory)))
}

// A Client is one NUMA client on its home node.
type Client struct {
	Request int        // index of its VM in the requests
	Index   int        // index of the client in the VM: PPD number
	VCPUs   int        //
	Local   numa.Bytes // of its memory slice, on the home node
	Crossed numa.Bytes // on home nodes of other clients of its VM, or on nodes that join them (D-2): N%L counts it as local (C-17)
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
	Used    numa.Bytes // memory in use, including that of clients with another home
	Foreign []Share    // part of Used: memory of VMs with other homes, in order of the requests
}

// Free returns the unused memory; false when the node's memory is unknown.
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

// Place chooses home nodes for the clients of the requests, in order, on an empty host, and allocates all their memory.
// Observed VMs are placed before the others. VMs that are not NUMA-managed get no home node, have memory on all nodes,
// and are returned in unplaced.
func Place(h *Host, requests []Request) (placed []Node, unplaced []int) {
	placed = make([]Node, len(h.Nodes))
	for i, n := range h.Nodes {
		placed[i].Node = n
	}
	b := NewBoard(h)
	var seen, others []*placing
	for i := range requests {
		p := &placing{Request: &requests[i], index: i}
		if p.Seen != nil && p.Seen.Homes != 0 {
			seen = append(seen, p)
		} else {
			others = append(others, p)
		}
	}
	for _, p := range seen { // observed memory is allocated before all other
		p.settle(b, h, placed)
	}
	for _, p := range append(seen, others...) {
		if !p.Layout.Managed || len(h.Nodes) == 0 {
			unplaced = append(unplaced, p.index)
			b.Spread(int64(p.Memory))
			for m, part := range b.Lent {
				placed[m].lend(p.index, numa.Bytes(part))
			}
			continue
		}
		if p.clients == nil {
			p.settle(b, h, placed)
		}
		p.fill(b, placed)
	}
	slices.Sort(unplaced)
	return placed, unplaced
}

// Reclaim takes memory from clients until the host has so much free as ESXi keeps (C-23): from the VMs placed last, which lack
// the memory that the host does not hold too.
func (h *Host) Reclaim(placed []Node, requests []Request) {
	lacks := h.Keep
	for i := range placed {
		free, ok := placed[i].Free()
		if lacks -= free; !ok {
			return
		}
	}
	for _, seen := range [...]bool{false, true} {
		for r := len(requests) - 1; r >= 0 && lacks > 0; r-- {
			if seen != (requests[r].Seen != nil) {
				continue
			}
			for i := range placed {
				lacks -= placed[i].reclaim(r, lacks)
			}
		}
	}
}

// reclaim takes up to so much of the memory that the VM has on its home node, and returns how much it took.
func (n *Node) reclaim(request int, want numa.Bytes) (took numa.Bytes) {
	for k := range n.Clients {
		if c := &n.Clients[k]; c.Request == request {
			part := max(0, min(want-took, c.Local))
			c.Local, c.Nowhere, n.Used, took = c.Local-part, c.Nowhere+part, n.Used-part, took+part
		}
	}
	return took
}

// A placing is a Request in progress, with the memory its clients have and lack.
type placing struct {
	*Request
	index   int
	clients []Client
	homes   []int8
	allowed numa.NodeSet
	left    []int64 // of each slice
}

// seenHomes returns the indices of the VM's observed home nodes; nil when it was not observed, or on none of the host's nodes.
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

// settle sets the homes of a managed VM's clients, observed or chosen, and allocates its observed memory.
func (p *placing) settle(b *Board, h *Host, placed []Node) {
	if !p.Layout.Managed || len(h.Nodes) == 0 {
		return
	}
	p.allowed = h.Allowed(p.Nodes)
	b.Begin(p.allowed)
	seen := p.seenHomes(h)
	n := p.Layout.PPDs.Len()
	p.clients, p.left = make([]Client, n), make([]int64, n)
	for c := range p.clients {
		_, vcpus := p.Layout.PPDs.Group(c)
		p.clients[c] = Client{Request: p.index, Index: c, VCPUs: vcpus}
		p.left[c] = int64(p.Slice(c))
		if seen != nil {
			last := b.Last
			b.Put(seen[c%len(seen)], int64(vcpus))
			b.Last = last // its home was not chosen now
		} else {
			b.Put(b.Next(p.left[c]), int64(vcpus))
		}
	}
	p.homes = slices.Clone(b.Homes())
	if seen != nil {
		p.takeSeen(b, h, placed)
	}
}

// fill allocates the rest of the clients' memory: on the homes first, then anywhere.
func (p *placing) fill(b *Board, placed []Node) {
	b.Begin(p.allowed)
	for c, home := range p.homes {
		p.local(c, b.TakeHome(int(home), p.left[c]))
	}
	for c, home := range p.homes {
		part, nowhere := b.Take(int(home), p.left[c])
		p.local(c, part)
		p.lend(c, b, placed)
		p.clients[c].Nowhere = numa.Bytes(nowhere)
		node := &placed[home]
		node.VCPUs, node.Used, node.Clients = node.VCPUs+p.clients[c].VCPUs, node.Used+p.clients[c].Local, append(node.Clients, p.clients[c])
	}
}

// local adds memory on its home to a client.
func (p *placing) local(c int, part int64) {
	p.clients[c].Local += numa.Bytes(part)
	p.left[c] -= part
}

// lend adds the memory lent by other nodes to a client.
func (p *placing) lend(c int, b *Board, placed []Node) {
	for m, part := range b.Lent {
		placed[m].lend(p.index, numa.Bytes(part))
		if slices.Contains(p.homes, int8(m)) || p.Layout.Memory.Joins() {
			p.clients[c].Crossed += numa.Bytes(part)
		} else {
			p.clients[c].Remote += numa.Bytes(part)
		}
		p.left[c] -= part
	}
}

// takeSeen allocates the observed memory of a VM, from its slices in proportion: on each node where that is known; else
// the local part on the homes and the remote part on the nodes with the most free memory. The part that does not fit a
// node is left to be placed.
func (p *placing) takeSeen(b *Board, h *Host, placed []Node) {
	on := make([]int64, len(h.Nodes))
	sum := int64(p.Seen.Local + p.Seen.Remote)
	if p.Seen.OnNode != nil {
		sum = 0
		for _, m := range p.Seen.OnNode {
			if k := slices.IndexFunc(h.Nodes, func(n numa.Node) bool { return n.ID == m.Node }); k >= 0 {
				on[k] += int64(m.Guest)
				sum += int64(m.Guest)
			}
		}
	}
	if sum <= 0 {
		return
	}
	share := make([]int64, len(p.left)) // each client's part of the observed memory
	for c := range share {
		share[c] = min(p.left[c], memory.Share(min(sum, int64(p.Memory)), int64(p.Slice(c)), max(1, int64(p.Memory))))
	}
	takeHome := func(c int, want int64) {
		home := p.homes[c]
		part := max(0, min(want, b.Free[home]))
		b.Free[home] -= part
		share[c] -= part
		p.local(c, part)
	}
	if p.Seen.OnNode == nil {
		for c, home := range p.homes {
			far := memory.Share(share[c], int64(p.Seen.Remote), sum)
			takeHome(c, share[c]-far)
			clear(b.Lent)
			memory.Lend(b.Free, int(home), p.allowed, far, 0, b.Lent)
			b.take()
			p.lend(c, b, placed)
		}
		return
	}
	for c, home := range p.homes {
		part := min(share[c], on[home])
		on[home] -= part
		takeHome(c, part)
	}
	for c := range p.homes {
		clear(b.Lent)
		for k := range on {
			part := max(0, min(share[c], on[k], b.Free[k]))
			b.Lent[k] += part
			on[k] -= part
			share[c] -= part
		}
		b.take()
		p.lend(c, b, placed)
	}
}

// lend adds memory of a VM with other homes to the node.
func (n *Node) lend(request int, memory numa.Bytes) {
	if memory == 0 {
		return
	}
	n.Used += memory
	k, found := slices.BinarySearchFunc(n.Foreign, request, func(s Share, request int) int { return s.Request - request })
	if !found {
		n.Foreign = slices.Insert(n.Foreign, k, Share{Request: request})
	}
	n.Foreign[k].Memory += memory
}

// Package placement chooses the home nodes of NUMA clients, as ESXi does when a VM is
// powered on or arrives by vMotion (rule book C-3 to C-6). It is the one answer to "which
// node": the scheduler, the drawings of a host, the rule about headroom, the optimiser and
// the packing of hosts all ask Nodes.Choose.
//
//	5.0 on   near the VM's other clients → least load → most free memory → in turn
//	4.1      most free memory, in turn when no node has room
//	to 4.0   in turn
//
// A client goes to a node that none of the VM's clients is on yet; when there is none left
// all nodes count again (C-5). "Near" comes first because the manual says so of wide VMs
// (C-4, A-8); the order of the rest is inferred.
package placement

import (
	"slices"

	"homenode/esxi/memory"
	"homenode/esxi/vnuma"
	"homenode/numa"
)

// NoLimit is the free memory of a node whose memory is unknown.
const NoLimit = int64(1) << 56

// A Host is what placement looks at of a host, before anything runs there.
type Host struct {
	Release  numa.Release // 0, unknown, counts as 5.0 or later
	Nodes    []numa.Node
	Distance [][]int    // as numa.Host has it; nil when unknown
	Keep     numa.Bytes // memory that ESX 4.1 wants to stay free on a node
	Reserve  numa.Bytes // memory that stays free on each node of new pages while another has more (C-15)
}

// Of returns the host with its nodes as they are, and what stays free on them.
func Of(h *numa.Host, c vnuma.Choices) Host {
	r := memory.Of(h, c.FillToMinFree)
	return Host{h.Release.Value, h.Nodes.Value, h.Distance.Value, r.MinFree, r.New}
}

// Allowed returns the indices of the nodes with these IDs (numa.nodeAffinity, C-12). When
// none of them has cores, or ids is empty, all nodes are allowed.
func (h *Host) Allowed(ids numa.NodeSet) (s numa.NodeSet) {
	cores := 0
	for i, n := range h.Nodes {
		if ids.Has(n.ID) {
			s |= 1 << i
			cores += n.Cores
		}
	}
	if cores == 0 {
		return 1<<len(h.Nodes) - 1
	}
	return s
}

// Nodes is the state that a placement looks at, by index of the node.
type Nodes struct {
	Load []int64 // known to run there, in the unit of the capacity
	Free []int64 // memory, in one unit
	Last int     // the node chosen last; -1 on a fresh host
	Keep int64   // memory that ESX 4.1 wants to stay free on a node

	release numa.Release
	with    numa.NodeSet // nodes with cores
	cap     []int64
	far     []int32 // nodes × nodes
}

// NewNodes returns the state of an empty host. capacity is what each node can run, in the
// unit of the loads; free its memory and keep the part of it that ESX 4.1 keeps, in one unit.
func NewNodes(h *Host, capacity, free []int64, keep int64) *Nodes {
	k := len(h.Nodes)
	n := &Nodes{Load: make([]int64, k), Free: free, Last: -1, Keep: keep, release: h.Release, cap: capacity, far: make([]int32, k*k)}
	for i := range h.Nodes {
		if h.Nodes[i].Cores > 0 {
			n.with |= 1 << i
		}
		for j := range h.Nodes {
			n.far[i*k+j] = numa.Far(h.Nodes, h.Distance, i, j)
		}
	}
	return n
}

// Choices returns the nodes that the next client of a VM may be placed on: those allowed
// that none of its clients is on, or all that are allowed when there is none left (C-5).
func (n *Nodes) Choices(allowed numa.NodeSet, homes []int8) numa.NodeSet {
	all := allowed & n.with
	left := all
	for _, h := range homes {
		if left &^= 1 << h; left == 0 { // the next round begins
			left = all
		}
	}
	return left
}

// Choose returns the home of a client, one of the choices, and whether it is only that
// node's turn. homes are those of the VM's clients before it; need is its memory.
func (n *Nodes) Choose(choices numa.NodeSet, homes []int8, need int64) (node int, inTurn bool) {
	best, room := -1, false
	for i := range n.cap {
		m := (n.Last + 1 + i) % len(n.cap)
		if !choices.Has(m) {
			continue
		}
		if best < 0 || n.better(m, best, homes) {
			best = m
		}
		room = room || n.Free[m]-n.Keep >= need
	}
	if n.release > 0 && n.release < numa.ESXi50 && (n.release < numa.ESX41 || !room) {
		return n.next(choices), true
	}
	return max(best, 0), false
}

// next returns the first of the choices after the node chosen last.
func (n *Nodes) next(choices numa.NodeSet) int {
	for i := range n.cap {
		if m := (n.Last + 1 + i) % len(n.cap); choices.Has(m) {
			return m
		}
	}
	return 0
}

// Best returns the best of the nodes for the next client of a VM, by load of 5.0 and later,
// without a turn; -1 of none.
func (n *Nodes) Best(of numa.NodeSet, homes []int8) int {
	best := -1
	for m := range of.All() {
		if best < 0 || n.better(m, best, homes) {
			best = m
		}
	}
	return best
}

// better reports whether node a is a better home than node b. Loads are compared as exact
// shares of the capacity.
func (n *Nodes) better(a, b int, homes []int8) bool {
	if n.release > 0 && n.release < numa.ESXi50 {
		return n.Free[a] > n.Free[b]
	}
	if near, far := n.distance(a, homes), n.distance(b, homes); near != far {
		return near < far
	}
	if x, y := n.Load[a]*n.cap[b], n.Load[b]*n.cap[a]; x != y {
		return x < y
	}
	return n.Free[a] > n.Free[b]
}

// distance returns how far a node is from the homes.
func (n *Nodes) distance(node int, homes []int8) (sum int32) {
	for _, h := range homes {
		sum += n.far[node*len(n.cap)+int(h)]
	}
	return sum
}

// Reset takes over the state of another host of which o is a copy, without allocating.
func (n *Nodes) Reset(o *Nodes) {
	load, free := append(n.Load[:0], o.Load...), append(n.Free[:0], o.Free...)
	*n = *o
	n.Load, n.Free = load, free
}

// Clone returns a copy of which the state is its own.
func (n *Nodes) Clone() *Nodes {
	out := *n
	out.Load, out.Free = slices.Clone(n.Load), slices.Clone(n.Free)
	return &out
}

// Package placement chooses the home nodes of NUMA clients, as ESXi does when a VM is powered on or
// arrives by vMotion (rule book C-3 to C-6). The scheduler, the drawings of a host, the headroom
// rule, the optimiser and the packing of hosts all call Nodes.Choose.
//
//	5.0 on   near the VM's other clients → least load → most free memory → in turn
//	4.1      most free memory, in turn when no node has room
//	to 4.0   in turn
//
// A client goes to a node without other clients of the VM; when none is left all nodes count again
// (C-5). "Near" comes first because the manual states it for wide VMs (C-4, A-8); the order of the
// rest is inferred.
package placement

import (
	"slices"

	"example.org/homenode/esxi/memory"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// NoLimit is the free memory of a node whose memory is unknown.
const NoLimit = int64(1) << 56

// A Host holds the host properties that placement uses, before any VM runs.
type Host struct {
	Release  numa.Release // 0, unknown, counts as 5.0 or later
	Nodes    []numa.Node
	Distance [][]int    // format of numa.Host; nil when unknown
	Keep     numa.Bytes // minFree (C-23): ESX 4.1 keeps it free on a node
	Reserve  numa.Bytes // memory that new pages leave free on each node while another has more (C-15)
}

// Of returns the host with its actual nodes and their reserves.
func Of(h *numa.Host, c vnuma.Choices) Host {
	r := memory.Of(h, c.FillToMinFree)
	return Host{h.Release.Value, h.Nodes.Value, h.Distance.Value, r.MinFree, r.New}
}

// Allowed returns the indices of the nodes with these IDs (numa.nodeAffinity, C-12). All nodes are
// allowed when ids is empty or none of them has cores.
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

// Nodes is the input state of a placement, by node index.
type Nodes struct {
	Load []int64 // known load, in the unit of the capacity
	Free []int64 // memory, in one unit
	Last int     // the node chosen last; -1 on a fresh host
	Keep int64   // memory that ESX 4.1 keeps free on a node

	release numa.Release
	with    numa.NodeSet // nodes with cores
	cap     []int64
	far     []int32 // nodes × nodes
}

// NewNodes returns the state of an empty host. capacity is each node's CPU capacity, in the unit of
// the loads; free is its memory and keep the part that ESX 4.1 keeps free, in one unit.
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

// Choices returns the candidate nodes for the next client of a VM: the allowed nodes without a
// client of it, or all allowed nodes when none is left (C-5).
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

// Choose returns the home of a client, one of the choices, and whether it was chosen round-robin.
// homes are those of the VM's earlier clients; need is its memory.
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

// next returns the first choice after the last chosen node.
func (n *Nodes) next(choices numa.NodeSet) int {
	for i := range n.cap {
		if m := (n.Last + 1 + i) % len(n.cap); choices.Has(m) {
			return m
		}
	}
	return 0
}

// Best returns the best node for the next client of a VM by the load rule of 5.0 and later, without
// round-robin; -1 when the set is empty.
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

// distance returns the distance of a node from the homes.
func (n *Nodes) distance(node int, homes []int8) (sum int32) {
	for _, h := range homes {
		sum += n.far[node*len(n.cap)+int(h)]
	}
	return sum
}

// Reset copies the state of o, which may be of another host. It does not allocate once it is large enough.
func (n *Nodes) Reset(o *Nodes) {
	load, free := append(n.Load[:0], o.Load...), append(n.Free[:0], o.Free...)
	*n = *o
	n.Load, n.Free = load, free
}

// Clone returns a deep copy.
func (n *Nodes) Clone() *Nodes {
	out := *n
	out.Load, out.Free = slices.Clone(n.Load), slices.Clone(n.Free)
	return &out
}

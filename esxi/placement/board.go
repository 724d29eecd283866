package placement

import (
	"example.org/homenode/esxi/memory"
	"example.org/homenode/numa"
)

// A Board is a host to which VMs are added one after the other. Each client counts as busy vCPUs with all memory touched, the
// assumption for an unknown load. The VMs of a running host are placed on it when their history is unknown.
type Board struct {
	Nodes
	// Lent is the memory from each node in the last Take by a client with another home.
	Lent []int64

	reserve int64  // stays free on each node while another has more
	homes   []int8 // of the VM being placed
	allowed numa.NodeSet
}

// NewBoard returns the empty host; memory is in bytes and load in vCPUs.
func NewBoard(h *Host) *Board {
	capacity, free := make([]int64, len(h.Nodes)), make([]int64, len(h.Nodes))
	for i := range h.Nodes {
		n := &h.Nodes[i]
		capacity[i], free[i] = int64(n.Cores), NoLimit
		if n.Memory.Known() {
			free[i] = int64(n.Memory.Value)
		}
	}
	return &Board{Nodes: *NewNodes(h, capacity, free, int64(h.Keep)), Lent: make([]int64, len(h.Nodes)), reserve: int64(h.Reserve)}
}

// Reset makes the board empty, for another host. It does not allocate once it is large enough.
func (b *Board) Reset(o *Board) {
	b.Nodes.Reset(&o.Nodes)
	b.Lent = append(b.Lent[:0], o.Lent...)
	b.homes, b.reserve = b.homes[:0], o.reserve
}

// Clone returns a deep copy.
func (b *Board) Clone() *Board {
	return &Board{Nodes: *b.Nodes.Clone(), Lent: make([]int64, len(b.Lent)), reserve: b.reserve}
}

// Begin starts another VM; its clients and memory may be on the allowed nodes.
func (b *Board) Begin(allowed numa.NodeSet) { b.homes, b.allowed = b.homes[:0], allowed }

// Homes returns the homes of the VM's clients; it is valid until the next Begin.
func (b *Board) Homes() []int8 { return b.homes }

// Next chooses the home of the VM's next client.
func (b *Board) Next(need int64) int {
	home, _ := b.Choose(b.Choices(b.allowed, b.homes), b.homes, need)
	return home
}

// Put sets the home of the VM's next client.
func (b *Board) Put(home int, vcpus int64) {
	b.Load[home] += vcpus
	b.homes = append(b.homes, int8(home))
	b.Last = home
}

// TakeHome allocates memory for a client on its home only, down to the reserve: all clients of a VM fill their homes before
// memory goes elsewhere.
func (b *Board) TakeHome(home int, want int64) (local int64) {
	local = max(0, min(want, b.Free[home]-b.reserve))
	b.Free[home] -= local
	return local
}

// Take allocates memory for a client as memory.Fill does. It returns the part on the home and the part that fits nowhere.
func (b *Board) Take(home int, want int64) (local, nowhere int64) {
	nowhere = memory.Fill(b.Free, home, b.allowed, want, b.reserve, b.Lent)
	local = b.Lent[home]
	b.take()
	b.Lent[home] = 0
	return local, nowhere
}

// Fill allocates this memory for the VM's clients, which have homes: on the homes first, then anywhere. It returns the memory
// away from the homes and the memory that fits nowhere. want keeps the part that each home lacks.
func (b *Board) Fill(want []int64) (away, nowhere int64) {
	for c, home := range b.homes {
		want[c] -= b.TakeHome(int(home), want[c])
	}
	for c, home := range b.homes {
		if want[c] > 0 {
			local, none := b.Take(int(home), want[c])
			away, nowhere = away+want[c]-local, nowhere+none
		}
	}
	return away, nowhere
}

// Spread allocates memory for a VM without home nodes as memory.Spread does, and returns the part that fits nowhere.
func (b *Board) Spread(want int64) (nowhere int64) {
	nowhere = memory.Spread(b.Free, want, b.Lent)
	b.take()
	return nowhere
}

// Lend allocates memory on the nodes with the most free memory and returns the part that fits nowhere.
func (b *Board) Lend(want int64) (nowhere int64) {
	clear(b.Lent)
	nowhere = memory.Lend(b.Free, -1, b.allowed, want, 0, b.Lent)
	b.take()
	return nowhere
}

// take subtracts the lent memory from the free memory.
func (b *Board) take() {
	for n, part := range b.Lent {
		b.Free[n] -= part
	}
}

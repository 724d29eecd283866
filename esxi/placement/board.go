package placement

import (
	"homenode/esxi/memory"
	"homenode/numa"
)

// A Board is a host that VMs come to one after the other, each of its clients counting as
// busy vCPUs with all memory touched: what is known where no load is. It is how the VMs of
// a running host are placed when nothing is known of their past.
type Board struct {
	Nodes
	// Lent is what each node gave at the last Take to a client that lives elsewhere.
	Lent []int64

	reserve int64  // that stays free on each node while another has more
	homes   []int8 // of the VM that is being placed
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

// Reset makes the board that of another host, without allocating once it is large enough.
func (b *Board) Reset(o *Board) {
	b.Nodes.Reset(&o.Nodes)
	b.Lent = append(b.Lent[:0], o.Lent...)
	b.homes, b.reserve = b.homes[:0], o.reserve
}

// Clone returns a copy of which the state is its own.
func (b *Board) Clone() *Board {
	return &Board{Nodes: *b.Nodes.Clone(), Lent: make([]int64, len(b.Lent)), reserve: b.reserve}
}

// Begin begins with another VM, of which clients and memory may be on these nodes.
func (b *Board) Begin(allowed numa.NodeSet) { b.homes, b.allowed = b.homes[:0], allowed }

// Homes returns the homes of the VM's clients; it is valid until the next Begin.
func (b *Board) Homes() []int8 { return b.homes }

// Next chooses the home of the VM's next client.
func (b *Board) Next(need int64) int {
	home, _ := b.Choose(b.Choices(b.allowed, b.homes), b.homes, need)
	return home
}

// Put gives the VM's next client this home.
func (b *Board) Put(home int, vcpus int64) {
	b.Load[home] += vcpus
	b.homes = append(b.homes, int8(home))
	b.Last = home
}

// TakeHome gives a client memory of its home alone, down to what stays free there: the
// clients of a VM fill their homes before memory goes elsewhere.
func (b *Board) TakeHome(home int, want int64) (local int64) {
	local = max(0, min(want, b.Free[home]-b.reserve))
	b.Free[home] -= local
	return local
}

// Take gives a client memory, as memory.Fill has it. It returns what of it is on the home,
// and what no node has room for.
func (b *Board) Take(home int, want int64) (local, nowhere int64) {
	nowhere = memory.Fill(b.Free, home, b.allowed, want, b.reserve, b.Lent)
	local = b.Lent[home]
	b.take()
	b.Lent[home] = 0
	return local, nowhere
}

// Fill gives the VM's clients, which have their homes, this memory: of the homes first, then wherever there is room. It returns
// what is not on the homes, and what no node has room for. What each home does not have is left in want.
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

// Spread gives a VM without home nodes memory, as memory.Spread has it, and returns what no
// node has room for.
func (b *Board) Spread(want int64) (nowhere int64) {
	nowhere = memory.Spread(b.Free, want, b.Lent)
	b.take()
	return nowhere
}

// Lend takes memory of the nodes with the most free memory and returns what no node has
// room for.
func (b *Board) Lend(want int64) (nowhere int64) {
	clear(b.Lent)
	nowhere = memory.Lend(b.Free, -1, b.allowed, want, 0, b.Lent)
	b.take()
	return nowhere
}

// take takes what is lent of the free memory.
func (b *Board) take() {
	for n, part := range b.Lent {
		b.Free[n] -= part
	}
}

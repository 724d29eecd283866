package pack

import "example.org/homenode/internal/binpack"

// A room has the maximum left on any node of some hosts, and the maximum left on any of the hosts in
// total. both is the smaller of a node's shares of cores and memory: a node that lacks one of them is
// useless, however much is left of the other.
type room struct {
	cpu, mem, both int64
	sum            binpack.Size
}

// closedHost is the room of an unused host: such a host is opened only if no used host has room.
var closedHost = room{-1, -1, -1, binpack.Size{CPU: -1, Mem: -1}}

// A tree finds hosts with enough room without a linear search: each inner node has the maximum of its
// subtree.
//
//	         1
//	   2           3         the hosts are leaves; node i has the maximum of 2i and 2i+1
//	4     5     6     7
type tree struct {
	size int
	room []room
}

func newTree(hosts int) tree {
	t := tree{size: 1}
	for t.size < hosts {
		t.size *= 2
	}
	t.room = make([]room, 2*t.size)
	for i := range t.room {
		t.room[i] = closedHost
	}
	return t
}

func (t *tree) set(h int32, r room) {
	i := t.size + int(h)
	t.room[i] = r
	for i /= 2; i > 0; i /= 2 {
		a, b := &t.room[2*i], &t.room[2*i+1]
		r := room{max(a.cpu, b.cpu), max(a.mem, b.mem), max(a.both, b.both), binpack.Size{CPU: max(a.sum.CPU, b.sum.CPU), Mem: max(a.sum.Mem, b.sum.Mem)}}
		if r == t.room[i] {
			return
		}
		t.room[i] = r
	}
}

// find calls visit with the index of each host that may have room for the item, until visit returns false.
func (t *tree) find(it *item, visit func(h int32) bool) { t.under(1, it, visit) }

// under searches the subtree of node i.
func (t *tree) under(i int, it *item, visit func(h int32) bool) bool {
	r := &t.room[i]
	if r.cpu < it.most.cpu || r.mem < it.most.mem || r.both < it.both || r.sum.CPU < it.all.CPU || r.sum.Mem < it.all.Mem {
		return true
	}
	if i >= t.size {
		return visit(int32(i - t.size))
	}
	return t.under(2*i, it, visit) && t.under(2*i+1, it, visit)
}

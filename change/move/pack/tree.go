package pack

import "homenode/internal/binpack"

// A room is the most that any node of some hosts has left, and the most that any of the hosts has
// in all. both is the smaller one of a node's shares of cores and memory: a node that lacks one of them is
// of no use, however much it has of the other.
type room struct {
	cpu, mem, both int64
	sum            binpack.Size
}

// closedHost is the room of a host that is not used: it is opened when no other takes the VM.
var closedHost = room{-1, -1, -1, binpack.Size{CPU: -1, Mem: -1}}

// A tree finds hosts with enough room without asking all of them: each inner node has the most of
// what is below it.
//
//	         1
//	   2           3         the hosts are leaves; what node i has is the most of 2i and 2i+1
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

// find calls visit for hosts that may have room for the item, by index, until it returns false.
func (t *tree) find(it *item, visit func(h int32) bool) { t.under(1, it, visit) }

// under looks at node i and what is below it.
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

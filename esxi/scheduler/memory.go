package scheduler

import (
	"math"

	"example.org/homenode/esxi/memory"
	"example.org/homenode/numa"
)

// memory runs the phases 4 to 7 of a step: growth, page migration, sharing, and reclaiming on
// shortage. h.moved reports whether anything changed, or will change without an outside cause.
func (h *host) memory(k int64) {
	if h.grow > 0 {
		for i := range h.vms {
			if v := &h.vms[i]; v.growing {
				h.growVM(v, k)
			}
		}
	}
	if h.away > 0 && h.set.PageMigEnable {
		h.migrate(k)
	}
	if h.sharing {
		h.share(k)
	}
	h.shortage(k)
}

// setLoad sets another load for a running VM: its memory grows from the touched size (phase 4).
func (h *host) setLoad(v *vm, load *numa.Load, k int64) {
	h.stir(v)
	before, touched := h.activeOf(v), h.touchedBy(v)
	floor := h.growthOf(v).floor // it may still have to be allocated here
	h.setLoadOf(v, load)
	g := growthOf(load, v.facts.size, max(touched, floor), k)
	g.floor = floor
	h.setGrowth(v, g)
	if before != h.activeOf(v) {
		for c, end := v.clientsOf(); c < end; c++ {
			h.heat(c, h.activeOf(v))
		}
	}
	h.changed()
}

// heat sets how many pages of a client outside the homes are in use: all in the same proportion.
func (h *host) heat(c int, active int64) {
	if h.out != nil {
		h.strains[c].hot = mulDiv(h.out[c], active, full)
	}
}

// cool removes hot pages that are no longer outside the homes.
func (h *host) cool(c int) {
	if h.out != nil {
		h.strains[c].hot = min(h.strains[c].hot, h.out[c])
	}
}

// growthOf returns the growth of a VM of this size from touched, in step k, to the target of a load.
func growthOf(l *numa.Load, size, touched, k int64) growth {
	target := size
	if l.Memory >= 0 {
		target = min(size, int64(l.Memory/numa.PageSize))
	}
	return growth{from: touched, target: max(target, touched), setAt: k, over: max(1, int64(l.Over/numa.Step))}
}

// activeOf returns the share of a VM's touched memory that is in use, in parts.
func (h *host) activeOf(v *vm) int64 {
	return parts(h.loadOf(v).Active)
}

// growVM grows a VM's touched memory towards its target in step k.
func (h *host) growVM(v *vm, k int64) {
	if h.state == numa.Low {
		return // C-23: allocations are blocked
	}
	g := h.guestOf(v).rare.growth
	since := min(k+1-g.setAt, g.over)
	want := max(g.floor, g.from+memory.Share(g.target-g.from, since, g.over))
	waits, room := false, int64(math.MaxInt64)
	if h.waits() { // more would make the state low
		room = max(0, h.allFree()-(32*h.minFree+99)/100)
	}
	// The clients fill their homes at the same time; remote allocations come after that.
	for _, rest := range [...]bool{false, true} {
		for c, end := v.clientsOf(); c < end; c++ {
			more := min(h.slice(v, c, want), h.slice(v, c, v.facts.size)) - h.touched(c)
			if !rest {
				if v.n == 1 || h.home[c] < 0 {
					continue
				}
				more = min(more, h.free(int(h.home[c]))-h.soft)
			}
			if more > room {
				more, waits = room, true
			}
			if more > 0 {
				room -= more
				h.settleMemory(v, k)
				waits = h.allocate(v, c, more) || waits
			}
		}
	}
	if since < g.over || waits {
		h.moved = true
		return
	}
	h.endGrowth(v)
}

// waits reports whether missing memory is waited for: other memory is idle, and the host is short
// enough to reclaim it (phase 7).
func (h *host) waits() bool {
	if h.stateOf(h.allFree()) < numa.Hard {
		return false
	}
	for i := range h.vms {
		v := &h.vms[i]
		for c, end := v.clientsOf(); c < end; c++ {
			if h.idle(v, c) > 0 {
				return true
			}
		}
	}
	return false
}

// allocate gives a client new pages: local first (C-15). It reports whether the client waits for
// some; otherwise missing pages are swapped.
func (h *host) allocate(v *vm, c int, pages int64) (waits bool) {
	h.moved, h.placed = true, true
	if h.home[c] < 0 {
		return h.allocateAnywhere(c, pages)
	}
	home := int(h.home[c])
	before, first := h.outside(c), h.strainOf(c).swapped == 0
	var free, gives [numa.MaxNodes]int64
	nodes := h.freeOf(&free)
	left := memory.Fill(nodes, home, v.facts.allowed, pages, h.soft, gives[:len(nodes)])
	for n, part := range gives[:len(nodes)] {
		h.take(c, n, part)
	}
	if waits = left > 0 && h.waits(); waits {
		left = 0
	}
	if left > 0 {
		h.strained(c).swapped += left
	}
	h.widen(v, c)
	far := max(0, h.outside(c)-before)
	if far > 0 {
		h.strained(c).hot += mulDiv(far, h.activeOf(v), full)
		if before == 0 {
			h.countAway()
		}
	}
	if far > 0 && before == 0 || left > 0 && first {
		h.decide(Decision{Kind: Spilled, VM: int(v.index), Client: c - int(v.first), Other: -1, From: h.id(home), To: -1,
			Numbers: [7]int64{pages, far, left, h.free(home)}})
	}
	return waits
}

// take allocates pages of a node for a client.
func (h *host) take(c, node int, pages int64) {
	if pages <= 0 {
		return
	}
	h.pages[c*len(h.cap)+node] += pages
	h.used[node] += pages
	if homes := h.vms[h.clients[c].vm].homes; homes != 0 && !homes.Has(node) {
		h.strained(c)
		h.out[c] += pages
	}
}

// freeOf sets the free memory of each node and returns it.
func (h *host) freeOf(free *[numa.MaxNodes]int64) []int64 {
	for n := range h.cap {
		free[n] = h.free(n)
	}
	return free[:len(h.cap)]
}

// allocateAnywhere allocates pages for a client without home: on all nodes in proportion to their free memory.
func (h *host) allocateAnywhere(c int, pages int64) (waits bool) {
	var free, gives [numa.MaxNodes]int64
	nodes := h.freeOf(&free)
	left := memory.Spread(nodes, pages, gives[:len(nodes)])
	for n, part := range gives[:len(nodes)] {
		h.take(c, n, part)
	}
	if left > 0 && h.waits() {
		return true
	}
	if left > 0 {
		s := h.strained(c)
		if s.swapped == 0 {
			v := &h.vms[h.clients[c].vm]
			h.decide(Decision{Kind: Spilled, VM: int(v.index), Client: c - int(v.first), Other: -1, From: -1, To: -1,
				Numbers: [7]int64{pages, 0, left}})
		}
		s.swapped += left
	}
	return false
}

// widen adds to the VM's home nodes those with memory of a client that its home node can never hold
// (D-2): when the client has more vCPUs than the node has cores, or always by the alternative of F-24.
func (h *host) widen(v *vm, c int) {
	home := h.home[c]
	if h.slice(v, c, v.facts.size) <= h.mem[home] || int32(h.clients[c].vcpus) <= h.cores[home] && !h.choices.WidenAlways {
		return
	}
	for n, p := range h.at(c) {
		if p > 0 && !v.homes.Has(n) {
			h.guestOf(v).more().widened |= 1 << n
			v.homes |= 1 << n
			h.findOut(v)
			for o, end := v.clientsOf(); o < end; o++ {
				h.cool(o)
			}
			h.decide(Decision{Kind: Widened, VM: int(v.index), Client: c - int(v.first), Other: -1, From: -1, To: h.id(n),
				Numbers: [7]int64{h.slice(v, c, v.facts.size), h.mem[home], p}})
			h.countAway()
		}
	}
}

// countAway counts the clients with pages outside their VM's home nodes.
func (h *host) countAway() {
	h.away = 0
	for _, out := range h.out {
		if out > 0 {
			h.away++
		}
	}
}

package scheduler

import (
	"example.org/homenode/esxi/memory"
	"example.org/homenode/numa"
)

// settleAs places a VM as observed: the observed nodes become the homes of its clients in their
// order, and its memory is allocated there. It returns false when the observation has no home node
// that exists on the host.
func (h *host) settleAs(v *vm, seen *numa.SeenVM) bool {
	var homes []int
	for n := range h.cap {
		if seen.Homes.Has(h.id(n)) {
			homes = append(homes, n)
		}
	}
	if len(homes) == 0 {
		return false
	}
	first, end := v.clientsOf()
	for c := first; c < end; c++ {
		n := homes[(c-first)%len(homes)]
		h.home[c] = int8(n)
		h.decide(Decision{Kind: Taken, VM: int(v.index), Client: c - first, Other: -1, From: -1, To: h.id(n)})
	}
	widened := numa.SetOf(homes...)
	for c := first; c < end; c++ {
		widened &^= 1 << h.home[c]
	}
	if widened != 0 {
		h.guestOf(v).more().widened = widened
	}
	h.setHomes(v)
	if seen.OnNode != nil {
		h.takeOnNodes(v, seen.OnNode)
		return true
	}
	local, remote := int64(seen.Local/numa.PageSize), int64(seen.Remote/numa.PageSize)
	for c := first; c < end; c++ {
		near, far := h.slice(v, c, local), h.slice(v, c, remote)
		got := h.takeSeen(c, int(h.home[c]), near)
		var free, gives [numa.MaxNodes]int64
		nodes := h.freeOf(&free)
		left := near - got + memory.Lend(nodes, int(h.home[c]), v.facts.allowed, far, 0, gives[:len(nodes)])
		for n, part := range gives[:len(nodes)] {
			h.take(c, n, part)
		}
		if left > 0 {
			h.strained(c).swapped = left
		}
		h.heat(c, h.activeOf(v))
	}
	return true
}

// takeOnNodes allocates a VM's observed memory per node for its clients: first the part of each
// client on its home, then the rest, in the order of nodes.
func (h *host) takeOnNodes(v *vm, seen []numa.MemoryOnNode) {
	left := make([]int64, len(h.cap))
	all := int64(0)
	for _, m := range seen {
		for n := range h.cap {
			if h.id(n) == m.Node {
				left[n] = int64(m.Guest / numa.PageSize)
				all += left[n]
			}
		}
	}
	take := func(c, n int) {
		p := min(left[n], h.slice(v, c, all)-h.touched(c))
		left[n] -= p
		if more := p - h.takeSeen(c, n, p); more > 0 {
			h.strained(c).swapped += more
		}
	}
	first, end := v.clientsOf()
	for c := first; c < end; c++ {
		take(c, int(h.home[c]))
	}
	for c := first; c < end; c++ {
		for n := range left {
			take(c, n)
		}
		h.heat(c, h.activeOf(v))
	}
}

// takeSeen allocates pages of a node for a client as far as available, and returns their number:
// the observed memory can exceed that of the story's node.
func (h *host) takeSeen(c, n int, pages int64) int64 {
	pages = max(0, min(pages, h.free(n)))
	h.take(c, n, pages)
	return pages
}

package sim

import "homenode/numa"

// settleAs puts a VM where it was observed: the nodes seen become the homes of its
// clients in their order, its memory is taken there. False when the observation names no
// home node that the host has.
func (h *host) settleAs(v *vm, seen *numa.SeenVM) bool {
	var homes []int
	for n, id := range h.ids {
		if seen.Homes.Has(id) {
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
		h.decide(Decision{Kind: Taken, VM: int(v.index), Client: c - first, Other: -1, From: -1, To: h.ids[n]})
	}
	for _, n := range homes {
		v.widened |= 1 << n
	}
	for c := first; c < end; c++ {
		v.widened &^= 1 << h.home[c]
	}
	h.setHomes(v)
	if seen.OnNode != nil {
		h.takeOnNodes(v, seen.OnNode)
		return true
	}
	local, remote := int64(seen.Local/numa.PageSize), int64(seen.Remote/numa.PageSize)
	for c := first; c < end; c++ {
		h.clients[c].touched = h.take(c, int(h.home[c]), h.part(v, c, local))
		far := h.part(v, c, remote)
		got := h.takeFar(v, c, far, 0)
		h.clients[c].touched += far
		h.clients[c].swapped += far - got
		h.clients[c].hot = mulDiv(h.out[c], h.activeOf(v), full)
	}
	return true
}

// takeOnNodes gives the clients of a VM what it was seen with on each node: each first
// what is on its home, then what is left, in the order of nodes.
func (h *host) takeOnNodes(v *vm, seen []numa.MemoryOnNode) {
	left := make([]int64, len(h.ids))
	all := int64(0)
	for _, m := range seen {
		for n, id := range h.ids {
			if id == m.Node {
				left[n] = int64(m.Guest / numa.PageSize)
				all += left[n]
			}
		}
	}
	first, end := v.clientsOf()
	for c := first; c < end; c++ {
		n := int(h.home[c])
		got := h.take(c, n, min(left[n], h.part(v, c, all)))
		left[n] -= got
		h.clients[c].touched = got
	}
	for c := first; c < end; c++ {
		for n := range left {
			got := h.take(c, n, min(left[n], h.part(v, c, all)-h.clients[c].touched))
			left[n] -= got
			h.clients[c].touched += got
		}
		h.clients[c].hot = mulDiv(h.out[c], h.activeOf(v), full)
	}
}

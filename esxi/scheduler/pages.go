package scheduler

import (
	"example.org/homenode/esxi/memory"
	"example.org/homenode/numa"
)

// largeOf returns the pages of a client that are parts of large pages (C-21).
func (h *host) largeOf(v *vm, c int) int64 {
	large := h.touched(c)
	if !v.tries {
		large = mulDiv(large, parts(h.loadOf(v).AsksLarge), full)
	}
	return max(0, large-h.strainOf(c).broken)
}

// share merges equal pages of clients (phase 6, C-22).
func (h *host) share(k int64) {
	for i := range h.vms {
		v := &h.vms[i]
		if !v.shares {
			continue
		}
		for c, end := v.clientsOf(); c < end; c++ {
			h.shareClient(v, c, k)
		}
	}
}

func (h *host) shareClient(v *vm, c int, k int64) {
	load, touched, saved := h.loadOf(v), h.touched(c), h.strainOf(c).saved
	small := touched - h.largeOf(v, c)
	if small <= 0 {
		return
	}
	can := mulDiv(small, parts(load.Zero), full)
	if load.Common > 0 {
		m := h.mates(v, c)
		can += mulDiv(small, parts(load.Common), full) * (m - 1) / m
	}
	more := min(can-saved, stepsASecond*int64(h.set.ShareRateMax), touched/(30*int64(h.set.ShareScan))+1)
	if more = min(more, h.resident(c)); more <= 0 {
		return
	}
	if saved == 0 {
		h.decide(Decision{Kind: Shared, VM: int(v.index), Client: c - int(v.first), Other: -1, From: -1, To: -1,
			Numbers: [7]int64{can, small, touched}})
	}
	h.settleMemory(v, k)
	h.giveBack(v, c, more)
	h.strained(c).saved += more
}

// mates returns how many VMs share the common pages of a client, including itself: those with the
// same image and a client at home on the same node, as far as salting allows.
func (h *host) mates(v *vm, c int) (m int64) {
	m = 1
	load := h.loadOf(v)
	if load.Image == "" || h.home[c] < 0 {
		return m
	}
	for i := range h.vms {
		o := &h.vms[i]
		if o == v || h.loadOf(o).Image != load.Image || !h.salted(v, o) {
			continue
		}
		for oc, end := o.clientsOf(); oc < end; oc++ {
			if h.home[oc] == h.home[c] {
				m++
				break
			}
		}
	}
	return m
}

// salted reports whether salting allows two VMs to share (C-22).
func (h *host) salted(v, o *vm) bool {
	switch h.set.Salting {
	case 0:
		return true
	case 1:
		return v.facts.salt == o.facts.salt
	}
	return v.facts.salt != "" && v.facts.salt == o.facts.salt
}

// resident returns the pages of a client on all nodes.
func (h *host) resident(c int) (sum int64) {
	for _, p := range h.at(c) {
		sum += p
	}
	return sum
}

// giveBack frees pages of a client on the nodes with most of them. The client must have that many.
func (h *host) giveBack(v *vm, c int, pages int64) {
	h.moved, h.placed = true, true
	before := h.outside(c)
	at := h.at(c)
	for pages > 0 {
		most := 0
		for n, p := range at {
			if p > at[most] {
				most = n
			}
		}
		gone := min(pages, at[most])
		at[most] -= gone
		if v.homes != 0 && !v.homes.Has(most) && h.out != nil {
			h.out[c] -= gone
		}
		h.used[most] -= gone
		pages -= gone
	}
	after := h.outside(c)
	h.cool(c)
	if before > 0 && after == 0 {
		h.away--
	}
}

// Shortage (phase 7, C-23). ESXi's reclaim rate is not published [I].
const (
	reclaimStep = 65536 // pages a step and host: 256 MB
	breakStep   = 65536 // pages a step and client
	balloonMost = 65    // percent of a VM's memory: Mem.CtlMaxPercent
)

// stateOf returns the memory state for an amount of free memory.
func (h *host) stateOf(free int64) numa.MemoryState {
	limits := [...]int64{400, 100, 64, 32}
	if h.release < numa.ESXi60 {
		limits = [...]int64{100, 100, 64, 32}
	}
	for s, l := range limits {
		if free*100 >= l*h.minFree {
			return numa.MemoryState(s)
		}
	}
	return numa.Low
}

// allFree returns the free pages of the host.
func (h *host) allFree() (sum int64) {
	for n := range h.mem {
		sum += h.free(n)
	}
	return sum
}

// findState finds the memory state and returns the free pages.
func (h *host) findState() (free int64) {
	free = h.allFree()
	if s := h.stateOf(free); s != h.state {
		h.decide(Decision{Kind: StateChanged, VM: -1, Client: -1, Other: -1, From: -1, To: -1,
			Numbers: [7]int64{free, h.minFree, int64(h.state), int64(s)}})
		h.state, h.moved = s, true
	}
	return free
}

// shortage sets the memory state and takes its actions.
func (h *host) shortage(k int64) {
	free := h.findState()
	if h.state == numa.High {
		return
	}
	for i := range h.vms {
		v := &h.vms[i]
		for c, end := v.clientsOf(); c < end; c++ {
			if large := min(h.largeOf(v, c), breakStep); large > 0 {
				h.stir(v)
				h.strained(c).broken += large
				h.moved = true
			}
		}
	}
	if need := min(h.minFree-free, reclaimStep); h.state >= numa.Soft && need > 0 {
		h.reclaim(need, k)
	}
}

// idle returns the reclaimable pages of a client: those not in use, less the reserved ones.
func (h *host) idle(v *vm, c int) int64 {
	there := h.resident(c)
	return max(0, mulDiv(there, full-h.activeOf(v), full)-h.slice(v, c, v.facts.keep))
}

// reclaim takes memory from the clients, in proportion to their idle pages.
func (h *host) reclaim(need, k int64) {
	all := int64(0)
	for i := range h.vms {
		v := &h.vms[i]
		for c, end := v.clientsOf(); c < end; c++ {
			all += h.idle(v, c)
		}
	}
	if all == 0 {
		return
	}
	need = min(need, all)
	for i := range h.vms {
		v := &h.vms[i]
		for c, end := v.clientsOf(); c < end; c++ {
			take := memory.Share(need, h.idle(v, c), all)
			if h.state == numa.Soft {
				take = min(take, mulDiv(h.slice(v, c, v.facts.size), balloonMost, 100)-h.strainOf(c).ballooned)
			}
			if take <= 0 {
				continue
			}
			s := h.strained(c)
			if s.ballooned+s.swapped == 0 {
				h.decide(Decision{Kind: Reclaimed, VM: int(v.index), Client: c - int(v.first), Other: -1, From: -1, To: -1,
					Numbers: [7]int64{take, int64(h.state), h.allFree(), h.minFree}})
			}
			h.settleMemory(v, k)
			h.giveBack(v, c, take)
			if h.state == numa.Soft {
				s.ballooned += take
			} else {
				s.swapped += take
			}
		}
	}
}

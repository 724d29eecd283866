package scheduler

// A locality is a client and a node where it may gain locality.
type locality struct{ client, node int }

// improveLocality moves a client to its memory or to a partner, or swaps two (C-9,
// C-11).
func (h *host) improveLocality(k, p int64) bool {
	moves := h.set.moves(p)
	swaps := h.set.SwapLocality && p%int64(h.set.SwapInterval) == 0
	if !moves && !swaps {
		return false
	}
	best, with := locality{client: -1}, -1
	sum := int64(0)
	ceiling := h.set.ceiling()
	h.hopeless = true
	for c := range h.home {
		out := h.outside(c)
		if !h.talks && out == 0 {
			continue
		}
		here := h.resident(c) - out
		for n := range h.cap {
			if !h.talks && h.at(c)[n] <= here {
				continue // no gain
			}
			gain, ok := h.gain(c, n)
			if !ok || gain < localityGain {
				continue
			}
			h.hopeless = false
			if !h.rested(c, k) {
				continue
			}
			if h.utilWith(n, int64(h.demand[c])) <= ceiling {
				if moves && (best.client < 0 || with >= 0 || gain > sum) {
					best, with, sum = locality{c, n}, -1, gain
				}
				continue
			}
			if !swaps || best.client >= 0 && with < 0 {
				continue
			}
			if o, both := h.partnerOfSwap(k, c, n, gain, ceiling); o >= 0 && (best.client < 0 || both > sum) {
				best, with, sum = locality{c, n}, o, both
			}
		}
	}
	if best.client < 0 {
		return false
	}
	c, n := best.client, best.node
	there := h.share100(h.at(c)[n], c)
	numbers := [7]int64{sum, there, h.utilWith(n, int64(h.demand[c])), h.memoryGain(c, n)}
	if with < 0 {
		h.moveHome(k, c, n, LocalityMoved, numbers)
	} else {
		h.swapHomes(k, c, with, LocalitySwapped, numbers)
	}
	return true
}

// gain returns a client's gain from a home on a node, in percent of its memory; false when it may
// not go there or is there already.
func (h *host) gain(c, n int) (gain int64, ok bool) {
	home := int(h.home[c])
	if home < 0 || home == n || !h.canGo(c, n) {
		return 0, false
	}
	gain = h.memoryGain(c, n)
	if h.talks {
		gain += floorDiv(int64(h.set.WeightAffinity)*(h.affinity(c, n)-h.affinity(c, home)), full)
	}
	return gain, true
}

// memoryGain is the memory part of the gain.
func (h *host) memoryGain(c, n int) int64 {
	if h.vms[h.clients[c].vm].homes.Has(n) {
		return 0
	}
	here := h.resident(c) - h.outside(c)
	return int64(h.set.WeightMem) * (h.share100(h.at(c)[n], c) - h.share100(here, c))
}

// partnerOfSwap returns the client of a node with the highest combined gain of a swap with c, or -1.
func (h *host) partnerOfSwap(k int64, c, n int, gain, ceiling int64) (best int, sum int64) {
	best = -1
	home := int(h.home[c])
	for o, other := range h.home {
		if int(other) != n || !h.rested(o, k) {
			continue
		}
		back, ok := h.gain(o, home)
		d := int64(h.demand[c] - h.demand[o])
		if !ok || gain+back < localityGain || h.utilWith(n, d) > ceiling || h.utilWith(home, -d) > ceiling {
			continue
		}
		if best < 0 || gain+back > sum {
			best, sum = o, gain+back
		}
	}
	return best, sum
}

// affinity returns the share of a client's communication whose partner has a client at
// home on a node, in parts (C-11).
func (h *host) affinity(c, n int) int64 {
	v := &h.vms[h.clients[c].vm]
	all, there := int64(0), int64(0)
	for _, p := range h.talking[v.index] {
		all += p.rate
		if i, here := h.search(p.vm); here {
			o := &h.vms[i]
			for oc, end := o.clientsOf(); oc < end; oc++ {
				if int(h.home[oc]) == n {
					there += p.rate
					break
				}
			}
		}
	}
	if all == 0 {
		return 0
	}
	return there * full / all
}

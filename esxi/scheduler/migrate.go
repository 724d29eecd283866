package scheduler

import (
	"math"

	"example.org/homenode/esxi/memory"
	"example.org/homenode/numa"
)

// Page migration (phase 5, C-16). The figures are inferences from one published experiment,
// see docs/evidence/simulation.md.
const (
	rampSteps    = 10 // the rate doubles so many steps after a change of home
	rampWhole    = 16 // the rate begins with 1/16
	idlePart     = 40 // idle pages move with 1/40 of the rate
	idleStop     = 50 // and stop when 1/50 of the memory is left
	idleLoad     = 5  // percent of the host's capacity that has to be in use
	stepsASecond = 2
)

// migrate moves pages home.
func (h *host) migrate(k int64) {
	working := h.working()
	for c, out := range h.out {
		if out > 0 {
			h.migrateClient(&h.vms[h.clients[c].vm], c, k, working)
		}
	}
}

// working reports whether the host is busy enough for idle pages to move.
func (h *host) working() bool {
	sum := int64(0)
	for n := range h.load {
		sum += h.load[n] + h.loose[n]
	}
	return sum*100 >= idleLoad*h.allCap
}

// rate returns the pages of a client that may move in a step.
func (h *host) rate() int64 { return stepsASecond * int64(h.set.PageMigRateMax) }

// calmSteps returns the number of steps from k to end in which nothing of memory changes but pages that move home, none of them kept by a lack of room: then
// the clients do not depend on each other. It returns 0 when there may be none.
func (h *host) calmSteps(k, end int64) int64 {
	rate, n := h.rate(), min(end, h.wake, (k/drawSteps+1)*drawSteps)-k
	if n < 2 || h.grow > 0 || h.away == 0 || h.sharing || rate == 0 || !h.set.PageMigEnable || h.state != numa.High || h.stateOf(h.allFree()) != numa.High ||
		h.room > 0 && h.logged+int(h.away) > h.room {
		return 0
	}
	var come [numa.MaxNodes]int64
	for c, out := range h.out {
		if out > 0 {
			come[h.home[c]] += min(out, n*rate)
		}
	}
	for node, pages := range come[:len(h.cap)] {
		if pages > 0 && pages > h.free(node)-h.keepsHome {
			return 0
		}
	}
	return n
}

// migrateFor moves pages home in n steps from k on, as calmSteps allows: VM by VM instead of step by step. It leaves h.moved as the last step.
func (h *host) migrateFor(k, n int64) {
	working, last := h.working(), k+n-1
	h.placed = false
	moved := false
	for c := 0; c < len(h.clients); {
		v := &h.vms[h.clients[c].vm]
		_, end := v.clientsOf()
		if v.n == 1 && h.hidden == 1 {
			if h.out[c] > 0 {
				moved = h.migrateAlone(v, c, k, n, working) || moved
			}
			c = end
			continue
		}
		for h.step = k; h.step <= last; h.step++ {
			h.moved = false
			for o := c; o < end; o++ {
				if h.out[o] > 0 {
					h.migrateClient(v, o, h.step, working)
				}
			}
		}
		moved, c = moved || h.moved, end
	}
	h.step, h.moved = k, moved
}

// migrateAlone does what migrateClient does in n steps from k on for the only client of a VM that has room at home. It reports whether the last step moved
// pages, or a later one may.
func (h *host) migrateAlone(v *vm, c int, k, n int64, working bool) (moved bool) {
	s, at, home, rate := &h.strains[c], h.at(c), h.home[c], h.rate()
	touched, all, since := h.touched(c), h.resident(c), k-int64(h.pastOf(c).homeSince)
	out, rest := h.out[c], touched/idleStop
	if s.hot == 0 && (!working || out <= rest) {
		return false // the rest stays
	}
	h.settleMemory(v, k)
	p, step := h.steady(s, out, rest, since, n)
	remote, far := step*out-p*step*(step+1)/2, step*(all-at[home])-p*step*(step+1)/2 // pages × steps
	if step > 0 {
		h.bringSteps(v, c, int(home), p, step)
		out, s.hot, moved = out-p*step, max(0, s.hot-p*step), true
	}
	for ; step < n; step++ {
		pages := int64(0)
		switch moved = false; {
		case s.hot > 0:
			ramp := int64(1) << min(4, (since+step)/rampSteps)
			pages, moved = min(s.hot, rate*ramp/rampWhole), ramp < rampWhole
			s.hot -= pages
		case working && out > rest:
			pages = min(out, rate/idlePart)
		}
		for left := pages; left > 0; {
			left -= h.bring(v, c, int(home), left)
		}
		out -= pages
		s.hot = min(s.hot, out)
		moved = moved || pages > 0
		if out <= rest && out+pages > rest {
			h.arrived(v, c, k+step, out, touched)
		}
		remote, far = remote+out, far+all-at[home]
	}
	if out == 0 {
		h.away--
	}
	v.memSince, v.local = int32(k+n), v.local+all*n-remote
	sums := &h.guestOf(v).more().sums
	sums.Remote, sums.Far, sums.Swapped = sums.Remote+remote, sums.Far+far, sums.Swapped+s.swapped*n
	return moved
}

// steady returns the pages that move in each of the next steps, at most n, until their number changes or nearly all are at home.
func (h *host) steady(s *strain, out, rest, since, n int64) (pages, steps int64) {
	left := out - rest - 1
	if pages = h.rate() / idlePart; s.hot > 0 {
		if pages = h.rate(); since/rampSteps < 4 {
			return 0, 0
		}
		if left = s.hot; out > rest {
			left = min(left, out-rest-1)
		}
	}
	if pages == 0 {
		return 0, 0
	}
	return pages, min(n, left/pages)
}

// bringSteps is bring in each of so many steps. Nodes that differ by less than the pages of a step give in turn: whole rounds of them are brought at once.
func (h *host) bringSteps(v *vm, c, home int, pages, steps int64) {
	at := h.at(c)
	for steps > 0 {
		from, least, most := numa.NodeSet(0), int64(math.MaxInt64), int64(0)
		for n, p := range at {
			if p > 0 && !v.homes.Has(n) {
				from |= 1 << n
				least, most = min(least, p), max(most, p)
			}
		}
		turns := int64(from.Len())
		if rounds := min(steps/turns, (least-1)/pages); rounds > 0 && most-least < pages {
			for n := range from.All() {
				at[n], h.used[n] = at[n]-rounds*pages, h.used[n]-rounds*pages
			}
			all := rounds * pages * turns
			at[home], h.used[home], h.out[c] = at[home]+all, h.used[home]+all, h.out[c]-all
			steps -= rounds * turns
			continue
		}
		for left := pages; left > 0; {
			left -= h.bring(v, c, home, left)
		}
		steps--
	}
}

// arrived adds to the why-log that nearly all memory of a client is at home.
func (h *host) arrived(v *vm, c int, k, out, touched int64) {
	h.decideAt(k, Decision{Kind: AllLocal, VM: int(v.index), Client: c - int(v.first), Other: -1, From: -1, To: h.id(int(h.home[c])),
		Numbers: [7]int64{out, touched, k - int64(h.pastOf(c).homeSince)}})
}

// migrateClient moves pages of one client home.
func (h *host) migrateClient(v *vm, c int, k int64, working bool) {
	s, home, out, rate := &h.strains[c], int(h.home[c]), h.out[c], h.rate()
	hot := s.hot > 0
	if !hot && (!working || out <= h.touched(c)/idleStop) {
		return // the rest stays
	}
	room := memory.Returns(out, h.free(home), h.keepsHome)
	pages := min(out, rate/idlePart, room)
	if hot {
		ramp := int64(1) << min(4, (k-int64(h.pastOf(c).homeSince))/rampSteps)
		pages = min(s.hot, rate*ramp/rampWhole, room)
		h.moved = h.moved || ramp < rampWhole && room > 0
	}
	if pages == 0 {
		return
	}
	h.settleMemory(v, k)
	h.moved = true
	for left := pages; left > 0; {
		left -= h.bring(v, c, home, left)
	}
	if hot {
		s.hot -= pages
	}
	out -= pages
	s.hot = min(s.hot, out)
	if out == 0 {
		h.away--
	}
	if touched := h.touched(c); out <= touched/idleStop && out+pages > touched/idleStop {
		h.arrived(v, c, k, out, touched)
	}
}

// bring moves pages of a client home from the node outside the home nodes with most of them, and
// returns their number.
func (h *host) bring(v *vm, c, home int, pages int64) int64 {
	at, from := h.at(c), -1
	for n, p := range at {
		if !v.homes.Has(n) && (from < 0 || p > at[from]) {
			from = n
		}
	}
	moved := min(pages, at[from])
	at[from] -= moved
	at[home] += moved
	h.out[c] -= moved
	h.used[from] -= moved
	h.used[home] += moved
	return moved
}

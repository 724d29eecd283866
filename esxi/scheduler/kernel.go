package scheduler

// The hot loop. A host runs for a stretch of steps at a time; nothing outside it changes in
// between. Every 20 s the demand of its VMs is drawn; then the loads of the nodes follow, and from
// them the CPU time of each client:
//
//	draw ──► demand ──► load of nodes ──► level L of crowded nodes ──► given, ready, co-stop
//	                        │
//	                        └──► balancer ──► homes ──► page migration ──► pages
//
// Between two draws a step handles only activity: memory that grows or moves, a balancer with
// something to consider. Amounts are added up when a rate changes, as rate × steps, and an idle
// host jumps to the next draw. The outcome is the same as running every phase in every step, as the
// plain version in the tests does (docs/evidence/simulation.md is the specification).
//
// A draw costs O(clients), a crowded node 14 × its clients more, a step in between O(nodes) plus its activity.

// run simulates the steps up to end, exclusive.
func (h *host) run(w *World, end int64) {
	for h.step < end {
		k := h.step
		if k%drawSteps == 0 {
			h.settleCPU(k)
			h.drawAll(w, k)
		}
		if h.dirty {
			h.settleCPU(k)
			h.loads()
			h.dirty, h.noMove, h.wake = false, false, 0
			h.still = h.still && h.away == 0 // idle memory moves under load
		}
		if !h.still {
			if n := h.calmSteps(k, end); n > 0 {
				h.migrateFor(k, n)
				h.still, h.step, h.ticks = !h.moved, k+n, h.ticks+n*int64(len(h.clients))
				continue
			}
			h.moved, h.placed = false, false
			h.memory(k)
			h.still = !h.moved
			if h.placed { // pages that only move home make no other node better
				h.hopeless, h.wake = false, 0
			}
		}
		if k >= h.wake {
			h.balance(k)
		}
		next := k + 1
		if h.still && !h.dirty {
			next = min(end, (k/drawSteps+1)*drawSteps, max(next, h.wake))
		}
		h.ticks += (next - k) * int64(len(h.clients))
		h.step = next
	}
}

// drawAll draws the demand of every VM (phase 1).
func (h *host) drawAll(w *World, k int64) {
	second := w.secondOfDay(k)
	for i := range h.vms {
		if h.drawOne(&h.vms[i], w.seed, second, k) {
			h.dirty = true
		}
	}
}

// drawOne draws the demand of a VM and reports whether it changed.
func (h *host) drawOne(v *vm, seed uint64, second, k int64) bool {
	wanted := int64(v.vcpus) * h.draw(v, seed, second, k)
	if int64(v.wanted) == wanted {
		return false
	}
	v.wanted = int32(wanted)
	return true
}

// wants returns the demand of a VM, after its limit.
func (v *vm) wants() int64 {
	if v.facts.limit >= 0 {
		return min(int64(v.wanted), v.facts.limit)
	}
	return int64(v.wanted)
}

// loads computes the demand of clients and the loads of nodes (phase 2).
func (h *host) loads() {
	clear(h.load)
	loose, looseCPUs := int64(0), int64(0)
	for i := range h.vms {
		v := &h.vms[i]
		all := v.wants()
		if v.n == 1 {
			h.demand[v.first] = int32(all)
			if home := h.home[v.first]; home >= 0 {
				h.load[home] += all
			} else {
				loose, looseCPUs = loose+all, looseCPUs+int64(v.vcpus)
			}
			continue
		}
		for c, end := v.clientsOf(); c < end; c++ {
			d := h.part(v, c, all)
			h.demand[c] = int32(d)
			h.load[h.home[c]] += d
		}
	}
	h.spread(loose)
	h.crowded = false
	for n := range h.cap {
		h.crowded = h.crowded || h.load[n]+h.loose[n] > h.cap[n]
	}
	if h.crowded {
		h.fill(looseCPUs)
		h.divide()
		return
	}
	for n := range h.got {
		h.got[n] = h.load[n] + h.loose[n]
	}
}

// spread divides the demand of VMs without home over the nodes.
func (h *host) spread(loose int64) {
	clear(h.loose)
	if loose == 0 {
		return
	}
	idle, first := int64(0), -1
	for n, c := range h.cap {
		idle += max(0, c-h.load[n])
		if first < 0 && h.cores[n] > 0 {
			first = n
		}
	}
	left := loose
	for n, c := range h.cap {
		room := max(0, c-h.load[n])
		switch {
		case loose <= idle:
			h.loose[n] = loose * room / idle
		default:
			h.loose[n] = room + (loose-idle)*c/max(h.allCap, 1)
		}
		left -= h.loose[n]
	}
	h.loose[max(first, 0)] += left
}

// fill computes the CPU time of clients on crowded nodes (phase 3, C-14).
func (h *host) fill(looseCPUs int64) {
	if h.crowd == nil {
		h.crowd = &crowd{make([]int32, len(h.clients)), make([]int32, len(h.vms)), make([]int32, len(h.vms)), nil}
	}
	all, got := int64(0), int64(0) // of VMs without home
	for n, c := range h.cap {
		if h.load[n]+h.loose[n] <= c {
			all, got = all+h.loose[n], got+h.loose[n]
			h.got[n] = h.load[n] + h.loose[n]
			for i, home := range h.home {
				if int(home) == n {
					h.crowd.given[i] = h.demand[i]
				}
			}
			continue
		}
		all, got = all+h.loose[n], got+h.fillNode(n, max(1, looseCPUs*c/max(h.allCap, 1)))
	}
	for i, home := range h.home {
		if home < 0 && all > 0 {
			h.crowd.given[i] = int32(int64(h.demand[i]) * got / all)
		} else if home < 0 {
			h.crowd.given[i] = h.demand[i]
		}
	}
}

// An asked is the demand of a client at home on a crowded node.
type asked struct {
	client int32
	vcpus  int32
	demand int64
	atOnce int64 // reserved part of the demand
}

// ask collects the demand of the clients at home on a node.
func (h *host) ask(n int) []asked {
	list := h.crowd.here[:0]
	for i, home := range h.home {
		if int(home) != n {
			continue
		}
		a := asked{client: int32(i), vcpus: int32(h.clients[i].vcpus), demand: int64(h.demand[i])}
		if v := &h.vms[h.clients[i].vm]; v.facts.reserved > 0 {
			a.atOnce = min(a.demand, h.part(v, i, v.facts.reserved))
		}
		list = append(list, a)
	}
	h.crowd.here = list
	return list
}

// at returns the client's CPU time when each vCPU is limited to the level.
func (a *asked) at(level int64) int64 { return max(a.atOnce, min(a.demand, level*int64(a.vcpus))) }

// fillNode finds the level of a crowded node. It returns the CPU time of VMs without home there.
func (h *host) fillNode(n int, looseWeight int64) (looseGot int64) {
	list := h.ask(n)
	low, high := int64(0), int64(full) // the level is in [low, high]
	for low < high {
		mid := (low + high + 1) / 2
		sum := min(h.loose[n], mid*looseWeight)
		for i := range list {
			sum += list[i].at(mid)
		}
		if sum <= h.cap[n] {
			low = mid
		} else {
			high = mid - 1
		}
	}
	looseGot = min(h.loose[n], low*looseWeight)
	h.got[n] = looseGot
	for i := range list {
		got := list[i].at(low)
		h.crowd.given[list[i].client] = int32(got)
		h.got[n] += got
	}
	if sum := h.got[n]; sum > h.cap[n] { // more is reserved than the capacity
		h.got[n] = 0
		for i := range list {
			given := &h.crowd.given[list[i].client]
			*given = int32(int64(*given) * h.cap[n] / sum)
			h.got[n] += int64(*given)
		}
	}
	return looseGot
}

// divide computes the run and co-stop time of VMs on a crowded host (phase 3). Elsewhere a VM runs
// its full demand, and is ready for the part cut by its limit.
func (h *host) divide() {
	for i := range h.vms {
		given, run := h.progress(&h.vms[i])
		h.crowd.runs[i], h.crowd.stops[i] = int32(run), int32(given-run)
	}
}

// progress returns the CPU time of a VM's clients and the part of it that runs: clients that are
// ahead wait for the others (C-20).
func (h *host) progress(v *vm) (given, run int64) {
	least := int64(full)
	first, end := v.clientsOf()
	for c := first; c < end; c++ {
		if d := int64(h.demand[c]); d > 0 {
			least = min(least, int64(h.crowd.given[c])*full/d)
		}
	}
	for c := first; c < end; c++ {
		g, d := int64(h.crowd.given[c]), int64(h.demand[c])
		given += g
		run += min(g, (d*least+full-1)/full)
	}
	return given, run
}

package scheduler

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"example.org/homenode/esxi/placement"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// young is the time for which placement does not know the load of a new client, in steps: 60 s. It
// causes the burst flaw (C-7) and the wave of vMotions (C-3) [I].
const young = 30

// An arrival is a VM that arrives on a host.
type arrival struct {
	index    int // in the fleet
	layout   *vnuma.Layout
	facts    *vmFacts
	load     *numa.Load
	growth   growth
	seen     *numa.SeenVM // observed placement; nil to place it
	standing bool         // it ran long before the story begins
}

// admit creates the clients of an arriving VM and sets their home nodes. Its memory is allocated in
// the next growth phase.
func (h *host) admit(k int64, a *arrival, w *World) *vm {
	at, _ := h.search(int32(a.index))
	h.settleCPU(k)
	first := len(h.clients)
	if at < len(h.vms) {
		first = int(h.vms[at].first)
	}
	v := vm{
		index: int32(a.index), first: int32(first), n: 1, vcpus: int16(a.layout.VPDs.Sum()), facts: a.facts,
		came: int32(k), memSince: int32(k), tries: h.set.AlwaysTryLarge,
	}
	h.setLoadOf(&v, a.load)
	h.setGrowth(&v, a.growth)
	if a.standing {
		v.came = longAgo
	}
	if a.facts.managed {
		v.n = int16(a.layout.PPDs.Len())
	}
	h.insert(at, &v, a)
	in := &h.vms[at]
	h.drawOne(in, w.seed, w.secondOfDay(k), k)
	switch {
	case a.facts.managed && a.seen != nil && h.settleAs(in, a.seen):
	case a.facts.managed:
		h.placeVM(k, in, a)
	default:
		h.decide(Decision{Kind: Unmanaged, VM: a.index, Client: -1, Other: -1, From: -1, To: -1, Numbers: [7]int64{int64(v.vcpus), a.facts.size, h.mem[0]}})
	}
	h.setHomes(in)
	h.findTalks()
	h.changed()
	if h.trace != nil {
		h.trace.before[in.index], h.trace.stale = h.sumsOf(in), true
	}
	return in
}

// search returns the index at which the VM with this index in the fleet is, or would be inserted.
func (h *host) search(index int32) (at int, found bool) {
	return slices.BinarySearchFunc(h.vms, index, func(v vm, i int32) int { return cmp.Compare(v.index, i) })
}

// findTalks finds whether any two VMs on this host communicate.
func (h *host) findTalks() {
	h.talks = false
	for i := range h.vms {
		for _, p := range h.talking[h.vms[i].index] {
			_, here := h.search(p.vm)
			h.talks = h.talks || here
		}
	}
}

// longAgo is the step of events before the story began.
const longAgo = math.MinInt32

// insert makes room for a VM and its clients.
func (h *host) insert(at int, v *vm, a *arrival) {
	n, nodes := int(v.n), len(h.cap)
	h.vms = append(h.vms, vm{})
	copy(h.vms[at+1:], h.vms[at:])
	h.vms[at] = *v
	for i := at + 1; i < len(h.vms); i++ {
		h.vms[i].first += int32(n)
	}
	first := int(v.first)
	h.clients = grow(h.clients, first, n)
	h.home = grow(h.home, first, n)
	h.demand = grow(h.demand, first, n)
	h.pages = grow(h.pages, first*nodes, n*nodes)
	h.crowd = nil // allocated again when the host is crowded
	if h.out != nil {
		h.out, h.strains = grow(h.out, first, n), grow(h.strains, first, n)
	}
	if h.debts != nil {
		h.debts = grow(h.debts, first, n)
	}
	if h.pasts != nil {
		h.pasts = grow(h.pasts, first, n)
	}
	for i := first + n; i < len(h.clients); i++ {
		h.clients[i].vm++
	}
	for i := range n {
		start, size := 0, int(v.vcpus)
		if a.facts.managed {
			start, size = a.layout.PPDs.Group(i)
		}
		h.clients[first+i] = client{vm: int32(at), start: int16(start), vcpus: int16(size)}
		if h.pasts != nil {
			h.pasts[first+i] = past{longAgo, longAgo}
		}
		h.home[first+i] = -1
	}
}

// grow inserts n zero values at i.
func grow[T any](s []T, i, n int) []T {
	var zero T
	for range n {
		s = append(s, zero)
	}
	copy(s[i+n:], s[i:])
	clear(s[i : i+n])
	return s
}

// dismiss removes a VM from the host. It returns its memory growth, with the touched memory as the
// floor, including memory still to be allocated here.
func (h *host) dismiss(k int64, at int) (was growth) {
	h.settleCPU(k)
	v := h.vms[at]
	h.settleMemory(&v, k)
	was = h.growthOf(&v)
	was.floor = max(h.touchedBy(&v), was.floor)
	r := h.guestOf(&v).more()
	r.sums, r.growth, r.widened = h.sumsOf(&v), growth{}, 0
	first, end := v.clientsOf()
	for c := first; c < end; c++ {
		for n, p := range h.at(c) {
			h.used[n] -= p
		}
	}
	h.remove(&v, at)
	if v.growing {
		h.grow--
	}
	h.findTalks()
	h.changed()
	return was
}

// remove closes the gap that a VM and its clients leave.
func (h *host) remove(v *vm, at int) {
	if h.trace != nil {
		h.trace.stale = true
	}
	first, end := v.clientsOf()
	nodes := len(h.cap)
	h.clients = append(h.clients[:first], h.clients[end:]...)
	h.home = append(h.home[:first], h.home[end:]...)
	h.demand = append(h.demand[:first], h.demand[end:]...)
	h.crowd = nil
	h.pages = append(h.pages[:first*nodes], h.pages[end*nodes:]...)
	if h.out != nil {
		h.out, h.strains = append(h.out[:first], h.out[end:]...), append(h.strains[:first], h.strains[end:]...)
	}
	if h.debts != nil {
		h.debts = append(h.debts[:first], h.debts[end:]...)
	}
	if h.pasts != nil {
		h.pasts = append(h.pasts[:first], h.pasts[end:]...)
	}
	h.vms = append(h.vms[:at], h.vms[at+1:]...)
	for i := at; i < len(h.vms); i++ {
		h.vms[i].first -= int32(v.n)
	}
	for i := first; i < len(h.clients); i++ {
		h.clients[i].vm--
	}
}

// placeVM chooses the home nodes of the clients of a VM (C-3 to C-6).
func (h *host) placeVM(k int64, v *vm, a *arrival) {
	first, end := v.clientsOf()
	for c := first; c < end; c++ {
		h.know(k, c, a.standing)
		homes := h.home[first:c]
		choices := h.place.Choices(v.facts.allowed, homes)
		n, inTurn := h.place.Choose(choices, homes, h.slice(v, c, max(a.growth.target, a.growth.floor)))
		load := h.place.Load[n] * full / max(h.cap[n], 1)
		if inTurn {
			load = -1
		}
		next, nextLoad, young := 0, int64(0), int64(0)
		if h.room > 0 && h.release >= numa.ESXi50 {
			next, nextLoad, young = h.besides(k, c, h.place.Best(choices&^(1<<n), homes), n, a)
		}
		h.home[c] = int8(n)
		h.place.Last = n
		h.decide(Decision{Kind: Placed, VM: int(v.index), Client: c - first, Other: -1, From: -1, To: h.id(n),
			Numbers: [7]int64{load, h.knownFree(k, n, inTurn), int64(h.clients[c].vcpus), int64(choices.Len()), int64(next), nextLoad, young}})
	}
}

// know updates the load and free memory that the placement of client c knows.
func (h *host) know(k int64, c int, standing bool) {
	for n := range h.cap {
		h.place.Free[n] = h.knownFree(k, n, false)
		h.place.Load[n] = h.knownLoad(k, n, c, standing)
	}
}

// besides returns, for the why-log, the alternative to a placement on node n: the next best node's
// ID plus 1, 0 without one, and its known load. came is the number of vCPUs of recently arrived
// clients that decided the choice: those counted as whole cores on the two nodes, or, below 0,
// those on n that were not counted when counting them would have changed the choice.
func (h *host) besides(k int64, c, best, n int, a *arrival) (next int, load, came int64) {
	if best < 0 {
		return 0, 0, 0
	}
	share := func(node int, more int64) int64 {
		return (h.place.Load[node] + more*wholeCore) * full / max(h.cap[node], 1)
	}
	load = share(best, 0)
	var fresh [2]int64 // vCPUs on n and on best
	for o, home := range h.home {
		one := &h.vms[h.clients[o].vm]
		if o == c || !a.standing && k-int64(one.came) >= young {
			continue
		}
		switch int(home) {
		case n:
			fresh[0] += int64(h.clients[o].vcpus)
		case best:
			fresh[1] += int64(h.clients[o].vcpus)
		}
	}
	if a.standing || h.release < numa.ESXi80 || h.set.PlacementLoad > 0 {
		return h.id(best) + 1, load, fresh[0] + fresh[1]
	}
	if share(n, fresh[0]) > share(best, fresh[1]) {
		return h.id(best) + 1, load, -fresh[0]
	}
	return h.id(best) + 1, load, 0
}

// knownLoad returns the load of a node as the placement of client c knows it, in parts (C-4, C-7).
func (h *host) knownLoad(k int64, n, c int, standing bool) (sum int64) {
	for o, home := range h.home {
		if int(home) != n || o == c {
			continue
		}
		v := &h.vms[h.clients[o].vm]
		whole := int64(h.clients[o].vcpus) * wholeCore
		switch fresh := k-int64(v.came) < young; {
		case standing, v.facts.eager && h.set.PlacementLoad > 0:
			sum += whole
		case !fresh:
			sum += h.part(v, o, v.wants())
		case h.release < numa.ESXi80 || h.set.PlacementLoad > 0:
			sum += whole
		}
	}
	return sum
}

// knownFree returns the free memory of a node as placement knows it. Before Update 2 of ESX 4.1
// that excludes memory of recently arrived VMs, unless all is true.
func (h *host) knownFree(k int64, n int, all bool) int64 {
	free := h.free(n)
	if h.release >= numa.ESX41+2 || all {
		return free
	}
	for c := range h.clients {
		if v := &h.vms[h.clients[c].vm]; k-int64(v.came) < young {
			free += h.at(c)[n]
		}
	}
	return free
}

// factsOf returns the simulated properties of a VM's configuration, and lists the ignored ones.
func (h *host) factsOf(v *numa.VM, g *vnuma.Guest, l *vnuma.Layout) (f *vmFacts, problems []string) {
	f = &vmFacts{managed: l.Managed && len(h.cap) > 0, limit: -1, mostThreads: g.PreferHT || h.machine.PreferHT}
	f.eager = v.LatencyHigh()
	if _, spans := l.Spanning(); spans && f.managed {
		f.nodes, f.clients, f.homes = l.VPDs, l.PPDs, l.HomeNodes
	}
	limit, reserved := v.CPULimit.Or(-1), v.CPUReservation.Value
	if limit >= 0 || reserved > 0 {
		if mhz := h.facts.CoreMHz.Value; mhz == 0 {
			problems = append(problems, "its CPU limit or reservation is in MHz and the frequency of the host is unknown: it is left out")
		} else {
			if limit >= 0 {
				f.limit = fromMHz(limit, mhz, g.VCPUs)
			}
			f.reserved = fromMHz(max(0, reserved), mhz, g.VCPUs)
		}
	}
	if !v.Memory.Known() {
		problems = append(problems, "its memory is unknown: it is simulated without")
	}
	f.keep, f.mhz = reservedOf(v), int64(g.Needs.MHz)
	at := placement.Of(h.facts, *h.choices)
	if limit, ok := v.LimitedTo(); ok {
		problems = append(problems, fmt.Sprintf("only the %s of its memory up to its limit are simulated", limit))
	}
	f.size, f.allowed = int64(v.Resident()/numa.PageSize), at.Allowed(numa.SetOf(vnuma.NodeAffinity(v)...))
	if salt, ok := v.Settings.Value.Lookup("sched.mem.pshare.salt"); ok && salt == "" {
		f.salt = "\x00" + v.ID // present but empty: a salt of its own
	} else {
		f.salt = salt
	}
	return f, problems
}

// reservedOf returns the pages that a VM reserves.
func reservedOf(v *numa.VM) int64 {
	keep := v.MemoryReservation.Value
	if v.AllReserved() {
		keep = v.Memory.Value
	}
	return int64(min(max(0, keep), v.Memory.Value) / numa.PageSize)
}

// fromMHz returns CPU in MHz as parts of a core, at most the capacity of all the VM's vCPUs.
func fromMHz(mhz, core int, vcpus int32) int64 {
	return min(int64(mhz), int64(vcpus)*int64(core)) * wholeCore / int64(core)
}

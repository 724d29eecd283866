package scheduler

import (
	"slices"

	"example.org/homenode/numa"
)

// balance is phase 8: at most one thing happens a period.
func (h *plainHost) balance() {
	k := h.world.k + 1
	if !h.rebalances() || k%h.set.period != 0 {
		return
	}
	p := k / h.set.period
	if h.longTermFairness(p) || h.balanceLoad(p) {
		return
	}
	h.improveLocality(p)
}

// rebalances reports whether the host has a balancer.
func (h *plainHost) rebalances() bool {
	if !h.simulated || !h.set.rebalance || len(h.nodes) < 2 || h.cores() < h.set.coresTotal {
		return false
	}
	for _, n := range h.withCores() {
		if int64(n.Cores) < h.set.coresNode {
			return false
		}
	}
	return true
}

// movesIn reports whether moves are considered in a period.
func (h *plainHost) movesIn(p int64) bool {
	return h.set.swapMigrateOnly > 0 && p%h.set.swapMigrateOnly == 0
}

// tooBusy reports whether a node has more load than CoreCapRatioPct.
func (h *plainHost) tooBusy(n *plainNode, more int64) bool {
	return h.set.coreCap > 0 && n.util(more) > 100*h.set.coreCap
}

// rested reports whether the client has been at its home long enough to move for locality.
func (c *plainClient) rested() bool { return c.vm.world.k+1-c.homeSince >= 30 }

// util returns the load of a node as a share of its capacity, when its clients had so
// much more demand.
func (n *plainNode) util(more int64) int64 { return (n.load + n.loose + more) * whole / n.cap }

// extremes returns the nodes with the highest and the lowest of something.
func extremes(nodes []*plainNode, of func(*plainNode) int64) (most, least *plainNode) {
	for _, n := range nodes {
		if most == nil || of(n) > of(most) {
			most = n
		}
		if least == nil || of(n) < of(least) {
			least = n
		}
	}
	return most, least
}

// at returns the clients at home on a node.
func (h *plainHost) at(n *plainNode) (clients []*plainClient) {
	for _, c := range h.clients() {
		if c.home == n {
			clients = append(clients, c)
		}
	}
	return clients
}

// canGo reports whether the client can go to the node.
func (c *plainClient) canGo(n *plainNode) bool {
	h := c.vm.host
	places := n.Cores
	if c.vm.threads && h.hyperThreads() {
		places = n.Threads
	}
	for _, a := range c.vm.canLive {
		if a == n {
			vcpus := c.n
			for _, o := range c.vm.clients {
				if o != c && o.home == n {
					vcpus += o.n
				}
			}
			return places >= vcpus
		}
	}
	return false
}

// move gives the client another home.
func (c *plainClient) move(to *plainNode, count func(*numa.Moves)) {
	c.home.load -= c.demand
	to.load += c.demand
	c.home = to
	c.homeSince = c.vm.world.k + 1
	c.heat()
	c.vm.coolDown()
	for _, s := range []*plainSums{&c.vm.sums, &c.vm.recent} {
		s.Moves.All++
		count(&s.Moves)
	}
}

// heat sets the hot pages of a client whose home or load has changed.
func (c *plainClient) heat() {
	c.hot = times(c.outside(), partsOf(c.vm.load.Active), whole)
}

// longTermFairness moves a client for CPU time owed.
func (h *plainHost) longTermFairness(p int64) (moved bool) {
	if h.set.fairnessInterval == 0 || p%h.set.fairnessInterval != 0 {
		return false
	}
	owed := func(n *plainNode) int64 {
		var sum, demand int64
		for _, c := range h.at(n) {
			sum += c.owed
			demand += c.demanded
		}
		if demand == 0 {
			return 0
		}
		return times(sum, whole, demand)
	}
	a, b := extremes(h.withCores(), owed)
	if owed(a)-owed(b) >= 100*h.set.fairnessImbalance {
		var best *plainClient
		for _, c := range h.at(a) {
			h.noteTie(best != nil && c.owed == best.owed)
			if c.owed > 0 && c.canGo(b) && b != a && b.util(c.demand) <= a.util(-c.demand) && (best == nil || c.owed > best.owed) {
				best = c
			}
		}
		if best != nil {
			best.move(b, func(m *numa.Moves) { m.Fairness++ })
			h.world.decided["fairness moved"]++
			moved = true
		}
	}
	for _, c := range h.clients() {
		c.owed, c.demanded = 0, 0
	}
	return moved
}

// balanceLoad moves or swaps clients for load.
func (h *plainHost) balanceLoad(p int64) (happened bool) {
	a, b := extremes(h.withCores(), func(n *plainNode) int64 { return n.util(0) })
	if a == b || a.util(0)-b.util(0) < 100*h.set.imbalance || h.set.coreCap > 0 && !h.tooBusy(a, 0) {
		return false
	}
	if h.movesIn(p) && h.balanceMove(a, b) {
		return true
	}
	return h.set.swapLoad && p%h.set.swapInterval == 0 && h.balanceSwap(p, a, b)
}

// improvement returns better when c, and other in exchange if there is one, change places,
// and whether it counts.
func (h *plainHost) improvement(a, b *plainNode, c, other *plainClient) (better int64, counts bool) {
	delta, affinity := c.demand, c.affinity(a)-c.affinity(b)
	if other != nil {
		delta -= other.demand
	}
	imbalance := a.util(0) - b.util(0)
	after := a.util(-delta) - b.util(delta)
	if after < 0 {
		after = -after
	}
	better = imbalance - after
	least := 100 * h.set.better
	counts = better >= least && after <= imbalance*h.set.thrash/100 && !h.prevents(c)
	if a.util(0) <= whole && better-down(h.set.weightAffinity*affinity, 100) < least {
		counts = false
	}
	return better, counts
}

// prevents reports whether the client is owed too much to move for load.
func (h *plainHost) prevents(c *plainClient) bool {
	if h.set.preventLongTerm == 0 || c.demanded == 0 {
		return false
	}
	return times(c.owed, whole, c.demanded) > 100*h.set.preventLongTerm
}

func (h *plainHost) balanceMove(a, b *plainNode) bool {
	var best *plainClient
	var most int64
	for _, c := range h.at(a) {
		better, counts := h.improvement(a, b, c, nil)
		if !counts || c.demand == 0 || !c.canGo(b) {
			continue
		}
		value := better + 100*h.set.weightMemory*c.percent(map[*plainNode]bool{b: true})
		h.noteTie(best != nil && value == most)
		if best == nil || value > most {
			best, most = c, value
		}
	}
	if best == nil {
		return false
	}
	best.move(b, func(m *numa.Moves) { m.Balance++ })
	h.world.decided["balance moved"]++
	return true
}

func (h *plainHost) balanceSwap(p int64, a, b *plainNode) bool {
	fresh := func(n *plainNode) (out []*plainClient) {
		for _, c := range h.at(n) {
			if p-c.considered >= h.set.swapConsider {
				out = append(out, c)
			}
		}
		return out
	}
	of, in := fresh(a), fresh(b)
	for _, c := range append(slices.Clone(of), in...) {
		c.considered = p
	}
	var first, second *plainClient
	var most int64
	for _, c := range of {
		for _, o := range in {
			better, counts := h.improvement(a, b, c, o)
			on := func(c *plainClient, n *plainNode) int64 { return c.percent(map[*plainNode]bool{n: true}) }
			better -= 100 * h.set.weightMemory * (on(c, a) - on(c, b) + on(o, b) - on(o, a))
			counts = counts && better >= 100*h.set.better && c.canGo(b) && o.canGo(a)
			h.noteTie(counts && first != nil && better == most)
			if counts && (first == nil || better > most) {
				first, second, most = c, o, better
			}
		}
	}
	if first == nil {
		return false
	}
	count := func(m *numa.Moves) { m.LoadSwap++ }
	first.move(b, count)
	second.move(a, count)
	h.world.decided["balance swapped"]++
	return true
}

// percent returns the percent of the client's pages that are on these nodes.
func (c *plainClient) percent(nodes map[*plainNode]bool) int64 {
	var on int64
	for _, n := range c.vm.host.nodes {
		if nodes[n] {
			on += c.pages[n.index]
		}
	}
	if c.all() == 0 {
		return 0
	}
	return times(on, 100, c.all())
}

// affinity returns the action affinity of the client to a node (C-11).
func (c *plainClient) affinity(n *plainNode) int64 {
	h, w := c.vm.host, c.vm.world
	var all, here int64
	for pair, rate := range w.talks {
		if pair[0] != c.vm.index && pair[1] != c.vm.index {
			continue
		}
		partner := w.vms[pair[0]+pair[1]-c.vm.index]
		all += rate
		if !partner.on || partner.host != h {
			continue
		}
		for _, o := range partner.clients {
			if o.home == n {
				here += rate
				break
			}
		}
	}
	if all == 0 {
		return 0
	}
	return times(here, whole, all)
}

// gain returns what locality gains when the client goes to a node.
func (h *plainHost) gain(c *plainClient, to *plainNode) int64 {
	homes := c.vm.homes()
	memory := int64(0)
	if !homes[to] {
		memory = c.percent(map[*plainNode]bool{to: true}) - c.percent(homes)
	}
	return h.set.weightMemory*memory + down(h.set.weightAffinity*(c.affinity(to)-c.affinity(c.home)), whole)
}

// worthwhile is the least gain of locality that counts.
const worthwhile = 20

// improveLocality moves or swaps clients to their memory or partners.
func (h *plainHost) improveLocality(p int64) {
	if h.movesIn(p) && h.localityMove() {
		return
	}
	if h.set.swapLocality && p%h.set.swapInterval == 0 {
		h.localitySwap()
	}
}

// gains calls f with every client and node at which it gains enough.
func (h *plainHost) gains(f func(c *plainClient, b *plainNode, gain int64)) {
	for _, c := range h.clients() {
		for _, b := range h.withCores() {
			if c.home == nil || b == c.home || !c.canGo(b) || !c.rested() {
				continue
			}
			if gain := h.gain(c, b); gain >= worthwhile {
				f(c, b, gain)
			}
		}
	}
}

func (h *plainHost) localityMove() bool {
	var best *plainClient
	var target *plainNode
	var most int64
	h.gains(func(c *plainClient, b *plainNode, gain int64) {
		if h.tooBusy(b, c.demand) {
			return
		}
		h.noteTie(best != nil && gain == most)
		if best == nil || gain > most {
			best, target, most = c, b, gain
		}
	})
	if best == nil {
		return false
	}
	best.move(target, func(m *numa.Moves) { m.Locality++ })
	h.world.decided["locality moved"]++
	return true
}

func (h *plainHost) localitySwap() {
	var first, second *plainClient
	var most int64
	h.gains(func(c *plainClient, b *plainNode, gain int64) {
		if !h.tooBusy(b, c.demand) {
			return
		}
		for _, j := range h.at(b) {
			more := c.demand - j.demand
			if !j.canGo(c.home) || !j.rested() || h.tooBusy(b, more) || h.tooBusy(c.home, -more) {
				continue
			}
			sum := gain + h.gain(j, c.home)
			h.noteTie(first != nil && sum == most)
			if sum >= worthwhile && (first == nil || sum > most) {
				first, second, most = c, j, sum
			}
		}
	})
	if first == nil {
		return
	}
	from, to := first.home, second.home
	count := func(m *numa.Moves) { m.LocalitySwap++ }
	first.move(to, count)
	second.move(from, count)
	h.world.decided["locality swapped"]++
}

// noteTie notes that the order of VMs decides, if it does.
func (h *plainHost) noteTie(tie bool) { h.world.tied = h.world.tied || tie }

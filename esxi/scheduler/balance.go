package scheduler

import (
	"math"

	"example.org/homenode/esxi/memory"
	"example.org/homenode/numa"
)

// The balancer (phase 8, C-8 to C-11). It does at most one thing per period: long-term fairness,
// else balance, else locality. It depends on demand, which changes with a draw, and on memory, so a
// host on which it found nothing to do is skipped until one of them changes.
// docs/evidence/simulation.md lists the conditions.

// localityGain is the least gain of a locality move. The real value is not published: Denneman
// guesses that N%L below 80 makes a VM move (C-10) [I].
const localityGain = 20

// rest is the minimum time on a home node before a client may move for locality, in steps: 60 s [I].
const rest = 30

// balance runs the balancer for the period that ends with step k.
func (h *host) balance(k int64) {
	if !h.rebalances() {
		h.wake = never
		return
	}
	period := h.set.periodSteps()
	if rest := (k + 1) % period; rest != 0 {
		h.wake = k + period - rest
		return
	}
	p := (k + 1) / period
	most, least := h.extremes()
	imbalance := h.util(most) - h.util(least)
	if h.fairnessMove(k, p) {
		return
	}
	balanced := imbalance < int64(h.set.MigImbalance)*percent || h.set.CoreCapRatio > 0 && h.util(most) <= h.set.ceiling()
	if !balanced && h.balanceLoad(k, p, most, least, imbalance) {
		return
	}
	if h.away == 0 && !h.talks {
		h.hopeless = true
	}
	if !h.hopeless && h.improveLocality(k, p) {
		return
	}
	h.wake = h.nextLook(p, balanced)*period - 1
}

// never is a step beyond every story.
const never = math.MaxInt64

// nextLook returns the next period after p that the balancer has to check.
func (h *host) nextLook(p int64, balanced bool) int64 {
	next := never / h.set.periodSteps()
	after := func(every int) {
		if every > 0 {
			next = min(next, (p/int64(every)+1)*int64(every))
		}
	}
	if h.owing || h.crowded {
		after(h.set.LTermFairnessInterval)
	}
	if !h.hopeless || !balanced && !h.noMove {
		after(h.set.SwapMigrateOnly)
	}
	if !h.hopeless && h.set.SwapLocality || !balanced && h.set.SwapLoad {
		after(h.set.SwapInterval)
	}
	return next
}

// rebalances reports whether the host has a rebalancer: it needs several nodes and a minimum of cores.
func (h *host) rebalances() bool {
	if !h.set.RebalanceEnable || len(h.cap) < 2 {
		return false
	}
	all := 0
	for _, c := range h.cores {
		if all += int(c); c > 0 && int(c) < h.set.CoresNode {
			return false
		}
	}
	return all >= h.set.CoresTotal
}

// moves reports whether period p considers pure moves.
func (s *Settings) moves(p int64) bool {
	return s.SwapMigrateOnly > 0 && p%int64(s.SwapMigrateOnly) == 0
}

// ceiling returns the load above which a node counts as busy: it gets no client for locality.
func (s *Settings) ceiling() int64 {
	if s.CoreCapRatio == 0 {
		return math.MaxInt64
	}
	return int64(s.CoreCapRatio) * percent
}

// util returns the load of a node in hundredths of a percent of its capacity.
func (h *host) util(n int) int64 { return h.utilWith(n, 0) }

// utilWith returns the load of a node with additional demand.
func (h *host) utilWith(n int, more int64) int64 {
	if h.cap[n] == 0 {
		return 0
	}
	return (h.load[n] + h.loose[n] + more) * full / h.cap[n]
}

// extremes returns the nodes with the highest and the lowest load.
func (h *host) extremes() (most, least int) {
	most, least = -1, -1
	for n := range h.cap {
		if h.cores[n] == 0 {
			continue
		}
		if most < 0 || h.util(n) > h.util(most) {
			most = n
		}
		if least < 0 || h.util(n) < h.util(least) {
			least = n
		}
	}
	return max(most, 0), max(least, 0)
}

// canGo reports whether a client may have its home on a node.
func (h *host) canGo(c, n int) bool {
	v := &h.vms[h.clients[c].vm]
	return v.facts.allowed.Has(n) && h.fits(v, c, n)
}

// fits reports whether a node has enough cores for a client and the other clients of its VM at home
// there; with preferHT threads count (B-14).
func (h *host) fits(v *vm, c, n int) bool {
	sum := int32(h.clients[c].vcpus)
	for o, end := v.clientsOf(); o < end; o++ {
		if o != c && int(h.home[o]) == n {
			sum += int32(h.clients[o].vcpus)
		}
	}
	if v.facts.mostThreads {
		return sum <= h.threads(n)
	}
	return sum <= h.cores[n]
}

// fairnessMove implements long-term fairness: it moves the client with the highest CPU debt.
func (h *host) fairnessMove(k, p int64) bool {
	iv := h.fairness()
	if iv == 0 || (k+1)%iv != 0 {
		return false
	}
	if !h.owing && !h.crowded {
		return false
	}
	if begin := k + 1 - iv; begin > h.cpuSince {
		h.settleCPU(begin)
	}
	h.settleUntil(k + 1)
	defer h.forgive()
	if !h.owing {
		return false
	}
	from, to, gap := h.owedMost()
	if gap < int64(h.set.LTermMigImbalance)*percent {
		return false
	}
	best := -1
	for c, home := range h.home {
		owed := h.debts[c].owed
		if int(home) != from || owed <= 0 || !h.canGo(c, to) || best >= 0 && owed <= h.debts[best].owed {
			continue
		}
		if d := int64(h.demand[c]); h.utilWith(to, d) <= h.utilWith(from, -d) {
			best = c
		}
	}
	if best < 0 {
		return false
	}
	h.moveHome(k, best, to, FairnessMoved, [7]int64{gap, h.debts[best].owed, h.util(from), h.util(to)})
	return true
}

// settleUntil adds up CPU time until step k, which starts a fairness interval, without starting it.
func (h *host) settleUntil(k int64) {
	n := k - h.cpuSince
	if n <= 0 {
		return
	}
	h.settleVMs(n)
	h.addOwed(n)
	h.cpuSince = k
}

// owedMost returns the nodes whose clients are owed most and least, and the difference in
// hundredths of a percent of their demand.
func (h *host) owedMost() (most, least int, gap int64) {
	var owed, of [numa.MaxNodes]int64
	for c, d := range h.debts {
		if home := h.home[c]; home >= 0 {
			owed[home] += d.owed
			of[home] += d.of
		}
	}
	most, least = -1, -1
	for n := range h.cap {
		if of[n] > 0 {
			owed[n] = memory.Share(owed[n], full, of[n])
		}
		if h.cores[n] == 0 {
			continue
		}
		if most < 0 || owed[n] > owed[most] {
			most = n
		}
		if least < 0 || owed[n] < owed[least] {
			least = n
		}
	}
	if most < 0 {
		return 0, 0, 0
	}
	return most, least, owed[most] - owed[least]
}

// balanceLoad moves a client, or swaps two, between the most and the least loaded node.
func (h *host) balanceLoad(k, p int64, from, to int, imbalance int64) bool {
	if h.set.MigPreventLTerm > 0 {
		h.settleCPU(k + 1)
	}
	if h.set.moves(p) && !h.noMove {
		if c, after := h.bestMove(from, to, imbalance); c >= 0 {
			h.moveHome(k, c, to, BalanceMoved, [7]int64{h.util(from), h.util(to), imbalance, after})
			return true
		}
		h.noMove = h.set.MigPreventLTerm == 0 // until loads change
	}
	if h.set.SwapLoad && p%int64(h.set.SwapInterval) == 0 {
		if c, o, after := h.bestSwap(p, from, to, imbalance); c >= 0 {
			h.swapHomes(k, c, o, BalanceSwapped, [7]int64{h.util(from), h.util(to), imbalance, after})
			return true
		}
	}
	return false
}

// after returns the imbalance after moving d parts of demand from one node to another.
func (h *host) after(from, to int, d int64) int64 {
	gap := h.utilWith(from, -d) - h.utilWith(to, d)
	return max(gap, -gap)
}

// worth reports whether a change of the imbalance is large enough.
func (h *host) worth(imbalance, after int64) bool {
	return imbalance-after >= int64(h.set.Mig)*percent && after*100 <= imbalance*int64(h.set.MigThrash)
}

// mayLeave reports whether neither its CPU debt nor a partner keeps a client on its node.
func (h *host) mayLeave(c, from, to int, better int64) bool {
	if t := int64(h.set.MigPreventLTerm); t > 0 && h.debts != nil {
		if d := h.debts[c]; d.of > 0 && memory.Share(d.owed, full, d.of) > t*percent {
			return false
		}
	}
	if h.talks && h.util(from) <= full {
		lost := floorDiv(int64(h.set.WeightAffinity)*(h.affinity(c, from)-h.affinity(c, to)), percent)
		return better-lost >= int64(h.set.Mig)*percent
	}
	return true
}

// bestMove returns the client whose move helps most, or -1.
func (h *host) bestMove(from, to int, imbalance int64) (best int, least int64) {
	best = -1
	top := int64(0)
	for c, home := range h.home {
		if int(home) != from || h.demand[c] == 0 || !h.canGo(c, to) {
			continue
		}
		after := h.after(from, to, int64(h.demand[c]))
		if !h.worth(imbalance, after) || !h.mayLeave(c, from, to, imbalance-after) {
			continue
		}
		score := imbalance - after + percent*int64(h.set.WeightMem)*h.share100(h.at(c)[to], c)
		if best < 0 || score > top {
			best, top, least = c, score, after
		}
	}
	return best, least
}

// share100 returns pages as a whole percentage of a client's pages on all nodes.
func (h *host) share100(pages int64, c int) int64 {
	all := h.resident(c)
	if all == 0 {
		return 0
	}
	return pages * 100 / all
}

// loses returns how many percent more of a client's pages are on node from than on node to.
func (h *host) loses(c, from, to int) int64 {
	return h.share100(h.at(c)[from], c) - h.share100(h.at(c)[to], c)
}

// bestSwap returns the pair whose swap helps most, or -1.
func (h *host) bestSwap(p int64, from, to int, imbalance int64) (best, with int, least int64) {
	best, with = -1, -1
	top := int64(0)
	wait := int64(h.set.SwapConsiderPeriod)
	for c, home := range h.home {
		if int(home) != from || p-int64(h.pastOf(c).swappedAt) < wait || !h.canGo(c, to) {
			continue
		}
		for o, other := range h.home {
			if int(other) != to || p-int64(h.pastOf(o).swappedAt) < wait || !h.canGo(o, from) {
				continue
			}
			after := h.after(from, to, int64(h.demand[c]-h.demand[o]))
			score := imbalance - after - percent*int64(h.set.WeightMem)*(h.loses(c, from, to)+h.loses(o, to, from))
			if score < int64(h.set.Mig)*percent || best >= 0 && score <= top {
				continue
			}
			if h.worth(imbalance, after) && h.mayLeave(c, from, to, imbalance-after) {
				best, with, least, top = c, o, after, score
			}
		}
	}
	for c, home := range h.home {
		if (int(home) == from || int(home) == to) && p-int64(h.pastOf(c).swappedAt) >= wait {
			h.remember(c).swappedAt = int32(p)
		}
	}
	return best, with, least
}

// moveHome gives a client another home node.
func (h *host) moveHome(k int64, c, to int, kind DecisionKind, numbers [7]int64) {
	v := &h.vms[h.clients[c].vm]
	d := Decision{Kind: kind, VM: int(v.index), Client: c - int(v.first), Other: -1, From: h.id(int(h.home[c])), To: h.id(to), Numbers: numbers}
	h.rehome(k, c, to, kind)
	h.decideAt(k+1, d)
	h.changed()
}

// swapHomes exchanges the home nodes of two clients.
func (h *host) swapHomes(k int64, c, o int, kind DecisionKind, numbers [7]int64) {
	v, w := &h.vms[h.clients[c].vm], &h.vms[h.clients[o].vm]
	from, to := int(h.home[c]), int(h.home[o])
	d := Decision{Kind: kind, VM: int(v.index), Client: c - int(v.first), Other: int(w.index), From: h.id(from), To: h.id(to), Numbers: numbers}
	h.rehome(k, c, to, kind)
	h.rehome(k, o, from, kind)
	h.decideAt(k+1, d)
	h.changed()
}

// rehome sets a client's home; its memory follows.
func (h *host) rehome(k int64, c, to int, kind DecisionKind) {
	v := &h.vms[h.clients[c].vm]
	h.settleMemory(v, k)
	h.home[c] = int8(to)
	h.setHomes(v)
	h.remember(c).homeSince = int32(k + 1)
	for i, end := v.clientsOf(); i < end; i++ {
		if i == c {
			h.heat(i, h.activeOf(v))
		} else {
			h.cool(i)
		}
	}
	m := &h.guestOf(v).more().sums.Moves
	m.All++
	switch kind {
	case BalanceMoved:
		m.Balance++
	case BalanceSwapped:
		m.LoadSwap++
	case LocalityMoved:
		m.Locality++
	case LocalitySwapped:
		m.LocalitySwap++
	case FairnessMoved:
		m.Fairness++
	}
}

// changed invalidates the results that depend on homes.
func (h *host) changed() {
	h.countAway()
	h.sharing = false
	for i := range h.vms {
		h.sharing = h.sharing || h.vms[i].shares
	}
	h.dirty, h.still, h.hopeless, h.wake = true, false, false, 0
}

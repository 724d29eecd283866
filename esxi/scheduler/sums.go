package scheduler

import (
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// Sums of VMs are updated when a rate changes, as rate × steps: CPU time for all VMs of a host at once, memory for
// one VM when its pages change.

// settleCPU adds up CPU time until step k. CPU debts are added up since the last fairness interval began.
func (h *host) settleCPU(k int64) {
	n := k - h.cpuSince
	if n == 0 {
		return
	}
	h.settleVMs(n)
	if iv := h.fairness(); iv > 0 {
		if begin := k / iv * iv; begin > h.cpuSince {
			n = k - begin
			h.forgive()
		}
	}
	h.addOwed(n)
	h.cpuSince = k
}

// settleVMs adds up n steps of CPU time.
func (h *host) settleVMs(n int64) {
	for i, got := range h.got {
		h.ran[i] += got * n
	}
	if !h.crowded {
		for i := range h.vms {
			v := &h.vms[i]
			run := v.wants()
			v.run += run * n
			v.ready += (int64(v.wanted) - run) * n
		}
		return
	}
	for i := range h.vms {
		v := &h.vms[i]
		run, stop := int64(h.crowd.runs[i]), int64(h.crowd.stops[i])
		v.run += run * n
		v.ready += (int64(v.wanted) - run - stop) * n
		if stop > 0 {
			h.guestOf(v).more().sums.CoStop += stop * n
		}
	}
}

// addOwed adds up n steps of the clients' CPU debts.
func (h *host) addOwed(n int64) {
	if n <= 0 {
		return
	}
	if h.debts == nil {
		h.debts = make([]debt, len(h.clients))
	}
	for c, demand := range h.demand {
		h.debts[c].of += int64(demand) * n
	}
	if !h.crowded {
		return
	}
	h.owing = true
	for c, demand := range h.demand {
		h.debts[c].owed += int64(demand-h.crowd.given[c]) * n
	}
}

// forgive starts a fairness interval.
func (h *host) forgive() {
	clear(h.debts)
	h.owing = h.crowded
}

// fairness returns the steps of a fairness interval; 0 when there is none.
func (h *host) fairness() int64 {
	if !h.rebalances() {
		return 0
	}
	return int64(h.set.LTermFairnessInterval) * h.set.periodSteps()
}

// periodSteps returns the steps of a period of the balancer (C-8).
func (s *Settings) periodSteps() int64 {
	step := int64(2000) // ms of a step
	return max(1, (int64(s.RebalancePeriod)+step-1)/step)
}

// settleMemory adds up the memory of a VM until step k, in which it changes or is asked for.
func (h *host) settleMemory(v *vm, k int64) {
	h.stir(v)
	n := k - int64(v.memSince)
	if n <= 0 {
		return
	}
	v.memSince = int32(k)
	local, remote, homeless, far, swapped := h.memoryOf(v)
	v.local += local * n
	if remote|homeless|far|swapped != 0 {
		s := &h.guestOf(v).more().sums
		s.Remote += remote * n
		s.Homeless += homeless * n
		s.Far += far * n
		s.Swapped += swapped * n
	}
}

// memoryOf returns the pages of a VM that are local, remote, of a VM without home nodes, which runs everywhere, and not on the node of their client, and
// those swapped.
func (h *host) memoryOf(v *vm) (local, remote, homeless, far, swapped int64) {
	first, end := v.clientsOf()
	if v.n == 1 && v.homes != 0 && h.hidden == 1 { // most VMs
		all := h.resident(first)
		remote = h.outside(first)
		return all - remote, remote, 0, all - h.at(first)[h.home[first]], h.strainOf(first).swapped
	}
	for c := first; c < end; c++ {
		swapped += h.strainOf(c).swapped
		for n, p := range h.at(c) {
			if v.homes.Has(n) {
				local += p
			} else {
				remote += p
			}
			if n != int(h.home[c]) {
				far += p
			}
		}
	}
	all := local + remote
	switch {
	case v.homes == 0:
		local, remote, homeless, far = 0, 0, all, all-all/int64(len(h.cap))
	case v.facts.nodes != (vnuma.Split{}):
		far = h.farInterleaved(v)
	}
	if h.hidden > 1 {
		far = all - all/int64(h.hidden)
	}
	return local, remote, homeless, far, swapped
}

// farInterleaved returns the pages that are not on the node of the client that uses them: all clients of a virtual
// node use its pages, on the homes of all of them, equally (C-13).
func (h *host) farInterleaved(v *vm) (far int64) {
	const whole = 1 << 20
	first, end := v.clientsOf()
	for i := range v.facts.nodes.Len() {
		from, n := v.facts.nodes.Group(i)
		carries := func(c int) bool {
			start := int(h.clients[c].start)
			return start < from+n && from < start+int(h.clients[c].vcpus)
		}
		homes := numa.NodeSet(0)
		for c := first; c < end; c++ {
			if carries(c) {
				homes |= 1 << h.home[c]
			}
		}
		for c := first; c < end; c++ {
			index := c - first
			part := vnuma.PartOfNode(v.facts.clients, v.facts.nodes, v.facts.homes, index, i, whole)
			if part == 0 {
				continue
			}
			all, there := int64(0), int64(0)
			for m, p := range h.at(c) {
				all += p
				if homes.Has(m) {
					there += p
				}
			}
			far += mulDiv(all-there/int64(homes.Len()), part, h.slice(v, c, whole))
		}
	}
	return far
}

// sumsOf returns the sums of a VM up to its last update.
func (h *host) sumsOf(v *vm) (s VMOutcome) {
	if r := h.guestOf(v).rare; r != nil {
		s = r.sums
	}
	s.Steps += h.cpuSince - max(0, int64(v.came))
	s.Local += v.local
	s.Run += v.run
	s.Ready += v.ready
	s.Demand = s.Run + s.Ready + s.CoStop
	return s
}

// Add adds the sums of another VM, or of the same VM at another time.
func (o *VMOutcome) Add(other *VMOutcome) {
	o.Steps += other.Steps
	o.Local += other.Local
	o.Remote += other.Remote
	o.Homeless += other.Homeless
	o.Far += other.Far
	o.Swapped += other.Swapped
	o.Demand += other.Demand
	o.Run += other.Run
	o.Ready += other.Ready
	o.CoStop += other.CoStop
	o.Moves.Add(other.Moves)
}

// Locality returns the mean N%L over all steps, by memory; false without memory.
func (o *VMOutcome) Locality() (float64, bool) { return Share(o.Local, o.Local+o.Remote) }

// FarShare returns the share of the memory, over all steps, that was not on the node of the client it belongs to.
func (o *VMOutcome) FarShare() (float64, bool) { return Share(o.Far, o.Local+o.Remote+o.Homeless) }

// ReadyShare returns the share of the demanded CPU time that vCPUs spent ready.
func (o *VMOutcome) ReadyShare() (float64, bool) { return Share(o.Ready, o.Demand) }

// CoStopShare returns the share of the demanded CPU time that vCPUs spent co-stopped.
func (o *VMOutcome) CoStopShare() (float64, bool) { return Share(o.CoStop, o.Demand) }

// Share divides two sums; false when the second is 0.
func Share(part, whole int64) (float64, bool) {
	if whole <= 0 {
		return 0, false
	}
	return float64(part) / float64(whole), true
}

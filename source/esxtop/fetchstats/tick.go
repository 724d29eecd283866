package fetchstats

import (
	"fmt"
	"time"

	"example.org/homenode/numa"
)

// A host is one of the hosts with answers. No answer names its host; hosts are distinguished by
// their start, which is the time less the clock that counts from it, their memory and PCPUs, the
// busy time of each PCPU, and their VMs.
type host struct {
	name  string
	last  *answer   // nil before the first
	time  time.Time // of the last tick
	again bool      // it was restarted after last
}

// started returns the start time of the host, to the precision of its clock in seconds.
func (a *answer) started() time.Time {
	return a.time.Add(-time.Duration(a.stamp) * time.Microsecond)
}

// slack is the tolerated shift of one host's start: NTP corrects its clock.
const slack = time.Minute

// hostOf returns the host of the answer. A host that started after the last answer of one of the
// same size is that host after a restart; any other is another host.
func (s *Series) hostOf(a *answer, warn func(kind string, line int, text string)) *host {
	start := a.started()
	if s.Known && len(s.hosts) > 0 {
		h := s.hosts[0]
		d := start.Sub(h.last.started())
		switch on := a.continues(h.last); {
		case a.stamp > h.last.stamp && on && d.Abs() > slack:
			warn("clock", a.line, fmt.Sprintf("the clock of host %s was set %+v", h.name, d.Round(time.Second)))
		case d.Abs() > slack || !on && a.stamp < h.last.stamp:
			h.again = start.After(h.last.started())
			warn("restart", a.line, fmt.Sprintf("host %s was started again at %s", h.name, start.Format(time.RFC3339)))
		}
		return h
	}
	same := func(h *host) bool { return h.last.size == a.size && h.last.lcpus == a.lcpus }
	for _, h := range s.hosts {
		if d := start.Sub(h.last.started()); same(h) && d.Abs() <= slack && a.continues(h.last) {
			return h
		}
	}
	for _, h := range s.hosts {
		if same(h) && start.After(h.last.time.Add(-slack)) {
			warn("restart", a.line, fmt.Sprintf("host %s was started again at %s", h.name, start.Format(time.RFC3339)))
			h.again = true
			return h
		}
	}
	h := &host{name: s.Host}
	if n := len(s.hosts) + 1; n > 1 {
		h.name = nth(s.Host, n)
		warn("other host", a.line, fmt.Sprintf("the answer is of another host than those before, which started at another time or has another size: it is called %s", h.name))
	}
	s.hosts = append(s.hosts, h)
	return h
}

// continues reports whether both answers can be of one host: no PCPU time decreased, and when both
// list VMs, they have one in common.
func (a *answer) continues(before *answer) bool {
	older, newer := before, a
	if a.stamp < before.stamp {
		older, newer = a, before
	}
	if len(older.pcpus) != len(newer.pcpus) {
		return false
	}
	for i := range newer.pcpus {
		if newer.pcpus[i].used < older.pcpus[i].used {
			return false
		}
	}
	for i := range a.vms {
		t := &a.vms[i].tick
		if k, ok := before.byGID[t.GID]; ok && before.vms[k].tick.Name == t.Name {
			return true
		}
	}
	return len(a.vms) == 0 || len(before.vms) == 0
}

// next makes the tick of an answer and stores the answer; false when it contains nothing new.
func (s *Series) next(h *host, a *answer, warn func(kind string, line int, text string)) bool {
	before := h.last
	if h.again {
		before = nil
	}
	if before != nil && a.stamp <= before.stamp {
		if a.stamp < before.stamp {
			warn("order", a.line, fmt.Sprintf("the answer of %s is older than the one before it: left out", a.time.Format(time.RFC3339)))
		}
		return false
	}
	now := a.time
	if s.Known && before != nil && !now.After(h.time) { // its clock was set back: continue with the clock that counts from its start
		now = h.time.Add(time.Duration(a.stamp-before.stamp) * time.Microsecond)
	}
	if !now.After(h.time) {
		warn("clock", a.line, fmt.Sprintf("the clock of the host was set back: the answer of %s is left out", a.time.Format(time.RFC3339)))
		return false
	}
	s.Clock = a.time
	t := &s.tick
	*t = numa.Tick{Host: h.name, Time: now, Has: a.has, Free: a.free, MinFree: a.minFree, State: a.state, Memory: a.size, Shared: a.shared, Common: a.common, Nodes: t.Nodes[:0], VMs: t.VMs[:0]}
	if len(a.nodes) > 1 {
		t.Nodes = append(t.Nodes, a.nodes...)
	}
	if before != nil {
		t.Since = time.Duration(a.stamp-before.stamp) * time.Microsecond
		if h.name == s.Host {
			s.load(t, a, before, warn)
		}
	}
	for i := range a.vms {
		v := &a.vms[i]
		t.VMs = append(t.VMs, v.tick)
		x := &t.VMs[i]
		x.Has &^= numa.HasMoves
		if before != nil {
			v.since(x, a, before, t.Since)
		}
	}
	h.last, h.time, h.again, s.spare = a, now, false, h.last
	return true
}

// since computes the changes since the previous answer. The counters of a VM missing there started at 0 after it.
func (v *vm) since(now *numa.VMTick, a, before *answer, span time.Duration) {
	var old vm
	old.tick.Has = numa.HasMoves
	if i, ok := before.byGID[now.GID]; ok && now.GID >= 0 && before.vms[i].cartel == v.cartel { // otherwise the group belonged to another VM
		old = before.vms[i]
	}
	if v.tick.Has&old.tick.Has&numa.HasMoves != 0 {
		var d [3]int64
		sane := true
		for i := range d {
			d[i] = v.moves[i] - old.moves[i]
			sane = sane && d[i] >= 0
		}
		if sane {
			now.Moves = numa.Moves{All: d[0] + d[1] + d[2], Balance: d[0], LocalitySwap: d[1], LoadSwap: d[2]}
			now.Has |= numa.HasMoves | numa.HasKinds
		}
	}
	v.rates(now, a.vcpus[v.from:v.to], before.vcpus[old.from:old.to], span)
}

// rates sums the time shares of all vCPUs. They stay unknown when one of the vCPUs lacks a counter,
// runs backwards, or has a past that the previous answer did not show.
func (v *vm) rates(now *numa.VMTick, vcpus, old []vcpu, span time.Duration) {
	if len(vcpus) == 0 {
		return
	}
	has := numa.HasUsed | numa.HasRun | numa.HasReady | numa.HasCoStop
	var used, run, ready, coStop float64
	for i, p := range vcpus {
		var was vcpu
		if i < len(old) && old[i].id == p.id {
			was = old[i]
		} else if time.Duration(p.up)*time.Microsecond > span+slack {
			return
		}
		up := float64(p.up - was.up)
		if p.up < 0 || was.up < 0 || up <= 0 {
			return
		}
		for _, q := range []struct {
			n, was int64
			to     *float64
			bit    numa.Counters
		}{
			{p.used, was.used, &used, numa.HasUsed}, {p.run, was.run, &run, numa.HasRun},
			{p.ready, was.ready, &ready, numa.HasReady}, {p.coStop, was.coStop, &coStop, numa.HasCoStop},
		} {
			if q.n < 0 || q.was < 0 || q.n < q.was {
				has &^= q.bit
			} else {
				*q.to += float64(q.n-q.was) / up
			}
		}
	}
	now.Has |= has
	now.Used, now.Run, now.Ready, now.CoStop = keep(has, numa.HasUsed, used), keep(has, numa.HasRun, run), keep(has, numa.HasReady, ready), keep(has, numa.HasCoStop, coStop)
}

func keep(has, bit numa.Counters, value float64) float64 {
	if has&bit == 0 {
		return 0
	}
	return value
}

// load sets the load of the nodes: the mean over their PCPUs, when the Machine maps them.
func (s *Series) load(t *numa.Tick, a, before *answer, warn func(kind string, line int, text string)) {
	if s.Machine == nil || len(t.Nodes) == 0 || len(a.pcpus) != len(before.pcpus) {
		return
	}
	type sum struct {
		n                int
		used, util, core float64
		has              numa.Counters
	}
	sums := map[int]*sum{}
	for i, p := range a.pcpus {
		node, ok := s.Machine.NodeOfPCPU(int(p.id))
		was := before.pcpus[i]
		elapsed := float64(p.elapsed - was.elapsed)
		if p.id < 0 || !ok || was.id != p.id || p.elapsed < 0 || was.elapsed < 0 {
			warn("pcpu", a.line, fmt.Sprintf("the machine that is given has not the %d PCPUs of the answer: the load of the nodes stays unknown", len(a.pcpus)))
			return
		}
		if elapsed <= 0 {
			return // the service returns a cached answer when called too often
		}
		if sums[node] == nil {
			sums[node] = &sum{has: numa.HasUsed | numa.HasUtil | numa.HasCore}
		}
		q := sums[node]
		q.n++
		share := func(bit numa.Counters, n, was int64) float64 {
			if n < 0 || was < 0 || n < was {
				q.has &^= bit
			}
			return float64(n-was) / elapsed
		}
		q.used += share(numa.HasUsed, p.used, was.used)
		q.util += max(0, 1-share(numa.HasUtil, p.halted, was.halted))
		q.core += max(0, 1-share(numa.HasCore, p.coreHalted, was.coreHalted))
	}
	if _, more := s.Machine.NodeOfPCPU(len(a.pcpus)); more || len(sums) != len(t.Nodes) {
		warn("pcpu", a.line, fmt.Sprintf("the machine that is given has not the %d PCPUs of the answer: the load of the nodes stays unknown", len(a.pcpus)))
		return
	}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		q := sums[n.ID]
		if q == nil {
			continue
		}
		if a.lcpus <= a.cores {
			q.has &^= numa.HasCore
		}
		n.Has |= q.has
		n.Used, n.Util, n.Core = keep(q.has, numa.HasUsed, q.used/float64(q.n)), keep(q.has, numa.HasUtil, q.util/float64(q.n)), keep(q.has, numa.HasCore, q.core/float64(q.n))
	}
}

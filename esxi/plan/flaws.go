package plan

import (
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// The weights of flaws. Each exceeds the sum of all smaller ones that can occur together on a few machines.
const (
	flawRefused  = 1 << 24 // a node exceeds the limit of the guest's software, here: it may not start
	flawUnused   = 1 << 23 // more sockets than the software uses, here
	flawSpan     = 10000   // a virtual node spread over several clients, here
	flawSpanThat = 3000    // the same after vMotion
	flawRemote   = 6000    // all memory remote; a part counts in proportion
	flawSerious  = 1000    // a tenth of it or more (N005), here: no gain on another host outweighs it
	flawCrowded  = 1500    // clients exceed the cores of their nodes
	flawShared   = 700     // a client more than the host has nodes
	flawUneven   = 500     // clients or virtual nodes of unequal size
	flawNoticed  = 200     // more where the difference is noticeable
	flawWide     = 300     // a client more than vCPUs or memory require
	flawSplit    = 120     // each node that the guest sees beyond its clients, up to mostSplit
	flawSocket   = 60      // a socket over several clients
	flawCut      = 40      // sockets and virtual nodes overlap without nesting (G-8)
	flawSockets  = 20      // sockets are not the virtual nodes
	flawAssumed  = 500     // cores per socket whose clients no source states (B-12): prefer a published way
	flawHeld     = 10      // one client although numa.consolidate = FALSE: kept together only by a socket, which is inferred (B-12, B-17)
)

// assumedClients are the assumptions about the sizes of clients. Those of the present layout are no reason for others.
const assumedClients = vnuma.AssumedRounded | vnuma.AssumedOverfill

// mostSplit is the number of nodes beyond the clients that count: all of them weigh less than clients of unequal size.
const mostSplit = 4

// costManual is the cost of sizes set by hand: no such edit can win where all flaws together weigh less.
const costManual = 250

// impossible is the score of an edit that vSphere rejects.
const impossible = 1 << 30

// score adds up the flaws of the edited VM on all machines. Where sources disagree whether a setting places clients or only shows
// nodes (F-22), or whether NUMA Nodes need numa.vcpu.min as well (F-29), it takes the worse result.
func (s *search) score(e Edit) int {
	g := e.Apply(*s.g)
	sum := s.scoreOf(&g)
	if e != (Edit{}) && sum < impossible {
		l := s.layout(&g, 0)
		switch {
		case g.Spread && g.PreferHT && !s.g.Spread, lopsided(&l, &g) && !lopsided(&s.before, s.g), e.Force && s.shares(&g):
			return impossible
		case l.Assumes&assumedClients != 0 && (l.Assumes&^s.before.Assumes&assumedClients != 0 || !l.PPDs.Equal(s.before.PPDs)):
			sum += flawAssumed
		}
	}
	other := *s
	switch {
	case g.CoresPerNode > 0 && g.Hardware >= 20:
		other.ch.NodesNeedMin = !s.ch.NodesNeedMin
	case g.MaxPerVirtualNode > 0:
		other.ch.ManualShows = !s.ch.ManualShows
	default:
		return sum
	}
	sum = max(sum, other.scoreOf(&g))
	return sum
}

// shares reports whether g has more clients than some machine has nodes: numa.vcpu.maxPerMachineNode wants a node for each, and where there are too few
// no source says what becomes of them (B-10, C-5).
func (s *search) shares(g *vnuma.Guest) bool {
	for i := range s.machines {
		if l := s.layout(g, i); l.PPDs.Len() > l.Nodes {
			return true
		}
	}
	return false
}

func (s *search) scoreOf(g *vnuma.Guest) int {
	sum := 0
	for i := range s.machines {
		l := s.layout(g, i)
		if l.Refused.Any() {
			return impossible
		}
		f := flaws(&l, g, &s.machines[i], i == 0, s.harm)
		if i > 0 {
			f = f * 2 / 3 // the VM may never run there
		}
		sum += f
	}
	return sum
}

// lopsided reports whether the clients differ noticeably without need: their vCPUs divide evenly, or a setting makes more of them than
// the vCPUs require, and differ by more than one. ESXi does not match the larger client with the larger node.
func lopsided(l *vnuma.Layout, g *vnuma.Guest) bool {
	return l.PPDs.Unevenness() > noticedUneven && (g.Spread && int32(l.PPDs.Max()) > ceil(g.VCPUs, int32(l.PPDs.Len())) || int(g.VCPUs)%l.PPDs.Len() == 0)
}

// noticedUneven is the share by which the largest client must exceed an even share to count. The source calls 16 + 14 vCPUs, 7 %,
// unnoticeable (B-12); the boundary itself is assumed.
const noticedUneven = 0.1

// flaws returns the weighted flaws of a layout; only the harmful ones when harm is true.
func flaws(l *vnuma.Layout, g *vnuma.Guest, m *vnuma.Machine, home, harm bool) int {
	sum := 0
	if home { // the guest's topology is decided at power-on
		if over := g.Usable.Exceeded(l); over != (vnuma.Usable{}) {
			sum += flawRefused*int(min(1, over.PerNode)) + flawUnused*int(min(1, over.Sockets))
		}
	}
	if _, spans := l.Spanning(); spans {
		if home {
			sum += flawSpan
		} else {
			sum += flawSpanThat * 3 / 2 // score counts two thirds
		}
	}
	need := l.Least
	if g.PreferHT || m.PreferHT { // by choice its clients may have more vCPUs than cores
		need = min(need, int(ceil(g.VCPUs, max(1, int32(l.Capacity)))))
	}
	if l.Memory.Known && l.Managed {
		sum += int(flawRemote * float64(l.Memory.Missed()) / float64(max(1, g.Resident())))
		if missed := l.Memory.Missed(); home && int64(missed) >= g.Resident()/10 && missed > 0 {
			sum += flawSerious
		}
		need = max(need, m.NodesFor(g.Resident()))
	}
	node, all := m.CPUs(g)
	if perNode := ceil(int32(l.PPDs.Len()), m.Nodes) * int32(l.PPDs.Max()); perNode > node && g.VCPUs <= all {
		sum += flawCrowded
	}
	sum += unevenFlaws(l, harm)
	shared := flawShared * max(0, l.PPDs.Len()-l.Nodes)
	if l.PPDs.Len()%l.Nodes == 0 { // load alone spreads them evenly over the nodes (C-4), although no rule enforces it (C-5)
		shared /= 2
	}
	if l.PPDs.Len() > l.Nodes && l.PPDs.Len()%l.Nodes != 0 { // the nodes get unequal numbers of clients
		sum += flawUneven
	}
	sum += flawWide*max(0, l.PPDs.Len()-need) + shared
	sum += flawSplit * max(0, min(mostSplit, l.VPDs.Len()-l.PPDs.Len()))
	if l.Wide() && l.CoresPerSocket > l.Capacity {
		sum += flawSocket
	}
	if home && cut(l) {
		sum += flawCut
	}
	if home && !harm && !l.VSockets.Equal(l.VPDs) {
		sum += flawSockets
	}
	if !harm && g.Spread && !l.Wide() && m.Nodes > 1 && m.Model() >= numa.ESXi65 {
		sum += flawHeld
	}
	return sum
}

// unevenFlaws returns the weight of clients or virtual nodes of unequal sizes; of noticed differences alone when harm is true.
func unevenFlaws(l *vnuma.Layout, harm bool) int {
	if l.PPDs.Even() && l.VPDs.Even() {
		return 0
	}
	least, sum := 0.0, 0
	if harm {
		least = noticedUneven
	}
	worst := max(l.PPDs.Unevenness(), l.VPDs.Unevenness())
	if worst > least {
		sum += flawUneven
	}
	if worst > noticedUneven {
		sum += flawNoticed
	}
	return sum
}

// cut reports whether a virtual node and a socket overlap without either containing the other.
func cut(l *vnuma.Layout) bool {
	for i := range l.VPDs.Len() {
		first, n := l.VPDs.Group(i)
		a, b := l.VSockets.Of(first), l.VSockets.Of(first+n-1)
		begin, _ := l.VSockets.Group(a)
		end, last := l.VSockets.Group(b)
		if a != b && (begin != first || end+last != first+n) {
			return true
		}
	}
	return false
}

// cost prefers few changes, and automatic sizes to manual ones. A vCPU more or less on a node has no cost.
func (e *Edit) cost(g *vnuma.Guest) int {
	sum := 0
	for _, c := range []struct {
		done bool
		cost int
	}{
		{e.HotAddOff, 3}, {e.ForgetStored, 1}, {e.ManualOff, 1}, {e.SpreadOff, 2}, {e.Spread, 5}, {e.LimitsOff, 2},
		{e.PreferHTOff, 40}, {e.FollowOff, 5}, {e.Min > 0, 10}, {e.Upgrade > 0, 50}, {e.PerNode > 0, costManual}, {e.Force, 20},
		{e.Shape != (Shape{}) && !e.Shape.Auto, 4}, {e.Shape.Auto, 1},
	} {
		if c.done {
			sum += c.cost
		}
	}
	return sum
}

func ceil(a, b int32) int32 { return (a + b - 1) / b }

package vnuma

import (
	"math"

	"example.org/homenode/esxi/memory"
	"example.org/homenode/numa"
)

// sockets sets the sockets that the guest sees (rule book B-13, B-18).
func (l *Layout) sockets(g *Guest, m *Machine, c *Case, tr *tracer) {
	auto := g.auto(m)
	kept := !l.VSockets.empty() // D-1: sockets are kept with the virtual nodes
	if !kept {
		l.CoresPerSocket = min(int(g.CoresPerSocket), max(1, int(g.VCPUs))) // with 1 vCPU it is ignored (B-27)
	}
	switch {
	case kept:
	case !auto:
		l.VSockets = fill(g.VCPUs, int32(l.CoresPerSocket))
	case c.Choices.AutoCPSOne && (g.HotAdd || !l.VPDs.Even()): // F-14, the alternative
		l.CoresPerSocket = 1
		l.VSockets = fill(g.VCPUs, 1)
	case l.VPDs.Even():
		l.CoresPerSocket = l.VPDs.Max()
		l.VSockets = l.VPDs
	default: // sockets are of one size (B-27): the largest that divides every VPD
		l.CoresPerSocket = l.VPDs.divisor()
		l.VSockets = fill(g.VCPUs, int32(l.CoresPerSocket))
		l.Assumes |= AssumedAutoUneven
	}
	if l.L3s = l.VSockets.Len(); g.Hardware >= 20 && m.model >= numa.ESXi80 {
		l.L3s = 0
	}
	if auto && g.HotAdd {
		l.Assumes |= AssumedHotAddAuto
	}
	if tr != nil {
		tr.sockets(l, auto)
		tr.caches(l)
	}
}

// manage marks VMs with affinities (rule book C-12), and those of a host whose NUMA scheduler is off, as not NUMA-managed,
// and counts the home nodes.
func (l *Layout) manage(g *Guest, m *Machine, tr *tracer) {
	if g.Affinity {
		l.Managed = false
		if tr != nil {
			tr.affinity()
		}
	}
	if !m.Schedules() {
		l.Managed = false
		if l.VPDs.Len() > 1 {
			l.Assumes |= AssumedUnscheduled
		}
		if tr != nil {
			tr.unscheduled()
		}
	}
	if !l.Managed {
		return
	}
	homes := m.Allowed(g.AllowedNodes) // C-12
	l.HomeNodes = min(l.PPDs.Len(), homes)
	if homes < l.Nodes && tr != nil {
		tr.allowed(homes)
	}
}

// reside computes the placement of the memory once all of it is touched (rule book B-17, B-22, C-13, C-15).
func (l *Layout) reside(g *Guest, m *Machine, ch *Choices, tr *tracer) {
	r := &l.Memory
	_, spans := l.Spanning()
	switch {
	case !l.Managed:
		r.Placement = Anywhere
	case spans && l.HomeNodes > 1: // on one node there is nothing to interleave
		r.Placement = Interleaved
		// F-12: published for hot add and for 4.1.
		if l.Why != ByHotAdd && l.Why != ByRelease {
			l.Assumes |= AssumedInterleave
		}
	}
	if !l.VPDs.Even() && g.Memory > 0 {
		l.Assumes |= AssumedSlices
	}
	if g.Memory > 0 && m.MemoryKnown() {
		l.fillNodes(g, m, ch)
	}
	if tr != nil {
		tr.memory(l, ch)
	}
}

// fillNodes computes local and remote bytes: every client allocates its part of the memory on an empty host, by the rules of package memory.
func (l *Layout) fillNodes(g *Guest, m *Machine, ch *Choices) {
	r := &l.Memory
	r.Known = true
	resident := g.Resident()
	if r.Placement == Anywhere {
		// No home node: nothing is local by definition (C-12).
		r.Remote = numa.Bytes(resident)
		return
	}
	reserve := m.Reserve(ch.FillToMinFree)
	host := m.room(g.AllowedNodes)
	host.free = host.memory
	homes := max(1, l.HomeNodes)
	spills := int64(0)
	var few [128]int64
	rest := few[:] // by client: its part of the memory, then what its home does not accept at once
	if l.PPDs.Len() > len(few) {
		rest = make([]int64, l.PPDs.Len())
	}
	far := 0.0
	l.parts(resident, rest)
	for c := range l.PPDs.Len() { // all fill their homes before memory goes elsewhere
		slice := rest[c]
		home := &host.free[host.home(c%homes)]
		local := max(0, min(slice, *home-int64(reserve.New)))
		*home -= local
		rest[c] = slice - local
		spills += rest[c]
		far += float64(float64(local) * l.farAt(c, c%homes))
	}
	if spills > 0 {
		before, free := *r, host.free
		more, joined := l.spill(g, m, ch, &host, rest, 0)
		if joined != 0 { // memory on other clients' homes is local too
			*r, host.free = before, free
			more, _ = l.spill(g, m, ch, &host, rest, joined)
			r.joined = true
		}
		far += more
	}
	left := host.rest
	for _, f := range host.free[:host.nodes] {
		left += f
	}
	// The host reclaims memory until minFree is free (C-23).
	had := numa.Bytes(resident) - r.Nowhere
	r.Nowhere += max(0, min(reserve.MinFree-numa.Bytes(left), had))
	if r.Placement == Interleaved && had > 0 { // what is reclaimed was as far as the rest
		far *= float64(numa.Bytes(resident)-r.Nowhere) / float64(had)
	}
	r.Local = numa.Bytes(resident) - r.Remote - r.Nowhere
	if r.Local < 0 { // reclaimed memory was remote
		r.Local, r.Remote = 0, r.Remote+r.Local
	}
	if r.Nowhere > 0 && !r.joined { // as Missed: on a full host it is unpredictable which clients share the rest
		far -= float64(r.Crossed)
	}
	r.far = max(0, min(numa.Bytes(math.Round(far)), r.Local+r.Remote))
	if r.Away()+r.First > 0 {
		if _, have := m.Holds(homes, g.AllowedNodes, false); numa.Bytes(resident) <= have {
			l.Assumes |= AssumedReserve
		}
	}
	if r.Remote+r.Crossed > 0 && r.Placement == Local {
		r.Placement = Overflowing
	}
}

// part returns the part of n of all vCPUs, or clients, in memory.
func part(memory int64, first, n, all int) int64 {
	return memory*int64(first+n)/int64(all) - memory*int64(first)/int64(all)
}

// spill allocates the rest of each client's memory (C-15). It returns the number of bytes that are remote from its vCPUs, and the
// nodes that join the home nodes (D-2), including those in joined.
func (l *Layout) spill(g *Guest, m *Machine, ch *Choices, host *room, rest []int64, joined numa.NodeSet) (far float64, joins numa.NodeSet) {
	r, reserve := &l.Memory, m.Reserve(ch.FillToMinFree)
	nodes, homes := host.free[:host.nodes], max(1, l.HomeNodes)
	var at [numa.MaxNodes]int8 // by node: the number of the home, -1 for none
	for i := range nodes {
		at[i] = -1
	}
	for h := range homes {
		at[host.home(h)] = int8(h)
	}
	var gives, away [numa.MaxNodes]int64 // away: by number of the home
	for c := range l.PPDs.Len() {
		home := host.home(c % homes)
		nowhere := memory.Fill(nodes, home, 1<<host.nodes-1, rest[c], int64(reserve.New), gives[:host.nodes])
		r.Nowhere += numa.Bytes(nowhere)
		_, n := l.PPDs.Group(c)
		widens := host.memory[home] < l.PartOf(c, g.Resident()) && (n > int(m.Cores) || ch.WidenAlways) // D-2
		for i, given := range gives[:host.nodes] {
			if given == 0 {
				continue
			}
			nodes[i] -= given
			if widens && at[i] < 0 {
				joins |= 1 << i
			}
			switch {
			case at[i] < 0 && !joined.Has(i):
				away[c%homes] += given
			case at[i] < 0 || i != home && r.Placement != Interleaved:
				r.Crossed += numa.Bytes(given)
			}
			far += float64(float64(given) * l.farAt(c, int(at[i])))
		}
	}
	for h := range homes {
		back := memory.Returns(away[h], nodes[host.home(h)], int64(reserve.Home))
		r.First += numa.Bytes(back)
		r.Remote += numa.Bytes(away[h] - back)
		far -= float64(float64(back) * (1 - l.farAt(h, h)))
	}
	return far, joins
}

// cookieV2Hardware is the oldest virtual hardware seen with version 2 cookies: Workstation 15.5 with hardware 16 (rule book B-9). [I]
const cookieV2Hardware = 16

// store sets the sizes that the VM's configuration has afterwards (rule book B-8, B-9). Nothing is stored by a reboot or move, with
// sizes set by hand (B-10: "Not autosizing"), with CPU hot add, or where no vNUMA exists. A valid stored size stays.
func (l *Layout) store(g *Guest, m *Machine, c *Case, tr *tracer) {
	switch l.Why {
	case ByRelease, ByHardware, ByHotAdd, ByManual:
		return
	}
	if m.model < numa.ESXi50 || c.keeps(g) || g.belowMin(m, &c.Choices, l) {
		return
	}
	if l.Why == ByStored {
		l.Stored = Stored{Written: true, Size: int(g.Stored), Cookie: g.cookie()}
		return
	}
	l.Stored = Stored{Written: true, Size: l.VPDs.Max(), Cookie: int(g.VCPUs)*10000 + 1}
	if g.Hardware >= cookieV2Hardware {
		cps := g.CoresPerSocket
		if g.auto(m) {
			cps = 1
		}
		l.Stored.Cookie = int(g.VCPUs)*10000 + int(cps)*10 + 2
	}
	if tr != nil {
		tr.stored(l)
	}
}

// cookie returns the VM's stored cookie (rule book B-9).
func (g *Guest) cookie() int {
	if g.CookieCPS > 0 {
		return int(g.CookieVCPUs)*10000 + int(g.CookieCPS)*10 + 2
	}
	return int(g.CookieVCPUs)*10000 + 1
}

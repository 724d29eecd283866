package vnuma

import "example.org/homenode/numa"

// A Case holds the inputs of a prediction other than VM and host. The zero value is a power cycle
// with the rule book's choices.
type Case struct {
	Event Event
	// From is the host of the VM's last power-on: after vMotion, resume and reboot the guest keeps
	// the VPDs of that host. nil means this host.
	From    *Machine
	Choices Choices
	// Ran states that the VM was seen running: the checks that refuse a power-on are skipped.
	Ran bool
}

// Predict returns the layout of g on m. It is pure and allocates nothing. The algorithm is B-6 of
// the rule book: first the capacity of a client in vCPUs, then the clients (PPDs), then the guest's
// nodes (VPDs), last the consequences for sockets, memory and stored sizes.
//
// A VM that does not power on there has a layout without groups; its Refused field has the reason.
func Predict(g *Guest, m *Machine, c *Case) Layout {
	return powerOn(g, m, c, nil)
}

// powerOn is predict for a VM that powers on.
func powerOn(g *Guest, m *Machine, c *Case, tr *tracer) Layout {
	if r := Refuse(g, m); r.Any() && !c.Ran && !g.Admitted {
		if tr != nil {
			tr.refused(r)
		}
		return Layout{Refused: r, Nodes: int(m.Nodes), Assumes: g.assumed(m)}
	}
	return predict(g, m, c, tr)
}

// predict is Predict with an optional trace. Both share one code path, so the trace always matches the result.
func predict(g *Guest, m *Machine, c *Case, tr *tracer) Layout {
	afresh := *g
	if g.SizeAssumed && c.usesStored(g) { // an assumed size decides nothing where the VM gets the same nodes without it
		afresh.SizeAssumed, afresh.Stored, afresh.CookieVCPUs, afresh.CookieCPS = false, 0, 0, 0
		if l := predict(&afresh, m, c, nil); l.VPDs.Equal(stored(g.VCPUs, g.Stored, &c.Choices)) {
			g = &afresh
		}
	}
	l := Layout{
		Managed:     true,
		Nodes:       int(m.Nodes),
		Hidden:      int(m.Hidden),
		memory:      g.Memory,
		equalSlices: c.Choices.EqualSlices,
		Assumes:     g.assumed(m),
	}
	capacity, limited := capacityOf(g, m, c, tr)
	l.Capacity = int(capacity)
	l.Least = int(m.Least(g.VCPUs))
	kept := c.keeps(g)
	l.checkpoint = c.Event == VMotionIn || c.Event == Resume
	var vpds Split
	if kept && c.From != nil {
		// D-1: the guest keeps the topology of its last power-on, on that host.
		there := predict(g, c.From, &Case{Event: lastPowerOn, Choices: c.Choices}, nil)
		vpds, l.Why = there.VPDs, there.Why
		l.VSockets, l.CoresPerSocket = there.VSockets, there.CoresPerSocket
	}
	switch gen := generationOf(g, m, &c.Choices); gen {
	case unmanagedWide, hiddenWide:
		clientsBefore50(g, m, c, capacity, gen, &l, tr)
		if !vpds.empty() {
			l.VPDs = vpds
		}
	case socketSized:
		if vpds.empty() {
			vpds = socketSizedVPDs(g, m, c, capacity, &l, tr)
		}
		l.VPDs = vpds
		l.PPDs = vpds.within(capacity)                  // a PPD never crosses a VPD
		if l.Why == ByManual && c.Choices.ManualShows { // F-22, the alternative
			l.PPDs = fill(g.VCPUs, evenShare(g.VCPUs, capacity))
		}
		if tr != nil {
			tr.within(&l)
		}
		l.join(m, tr)
	case hostSized:
		l.PPDs = hostSizedClients(g, m, c, capacity, limited, &l, tr)
		if vpds.empty() {
			vpds = hostSizedVPDs(g, m, c, &l, tr)
		}
		l.VPDs = vpds
		// B-6: PPD = VPD if a size set by hand is finer. After a move clients are made for the new
		// host only, which changes none where the nodes are equal.
		moved := kept && c.From != nil && (c.From.Cores != m.Cores || c.From.Nodes != m.Nodes)
		if l.Why == ByManual && !moved && (g.setsNodes(m) || !c.Choices.ManualShows) && !l.VPDs.Equal(l.PPDs) && l.VPDs.Max() < l.PPDs.Max() {
			l.PPDs = l.VPDs
		}
	}
	if c.Event == lastPowerOn { // only the guest's topology is needed
		l.sockets(g, m, c, nil)
		return l
	}
	if tr != nil && kept {
		tr.kept(&l, c)
	}
	l.sockets(g, m, c, tr)
	l.manage(g, m, tr)
	l.reside(g, m, &c.Choices, tr)
	l.store(g, m, c, tr)
	return l
}

// lastPowerOn stands for the power-on that already happened: a stored size is its result, even if
// numa.autosize.once changes the next one.
const lastPowerOn = Event(255)

// keeps reports whether the guest keeps its VPDs over the event (rule book D-1).
func (c *Case) keeps(g *Guest) bool {
	switch c.Event {
	case VMotionIn, Resume:
		return true
	case Reboot:
		return !g.PowerCycleReboot // B-8: the next reboot acts as a power cycle
	}
	return false
}

// usesStored reports whether a stored size decides (rule book B-8, B-9).
func (c *Case) usesStored(g *Guest) bool {
	if g.Stored == 0 || g.CookieVCPUs != g.VCPUs {
		return false
	}
	if c.Choices.CookieWithCPS && g.CookieCPS != 0 && g.CookieCPS != g.CoresPerSocket {
		return false // F-13, the alternative
	}
	switch c.Event {
	case FirstPowerOn, VCPUsChanged:
		return false
	case PowerCycle:
		return !g.SizeEachTime
	case Reboot:
		return !(g.PowerCycleReboot && g.SizeEachTime)
	}
	return true
}

// A generation is an ESX algorithm for clients and virtual nodes.
type generation uint8

const (
	unmanagedWide generation = iota // up to 4.0: wider than a node is not NUMA-managed
	hiddenWide                      // 4.1: split into clients, the guest sees one node
	socketSized                     // 5.0 to 6.0, or FollowCoresPerSocket: VPDs first, from cores per socket
	hostSized                       // 6.5 on: clients first, from the host; VPDs follow
)

func generationOf(g *Guest, m *Machine, ch *Choices) generation {
	decoupled := numa.ESXi65 // F-8
	if ch.Decoupled67 {
		decoupled = numa.ESXi67
	}
	switch {
	case m.model < numa.ESX41:
		return unmanagedWide
	case m.model < numa.ESXi50:
		return hiddenWide
	case m.model < decoupled || m.Follow || g.Follow:
		return socketSized
	}
	return hostSized
}

// capacityOf returns the capacity of a client on m in vCPUs (rule book A-4, B-4, B-14), and whether
// a limit set by hand makes it less than the capacity of a node (B-10).
func capacityOf(g *Guest, m *Machine, c *Case, tr *tracer) (capacity int32, limited bool) {
	node := m.Cores
	preferHT := (g.PreferHT || m.PreferHT && !(g.NoPreferHT && c.Choices.VMPreferHT)) && m.model >= numa.ESX41 && !c.Choices.PreferHTSiblings
	if preferHT {
		node = m.Threads
	}
	capacity = node
	for _, limit := range [2]int32{g.MaxPerMachineNode, g.MaxPerClient} {
		if limit > 0 && m.model >= numa.ESX41 {
			capacity = min(capacity, limit)
		}
	}
	capacity = max(capacity, 1)
	limited = capacity < node
	if tr != nil {
		tr.capacity(capacity, preferHT, limited)
	}
	return capacity, limited
}

// clientsBefore50 implements B-6 for releases without vNUMA (B-2).
func clientsBefore50(g *Guest, m *Machine, c *Case, capacity int32, gen generation, l *Layout, tr *tracer) {
	l.VPDs, l.Why = fill(g.VCPUs, g.VCPUs), ByRelease
	l.PPDs = l.VPDs
	if gen == unmanagedWide {
		// C-14: also a VM larger than the node's memory loses NUMA optimisation.
		l.Managed = g.VCPUs <= capacity && (!m.MemoryKnown() || g.Memory <= m.NodeMemory)
	} else if g.VCPUs > capacity {
		l.PPDs = fill(g.VCPUs, evenShare(g.VCPUs, capacity))
		if c.Choices.Fill41 { // F-2, the alternative
			l.PPDs = fill(g.VCPUs, capacity)
		}
	}
	if tr != nil {
		tr.before50(l, gen)
	}
}

// socketSizedVPDs returns the VPDs of 5.0 to 6.0 (rule book B-6, B-11).
func socketSizedVPDs(g *Guest, m *Machine, c *Case, capacity int32, l *Layout, tr *tracer) Split {
	n := g.VCPUs
	cps := g.CoresPerSocket
	if g.auto(m) {
		cps = 1
	}
	split := fill(n, n)
	switch {
	case g.Hardware != 0 && g.Hardware < 8:
		l.Why = ByHardware
	case g.HotAdd && !g.vnumaHotAdd(m) && !(c.Choices.HotAdd60 && m.model >= numa.ESXi60):
		l.Why = ByHotAdd
	case g.belowMin(m, &c.Choices, l):
		l.Why = ByThreshold
	case g.manual(m, &c.Choices) > 0:
		l.Why = ByManual
		split = byHand(g, m, &c.Choices)
	case n < g.threshold(m, &c.Choices, l):
		l.Why = ByThreshold
	case cps > 1 && !(c.Choices.FitIgnoresCPS && n <= capacity):
		l.Why = ByCPS
		split = fill(n, cps)
	case c.usesStored(g):
		l.Why = ByStored
		split = stored(n, g.Stored, &c.Choices)
	case n <= capacity:
		l.Why = ByFit
	case g.Autosize:
		// B-10: the manual's numa.autosize sizes a VPD like the physical node.
		l.Why, split = ByClients, fill(n, m.Cores)
	default:
		l.Why, split = ByClients, fill(n, evenShare(n, capacity))
	}
	if tr != nil {
		tr.vpds(l.Why, split, c)
	}
	return split
}

// maxDomains is the default and the maximum of Numa.MaxProximityDomains of 6.0.
const maxDomains = 16

// join limits the clients to the number that 6.0 allows a VM (rule book B-29): whole virtual nodes
// share a client [I].
func (l *Layout) join(m *Machine, tr *tracer) {
	limit := int32(maxDomains)
	if m.Domains > 0 {
		limit = m.Domains
	}
	if m.model.Base() != numa.ESXi60 || l.PPDs.Len() <= int(limit) {
		return
	}
	before := l.PPDs.Len()
	if nodes, n := int32(l.VPDs.Len()), int32(l.VPDs.Sum()); nodes > limit {
		l.PPDs = fill(n, ceilDiv(nodes, limit)*int32(l.VPDs.Max()))
	} else {
		for per := int32(l.PPDs.Max()); l.PPDs.Len() > int(limit); per++ {
			l.PPDs = l.VPDs.within(per)
		}
	}
	l.Assumes |= AssumedJoined
	if tr != nil {
		tr.joined(before, limit, l.PPDs)
	}
}

// hostSizedClients returns the PPDs of 6.5 on (rule book B-5, B-6, B-12, B-17). A limit set by hand
// applies even when it makes more clients than nodes.
func hostSizedClients(g *Guest, m *Machine, c *Case, capacity int32, limited bool, l *Layout, tr *tracer) Split {
	n := g.VCPUs
	clients, most := ceilDiv(n, capacity), m.Nodes
	if limited || c.Choices.UnboundedClients { // F-4
		most = max(most, clients)
	}
	clients = min(clients, most)
	if c.Choices.MemoryMakesWide && m.MemoryKnown() { // F-5, the alternative
		clients = max(clients, min(nodesFor(g.Memory, m.NodeMemory), m.Nodes))
	}
	spread := g.Spread && m.Nodes > 1
	if spread {
		clients = max(clients, 2)
		if m.MemoryKnown() {
			clients = max(clients, nodesFor(g.Memory, m.NodeMemory))
		}
		if c.Choices.SpreadAll { // F-27, the alternative
			clients = max(clients, m.Nodes)
		}
		clients = min(clients, most, n)
		l.Assumes |= AssumedConsolidate
	}
	even := ceilDiv(n, clients)
	per := even
	// B-12: a vSocket is not divided over clients, so sizes round up to whole sockets, unless a
	// single socket exceeds a node.
	cps := g.CoresPerSocket
	if g.auto(m) {
		cps = 1
	}
	if cps > 1 && cps <= capacity {
		per = ceilDiv(even, cps) * cps
		for k := clients + 1; per > capacity && (limited || k <= m.Nodes); k++ { // [I] of B-12
			per = ceilDiv(ceilDiv(n, k), cps) * cps
			l.Assumes |= AssumedRounded
		}
		if per > capacity && even <= capacity {
			l.Assumes |= AssumedOverfill
		}
	}
	split := fill(n, per)
	if !split.Even() && (n%2 == 1 || split.Len() > 2) {
		l.Assumes |= AssumedOddSplit // B-24
	}
	if g.VirtualHT && g.newest(m) && split.Len() > 1 {
		l.Assumes |= AssumedPairs // B-21
	}
	if tr != nil {
		tr.clients(split, clients, even, cps, spread, &c.Choices)
	}
	return split
}

// hostSizedVPDs returns the VPDs of 6.5 on; l.PPDs must be set.
func hostSizedVPDs(g *Guest, m *Machine, c *Case, l *Layout, tr *tracer) Split {
	n := g.VCPUs
	split := fill(n, n)
	switch {
	case g.Hardware != 0 && g.Hardware < 8:
		l.Why = ByHardware
	case g.HotAdd && !g.vnumaHotAdd(m) && !(c.Choices.HotAddShows80 && g.newest(m)):
		l.Why = ByHotAdd
	case g.belowMin(m, &c.Choices, l):
		l.Why = ByThreshold
	case g.manual(m, &c.Choices) > 0:
		l.Why = ByManual
		split = byHand(g, m, &c.Choices)
	case c.Choices.SocketNodes80 && g.socketNodes(m, g.threshold(m, &c.Choices, l)):
		// F-26, the alternative: the clients of a node that is larger than a physical one stay.
		l.Why, split = ByCPS, fill(n, g.CoresPerSocket)
		if split.Max() < l.PPDs.Max() {
			l.PPDs = split
		}
	case c.usesStored(g):
		l.Why = ByStored
		split = stored(n, g.Stored, &c.Choices)
		if g.newest(m) {
			l.Assumes |= AssumedStored
		}
	case !l.Wide():
		l.Why = ByFit
	case n < g.threshold(m, &c.Choices, l):
		l.Why = ByThreshold
	default:
		l.Why, split = ByClients, l.PPDs
	}
	if tr != nil {
		tr.vpds(l.Why, split, c)
	}
	return split
}

// auto reports whether cores per socket are assigned at power on (rule book B-18).
func (g *Guest) auto(m *Machine) bool { return g.AutoCPS && g.newest(m) }

// newest reports whether g has the virtual topology of 8.0 on m, introduced with hardware 20.
func (g *Guest) newest(m *Machine) bool { return g.Hardware >= 20 && m.model >= numa.ESXi80 }

// socketNodes reports whether cores per socket set by hand define the virtual nodes, by one of the sources (F-26).
func (g *Guest) socketNodes(m *Machine, least int32) bool {
	return g.newest(m) && !g.AutoCPS && g.CoresPerSocket > 1 && g.VCPUs >= least
}

// vnumaHotAdd reports whether vNUMA may be shown with CPU hot add (rule book B-15).
func (g *Guest) vnumaHotAdd(m *Machine) bool {
	return g.VNUMAHotAdd && g.newest(m)
}

// nodesFor returns how many nodes of the given size hold the memory, at most as
// many as a VM can have clients.
func nodesFor(memory, node int64) int32 {
	return int32(min(max(1, (memory+node-1)/max(1, node)), numa.MaxVCPUs))
}

// empty reports whether the split has no groups.
func (s Split) empty() bool { return s.n == 0 }

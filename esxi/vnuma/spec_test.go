package vnuma

import (
	"slices"

	"example.org/homenode/numa"
)

// The rule book's model in plain slices: one function per release band, written
// from rule book B-6 and the rules it names, not from Predict. The tests demand
// that both agree. "Read as" marks a sentence of the rule book that allows more
// than one reading, and the one taken.

// specLayout is what the specification says of a VM: the vCPUs of each group.
type specLayout struct {
	vpds, ppds, sockets []int
	managed             bool
	written             bool // a size is stored
	size, cookie        int
}

// specFill is fill(N, s) of B-6: consecutive groups of s, the last the remainder.
func specFill(n, s int) []int {
	var groups []int
	for ; n > s; n -= s {
		groups = append(groups, s)
	}
	return append(groups, n)
}

// specUp divides and rounds up.
func specUp(a, b int) int {
	q := a / b
	if q*b < a {
		q++
	}
	return q
}

// specEven is the even split over the fewest groups of at most limit (B-5).
func specEven(n, limit int) []int { return specFill(n, specUp(n, specUp(n, limit))) }

// spec predicts g on m after the event of c (B-6, D-1).
func spec(g *Guest, m *Machine, c *Case) specLayout {
	keeps := c.Event == VMotionIn || c.Event == Resume || c.Event == Reboot && !g.PowerCycleReboot
	var stored bool // B-8: a valid stored size is taken
	switch c.Event {
	case FirstPowerOn, VCPUsChanged:
	case PowerCycle:
		stored = !g.SizeEachTime
	case Reboot:
		stored = keeps || !g.SizeEachTime
	default:
		stored = true
	}
	stored = stored && g.Stored > 0 && g.CookieVCPUs == g.VCPUs // B-9

	var kept []int
	manualFrom := false
	if keeps && c.From != nil {
		// The guest keeps what its last power-on, there, gave it.
		there := specPowerOn(g, c.From, PowerCycle, g.Stored > 0 && g.CookieVCPUs == g.VCPUs, nil, false)
		kept = there.vpds
		manualFrom = there.manual && c.From.Cores == m.Cores && c.From.Nodes == m.Nodes
	}
	p := specPowerOn(g, m, c.Event, stored, kept, manualFrom)
	l := specLayout{vpds: p.vpds, ppds: p.ppds, managed: p.managed && !g.Affinity && (m.Nodes == 1 || m.Nodes*m.Cores >= 4 && m.Cores >= 2)}

	// B-13: vSockets of cores per socket; B-18: automatic ones are the VPDs.
	l.sockets = specFill(int(g.VCPUs), int(g.CoresPerSocket))
	chosenOn := m // D-1: a move changes no socket
	if keeps && c.From != nil {
		chosenOn = c.From
	}
	if specAuto(g, chosenOn) {
		// Sockets are of one size: the largest of which every virtual node has whole ones.
		for size := slices.Max(l.vpds); size > 0; size-- {
			if !slices.ContainsFunc(l.vpds, func(n int) bool { return n%size != 0 }) {
				l.sockets = specFill(int(g.VCPUs), size)
				break
			}
		}
	}
	// B-8: the power-on writes size and cookie. Read as: not where hands or
	// releases decide, nor CPU hot add, for nothing was sized automatically.
	if l.written = p.sized && !keeps; l.written {
		for _, s := range l.vpds {
			l.size = max(l.size, s)
		}
		l.cookie = int(g.VCPUs)*10000 + 1
		if g.Hardware >= 16 { // B-9: version 2, seen from hardware 16 on
			cps := int(g.CoresPerSocket)
			if specAuto(g, m) {
				cps = 1 // "the configured one (1 when automatic)"
			}
			l.cookie = int(g.VCPUs)*10000 + cps*10 + 2
		}
		if p.byStored { // what is stored stays, cookie and all
			l.size, l.cookie = int(g.Stored), int(g.VCPUs)*10000+1
			if g.CookieCPS > 0 {
				l.cookie = int(g.VCPUs)*10000 + int(g.CookieCPS)*10 + 2
			}
		}
	}
	return l
}

// specPower is the outcome of a power-on or of arriving at a host.
type specPower struct {
	vpds, ppds []int
	managed    bool
	manual     bool // numa.vcpu.maxPerVirtualNode or coresPerNode decided
	byStored   bool // a stored size decided
	sized      bool // ESXi sized it
}

// specPowerOn sizes g on m; kept are the VPDs the guest brings along, if any.
func specPowerOn(g *Guest, m *Machine, event Event, stored bool, kept []int, manualFrom bool) specPower {
	follow := g.Follow || m.Follow
	var p specPower
	switch base := m.model.Base(); {
	case base <= numa.ESX40:
		p = spec40(g, m)
	case base == numa.ESX41:
		p = spec41(g, m)
	case base <= numa.ESXi60 || follow:
		return spec50(g, m, stored, kept)
	default:
		return spec65(g, m, event, stored, kept, manualFrom)
	}
	if kept != nil {
		p.vpds = kept
	}
	return p
}

// specCap is cap of B-4: cores, or threads with preferHT, lowered by hand.
func specCap(g *Guest, m *Machine) int {
	limit := int(m.Cores)
	if g.PreferHT || m.PreferHT {
		limit = int(m.Threads)
	}
	if g.MaxPerMachineNode > 0 {
		limit = min(limit, int(g.MaxPerMachineNode))
	}
	if g.MaxPerClient > 0 {
		limit = min(limit, int(g.MaxPerClient))
	}
	return limit
}

// specByHand reports whether a limit makes a client smaller than a node (B-10).
func specByHand(g *Guest, m *Machine) bool {
	free := *g
	free.MaxPerMachineNode, free.MaxPerClient = 0, 0
	return specCap(g, m) < specCap(&free, m)
}

// specManual divides n vCPUs by a size set by hand: evenly (F-30), but NUMA nodes of 8.0 have
// their size.
func specManual(g *Guest, m *Machine, n, size int) []int {
	if g.CoresPerNode > 0 && m.model >= numa.ESXi80 {
		return specFill(n, size)
	}
	return specEven(n, size)
}

// spec40 is "release <= 4.0". Options that came with 4.1 (B-10, B-14) do nothing.
func spec40(g *Guest, m *Machine) specPower {
	n := int(g.VCPUs)
	fits := n <= int(m.Cores) && (!m.MemoryKnown() || g.Memory <= m.NodeMemory)
	return specPower{vpds: []int{n}, ppds: []int{n}, managed: fits}
}

// spec41 is "release 4.1"; F-2 takes the even split.
func spec41(g *Guest, m *Machine) specPower {
	n := int(g.VCPUs)
	return specPower{vpds: []int{n}, ppds: specEven(n, specCap(g, m)), managed: true}
}

// spec50 is "release 5.0 .. 6.0, or >= 6.5 with FollowCoresPerSocket".
func spec50(g *Guest, m *Machine, stored bool, kept []int) specPower {
	n, limit := int(g.VCPUs), specCap(g, m)
	c := int(g.CoresPerSocket)
	if specAuto(g, m) {
		c = 1 // B-18
	}
	p := specPower{vpds: []int{n}, managed: true}
	manual := int(g.MaxPerVirtualNode)
	if g.CoresPerNode > 0 && m.model >= numa.ESXi80 { // B-10: an option of 8.0
		manual = int(g.CoresPerNode)
	}
	switch {
	case specHotAdd(g, m), g.Hardware > 0 && g.Hardware < 8:
	case manual > 0 && m.model >= numa.ESXi65 && (g.CoresPerNode == 0 || m.model < numa.ESXi80) && n < specMin(g, m):
		// B-3: "always UMA"; nothing is sized, so nothing is stored
	case manual > 0:
		p.vpds, p.manual = specManual(g, m, n, manual), true
	case n < specMin(g, m):
		p.sized = true
	case c > 1:
		p.vpds, p.sized = specFill(n, c), true
	case stored:
		p.vpds, p.sized, p.byStored = specFill(n, int(g.Stored)), true, true
	case n <= limit:
		p.sized = true
	case g.Autosize: // B-10: "vCPUs per VPD := cores per physical node"
		p.vpds, p.sized = specFill(n, int(m.Cores)), true
	default:
		p.vpds, p.sized = specEven(n, limit), true
	}
	if kept != nil {
		p.vpds = kept
	}
	for { // a PPD never crosses a VPD
		p.ppds = nil
		for _, s := range p.vpds {
			p.ppds = append(p.ppds, specEven(s, limit)...)
		}
		if m.model.Base() != numa.ESXi60 || len(p.ppds) <= 16 {
			return p
		}
		if len(p.vpds) > 16 { // B-29. Read as: whole VPDs share a PPD
			p.ppds = specFill(n, specUp(len(p.vpds), 16)*p.vpds[0])
			return p
		}
		limit++
	}
}

// spec65 is "release >= 6.5".
func spec65(g *Guest, m *Machine, event Event, stored bool, kept []int, manualFrom bool) specPower {
	n, limit, nodes := int(g.VCPUs), specCap(g, m), int(m.Nodes)
	k := specUp(n, limit)
	hand := specByHand(g, m) // B-10: what is set by hand is obeyed, with more clients than nodes too
	if !hand {
		k = min(k, nodes)
	}
	if g.Spread && k <= nodes { // B-17. Read as: over nodes that exist
		k = max(k, 2)
		if m.NodeMemory > 0 {
			k = max(k, int(min((g.Memory+m.NodeMemory-1)/m.NodeMemory, int64(nodes))))
		}
		k = min(k, nodes)
	}
	c := int(g.CoresPerSocket)
	if specAuto(g, m) {
		c = 1 // B-18
	}
	per := specUp(n, k)
	if 1 < c && c <= limit { // B-12
		whole := func(k int) int { return specUp(specUp(n, k), c) * c }
		per = whole(k)
		for per > limit && (hand || k < nodes) { // "raise n while n < M, else overfill"
			k++
			per = whole(k)
		}
	}
	p := specPower{ppds: specFill(n, per), vpds: []int{n}, managed: true}
	manual := int(g.MaxPerVirtualNode)
	if g.CoresPerNode > 0 && m.model >= numa.ESXi80 {
		manual = int(g.CoresPerNode)
	}
	switch {
	case specHotAdd(g, m), g.Hardware > 0 && g.Hardware < 8:
	case manual > 0 && m.model >= numa.ESXi65 && (g.CoresPerNode == 0 || m.model < numa.ESXi80) && n < specMin(g, m):
		// B-3: "always UMA"; nothing is sized, so nothing is stored
	case manual > 0:
		p.vpds, p.manual = specManual(g, m, n, manual), true
	case stored:
		p.vpds, p.sized, p.byStored = specFill(n, int(g.Stored)), true, true
	case n < specMin(g, m):
		p.sized = true
	default:
		p.vpds, p.sized = p.ppds, true
	}
	if kept != nil {
		p.vpds, p.manual = kept, manualFrom
	}
	// "then PPD = VPD if VPD is finer", but "after vMotion: VPD kept, PPD = fill(N,
	// per) for the new host": that is no other where the nodes are equal.
	if p.manual && p.vpds[0] < p.ppds[0] {
		p.ppds = p.vpds
	}
	return p
}

// specHotAdd reports whether CPU hot add forces one VPD (B-15).
func specHotAdd(g *Guest, m *Machine) bool {
	exposed := g.VNUMAHotAdd && g.Hardware >= 20 && m.model >= numa.ESXi80
	return g.HotAdd && !exposed
}

// specMin is numa.vcpu.min (B-3), with the guess of B-19 for small EPYC nodes.
func specMin(g *Guest, m *Machine) int {
	if g.Min > 0 {
		return int(g.Min)
	}
	r := m.Release
	patched := r.Base() == numa.ESXi65 && r.Update() >= 3 || r.Base() == numa.ESXi67 && r.Update() >= 2 || r.Base() > numa.ESXi67
	if m.EPYC && m.Cores <= 8 && patched {
		return int(m.Cores) + 1
	}
	return 9
}

// specAuto reports whether cores per socket are assigned at power on (B-18).
func specAuto(g *Guest, m *Machine) bool {
	return g.AutoCPS && g.Hardware >= 20 && m.model >= numa.ESXi80
}

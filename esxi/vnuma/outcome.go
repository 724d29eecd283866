package vnuma

import "homenode/numa"

// sockets sets the sockets that the guest sees (rule book B-13, B-18).
func (l *Layout) sockets(g *Guest, m *Machine, c *Case, tr *tracer) {
	auto := g.auto(m)
	kept := !l.VSockets.empty() // D-1: sockets came along with the virtual nodes
	if !kept {
		l.CoresPerSocket = int(g.CoresPerSocket)
	}
	switch {
	case kept:
	case !auto:
		l.VSockets = fill(g.VCPUs, g.CoresPerSocket)
	case l.VPDs.Even():
		l.CoresPerSocket = l.VPDs.Max()
		l.VSockets = l.VPDs
	case c.Choices.AutoCPSOne: // F-14, the alternative
		l.CoresPerSocket = 1
		l.VSockets = fill(g.VCPUs, 1)
	default:
		l.CoresPerSocket = l.VPDs.Max()
		l.VSockets = l.VPDs
		l.Assumes |= AssumedAutoUneven
	}
	if auto && g.HotAdd {
		l.Assumes |= AssumedHotAddAuto
	}
	if tr != nil {
		tr.sockets(l, auto)
	}
}

// manage takes VMs with affinities out of NUMA management (rule book C-12) and
// counts the home nodes.
func (l *Layout) manage(g *Guest, tr *tracer) {
	if g.Affinity {
		l.Managed = false
		if tr != nil {
			tr.affinity()
		}
	}
	if l.Managed && g.AllowedNodes > 0 && tr != nil {
		tr.allowed(g.AllowedNodes)
	}
	if l.Managed {
		l.HomeNodes = min(l.PPDs.Len(), l.Nodes)
		if g.AllowedNodes > 0 { // C-12
			l.HomeNodes = min(l.HomeNodes, int(g.AllowedNodes))
		}
	}
}

// reside sets where the memory is once all of it is touched (rule book B-17,
// B-22, C-13, C-15).
func (l *Layout) reside(g *Guest, m *Machine, tr *tracer) {
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
	if g.Memory > 0 && m.NodeMemory > 0 {
		l.fillNodes(g, m)
	}
	if tr != nil {
		tr.memory(l)
	}
}

// fillNodes computes local and remote bytes.
func (l *Layout) fillNodes(g *Guest, m *Machine) {
	r := &l.Memory
	r.Known = true
	switch r.Placement {
	case Anywhere:
		// No home node: nothing is local by definition (C-12).
		r.Remote = numa.Bytes(g.Memory)
		return
	case Interleaved:
		homes := int64(l.HomeNodes)
		r.Local = numa.Bytes(min(g.Memory, homes*m.NodeMemory))
		r.Remote = numa.Bytes(g.Memory) - r.Local
		return
	}
	// Local: slices go to the nodes of their clients; clients beyond the nodes
	// share them in turn (C-5).
	remote := int64(0)
	if l.HomeNodes == l.VPDs.Len() || l.VPDs.Len() == 1 {
		for i := range l.VPDs.Len() {
			remote += max(0, int64(l.Slice(i))-m.NodeMemory)
		}
	} else {
		remote = max(0, g.Memory-int64(l.HomeNodes)*m.NodeMemory)
	}
	r.Remote = numa.Bytes(remote)
	r.Local = numa.Bytes(g.Memory - remote)
	if remote > 0 {
		r.Placement = Overflowing
	}
}

// cookieV2Hardware is the virtual hardware from which version 2 cookies are seen:
// Workstation 15.5 with hardware 16 (rule book B-9). [I]
const cookieV2Hardware = 16

// store sets what the VM's configuration holds afterwards (rule book B-8, B-9).
// Nothing is stored by a reboot or move, with sizes set by hand (B-10: "Not
// autosizing"), with CPU hot add, or where no vNUMA exists. What is stored and
// valid stays.
func (l *Layout) store(g *Guest, m *Machine, c *Case, tr *tracer) {
	switch l.Why {
	case ByRelease, ByHardware, ByHotAdd, ByManual:
		return
	}
	if m.model < numa.ESXi50 || c.keeps(g) {
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

// cookie returns the cookie that the VM holds (rule book B-9).
func (g *Guest) cookie() int {
	if g.CookieCPS > 0 {
		return int(g.CookieVCPUs)*10000 + int(g.CookieCPS)*10 + 2
	}
	return int(g.CookieVCPUs)*10000 + 1
}

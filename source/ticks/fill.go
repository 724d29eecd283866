package ticks

import (
	"cmp"
	"slices"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/source/hostcmd"
)

// fill converts the outputs of a round to a tick.
func (r *rounds) fill(h *hostRounds, o *round, t *numa.Tick) {
	*t = numa.Tick{Host: h.name, Time: o.time, Line: o.line, Nodes: t.Nodes[:0], VMs: t.VMs[:0]}
	for _, out := range o.outputs {
		switch list := out.Result.(type) {
		case *hostcmd.Screen:
			r.screen(t, list)
		case hostcmd.NodeLoads:
			loads(t, list)
		}
	}
	groups := map[string]int64{} // by vm.<cartel>
	for _, out := range o.outputs {
		list, isClients := out.Result.(hostcmd.Clients)
		if !isClients && out.Format != hostcmd.NUMACNode {
			continue
		}
		for _, g := range out.Groups() {
			groups[g.Name] = g.ID
			if isClients {
				clients(t, &g, list)
			} else if v := vm(t, g.ID, g.Name); v.OnNode == nil { // the screen has the overhead too
				v.OnNode = g.OnNode
			}
		}
	}
	for _, out := range o.outputs {
		if list, ok := out.Result.(*hostcmd.MemoryStats); ok {
			r.stats(t, o, list, groups)
		}
	}
	slices.SortFunc(t.Nodes, func(a, b numa.NodeTick) int { return cmp.Compare(a.ID, b.ID) })
	if len(t.Nodes) == 1 {
		t.Nodes = t.Nodes[:0] // a host of one node
	}
	cartels := map[int64]string{}
	for cartel, gid := range groups {
		cartels[gid] = max(cartels[gid], cartel)
	}
	for i := range t.VMs {
		v := &t.VMs[i]
		slices.SortFunc(v.OnNode, func(a, b numa.MemoryOnNode) int { return cmp.Compare(a.Node, b.Node) })
		if v.GID >= 0 {
			v.Name = h.nameOf(v, cartels[v.GID])
		}
	}
}

// A groupName holds the names of a scheduler group's VM in outputs: sched-stats prints vm.<cartel>,
// the screen its display name, possibly truncated.
type groupName struct{ first, cartel, display string }

// nameOf returns the first name that was shown for the VM. When the group now belongs to another VM,
// as after a restart of the host, it is the present name. cartel is the name in sched-stats; empty
// when this round has none.
func (h *hostRounds) nameOf(v *numa.VMTick, cartel string) string {
	now := groupName{first: v.Name, cartel: cartel}
	if v.Name != now.cartel {
		now.display = v.Name
	}
	before := h.names[v.GID]
	shown := before.display == "" || now.display == "" || strings.HasPrefix(before.display, now.display) || strings.HasPrefix(now.display, before.display)
	if shown && (before.cartel == "" || now.cartel == "" || before.cartel == now.cartel) {
		now = groupName{cmp.Or(before.first, now.first), cmp.Or(now.cartel, before.cartel), cmp.Or(before.display, now.display)}
	}
	h.names[v.GID] = now
	return now.first
}

// screen adds the values of the esxtop memory screen, in MiB.
func (r *rounds) screen(t *numa.Tick, s *hostcmd.Screen) {
	if s.Free >= 0 {
		t.Free, t.Has = s.Free, t.Has|numa.HasFree
	}
	if s.MinFree >= 0 {
		t.MinFree, t.Has = s.MinFree, t.Has|numa.HasMinFree
	}
	var state numa.MemoryState
	if err := state.UnmarshalText([]byte(s.State)); err == nil {
		t.State, t.Has = state, t.Has|numa.HasState
	}
	for i, n := range s.Nodes {
		*node(t, i) = numa.NodeTick{ID: i, Has: numa.HasTotal | numa.HasFree, Total: n.Total, Free: n.Free}
	}
	seen := map[string]int{}
	for _, g := range s.VMs {
		seen[g.Name]++
	}
	for _, g := range s.VMs {
		if g.GID < 0 && seen[g.Name] > 1 {
			r.kinds.Warn("same name", g.Line, 0, "the screen shows no GID and %d VMs as %q: they are left out; add the field ID (f, A)", seen[g.Name], g.Name)
			continue
		}
		v := vm(t, g.GID, g.Name)
		v.Homes, v.Has = homes(g.Homes), v.Has|numa.HasHomes
		if g.Local >= 0 && g.Remote >= 0 {
			v.Local, v.Remote, v.Has = g.Local, g.Remote, v.Has|numa.HasMemory
		}
		if g.PercentLocal >= 0 {
			v.Percent, v.Has = g.PercentLocal, v.Has|numa.HasPercent
		}
		v.OnNode = g.OnNode
		switch {
		case g.Migrations < 0:
		case r.j.opt.Interval > 0:
			v.Moves, v.Has = numa.Moves{All: int64(g.Migrations)}, v.Has|numa.HasMoves
		case g.Migrations > 0:
			r.kinds.Warn("NMIG", g.Line, 0, "NMIG counts since the refresh before, which need not be the screen before: it is not used")
		}
	}
}

// loads adds the nodes of numa-pnode. Used and idle time of a node cover one rebalance period and
// add up to that of its cores.
func loads(t *numa.Tick, list hostcmd.NodeLoads) {
	for _, l := range list {
		n := node(t, l.ID)
		if l.Total > 0 {
			n.Total, n.Has = l.Total, n.Has|numa.HasTotal
		}
		if l.Free >= 0 {
			n.Free, n.Has = l.Free, n.Has|numa.HasFree
		}
		if l.Used >= 0 && l.Idle >= 0 && l.Used+l.Idle > 0 {
			n.Core, n.Has = float64(l.Used)/float64(l.Used+l.Idle), n.Has|numa.HasCore
		}
	}
}

// clients adds a VM of numa-clients: a wide one has several.
func clients(t *numa.Tick, g *hostcmd.Group, list hostcmd.Clients) {
	v := vm(t, g.ID, g.Name)
	v.Homes, v.Has = homes(g.Homes), v.Has|numa.HasHomes
	if g.Local >= 0 && g.Remote >= 0 {
		v.Local, v.Remote, v.Has = g.Local, g.Remote, v.Has|numa.HasMemory
	}
	v.VCPUs = 0
	n, percent := 0, -1
	for i := range list {
		if c := &list[i]; c.GroupID == g.ID && c.Group == g.Name {
			v.VCPUs += c.VCPUs
			n, percent = n+1, c.CurrentLocal
		}
	}
	if n == 1 && percent >= 0 { // the value of one of several is not that of the VM
		v.Percent, v.Has = percent, v.Has|numa.HasPercent
	}
}

// stats adds memstats -r vm-stats, which names VMs as sched-stats does, unlike the screen.
func (r *rounds) stats(t *numa.Tick, o *round, s *hostcmd.MemoryStats, groups map[string]int64) {
	for _, row := range s.Rows {
		gid, known := groups[row.Name]
		if !known && o.has(hostcmd.EsxtopMemory) {
			r.kinds.Warn("memstats", o.line, 0, "%s of memstats is one of the VMs on the screen, but which is not said: left out; numa-clients in the same round tells", row.Name)
			continue
		}
		if !known {
			gid = -1
		}
		v := vm(t, gid, row.Name)
		for i, column := range s.Columns {
			value := numa.Bytes(row.Values[i])
			if s.Unit == 0 || value < 0 || value > numa.MaxHostMemory/s.Unit {
				continue
			}
			value *= s.Unit
			switch column {
			case "memSize":
				v.Size, v.Has = value, v.Has|numa.HasSize
			case "consumed":
				v.Consumed, v.Has = value, v.Has|numa.HasConsumed
			case "mapped":
				v.Granted, v.Has = value, v.Has|numa.HasGranted
			case "touched":
				v.Active, v.Has = value, v.Has|numa.HasActive
			}
		}
	}
}

// vm returns the VM with this group, or with this name when the output shows no groups.
func vm(t *numa.Tick, gid int64, name string) *numa.VMTick {
	for i := range t.VMs {
		if v := &t.VMs[i]; gid >= 0 && v.GID == gid || (gid < 0 || v.GID < 0) && v.Name == name {
			return v
		}
	}
	t.VMs = append(t.VMs, numa.VMTick{GID: gid, Name: name})
	return &t.VMs[len(t.VMs)-1]
}

func node(t *numa.Tick, id int) *numa.NodeTick {
	for i := range t.Nodes {
		if t.Nodes[i].ID == id {
			return &t.Nodes[i]
		}
	}
	t.Nodes = append(t.Nodes, numa.NodeTick{ID: id})
	return &t.Nodes[len(t.Nodes)-1]
}

func homes(nodes []int) (s numa.NodeSet) {
	for _, n := range nodes {
		if n >= 0 && n < numa.MaxNodes {
			s |= numa.SetOf(n)
		}
	}
	return s
}

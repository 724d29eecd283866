package replay

import (
	"strings"

	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/numa"
)

// A comparison compares the ticks of a run with the observed moments, one by one.
type comparison struct {
	plan   *plan
	out    Result
	guests []compared
	before []baseline // by life
	free   map[int]numa.Bytes
	next   int // moment
}

// compared is the simulated activity of a guest since the last moment.
type compared struct {
	tick        *numa.VMTick // of this tick; nil if it does not run
	moves       int64
	ready, over float64
	// Over the whole replay.
	simulated, observed int64
	uncounted           bool
}

// A baseline is the state of a life at its first observation.
type baseline struct {
	known         bool
	homes         numa.NodeSet
	local, remote numa.Bytes
	readyKnown    bool
	ready         float64
}

func newComparison(p *plan) *comparison {
	c := &comparison{plan: p, guests: make([]compared, len(p.guests)), before: make([]baseline, len(p.rec.lives)), free: map[int]numa.Bytes{}}
	c.out = Result{
		Host: strings.ToValidUTF8(p.rec.host, "\uFFFD"), Start: p.rec.start.UTC(), End: p.rec.start.UTC().Add(p.rec.lastAt()),
		Moments: len(p.rec.moments), Window: p.rec.window, Seconds: p.rec.window.Seconds(), Story: p.story,
	}
	for i := range p.guests {
		c.out.VMs = append(c.out.VMs, VM{Name: p.guests[i].name, Known: p.guests[i].known})
	}
	for i := range p.host.Nodes.Value {
		n := &p.host.Nodes.Value[i]
		c.out.Nodes = append(c.out.Nodes, Node{ID: n.ID})
		c.free[n.ID] = p.node(n.ID).Free
	}
	for i := range p.rec.first.VMs {
		if v := &p.rec.first.VMs[i]; settled(v) {
			b := &c.before[i]
			*b = baseline{known: true, homes: v.Homes, local: v.Local, remote: v.Remote}
			if b.readyKnown = v.Has&numa.HasReady != 0 && p.rec.first.Since > 0 && sane(v.Ready); b.readyKnown {
				b.ready = v.Ready
			}
		}
	}
	return c
}

// observe processes a tick of the run.
func (c *comparison) observe(_ int, t *numa.Tick, look *scheduler.Look) {
	for i := range t.VMs {
		v := &t.VMs[i]
		index, _ := look.VM(i)
		g := &c.guests[index]
		g.tick = v
		g.moves += v.Moves.All
		if v.Has&numa.HasReady != 0 {
			g.ready += float64(v.Ready * t.Since.Seconds())
			g.over += t.Since.Seconds()
		}
	}
	at := t.Time.Sub(c.out.Start)
	if c.next < len(c.plan.rec.moments) && c.plan.rec.moments[c.next].at == at {
		c.moment(&c.plan.rec.moments[c.next], t)
		c.next++
	}
	for i := range c.guests {
		c.guests[i].tick = nil
	}
}

// moment compares a moment.
func (c *comparison) moment(m *moment, t *numa.Tick) {
	for i := range m.nodes {
		c.node(&m.nodes[i], t)
	}
	for i := range m.vms {
		if g := c.plan.guestOf[m.vms[i].life]; g >= 0 {
			c.vm(&m.vms[i], g)
		}
	}
	for i := range c.guests {
		g := &c.guests[i]
		g.simulated += g.moves
		g.moves, g.ready, g.over = 0, 0, 0
	}
}

func (c *comparison) node(n *nodeSeen, t *numa.Tick) {
	for i := range t.Nodes {
		s := &t.Nodes[i]
		if s.ID == n.id && n.known && s.Has&numa.HasFree != 0 {
			c.out.Nodes[i].Errors[NodeFree].add(float64(n.free), float64(s.Free), float64(c.free[n.id]))
		}
	}
}

// vm compares a VM at a moment.
func (c *comparison) vm(v *seen, guest int) {
	g, b := &c.guests[guest], &c.before[v.life]
	if v.has&numa.HasMoves != 0 {
		g.observed += v.moves
	} else {
		g.uncounted = true
	}
	if !b.known {
		*b = baseline{known: true, homes: v.homes, local: v.local, remote: v.remote}
	}
	if !b.readyKnown && v.has&numa.HasReady != 0 {
		b.readyKnown, b.ready = true, v.ready
	}
	s, e := g.tick, &c.out.VMs[guest].Errors
	if s == nil {
		return // it could not be simulated, which is a problem of the outcome
	}
	e[NHN].differ(v.homes, s.Homes, b.homes)
	observed, ok := points(v.local, v.remote)
	simulated, ok2 := points(s.Local, s.Remote)
	if persistent, ok3 := points(b.local, b.remote); ok && ok2 && ok3 {
		e[Locality].add(observed, simulated, persistent)
	}
	if v.homes != 0 {
		e[NRMEM].add(float64(v.remote), float64(s.Remote), float64(b.remote))
		e[NLMEM].add(float64(v.local), float64(s.Local), float64(b.local))
	}
	if v.has&numa.HasReady != 0 && g.over > 0 {
		e[Ready].add(v.ready, g.ready/g.over, b.ready)
	}
}

// points returns N%L in percent, not truncated as in esxtop.
func points(local, remote numa.Bytes) (percent float64, ok bool) {
	v := numa.VMTick{Has: numa.HasMemory, Local: local, Remote: remote}
	share, ok := v.Locality()
	return share * 100, ok
}

// result computes the totals.
func (c *comparison) result() *Result {
	out := &c.out
	for i := range out.VMs {
		g, e := &c.guests[i], &out.VMs[i].Errors
		if !g.uncounted && e[NHN].Compared > 0 {
			e[NMIG].add(float64(g.observed), float64(g.simulated), 0)
		}
		for k := range e {
			out.Totals[k].sum(&e[k])
		}
	}
	for i := range out.Nodes {
		out.Totals[NodeFree].sum(&out.Nodes[i].Errors[NodeFree])
	}
	for k := range out.Totals {
		if out.Totals[k].Compared == 0 {
			c.plan.note("not compared: " + Counter(k).String() + ", which the capture does not state")
		}
	}
	out.Notes = c.plan.notes
	return out
}

package capture

import (
	"cmp"
	"slices"
	"time"

	"example.org/homenode/numa"
)

// tick records the host-wide values of a tick.
func (r *Recording) tick(m *moment) {
	t := m.tick
	if r.Ticks == 0 {
		r.First = t.Time
	}
	r.Last = t.Time
	r.Ticks++
	if t.Has&numa.HasMinFree != 0 && t.MinFree > 0 {
		r.MinFree = t.MinFree
	}
	r.HasStates = r.HasStates || t.Has&numa.HasState != 0

	if t.Has&numa.HasState != 0 && t.State > numa.High {
		r.Short.hold(t.Time, t.Time, r.First, float64(t.State), more)
	} else {
		r.Short.cut()
	}
	at, ok := uneven(t, m.options)
	if !ok {
		r.Imbalance.cut()
	} else {
		r.Imbalance.hold(t.Time, t.Time, r.First, at.Busy-at.Idle, more)
		r.At.spread(&at)
	}
}

// uneven returns the busiest and the idlest node. It reports false unless one is overloaded
// while another idles.
func uneven(t *numa.Tick, o *Options) (at Uneven, ok bool) {
	at = Uneven{Time: t.Time, Busiest: -1, Idlest: -1}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		busy, known := n.Busy()
		if !known {
			continue
		}
		if at.Busiest < 0 || busy > at.Busy {
			at.Busiest, at.Busy = n.ID, busy
		}
		if at.Idlest < 0 || busy < at.Idle {
			at.Idlest, at.Idle = n.ID, busy
		}
	}
	return at, at.Busiest >= 0 && at.Busy >= o.BusyNode && at.Idle <= o.IdleNode
}

// spread compares with another moment and keeps the one with the greater difference.
func (u *Uneven) spread(next *Uneven) {
	if !next.Time.IsZero() && (u.Time.IsZero() || next.Busy-next.Idle > u.Busy-u.Idle) {
		*u = *next
	}
}

// pair records the host's activity between two ticks.
func (r *Recording) pair(p *pair) {
	if !p.linked {
		r.Short.cut()
		r.Imbalance.cut()
		return
	}
	r.Covered += p.time
	if p.before.Has&numa.HasState != 0 {
		r.States[p.before.State] += p.time
	}
	r.Short.reach(p.after.Time)
	r.Imbalance.reach(p.after.Time)
}

// join adds the host-wide values of the next stretch, after pair has processed the seam.
func (r *Recording) join(next *Recording) {
	r.Short.join(&next.Short, more)
	r.Imbalance.join(&next.Imbalance, more)
	r.At.spread(&next.At)
	r.Last = next.Last
	r.Ticks += next.Ticks
	r.Covered += next.Covered
	if next.MinFree > 0 {
		r.MinFree = next.MinFree
	}
	for i := range r.States {
		r.States[i] += next.States[i]
	}
	r.HasStates = r.HasStates || next.HasStates
	r.Moves.join(&next.Moves)
	for i := range next.Files {
		r.addFile(next.Files[i])
	}
	r.LastTick = next.LastTick
	r.Lacks = slices.DeleteFunc(r.Lacks, func(name string) bool { return !slices.Contains(next.Lacks, name) })
}

// addFile adds a file, or more of the last one.
func (r *Recording) addFile(f File) {
	if n := len(r.Files); n > 0 && r.Files[n-1].Name == f.Name && r.Files[n-1].Format == f.Format {
		last := &r.Files[n-1]
		if last.Ticks == 0 {
			last.First = f.First
		}
		if f.Ticks > 0 {
			last.Last = f.Last
		}
		last.Ticks += f.Ticks
		last.Left += f.Left
		last.Parts = max(last.Parts, f.Parts)
		last.Cut = last.Cut || f.Cut
		last.Warnings = append(last.Warnings, f.Warnings...)
		return
	}
	f.Warnings = append([]string(nil), f.Warnings...)
	r.Files = append(r.Files, f)
}

// finish sorts, and fills in derived fields.
func (r *Recording) finish() {
	slices.SortFunc(r.Nodes, func(a, b Node) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(r.VMs, byName)
	for i := range r.VMs {
		v := &r.VMs[i]
		v.Appeared = v.First.After(r.First)
		v.Left = v.Last.Before(r.Last)
		v.HasMemory = v.Has&numa.HasMemory != 0
		v.HasHomes = v.Has&numa.HasHomes != 0
		v.HasMoves = v.Has&numa.HasMoves != 0
		v.HasKinds = v.Has&numa.HasKinds != 0
		slices.SortFunc(v.Homes, func(a, b HomeTime) int { return cmp.Compare(a.Homes, b.Homes) })
	}
	if len(r.Lacks) == 0 {
		r.Lacks = nil
	}
}

// byName orders VMs by name, then GID.
func byName(a, b VM) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.GID, b.GID), cmp.Compare(a.Nth, b.Nth))
}

// A stated is the set of counters that any tick of a host has.
type stated struct {
	host, node, vm numa.Counters
	onNode         bool
}

func (s *stated) tick(t *numa.Tick) {
	s.host |= t.Has
	for i := range t.Nodes {
		s.node |= t.Nodes[i].Has
	}
}

func (s *stated) vmTick(t *numa.VMTick) {
	s.vm |= t.Has
	s.onNode = s.onNode || len(t.OnNode) > 0
	// A VM without local and remote memory has no home, which is a stated value.
	if t.Has&numa.HasMemory != 0 && t.Local+t.Remote == 0 {
		s.vm |= numa.HasHomes
	}
}

// lacks lists the recorded counters that no tick has.
func (s *stated) lacks() (names []string) {
	for _, c := range []struct {
		has  bool
		name string
	}{
		{s.vm&numa.HasCoStop != 0, "% CoStop"},
		{s.vm&numa.HasReady != 0, "% Ready"},
		{s.vm&numa.HasUsed != 0, "% Used"},
		{s.onNode, "GST_NDx"},
		{s.host&numa.HasMinFree != 0, "Kernel MinFree MBytes"},
		{s.host&numa.HasState != 0, "Kernel State"},
		{s.vm&numa.HasSize != 0, "Memory Size MBytes"},
		{s.vm&numa.HasPercent != 0, "Numa % Local"},
		{s.vm&numa.HasHomes != 0, "Numa Home Nodes"},
		{s.vm&numa.HasMemory != 0, "Numa Local Memory MBytes"},
		{s.node&(numa.HasCore|numa.HasUtil|numa.HasUsed) != 0, "Numa Node % Util Time"},
		{s.node&numa.HasFree != 0, "Numa Node Free MBytes"},
		{s.node&numa.HasTotal != 0, "Numa Node Total MBytes"},
		{s.vm&numa.HasMoves != 0, "Numa Rebalance Count Delta"},
	} {
		if !c.has {
			names = append(names, c.name)
		}
	}
	return names
}

// accepts reports whether a tick at this time can follow; if not, wrong is the reason.
func (r *Recording) accepts(at time.Time) (wrong string, ok bool) {
	switch {
	case at.Before(earliest) || !at.Before(latest):
		return "is not between 1970 and 2200", false
	case r.Ticks > 0 && at.Equal(r.Last):
		return "is that of the tick before", false
	case r.Ticks > 0 && at.Before(r.Last):
		return "is earlier than that of the tick before, " + r.Last.Format(time.RFC3339Nano), false
	}
	return "", true
}

package capture

import (
	"time"

	"example.org/homenode/numa"
)

// homes records the home nodes and migrations at one moment.
func (v *VM) homes(m *moment, t *numa.VMTick) {
	if t.Has&numa.HasHomes != 0 {
		v.LastHomes = t.Homes
		v.home(t.Homes, 0)
		if t.Homes != 0 && t.Homes != v.Path.Last {
			v.arrive(m.tick.Time, t.Homes, m.options.Window)
		}
	}
	if t.Has&numa.HasMoves != 0 {
		v.Moves.Add(t.Moves)
		v.Migrated.add(m.tick.Time, t.Moves.All, m.options.Window)
	}
}

// home adds time on a set of home nodes.
func (v *VM) home(homes numa.NodeSet, d time.Duration) {
	for i := range v.Homes {
		if v.Homes[i].Homes == homes {
			v.Homes[i].Time += d
			return
		}
	}
	v.Homes = append(v.Homes, HomeTime{homes, d})
}

// arrive records a change of home nodes. The first home nodes are not a change.
func (v *VM) arrive(at time.Time, to numa.NodeSet, window time.Duration) {
	p := &v.Path
	if p.Last == 0 {
		p.First, p.At, p.Last = to, at, to
		return
	}
	if len(v.Changes) < MaxChanges {
		v.Changes = append(v.Changes, Change{Time: at, From: p.Last, To: to})
	}
	v.Changed.add(at, 1, window)
	if to == p.Before {
		v.Returns.add(at, 1, window)
	}
	p.Before, p.Last = p.Last, to
}

// joinHomes adds the home nodes of the next stretch. A change at the seam is in neither
// stretch, and the first change of next can be a return that next could not recognize.
func (v *VM) joinHomes(next *VM, o *Options) {
	for _, h := range next.Homes {
		v.home(h.Homes, h.Time)
	}
	v.Moves.Add(next.Moves)
	v.Migrated.join(&next.Migrated)

	if next.Path.First == 0 {
		return // no home nodes, so no changes
	}
	if v.Path.Last != next.Path.First {
		v.arrive(next.Path.At, next.Path.First, o.Window)
	}
	if len(next.Changes) > 0 && next.Changes[0].To == v.Path.Before {
		v.Returns.add(next.Changes[0].Time, 1, o.Window)
	}
	if next.Path.Before != 0 {
		v.Path.Before = next.Path.Before
	}
	v.Path.Last = next.Path.Last
	v.Changed.join(&next.Changed)
	v.Returns.join(&next.Returns)
	room := min(MaxChanges-len(v.Changes), len(next.Changes))
	v.Changes = append(v.Changes, next.Changes[:room]...)
}

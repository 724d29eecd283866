package optimise

import (
	"cmp"
	"context"
	"slices"
)

// A step is one thing to do: a move of a VM, or a change of its shape.
type step struct {
	vm        int32
	from, to  int   // hosts; equal for a change of shape
	shape     int16 // to be taken; -1 for a move
	temporary bool  // the VM goes on later
	after     Score
	relieved  relief
}

// ordered returns the steps from the beginning to the goal, each of which finds its room
// and breaks no constraint more than the beginning does; those that gain most come
// first. VMs that stay together move one right after the other. Where moves wait for
// each other, a VM makes room on a third host first. What cannot be ordered is left out,
// and so are last steps that make it dearer: the second result is what the steps reach.
func (m *model) ordered(ctx context.Context, goal *state) ([]step, *state) {
	s := &search{state: newState(m), ctx: ctx}
	var pending []int32
	for u, unit := range m.units {
		if slices.ContainsFunc(unit, func(v int32) bool { return s.host[v] != goal.host[v] }) {
			pending = append(pending, int32(u))
		}
	}
	var steps []step
	best, least := 0, s.total // a prefix of the steps, and its cost
	for len(pending) > 0 && ctx.Err() == nil {
		more, u, home := s.next(pending, goal)
		if more == nil {
			if more = s.detour(pending, goal); more == nil {
				break
			}
		}
		steps = append(steps, more...)
		if home {
			pending = slices.DeleteFunc(pending, func(o int32) bool { return o == u })
		}
		if s.total < least {
			best, least = len(steps), s.total
		}
	}
	if len(pending) > 0 {
		steps = s.walk(steps, goal)
		if s.total < least {
			best, least = len(steps), s.total
		}
	}
	reshapes := s.reshapes(goal)
	for len(reshapes) > 0 {
		st := s.nextShape(&reshapes, goal)
		steps = append(steps, st)
		if s.total < least {
			best, least = len(steps), s.total
		}
	}
	steps = steps[:best]
	return steps, m.replay(steps)
}

// walk takes what single moves still gain where the goal is out of reach. A shape that
// goes with a move becomes that of the goal, to be taken later.
func (s *search) walk(steps []step, goal *state) []step {
	for u := range s.m.units {
		s.order = append(s.order, int32(u))
	}
	for again := true; again; {
		again = false
		for _, u := range s.order {
			if s.ctx.Err() != nil {
				return steps
			}
			if s.split[u] > 0 || !s.improve(u) {
				continue
			}
			again = true
			for _, was := range s.undo { // where improve found the VMs
				if h := s.host[was.vm]; h != was.host {
					steps = append(steps, step{vm: was.vm, from: int(was.host), to: int(h), shape: -1})
				}
				if k := s.shape[was.vm]; k != was.shape {
					steps = append(steps, step{vm: was.vm, from: int(s.host[was.vm]), to: int(s.host[was.vm]), shape: k})
				}
			}
		}
	}
	for v := range s.shape {
		if s.host[v] != goal.host[v] {
			goal.shape[v] = s.shape[v]
		}
	}
	return steps
}

// replay returns what the steps reach and notes the scores.
func (m *model) replay(steps []step) *state {
	s := newState(m)
	before := s.burdens()
	for i := range steps {
		st := &steps[i]
		if st.shape >= 0 {
			s.shape[st.vm] = st.shape
		} else {
			s.put(st.vm, st.to)
		}
		st.after = s.score()
		after := s.burdens()
		st.relieved = most(before, after, st.vm)
		before = after
	}
	for i := range steps { // a VM that went on
		steps[i].temporary = steps[i].shape < 0 && slices.ContainsFunc(steps[i+1:], func(o step) bool { return o.vm == steps[i].vm && o.shape < 0 })
	}
	s.recount()
	return s
}

// next makes the pending move that lowers the total most, or raises it least; nil when
// none finds room.
func (s *search) next(pending []int32, goal *state) (steps []step, unit int32, home bool) {
	type candidate struct {
		unit  int32
		total int64
	}
	var all []candidate
	for _, u := range pending {
		if s.travel(u, goal.host) != nil {
			all = append(all, candidate{u, s.total})
			s.restore()
		}
	}
	if all == nil {
		return nil, 0, false
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Or(cmp.Compare(a.total, b.total), cmp.Compare(a.unit, b.unit)) })
	return s.travel(all[0].unit, goal.host), all[0].unit, true
}

// travel moves the VMs of the unit, one by one, to the hosts in to, which is indexed by
// VM; nil when one finds no room or N+1 gets worse, and then all is as it was.
func (s *search) travel(u int32, to []int32) []step {
	s.remember(u)
	undo := slices.Clone(s.undo)
	var steps []step
	for _, v := range s.m.units[u] {
		a, b := int(s.host[v]), int(to[v])
		if a == b {
			continue
		}
		if !s.roomFor(b, []int32{v}, nil) {
			steps = nil
			break
		}
		steps = append(steps, step{vm: v, from: a, to: b, shape: -1})
		s.total -= s.change(v)
		s.put(v, b)
		s.total += s.change(v)
		s.refresh(a)
		s.refresh(b)
		if !s.survives() {
			steps = nil
			break
		}
	}
	if len(s.m.units[u]) > 1 {
		s.total -= s.split[u] * broken
		s.split[u] = s.splits(int(u))
		s.total += s.split[u] * broken
	}
	s.undo = undo
	if steps == nil {
		s.restore()
	}
	return steps
}

// detour moves a pending unit, the smallest first, to a host where it is in no other's
// way, so that another pending one can move; nil when there is none.
func (s *search) detour(pending []int32, goal *state) []step {
	bySize := slices.Clone(pending)
	slices.SortStableFunc(bySize, func(a, b int32) int { return cmp.Compare(s.size(a), s.size(b)) })
	to := slices.Clone(s.host)
	for _, u := range bySize {
		unit := s.m.units[u]
		from := s.host[unit[0]]
		for h := range s.m.hosts {
			if int32(h) == from || int32(h) == goal.host[unit[0]] {
				continue
			}
			for _, v := range unit {
				to[v] = int32(h)
			}
			steps := s.travel(u, to)
			if steps == nil {
				continue
			}
			undo := slices.Clone(s.undo)
			for _, o := range pending {
				if o != u && s.travel(o, goal.host) != nil {
					s.restore() // it was only tried
					return steps
				}
			}
			s.undo = undo
			s.restore()
		}
		for _, v := range unit {
			to[v] = s.host[v]
		}
	}
	return nil
}

// size returns the memory of the unit in MiB.
func (s *state) size(u int32) (all int64) {
	for _, v := range s.m.units[u] {
		all += s.m.vms[v].Memory
	}
	return all
}

// reshapes returns the VMs whose shape is not that of the goal.
func (s *state) reshapes(goal *state) (out []int32) {
	for v := range s.shape {
		if s.shape[v] != goal.shape[v] && s.m.takes(int(s.host[v]), int32(v), goal.shape[v]) {
			out = append(out, int32(v))
		}
	}
	return out
}

// nextShape changes the shape that lowers the total most.
func (s *search) nextShape(pending *[]int32, goal *state) step {
	best, least := -1, int64(0)
	for i, v := range *pending {
		a, was := int(s.host[v]), s.shape[v]
		s.shape[v] = goal.shape[v]
		if cost := s.hostCost(a, s.on[a]) - s.cost[a]; best < 0 || cost < least {
			best, least = i, cost
		}
		s.shape[v] = was
	}
	v := (*pending)[best]
	*pending = slices.Delete(*pending, best, best+1)
	s.total -= s.change(v)
	s.shape[v] = goal.shape[v]
	s.total += s.change(v)
	a := int(s.host[v])
	s.refresh(a)
	return step{vm: v, from: a, to: a, shape: goal.shape[v]}
}

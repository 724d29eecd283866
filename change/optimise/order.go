package optimise

import (
	"cmp"
	"context"
	"slices"
)

// A step is one action: a move of a VM, or a change of its shape.
type step struct {
	vm        int32
	from, to  int   // hosts; equal for a change of shape
	shape     int16 // new shape; -1 for a move
	temporary bool  // the VM moves again later
	after     Score
	relieved  relief
}

// ordered returns the steps from the beginning to the goal. Each step fits its host and breaks
// no constraint more than the beginning does. Steps with the largest gain come first. VMs that
// stay together move one right after the other. If moves wait for each other, a VM first moves
// temporarily to a third host. Steps without a possible order are left out, and so are final
// steps that increase the cost. The second result is the state after the steps.
func (m *model) ordered(ctx context.Context, goal *state) ([]step, *state) {
	s := &search{state: newState(m), ctx: ctx}
	var pending []int32
	for u, unit := range m.units {
		if slices.ContainsFunc(unit, func(v int32) bool { return s.In[v] != goal.In[v] }) {
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

// walk adds single moves that still gain if the goal is out of reach. A shape that goes with a
// move becomes that of the goal, to be changed later.
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
			from := int(s.In[s.m.units[u][0]])
			shapes := slices.Clone(s.shape)
			if s.split[u] > 0 || !s.improve(u) {
				continue
			}
			again = true
			for _, v := range s.m.units[u] {
				to := int(s.In[v])
				if to != from {
					steps = append(steps, step{vm: v, from: from, to: to, shape: -1})
				}
				if k := s.shape[v]; k != shapes[v] {
					steps = append(steps, step{vm: v, from: to, to: to, shape: k})
				}
			}
		}
	}
	for v := range s.shape {
		if s.In[v] != goal.In[v] {
			goal.shape[v] = s.shape[v]
		}
	}
	return steps
}

// replay returns the state after the steps and records the scores.
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
	for i := range steps { // a VM that moved again
		steps[i].temporary = steps[i].shape < 0 && slices.ContainsFunc(steps[i+1:], func(o step) bool { return o.vm == steps[i].vm && o.shape < 0 })
	}
	s.recount()
	return s
}

// next makes the pending move that lowers the total most, or raises it least; nil if none fits.
func (s *search) next(pending []int32, goal *state) (steps []step, unit int32, home bool) {
	best, least := int32(-1), int64(0)
	for _, u := range pending {
		s.Try(func() bool {
			if s.travel(u, goal.In) != nil && (best < 0 || s.total < least) {
				best, least = u, s.total
			}
			return false
		})
	}
	if best < 0 {
		return nil, 0, false
	}
	return s.travel(best, goal.In), best, true
}

// travel moves the VMs of the unit, one by one, to the hosts in to, which is indexed by VM. If
// one does not fit or N+1 gets worse, it restores the state and returns nil.
func (s *search) travel(u int32, to []int32) (steps []step) {
	if !s.Try(func() bool {
		for _, v := range s.m.units[u] {
			a, b := int(s.In[v]), int(to[v])
			if a == b {
				continue
			}
			if !s.roomFor(b, []int32{v}, nil) {
				return false
			}
			steps = append(steps, step{vm: v, from: a, to: b, shape: -1})
			if s.move(v, b, false, 0); !s.survives() {
				return false
			}
		}
		s.join(u)
		return true
	}) {
		return nil
	}
	return steps
}

// detour moves a pending unit, the smallest first, to a host where it blocks no other unit, so
// that another pending one can move; nil if there is none.
func (s *search) detour(pending []int32, goal *state) []step {
	bySize := slices.Clone(pending)
	slices.SortStableFunc(bySize, func(a, b int32) int { return cmp.Compare(s.size(a), s.size(b)) })
	to := slices.Clone(s.In)
	for _, u := range bySize {
		unit := s.m.units[u]
		from := s.In[unit[0]]
		for h := range s.m.hosts {
			if int32(h) == from || int32(h) == goal.In[unit[0]] {
				continue
			}
			for _, v := range unit {
				to[v] = int32(h)
			}
			var steps []step
			if s.Try(func() bool {
				steps = s.travel(u, to)
				return steps != nil && slices.ContainsFunc(pending, func(o int32) bool { return o != u && s.opens(o, goal) })
			}) {
				return steps
			}
		}
		for _, v := range unit {
			to[v] = s.In[v]
		}
	}
	return nil
}

// opens reports whether a unit could travel now.
func (s *search) opens(u int32, goal *state) (ok bool) {
	s.Try(func() bool { ok = s.travel(u, goal.In) != nil; return false })
	return ok
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
		if s.shape[v] != goal.shape[v] && s.m.takes(int(s.In[v]), int32(v), goal.shape[v]) {
			out = append(out, int32(v))
		}
	}
	return out
}

// nextShape makes the change of shape that lowers the total most.
func (s *search) nextShape(pending *[]int32, goal *state) step {
	best, least := -1, int64(0)
	for i, v := range *pending {
		a, was := int(s.In[v]), s.shape[v]
		s.shape[v] = goal.shape[v]
		if cost := s.hostCost(a, s.On[a]) - s.cost[a]; best < 0 || cost < least {
			best, least = i, cost
		}
		s.shape[v] = was
	}
	v := (*pending)[best]
	*pending = slices.Delete(*pending, best, best+1)
	a := int(s.In[v])
	s.move(v, a, true, goal.shape[v])
	return step{vm: v, from: a, to: a, shape: goal.shape[v]}
}

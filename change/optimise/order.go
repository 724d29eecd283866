package optimise

import (
	"cmp"
	"context"
	"math/rand/v2"
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
// no constraint more than the beginning does. Steps with the largest gain come first, or with another seed than 0 any. VMs that
// stay together move one right after the other. If moves wait for each other, a VM first moves
// temporarily to a third host. Steps without a possible order are left out, and so are final
// steps that increase the cost. The second result is the state after the steps.
func (m *model) ordered(ctx context.Context, goal *state, seed uint64) ([]step, *state) {
	s := newSearch(ctx, m)
	s.random = rand.New(rand.NewPCG(seed, 1))
	var pending []journey
	for u, unit := range m.units {
		if slices.ContainsFunc(unit, func(v int32) bool { return s.In[v] != goal.In[v] }) {
			pending = append(pending, journey{unit: int32(u)})
		}
	}
	s.since = make([]int, len(m.hosts))
	var steps []step
	best, least := 0, s.total // a prefix of the steps, and its cost
	for len(pending) > 0 && !s.over() {
		if seed > 0 {
			s.random.Shuffle(len(pending), func(i, j int) { pending[i], pending[j] = pending[j], pending[i] })
		}
		more, u := s.next(pending, goal.In, seed == 0)
		if more == nil {
			if more = s.detour(pending, goal); more == nil {
				break
			}
		}
		steps = append(steps, more...)
		for _, st := range more {
			s.since[st.from], s.since[st.to] = len(steps), len(steps)
		}
		pending = slices.DeleteFunc(pending, func(j journey) bool { return j.unit == u })
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

// A journey is a unit that is not on its host yet.
type journey struct {
	unit  int32
	known int   // steps that were done when delta was found, and 1
	delta int64 // change of the total
	fits  bool
}

// next makes the pending move that lowers the total most, or raises it least, or the first if they need not be sorted; nil if none fits.
func (s *search) next(pending []journey, to []int32, sorted bool) (steps []step, unit int32) {
	for i := range pending {
		j := &pending[i]
		if !slices.ContainsFunc(s.m.units[j.unit], func(v int32) bool { return max(s.since[s.In[v]], s.since[to[v]]) >= j.known }) {
			continue
		}
		j.fits, j.known = false, 1+slices.Max(s.since)
		before := s.total
		s.try(func() bool {
			j.fits = s.travel(j.unit, to, false) != nil
			j.delta = s.total - before
			return false
		})
	}
	order := make([]*journey, 0, len(pending))
	for i := range pending {
		if pending[i].fits {
			order = append(order, &pending[i])
		}
	}
	if sorted {
		slices.SortFunc(order, func(a, b *journey) int { return cmp.Or(cmp.Compare(a.delta, b.delta), cmp.Compare(a.unit, b.unit)) })
	}
	for _, j := range order {
		if steps := s.travel(j.unit, to, true); steps != nil {
			return steps, j.unit
		}
	}
	return nil, -1
}

// travel moves the VMs of the unit, one by one, to the hosts in to, which is indexed by VM. If
// one does not fit, or if N+1 counts and gets worse, it restores the state and returns nil.
func (s *search) travel(u int32, to []int32, nplus1 bool) (steps []step) {
	if !s.try(func() bool {
		for _, v := range s.m.units[u] {
			a, b := int(s.In[v]), int(to[v])
			if a == b {
				continue
			}
			if !s.roomFor(b, []int32{v}, nil) {
				return false
			}
			steps = append(steps, step{vm: v, from: a, to: b, shape: -1})
			if s.move(v, b, s.shape[v]); nplus1 && !s.survives() {
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
func (s *search) detour(pending []journey, goal *state) []step {
	var bySize []int32
	for i := range pending {
		bySize = append(bySize, pending[i].unit)
	}
	slices.SortStableFunc(bySize, func(a, b int32) int { return cmp.Compare(s.size(a), s.size(b)) })
	to := slices.Clone(s.In)
	for _, u := range bySize {
		unit := s.m.units[u]
		from := s.In[unit[0]]
		var waiting []int32 // units for its host: there alone is room when it is gone
		for _, o := range bySize {
			if o != u && slices.ContainsFunc(s.m.units[o], func(v int32) bool { return goal.In[v] == from }) {
				waiting = append(waiting, o)
			}
		}
		for h := range s.m.hosts {
			if int32(h) == from || int32(h) == goal.In[unit[0]] || waiting == nil || s.over() {
				continue
			}
			s.work++
			for _, v := range unit {
				to[v] = int32(h)
			}
			var steps []step
			if s.try(func() bool {
				steps = s.travel(u, to, true)
				return steps != nil && slices.ContainsFunc(waiting, func(o int32) bool { return s.opens(o, goal) })
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
	s.try(func() bool { ok = s.travel(u, goal.In, true) != nil; return false })
	return ok
}

// walk adds steps that still gain if the goal is out of reach: those of rebuilt distributions to which the moves have an order. A shape that
// goes with a move becomes that of the goal, to be changed later.
func (s *search) walk(steps []step, goal *state) []step {
	ahead := newSearch(s.ctx, s.m)
	ahead.random = s.random
	ahead.take(s.state)
	rounds := Options{}.defaults(len(s.m.vms)).Rounds
	for h := range s.m.hosts {
		ahead.marks = append(ahead.marks, int32(h))
	}
	for range rounds {
		if ahead.over() || s.over() {
			break
		}
		if ahead.descend(); ahead.total == s.total {
			ahead.rebuild(s.total - 1)
		}
		if ahead.total >= s.total {
			continue
		}
		if more := s.follow(ahead.state); more != nil {
			steps = append(steps, more...)
		}
		ahead.take(s.state)
		ahead.marks = ahead.marks[:0]
	}
	copy(goal.shape, s.shape)
	return steps
}

// follow makes the moves and then the changes of shape to another distribution; nil if the moves have no order.
func (s *search) follow(o *state) (steps []step) {
	s.try(func() bool {
		for again := true; again; {
			again = false
			for u, unit := range s.m.units {
				if slices.ContainsFunc(unit, func(v int32) bool { return s.In[v] != o.In[v] }) {
					more := s.travel(int32(u), o.In, true)
					steps, again = append(steps, more...), again || more != nil
				}
			}
		}
		if !slices.Equal(s.In, o.In) {
			steps = nil
			return false
		}
		for v, k := range o.kept {
			if h := int(s.In[v]); s.kept[v] != k {
				s.move(int32(v), h, k)
				steps = append(steps, step{vm: int32(v), from: h, to: h, shape: k})
			}
		}
		return true
	})
	return steps
}

// replay returns the state after the steps and records the scores.
func (m *model) replay(steps []step) *state {
	s := newState(m)
	l := s.ledger()
	for i := range steps {
		st := &steps[i]
		shape := st.shape
		if shape < 0 {
			shape = s.shape[st.vm]
		}
		st.relieved = l.step(s, st, shape)
		st.after = s.sum(l)
	}
	for i := range steps { // a VM that moved again
		steps[i].temporary = steps[i].shape < 0 && slices.ContainsFunc(steps[i+1:], func(o step) bool { return o.vm == steps[i].vm && o.shape < 0 })
	}
	s.recount()
	return s
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
		if cost := s.price(a, []int32{v}, []int32{v}) - s.cost[a]; best < 0 || cost < least {
			best, least = i, cost
		}
		s.shape[v] = was
	}
	v := (*pending)[best]
	*pending = slices.Delete(*pending, best, best+1)
	a := int(s.In[v])
	s.move(v, a, goal.shape[v])
	return step{vm: v, from: a, to: a, shape: goal.shape[v]}
}

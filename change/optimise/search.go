package optimise

import (
	"cmp"
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
)

// Options limit the search; they contain no time limit, so that the same input gives the same result.
type Options struct {
	Seed     uint64
	Starts   int // independent searches; the best result counts; 0 means 4
	Rounds   int // number of times VMs are taken out and put back, for each start; 0 means 1000
	Partners int // VMs tried as partners of a swap; 0 means 64
}

func (o Options) defaults() Options {
	return Options{o.Seed, cmp.Or(o.Starts, 4), cmp.Or(o.Rounds, 1000), cmp.Or(o.Partners, 64)}
}

// found returns the results of the starts, the cheapest first. They run in parallel; equal ones are in the order of their
// indexes.
func (m *model) found(ctx context.Context, o Options) []*state {
	results := make([]*state, o.Starts)
	var wg sync.WaitGroup
	gate := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range results {
		wg.Go(func() {
			gate <- struct{}{}
			results[i] = m.run(ctx, o, uint64(i))
			<-gate
		})
	}
	wg.Wait()
	slices.SortStableFunc(results, func(a, b *state) int { return cmp.Compare(a.total, b.total) })
	return results
}

// At first a start accepts results that are worse than the best so far by four moves and half of its total: a small
// cluster has few steps between one good distribution and the next. Tuned with the generated problems of the tests.
const (
	firstSlack = 4
	slackShare = 2
)

// A search is one start.
type search struct {
	*state
	ctx     context.Context // when it ends, the search ends, and the state is invalid
	options Options
	random  *rand.Rand
	order   []int32 // units
	choices []choice
	picked  []int32
}

// A choice is a possible change of a unit.
type choice struct {
	delta int64
	host  int
	vm    int32 // whose shape changes; -1 for none
	shape int16
}

func (m *model) run(ctx context.Context, o Options, index uint64) *state {
	s := &search{state: newState(m), ctx: ctx, options: o, random: rand.New(rand.NewPCG(o.Seed, index))}
	for u := range m.units {
		s.order = append(s.order, int32(u))
	}
	if len(m.vms) == 0 {
		return s.state
	}
	if index > 0 { // another path of descent
		s.random.Shuffle(len(s.order), func(i, j int) { s.order[i], s.order[j] = s.order[j], s.order[i] })
	}
	s.descend()
	found := newState(m)
	found.take(s.state)
	for round := range o.Rounds {
		if ctx.Err() != nil {
			break
		}
		// The limit for accepting worse results decreases.
		slack := (firstSlack*m.weights.Move + found.total/slackShare) * int64(o.Rounds-round) / int64(o.Rounds)
		s.rebuild(found.total + slack)
		if s.total < found.total {
			s.descend()
			found.take(s.state)
		}
	}
	s.take(found)
	s.descend()
	return s.state
}

// descend makes improvements until there is none. It terminates: the total is an integer and decreases each time.
func (s *search) descend() {
	for again := true; again; {
		again = false
		for _, u := range s.order {
			if s.ctx.Err() != nil {
				return
			}
			for s.improve(u) {
				again = true
			}
		}
		if !again {
			again = s.swap()
		}
	}
}

// hopeless reports whether a change of the unit alone cannot gain anything: its host has no cost, and it is unchanged.
func (s *search) hopeless(u int32) bool {
	if s.split[u] > 0 {
		return false
	}
	return !slices.ContainsFunc(s.m.units[u], func(v int32) bool { return s.cost[s.In[v]] > 0 || s.change(v) > 0 })
}

// improve makes the best single change of the unit that lowers the total.
func (s *search) improve(u int32) bool {
	if s.hopeless(u) {
		return false
	}
	s.choices = s.choices[:0]
	if s.split[u] > 0 {
		s.gather(u)
	} else {
		s.weighUnit(u, 0)
	}
	slices.SortFunc(s.choices, func(a, b choice) int {
		return cmp.Or(cmp.Compare(a.delta, b.delta), cmp.Compare(a.host, b.host), cmp.Compare(a.vm, b.vm), cmp.Compare(a.shape, b.shape))
	})
	before := s.total
	for _, c := range s.choices {
		if s.Try(func() bool { s.apply(u, c); return s.total < before && s.survives() }) {
			return true
		}
	}
	return false
}

// weighUnit collects the changes of a unit on one host that cost less than most.
func (s *search) weighUnit(u int32, most int64) {
	unit := s.m.units[u]
	a := int(s.In[unit[0]])
	without := s.hostCost(a, s.list(a, nil, unit, &s.bench.list)) - s.cost[a]
	single := len(unit) == 1
	for _, v := range unit {
		for shape := range s.m.vms[v].Shapes {
			was := s.shape[v]
			if v != unit[0] && int16(shape) == was {
				continue // the present unit was evaluated with its first VM
			}
			s.shape[v] = int16(shape)
			s.weighHosts(unit, a, without, choice{vm: v, shape: int16(shape)}, s.m.cycling(int16(shape))-s.m.cycling(was), single || int16(shape) == was, int16(shape) != was, most)
			s.shape[v] = was
		}
	}
}

// weighHosts evaluates the unit, with its present shape, on its host if stay is set, and on others if leave is.
func (s *search) weighHosts(unit []int32, a int, without int64, c choice, cycles int64, leave, stay bool, most int64) {
	for _, h := range s.m.vms[unit[0]].Allowed {
		if h == a && !stay || h != a && !leave {
			continue
		}
		delta := cycles
		if h == a {
			if !s.m.fit(c.vm, c.shape, h).OK {
				continue
			}
			delta += s.hostCost(h, s.On[h]) - s.cost[h]
		} else {
			if !s.roomFor(h, unit, nil) {
				continue
			}
			delta += without + s.hostCost(h, s.list(h, unit, nil, &s.bench.list)) - s.cost[h]
			for _, v := range unit {
				delta += s.m.moving(v, h) - s.m.moving(v, a)
			}
		}
		if delta < most {
			c.host, c.delta = h, delta
			s.choices = append(s.choices, c)
		}
	}
}

// gather collects the hosts on which a split unit could be joined. The cost is determined by trying.
func (s *search) gather(u int32) {
	unit := s.m.units[u]
	for _, h := range s.m.vms[unit[0]].Allowed {
		var in []int32
		for _, v := range unit {
			if int(s.In[v]) != h {
				in = append(in, v)
			}
		}
		if s.roomFor(h, in, nil) {
			s.choices = append(s.choices, choice{host: h, vm: -1})
		}
	}
}

// apply makes the change and updates the costs.
func (s *search) apply(u int32, c choice) {
	for _, v := range s.m.units[u] {
		s.move(v, c.host, c.vm == v, c.shape)
	}
	s.join(u)
}

// move moves VM v to host h, -1 for none, with another shape if other is set, and updates the costs of both hosts.
func (s *state) move(v int32, h int, other bool, shape int16) {
	a, before := int(s.In[v]), int64(0)
	if a >= 0 {
		before = s.change(v)
	}
	s.put(v, h)
	if other {
		s.shape[v] = shape
	}
	if h >= 0 {
		s.refresh(h)
		before -= s.change(v)
	}
	if a >= 0 && a != h {
		s.refresh(a)
	}
	s.Set(&s.total, s.total-before)
}

// join records the number of hosts of a unit.
func (s *state) join(u int32) {
	was := s.split[u]
	s.Set(&s.split[u], s.splits(int(u)))
	s.Set(&s.total, s.total+(s.split[u]-was)*broken)
}

func (s *state) refresh(h int) {
	was := s.cost[h]
	s.Set(&s.cost[h], s.hostCost(h, s.On[h]))
	s.Set(&s.total, s.total+s.cost[h]-was)
}

// swap exchanges two units of different hosts; false if none of the tried exchanges lowers the total.
func (s *search) swap() (any bool) {
	for _, u := range s.order {
		if s.hopeless(u) || s.split[u] > 0 {
			continue
		}
		n := len(s.order)
		first, tries := 0, n
		if n > s.options.Partners {
			first, tries = s.random.IntN(n), s.options.Partners
		}
		for i := range tries {
			if s.trySwap(u, s.order[(first+i)%n]) {
				any = true
				break
			}
		}
	}
	return any
}

func (s *search) trySwap(u, w int32) bool {
	x, y := s.m.units[u], s.m.units[w]
	a, b := int(s.In[x[0]]), int(s.In[y[0]])
	if a == b || s.split[w] > 0 || !s.roomFor(b, x, y) || !s.roomFor(a, y, x) {
		return false
	}
	delta := s.hostCost(a, s.list(a, y, x, &s.bench.list)) - s.cost[a]
	for _, v := range x {
		delta += s.m.moving(v, b) - s.m.moving(v, a)
	}
	for _, v := range y {
		delta += s.m.moving(v, a) - s.m.moving(v, b)
	}
	delta += s.hostCost(b, s.list(b, x, y, &s.bench.list)) - s.cost[b]
	if delta >= 0 {
		return false
	}
	return s.Try(func() bool {
		s.apply(u, choice{host: b, vm: -1})
		s.apply(w, choice{host: a, vm: -1})
		return s.survives()
	})
}

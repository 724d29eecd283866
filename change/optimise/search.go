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
	Seed   uint64
	Starts int // independent searches; the best result counts; 0 means 4
	Rounds int // number of times VMs are taken out and put back, for each start; 0 means 4000 and 4 for each VM
	// Progress, unless nil, is called now and then with the number of rounds that are done and of all, never twice at a time.
	Progress func(done, total int)
}

// perVM limits the work of a start: each VM is placed so often. To look at six hosts or VMs takes as long as to place one, and so does to
// find another host for one after a failure.
const (
	perVM = 3000
	scans = 6
	fits  = 1
)

// leastWork is allowed to a start, however small the cluster.
const leastWork = 1_000_000

func (o Options) defaults(vms int) Options {
	return Options{o.Seed, cmp.Or(o.Starts, 4), cmp.Or(o.Rounds, 4000+4*vms), o.Progress}
}

// found returns the results of the starts, the cheapest first. They run in parallel; equal ones are in the order of their
// indexes.
func (m *model) found(ctx context.Context, o Options) []*state {
	results := make([]*state, o.Starts)
	var wg sync.WaitGroup
	gate := make(chan struct{}, runtime.GOMAXPROCS(0))
	var lock sync.Mutex
	done := 0
	show := func(rounds int) {
		lock.Lock()
		defer lock.Unlock()
		if done += rounds; o.Progress != nil {
			o.Progress(done, o.Starts*o.Rounds)
		}
	}
	for i := range results {
		wg.Go(func() {
			gate <- struct{}{}
			results[i] = m.run(ctx, o, uint64(i), show)
			<-gate
		})
	}
	wg.Wait()
	slices.SortStableFunc(results, func(a, b *state) int { return cmp.Compare(a.total, b.total) })
	return results
}

// At first a start accepts results that are worse than the best so far by four moves and a part of its total, which is half with
// two hosts: a small cluster has few steps between one good distribution and the next. Tuned with generated problems.
const firstSlack = 4

// showEach: progress is shown after so many rounds of a start.
const showEach = 200

// A search is one start.
type search struct {
	*state
	ctx     context.Context // when it ends, the search ends, and the state is invalid
	ended   bool            // ctx has ended
	random  *rand.Rand
	units   []int32 // all, in the order of this start
	near    []target
	choices []choice
	most    int64 // delta of the best of the choices
	picked  []int32
	limit   int64 // of work
	since   []int // by host: steps that were done when it changed last
	blink   int   // of this round
}

// A choice is a possible change of a unit.
type choice struct {
	delta int64
	unit  int32
	host  int
	vm    int32 // whose shape changes; -1 for none
	shape int16
}

// A target is a host for a unit. guess is what the change costs if the VMs that are there stay as local as they are and
// the unit finds its place.
type target struct {
	guess, room int64
	host        int
}

func newSearch(ctx context.Context, m *model) *search {
	s := &search{state: newState(m), ctx: ctx, limit: max(leastWork, perVM*int64(len(m.vms)))}
	for u := range m.units {
		s.units = append(s.units, int32(u))
	}
	return s
}

// over reports whether the search ends.
func (s *search) over() bool {
	s.ended = s.ended || s.ctx.Err() != nil
	return s.ended || s.work > s.limit
}

// run is one start. It calls show with the number of rounds that are done since the call before.
func (m *model) run(ctx context.Context, o Options, index uint64, show func(rounds int)) *state {
	s := newSearch(ctx, m)
	s.random = rand.New(rand.NewPCG(o.Seed, index))
	if len(m.vms) == 0 {
		return s.state
	}
	s.random.Shuffle(len(s.units), func(i, j int) { s.units[i], s.units[j] = s.units[j], s.units[i] })
	for h := range m.hosts {
		s.marks = append(s.marks, int32(h))
	}
	s.descend()
	found := newState(m)
	found.take(s.state)
	shown := 0
	for round := range o.Rounds {
		if s.over() {
			break
		}
		if round%showEach == showEach-1 {
			show(showEach)
			shown += showEach
		}
		// The limit for accepting worse results decreases.
		left := min(1-float64(round)/float64(o.Rounds), 1-float64(s.work)/float64(s.limit))
		slack := int64(left * float64(firstSlack*m.weights.Move+2*found.total/int64(len(m.hosts)*len(m.hosts))))
		s.rebuild(found.total + slack)
		if s.total < found.total {
			s.descend()
			found.take(s.state)
		}
	}
	show(o.Rounds - shown) // those that the limit of work leaves out, too
	s.take(found)
	return s.state
}

// descend makes improvements on the hosts that changed, and on those that these change, until there is none. It terminates: the
// total is an integer and decreases each time.
func (s *search) descend() {
	for len(s.marks) > 0 && !s.over() {
		hosts := s.costliest()
		s.marks = s.marks[:0]
		for _, h := range hosts {
			for s.cost[h] > 0 && s.improve(s.on(int(h))) {
			}
			for _, u := range slices.Clone(s.on(int(h))) {
				for s.improve([]int32{u}) {
				}
			}
		}
		if len(s.marks) == 0 {
			s.swap(hosts)
		}
	}
}

// costliest returns the hosts that changed, the costliest first.
func (s *search) costliest() []int32 {
	hosts := slices.Clone(s.marks)
	slices.SortFunc(hosts, func(a, b int32) int { return cmp.Or(cmp.Compare(s.cost[b], s.cost[a]), cmp.Compare(a, b)) })
	return slices.Compact(hosts)
}

// on returns the units with VMs on host h, or if it has no cost those of them that changed. The result is valid until the next call.
func (s *search) on(h int) []int32 {
	s.picked = s.picked[:0]
	for _, v := range s.On[h] {
		u := s.m.unitOf[v]
		if (s.m.units[u][0] == v || !slices.Contains(s.picked, u)) && (s.cost[h] > 0 || s.split[u] > 0 || s.changed(u)) {
			s.picked = append(s.picked, u)
		}
	}
	return s.picked
}

// try calls do, and takes its changes back if it returns false.
func (s *search) try(do func() bool) bool {
	n := len(s.marks)
	ok := s.Try(do)
	if !ok {
		s.marks = s.marks[:n]
	}
	return ok
}

// changed reports whether a VM of the unit is not where and as it was.
func (s *search) changed(u int32) bool {
	return slices.ContainsFunc(s.m.units[u], func(v int32) bool { return s.change(v) > 0 })
}

// improve makes the best change of one of the units that lowers the total.
func (s *search) improve(units []int32) bool {
	if s.over() {
		return false
	}
	s.choices, s.most = s.choices[:0], 0
	for _, u := range units {
		if s.split[u] > 0 {
			s.gather(u)
		} else {
			s.weigh(u)
		}
	}
	slices.SortFunc(s.choices, func(a, b choice) int {
		return cmp.Or(cmp.Compare(a.delta, b.delta), cmp.Compare(s.size(a.unit), s.size(b.unit)), cmp.Compare(a.unit, b.unit), cmp.Compare(a.host, b.host), cmp.Compare(a.vm, b.vm), cmp.Compare(a.shape, b.shape))
	})
	before := s.total
	for _, c := range s.choices {
		if s.try(func() bool { s.apply(c); return s.total < before && s.survives() }) {
			return true
		}
	}
	return false
}

// weigh collects the changes of a unit on one host that lower the total.
func (s *search) weigh(u int32) {
	unit := s.m.units[u]
	a := int(s.In[unit[0]])
	without := s.price(a, nil, unit) - s.cost[a]
	for _, v := range unit {
		for shape := range s.m.vms[v].Shapes {
			was := s.shape[v]
			same := int16(shape) == was
			if v != unit[0] && same {
				continue // the present unit was evaluated with its first VM
			}
			s.shape[v] = int16(shape)
			c := choice{unit: u, vm: v, shape: int16(shape), host: a, delta: s.m.cycling(int16(shape)) - s.m.cycling(was)}
			if same || len(unit) == 1 {
				s.weighHosts(unit, a, without, c)
			}
			if !same && s.m.fit(v, c.shape, a).OK {
				c.delta += s.price(a, unit, unit) - s.cost[a]
				s.choose(c)
			}
			s.shape[v] = was
		}
	}
}

// choose keeps a choice that lowers the total, and no less than the others unless N+1 may forbid these.
func (s *search) choose(c choice) {
	if c.delta >= 0 || c.delta > s.most {
		return
	}
	if s.choices = append(s.choices, c); !s.m.nplus1 {
		s.most = c.delta
	}
}

// widest is the number of hosts that are tried for a unit: those where it costs least if its clients find their place.
const widest = 8

// weighHosts evaluates the unit, with its present shape, on other hosts than a.
func (s *search) weighHosts(unit []int32, a int, without int64, c choice) {
	fixed := c.delta + without
	for _, t := range s.targets(unit, a, func(h int) (int64, int64) {
		delta := fixed
		for _, v := range unit {
			delta += s.m.moving(v, h) - s.m.moving(v, a)
		}
		return delta, min(0, s.most+1)
	}) {
		c.host, c.delta = t.host, fixed+s.price(t.host, unit, nil)-s.cost[t.host]
		for _, v := range unit {
			c.delta += s.m.moving(v, t.host) - s.m.moving(v, a)
		}
		s.choose(c)
	}
}

// targets returns the hosts but a that have room for the unit, those first where it probably costs least. fixed returns what the
// change costs beside the costs of the host, and the limit that its cost must stay below. The result is valid until the next call.
func (s *search) targets(unit []int32, a int, fixed func(h int) (cost, most int64)) []target {
	s.near = s.near[:0]
	s.work += int64(len(s.m.vms[unit[0]].Allowed) / scans)
	for _, h := range s.m.vms[unit[0]].Allowed {
		if h == a {
			continue
		}
		cost, most := fixed(h)
		n := s.with(h, unit, nil)
		least := s.m.least(h, &n) - s.cost[h]
		if cost+least >= most {
			continue
		}
		all := &s.m.all[h]
		t := target{cost + max(0, least), min((all.memory-n.memory)*1000/max(1, all.memory), (all.demand-n.demand)*1000/max(1, all.demand)), h}
		if len(s.near) == widest && !t.before(s.near[widest-1]) || !s.roomFor(h, unit, nil) {
			continue
		}
		if len(s.near) < widest {
			s.near = append(s.near, t)
		}
		i := len(s.near) - 1
		for ; i > 0 && t.before(s.near[i-1]); i-- {
			s.near[i] = s.near[i-1]
		}
		s.near[i] = t
	}
	return s.near
}

func (t target) before(o target) bool {
	return t.guess < o.guess || t.guess == o.guess && (t.room > o.room || t.room == o.room && t.host < o.host)
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
			s.choices = append(s.choices, choice{unit: u, host: h, vm: -1})
		}
	}
}

// apply makes the change and updates the costs.
func (s *search) apply(c choice) {
	for _, v := range s.m.units[c.unit] {
		shape := s.shape[v]
		if c.vm == v {
			shape = c.shape
		}
		s.move(v, c.host, shape)
	}
	s.join(c.unit)
}

// move moves VM v to host h, -1 for none, with the shape, and updates the costs of both hosts.
func (s *state) move(v int32, h int, shape int16) {
	a, before := int(s.In[v]), int64(0)
	if a >= 0 {
		before = s.change(v)
	}
	s.set(v, h, shape)
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
	s.marks = append(s.marks, int32(h))
	was := s.cost[h]
	s.Set(&s.cost[h], s.price(h, nil, nil))
	s.Set(&s.total, s.total+s.cost[h]-was)
}

// swap exchanges units of these hosts with units of others where that lowers the total.
func (s *search) swap(hosts []int32) {
	for _, h := range hosts {
		for _, u := range slices.Clone(s.on(int(h))) {
			if s.over() {
				return
			}
			if s.split[u] > 0 || s.cost[h] == 0 {
				continue
			}
			s.work += int64(len(s.units) / scans)
			first := s.random.IntN(len(s.units))
			for i := range s.units {
				if s.trySwap(u, s.units[(first+i)%len(s.units)]) {
					break
				}
			}
		}
	}
}

func (s *search) trySwap(u, w int32) bool {
	x, y := s.m.units[u], s.m.units[w]
	a, b := int(s.In[x[0]]), int(s.In[y[0]])
	if a == b || s.split[w] > 0 {
		return false
	}
	delta := -s.cost[a] - s.cost[b]
	for _, v := range x {
		delta += s.m.moving(v, b) - s.m.moving(v, a)
	}
	for _, v := range y {
		delta += s.m.moving(v, a) - s.m.moving(v, b)
	}
	m, n := s.with(a, y, x), s.with(b, x, y)
	least := s.m.least(b, &n)
	if delta+s.m.least(a, &m)+least >= 0 || !s.roomFor(b, x, y) || !s.roomFor(a, y, x) {
		return false
	}
	if delta += s.price(a, y, x); delta+least >= 0 || delta+s.price(b, x, y) >= 0 {
		return false
	}
	return s.try(func() bool {
		s.apply(choice{unit: u, host: b, vm: -1})
		s.apply(choice{unit: w, host: a, vm: -1})
		return s.survives()
	})
}

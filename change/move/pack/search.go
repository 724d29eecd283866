package pack

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"example.org/homenode/numa"
)

// candidates is the number of used hosts with room that are compared for a VM.
const candidates = 16

// A search places the VMs repeatedly and stores the best result.
type search struct {
	*state
	budget  int
	anyKind bool // any kind of empty host may be opened, otherwise only the largest that fits
	near    bool // prefer the nearest nodes, otherwise those with least left
	keys    []float64

	left []int32 // VMs without a host that would fit some host

	// Work space of a round.
	again   []int32 // VMs to be placed
	emptied []int32 // hosts
	kept    []int8  // nodes of the best host so far
}

// maxRuns is the number of starts that are improved, if the budget gives each of them many rounds.
const maxRuns = 8

// solve returns the tightest state found, and the limit that no plan can exceed.
func (m *model) solve(ctx context.Context) (*search, Bound) {
	bound := m.bound()
	budget := cmp.Or(m.p.Search.Budget, max(DefaultBudget, perVM*len(m.packed))) - MinStarts*len(m.packed)
	runs := max(1, min(maxRuns, budget/(roundsEach*len(m.packed))))
	var starts []*search
	for i := range max(MinStarts, runs) {
		s := &search{state: newState(m), near: i%2 == 0, keys: make([]float64, len(m.items)), kept: make([]int8, numa.MaxNodes)}
		s.random = rand.New(rand.NewPCG(m.p.Search.Seed, uint64(i)))
		if bound.VCPUs == m.wanted {
			s.grain = fine
		}
		s.fillIn(ctx, i)
		if s.reached(bound) {
			starts = []*search{s}
			break
		}
		starts = append(starts, s)
	}
	slices.SortStableFunc(starts, func(a, b *search) int { return b.beside(a.state) })
	best := starts[0]
	for _, s := range starts[:min(runs, len(starts))] {
		s.budget = max(0, budget/runs)
		s.improve(ctx, bound)
		if s.beside(best.state) > 0 {
			best = s
		}
		if best.reached(bound) {
			break
		}
	}
	return best, bound
}

// roundsEach is the number of placements of each VM in a run that is worth a start of its own.
const roundsEach = 500

// beside compares two states: a positive result means that the first is better.
func (s *state) beside(o *state) int {
	return cmp.Or(cmp.Compare(s.placed, o.placed), cmp.Compare(len(o.used), len(s.used)), cmp.Compare(s.fill, o.fill))
}

// reached reports whether nothing better is possible.
func (s *state) reached(b Bound) bool {
	return s.placed >= b.VCPUs && (s.placed < s.m.wanted || len(s.used) <= b.Hosts)
}

// orders are the sort keys of VMs, the largest first.
var orders = []func(m *model, it *item) float64{
	func(m *model, it *item) float64 { return float64(len(it.cells)) * m.dominant(it) },
	func(m *model, it *item) float64 { return m.dominant(it) },
	func(m *model, it *item) float64 { return m.shareCPU(it) + m.shareMem(it) },
	func(m *model, it *item) float64 { return float64(it.vcpus) / max(m.dominant(it), 1e-9) }, // most vCPUs per share of a host
	func(m *model, it *item) float64 { return m.shareMem(it) },
	func(m *model, it *item) float64 { return m.shareCPU(it) },
	func(m *model, it *item) float64 { return float64(it.vcpus) },
	func(m *model, it *item) float64 { return float64(it.vcpus) / max(m.shareCPU(it)+m.shareMem(it), 1e-9) },
}

// Shares of the largest host.
func (m *model) shareCPU(it *item) float64 {
	return float64(it.all.CPU) / float64(m.bins.Bins[m.heads[0]].CPU+1)
}

func (m *model) shareMem(it *item) float64 {
	return float64(it.all.Mem) / float64(m.bins.Bins[m.heads[0]].Mem+1)
}

func (m *model) dominant(it *item) float64 { return max(m.shareCPU(it), m.shareMem(it)) }

// fillIn places all VMs in the order with index i.
func (s *search) fillIn(ctx context.Context, i int) {
	list := slices.Clone(s.m.packed)
	s.sort(list, orders[i%len(orders)], 0)
	for _, v := range list {
		if ctx.Err() != nil {
			return
		}
		s.insert(v)
	}
}

// sort sorts VMs by a key that is multiplied by 1 ± spread: exclusive ones first, then the largest.
func (s *search) sort(list []int32, key func(*model, *item) float64, spread float64) {
	for _, v := range list {
		s.keys[v] = key(s.m, &s.m.items[v])
		if spread > 0 {
			s.keys[v] *= 1 + float64(spread*(2*s.random.Float64()-1))
		}
	}
	slices.SortFunc(list, func(a, b int32) int {
		x, y := &s.m.items[a], &s.m.items[b]
		if x.exclusive != y.exclusive && spread < 1 {
			return int(b2i(y.exclusive)) - int(b2i(x.exclusive))
		}
		return cmp.Or(cmp.Compare(s.keys[b], s.keys[a]), cmp.Compare(a, b))
	})
}

// insert places a VM on the used host that has least left afterwards, or else on an empty one.
func (s *search) insert(v int32) {
	it := &s.m.items[v]
	s.budget--
	host, cost := int32(-1), 0.0
	if s.refused[it.shape] != s.grown {
		left := candidates
		s.tree.find(it, func(h int32) bool {
			if !s.fit(h, v, s.near) {
				return true
			}
			if host < 0 || s.cost < cost {
				host, cost = h, s.cost
				copy(s.kept, s.best[:len(it.cells)])
			}
			left--
			return left > 0
		})
	}
	if host >= 0 {
		s.put(host, v, s.kept)
		return
	}
	s.refused[it.shape] = s.grown
	kinds, from := len(s.closed), 0
	if s.anyKind {
		from = s.random.IntN(kinds)
	}
	for i := range kinds {
		k := (from + i) % kinds
		if n := len(s.closed[k]); n > 0 && s.m.fits[int(v)*len(s.m.kinds)+k] && s.fit(s.closed[k][n-1], v, s.near) {
			s.put(s.closed[k][n-1], v, s.best)
			return
		}
	}
}

// improve empties a few hosts and refills them, together with the VMs left over, until the budget is used up. A worse result is
// rolled back.
func (s *search) improve(ctx context.Context, b Bound) {
	if len(s.used) == 0 {
		return
	}
	for _, v := range s.m.packed {
		if s.In[v] < 0 {
			s.left = append(s.left, v)
		}
	}
	for s.budget > 0 && !s.reached(b) && ctx.Err() == nil {
		s.round()
	}
}

// walk: while VMs are left over, one of this many rounds that only make hosts less uneven is accepted nevertheless.
const walk = 16

// round is one attempt of improve.
func (s *search) round() {
	s.budget-- // so that improve terminates
	placed, used, fill := s.placed, len(s.used), s.fill
	s.near = s.random.IntN(4) > 0
	s.weightCPU, s.weightMem = s.random.Float64(), s.random.Float64()
	s.weightChance = [...]float64{0, 0, 0, 0, 0.1, 1}[s.random.IntN(6)]
	s.anyKind = s.random.IntN(2) == 0
	s.again = s.again[:0]
	tried, whole, most := 0, placed == s.m.wanted, 3
	if whole {
		most = 4
	}
	if !s.Try(func() bool {
		hosts := s.emptied[:0]
		for range 1 + s.random.IntN(most) {
			if len(s.used) > 0 {
				hosts = append(hosts, s.pick())
				s.empty(hosts[len(hosts)-1])
			}
		}
		s.emptied = hosts
		tried = s.leftOver()
		spread := [...]float64{0, 0.1, 0.5, 1}[s.random.IntN(4)]
		s.sort(s.again, orders[s.random.IntN(len(orders))], spread)
		if whole && len(hosts) > 1 && s.random.IntN(8) > 0 {
			s.complete(hosts)
		}
		for _, v := range s.again {
			if s.In[v] < 0 {
				s.insert(v)
			}
		}
		better := cmp.Or(cmp.Compare(s.placed, placed), cmp.Compare(used, len(s.used)))
		return better > 0 || better == 0 && (s.fill >= fill || !whole && s.random.IntN(walk) == 0)
	}) {
		return
	}
	s.left = s.left[:len(s.left)-tried]
	for _, v := range s.again {
		if s.In[v] < 0 {
			s.left = append(s.left, v)
		}
	}
}

// pick chooses one of the used hosts, with a preference for emptier ones.
func (s *search) pick() int32 {
	a, b := s.used[s.random.IntN(len(s.used))], s.used[s.random.IntN(len(s.used))]
	if s.random.IntN(2) == 0 && s.square[b] < s.square[a] {
		return b
	}
	return a
}

// empty removes the VMs from a host, in some rounds only some of them.
func (s *search) empty(h int32) {
	all, first := s.random.IntN(3) > 0, len(s.again)
	for _, v := range s.On[h] {
		if all || s.random.IntN(2) > 0 {
			s.again = append(s.again, v)
		}
	}
	for _, v := range s.again[first:] {
		s.remove(v)
	}
}

// mostLeftOver limits the number of unplaced VMs that are tried in one round.
const mostLeftOver = 40

// leftOver adds VMs without a host to those that are placed again, and moves them to the end of s.left.
func (s *search) leftOver() (tried int) {
	for ; tried < min(len(s.left), mostLeftOver); tried++ {
		end := len(s.left) - 1 - tried
		i := s.random.IntN(end + 1)
		s.left[i], s.left[end] = s.left[end], s.left[i]
		s.again = append(s.again, s.left[end])
	}
	return tried
}

// draw moves the cells of each VM nearer to each other, and then distributes the VMs of each host evenly over its nodes: on KVM
// nothing moves a VM away from a busy node later.
func (s *search) draw() {
	s.weightCPU, s.weightMem, s.weightChance = 1, 1, 0
	for h := range int32(len(s.On)) {
		if far := s.spans(h); far > 0 {
			s.anew(h, func() bool { return s.spans(h) < far })
		}
		if len(s.On[h]) == 0 || s.m.last(h)-s.m.first[h] < 2 {
			continue
		}
		far, reserved, uneven := s.spans(h), s.reserved(h), s.uneven(h)
		better := func() bool { return s.spans(h) <= far && s.reserved(h) <= reserved && s.uneven(h) < uneven }
		s.even = true
		s.anew(h, better)
		for range maxShifts {
			if s.over(h) == 0 {
				break
			}
			if uneven = s.uneven(h); !s.shift(h, better) {
				break
			}
		}
		s.even = false
	}
}

// maxShifts limits how often VMs of a host are placed again.
const maxShifts = 20

// maxPairs limits the VMs of a host of which two are placed again together.
const maxPairs = 40

// shift places single VMs of a host again, and two at once, each on the nodes with most left; false if nothing is better then.
func (s *search) shift(h int32, better func() bool) (shifted bool) {
	list := slices.Clone(s.On[h])
	s.sort(list, orders[0], 0)
	try := func(vms ...int32) {
		shifted = s.Try(func() bool {
			for _, v := range vms {
				s.remove(v)
			}
			return s.all(h, vms, true) && better()
		}) || shifted
	}
	for i, v := range list {
		if shifted {
			return true
		}
		try(v)
		for j := 0; j < len(list) && len(list) <= maxPairs && !shifted; j++ {
			if j != i {
				try(v, list[j])
			}
		}
	}
	return shifted
}

// anew places all VMs of a host again. The result is accepted if they all fit and it is better.
func (s *search) anew(h int32, better func() bool) {
	s.Try(func() bool {
		list := slices.Clone(s.On[h])
		for _, v := range list {
			s.remove(v)
		}
		s.sort(list, orders[0], 0)
		return s.all(h, list, true) && better()
	})
}

// all places VMs on a host, in their order, on near nodes or those with least left; false if one of them does not fit.
func (s *search) all(h int32, vms []int32, near bool) bool {
	for _, v := range vms {
		if !s.fit(h, v, near) {
			return false
		}
		s.put(h, v, s.best)
	}
	return true
}

// reserved is the memory of a host that will be reserved as huge pages.
func (s *state) reserved(h int32) (sum int64) {
	sizes := int32(len(s.m.sizes))
	for _, pool := range s.pool[s.m.first[h]*sizes : s.m.last(h)*sizes] {
		sum += max(0, -pool)
	}
	return sum
}

// overWeight is the weight of vCPUs that exceed the CPUs of their node, beside fill levels.
const overWeight = 100

// uneven is the sum of the squared fill levels of a host's nodes, in thousandths of cores and of memory, and of vCPUs beyond the CPUs of a node.
func (s *state) uneven(h int32) (sum int64) {
	used := func(free, all int64) int64 {
		if all == 0 {
			return 0
		}
		return (all - free) * 1000 / all
	}
	for n := s.m.first[h]; n < s.m.last(h); n++ {
		cpu, mem := used(s.cpu[n], s.m.cpu[n]), used(s.mem[n], s.m.mem[n])
		sum += cpu*cpu + mem*mem
	}
	return sum + overWeight*s.over(h)
}

// over is the sum of the squared numbers of vCPUs beyond the CPUs of a host's nodes, in thousandths of the CPUs. It is 0 where no node has CPUs left for
// the others' VMs.
func (s *state) over(h int32) (sum int64) {
	var vcpus [numa.MaxNodes]int64
	for _, v := range s.On[h] {
		it := &s.m.items[v]
		for i := range it.cells {
			vcpus[s.node[it.offset+i]] += int64(it.cells[i].vcpus)
		}
	}
	left := false
	for i := range s.m.p.Hosts[h].Nodes {
		if threads := int64(s.m.p.Hosts[h].Nodes[i].Threads); threads > 0 {
			over := max(0, (vcpus[i]-threads)*1000/threads)
			sum, left = sum+over*over, left || vcpus[i] < threads
		}
	}
	if !left {
		return 0
	}
	return sum
}

// spans is the sum of the distances between the cells of each VM of a host.
func (s *state) spans(h int32) (sum int) {
	count := int(s.m.last(h) - s.m.first[h])
	for _, v := range s.On[h] {
		it := &s.m.items[v]
		nodes := s.node[it.offset : it.offset+len(it.cells)]
		for i, a := range nodes {
			for _, b := range nodes[:i] {
				sum += int(s.m.far[h][int(a)*count+int(b)])
			}
		}
	}
	return sum
}

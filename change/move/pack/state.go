package pack

import (
	"math/rand/v2"

	"example.org/homenode/internal/binpack"
	"example.org/homenode/numa"
)

// A state contains the placement of the VMs and the remaining resources of the nodes.
type state struct {
	*binpack.Packing
	m     *model
	cpu   []int64 // free parts of cores, by node
	mem   []int64 // free, without pages
	pool  []int64 // free bytes of pages; a negative value is to be reserved
	alone []int32 // cores of exclusive VMs

	node []int8 // by cell, within the host
	laid []int8 // previous nodes of VMs, for Try to restore

	closed [][]int32 // empty hosts by kind; the one to open next is at the end
	tree   tree
	used   []int32 // hosts with VMs, unordered
	rank   []int32 // of a host in used
	placed int64   // vCPUs
	square []int64 // by host: fill level in grains, squared: the more uneven hosts are, the closer one is to being empty
	fill   int64   // sum of square
	grain  float64 // parts of a host's cores and memory that count

	// Weights for choosing a node: the remaining cores and memory, and randomness.
	weightCPU, weightMem, weightChance float64
	random                             *rand.Rand
	even                               bool // prefer the node with most left

	refused []int // by shape: value of grown when no used host had room
	grown   int   // number of removals

	try  []int8 // node candidates for the cells in fit
	best []int8 // best of these so far
	cost float64
}

// Hosts are compared by hundredths while VMs are left over, and by less where the space left on full hosts decides whether all fit on one host fewer.
const coarse, fine = 100, 10_000

func newState(m *model) *state {
	s := &state{Packing: m.bins.Packing(), m: m, cpu: append([]int64(nil), m.cpu...), mem: append([]int64(nil), m.mem...), pool: append([]int64(nil), m.pool...),
		alone: make([]int32, len(m.cpu)), node: make([]int8, m.cells),
		rank: make([]int32, len(m.p.Hosts)), square: make([]int64, len(m.p.Hosts)), weightCPU: 1, weightMem: 1, grain: coarse}
	shapes := 0
	for v := range m.items {
		shapes = max(shapes, m.items[v].shape+1)
	}
	s.refused = make([]int, shapes)
	s.grown = 1
	for _, hosts := range m.kinds {
		c := make([]int32, len(hosts))
		for i, h := range hosts {
			c[len(hosts)-1-i] = h
		}
		s.closed = append(s.closed, c)
	}
	s.tree = newTree(len(m.p.Hosts))
	s.try, s.best = make([]int8, numa.MaxNodes), make([]int8, numa.MaxNodes)
	s.Back = func(v int32, h int, laid int32) {
		if s.In[v] >= 0 {
			s.remove(v)
		}
		if h >= 0 {
			s.put(int32(h), v, s.laid[laid:])
		}
	}
	return s
}

// Try implements the packing. A rollback restores the previous nodes.
func (s *state) Try(do func() bool) bool {
	laid := len(s.laid)
	ok := s.Packing.Try(do)
	if !ok || !s.Trying() {
		s.laid = s.laid[:laid]
	}
	return ok
}

// maxSteps limits the number of assignments that are tried for the cells of one VM on one host. 8 equal cells on 16 nodes have
// 12,870.
const maxSteps = 20_000

// fit finds the nodes of host h for the cells of a VM and stores them in s.best, and their cost in s.cost. near prefers the
// nearest nodes; otherwise only the remaining resources count.
func (s *state) fit(h, v int32, near bool) bool {
	it := &s.m.items[v]
	if !s.Apart(int(h), v, nil) {
		return false
	}
	first, last := s.m.first[h], s.m.last(h)
	s.cost = -1
	if len(it.cells) == 1 {
		for n := first; n < last; n++ {
			if !s.takes(h, n, it, &it.cells[0]) {
				continue
			}
			if c := s.rest(n, &it.cells[0]); s.cost < 0 || c < s.cost {
				s.cost, s.best[0] = c, int8(n-first)
			}
		}
		return s.cost >= 0
	}
	if len(it.cells) > int(last-first) {
		return false
	}
	d := dive{s: s, it: it, h: h, first: first, count: last - first, near: near}
	d.lay(0, 0)
	return s.cost >= 0
}

// A dive tries the nodes of a host for the cells of one VM, recursively.
type dive struct {
	s            *state
	it           *item
	h            int32
	first, count int32
	near         bool
	steps        int
	used         uint64
}

// farOff is the cost of a unit of distance, relative to a whole node that is left empty.
const farOff = 1e6

func (d *dive) lay(c int, cost float64) {
	s, cells := d.s, d.it.cells
	if s.cost >= 0 && cost >= s.cost {
		return
	}
	if c == len(cells) {
		s.cost = cost
		copy(s.best, s.try[:c])
		return
	}
	from := int32(0)
	if c > 0 && cells[c].cpu == cells[c-1].cpu && cells[c].mem == cells[c-1].mem && cells[c].vcpus == cells[c-1].vcpus {
		from = int32(s.try[c-1]) // equal cells: one order is enough
	}
	for n := from; n < d.count; n++ {
		if d.used>>n&1 == 1 {
			continue
		}
		if d.steps++; d.steps > maxSteps {
			return
		}
		if !s.takes(d.h, d.first+n, d.it, &cells[c]) {
			continue
		}
		add := s.rest(d.first+n, &cells[c])
		if d.near {
			for _, o := range s.try[:c] {
				add += float64(float64(s.m.far[d.h][n*d.count+int32(o)]) * farOff)
			}
		}
		s.try[c] = int8(n)
		was := d.used
		d.used |= 1 << n
		d.lay(c+1, cost+add)
		d.used = was
	}
}

// takes reports whether a node has room for a cell.
func (s *state) takes(h, n int32, it *item, c *cell) bool {
	if c.cpu > s.cpu[n] || s.reserves(n, it, c.mem) > s.mem[n] {
		return false
	}
	left := s.m.cores[n] - s.alone[n]
	if !it.exclusive {
		return c.vcpus <= left
	}
	for _, o := range s.On[h] { // remaining for the others
		other := &s.m.items[o]
		if other.exclusive {
			continue
		}
		for i := range other.cells {
			if s.m.first[h]+int32(s.node[other.offset+i]) == n && other.cells[i].vcpus > left-c.alone {
				return false
			}
		}
	}
	return true
}

// reserves is the part of the node's other memory that a cell uses.
func (s *state) reserves(n int32, it *item, mem int64) int64 {
	if it.size < 0 {
		return mem
	}
	return max(0, mem-max(0, s.pool[int(n)*len(s.m.sizes)+it.size]))
}

// rest is the remainder of a node after a cell, as shares of its resources, or with even the used part: small is good.
func (s *state) rest(n int32, c *cell) float64 {
	chance := 0.0
	if s.weightChance > 0 {
		chance = float64(s.weightChance * s.random.Float64())
	}
	free := float64(s.weightCPU*(float64(s.cpu[n]-c.cpu)/float64(s.m.cpu[n]+1))) + float64(s.weightMem*(float64(max(0, s.mem[n]-c.mem))/float64(s.m.mem[n]+1)))
	if s.even {
		free = s.weightCPU + s.weightMem - free
	}
	return chance + free
}

func (s *state) take(n int32, it *item, c *cell) {
	s.mem[n] -= s.reserves(n, it, c.mem)
	if it.size >= 0 {
		s.pool[int(n)*len(s.m.sizes)+it.size] -= c.mem
	}
	s.cpu[n] -= c.cpu
	s.alone[n] += c.alone
}

func (s *state) give(n int32, it *item, c *cell) {
	back := c.mem
	if it.size >= 0 {
		pool := &s.pool[int(n)*len(s.m.sizes)+it.size]
		back = min(c.mem, max(0, -*pool))
		*pool += c.mem
	}
	s.mem[n] += back
	s.cpu[n] += c.cpu
	s.alone[n] -= c.alone
}

// put places a VM on nodes of host h, one for each of its cells.
func (s *state) put(h, v int32, nodes []int8) {
	it := &s.m.items[v]
	if len(s.On[h]) == 0 {
		s.open(h)
	}
	for i := range it.cells {
		s.take(s.m.first[h]+int32(nodes[i]), it, &it.cells[i])
		s.node[it.offset+i] = nodes[i]
	}
	s.Put(v, int(h), 0)
	s.placed += it.vcpus
	s.refresh(h)
}

// remove removes a VM from its host.
func (s *state) remove(v int32) {
	it, h := &s.m.items[v], s.In[v]
	for i := range it.cells {
		s.give(s.m.first[h]+int32(s.node[it.offset+i]), it, &it.cells[i])
	}
	if s.Trying() {
		s.laid = append(s.laid, s.node[it.offset:it.offset+len(it.cells)]...)
	}
	s.Put(v, -1, int32(len(s.laid)-len(it.cells)))
	s.placed -= it.vcpus
	s.grown++
	if len(s.On[h]) == 0 {
		end := s.used[len(s.used)-1]
		s.used[s.rank[h]], s.rank[end] = end, s.rank[h]
		s.used = s.used[:len(s.used)-1]
		k := s.m.kind[h]
		s.closed[k] = append(s.closed[k], h)
	}
	s.refresh(h)
}

// open removes a host from the empty ones.
func (s *state) open(h int32) {
	k := s.m.kind[h]
	list := s.closed[k]
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] == h {
			copy(list[i:], list[i+1:])
			s.closed[k] = list[:len(list)-1]
			break
		}
	}
	s.rank[h] = int32(len(s.used))
	s.used = append(s.used, h)
	s.grown++
}

// refresh updates the free capacity of a host, also in the tree.
func (s *state) refresh(h int32) {
	r, square := closedHost, int64(0)
	if len(s.On[h]) > 0 {
		r = room{sum: s.Left[h]}
		sizes := len(s.m.sizes)
		for n := s.m.first[h]; n < s.m.last(h); n++ {
			mem := s.mem[n]
			for k := range sizes {
				mem += max(0, s.pool[int(n)*sizes+k])
			}
			r.cpu, r.mem, r.both = max(r.cpu, s.cpu[n]), max(r.mem, mem), max(r.both, s.m.both(s.cpu[n], mem))
		}
		all := s.Bins[h]
		full := int64(2*s.grain) - int64(s.grain*(float64(r.sum.CPU)/float64(all.CPU+1))) - int64(s.grain*(float64(r.sum.Mem)/float64(all.Mem+1)))
		square = full * full
	}
	s.fill += square - s.square[h]
	s.square[h] = square
	s.tree.set(h, r)
}

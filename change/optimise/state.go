package optimise

import (
	"cmp"
	"slices"

	"example.org/homenode/internal/binpack"
)

// A state is a distribution of the VMs, with up-to-date costs.
type state struct {
	*binpack.Packing
	m     *model
	shape []int16 // by VM
	kept  []int16 // by VM: the shape in the sums of need; shape differs from it while another one is priced
	need  []need  // by host
	cost  []int64 // by host, weighted
	split []int64 // by unit: hosts beyond the first
	total int64   // weighted
	code  uint64  // equal for equal distributions
	work  int64   // VMs placed so far
	marks []int32 // hosts that changed since the last descent

	memo  []price
	bench *bench
	// Scratch of shortage: room by host, hosts by room at first, hosts that lent some; and VMs, also of splits.
	left                    []binpack.Size
	emptiest, lent, touched []int32
}

// A need is the sum of the resources that VMs need of their host, wherever on it their clients are.
type need struct {
	memory, demand, far int64
	key                 uint64 // equal for equal VMs with equal shapes
}

// A price is the known cost of a host with some VMs.
type price struct {
	key  uint64
	cost int64
}

// memoBits: a search remembers the costs of 2^15 hosts with their VMs in 512 KB.
const memoBits = 15

// newState returns the initial distribution.
func newState(m *model) *state {
	s := &state{Packing: m.bins.Packing(), m: m, shape: make([]int16, len(m.vms)), kept: make([]int16, len(m.vms)), need: make([]need, len(m.hosts)),
		cost: make([]int64, len(m.hosts)), split: make([]int64, len(m.units)), memo: make([]price, 1<<memoBits), bench: &bench{}}
	s.Back = func(v int32, h int, shape int32) { s.set(v, h, int16(shape)) }
	for i := range m.vms {
		s.set(int32(i), m.vms[i].Host, 0)
	}
	s.recount()
	return s
}

// take copies the distribution of o.
func (s *state) take(o *state) {
	for i := range s.In {
		if s.In[i] != o.In[i] || s.kept[i] != o.kept[i] {
			s.set(int32(i), int(o.In[i]), o.kept[i])
		}
	}
	copy(s.cost, o.cost)
	copy(s.split, o.split)
	s.total = o.total
}

// set puts VM v with the shape on host h, -1 for none, without updating the costs.
func (s *state) set(v int32, h int, shape int16) {
	if a := s.In[v]; a >= 0 {
		s.need[a].add(s.m, v, s.kept[v], int(a), -1)
		s.code -= scramble(uint64(v)<<32 | uint64(a)<<16 | uint64(s.kept[v]))
	}
	s.Put(v, h, int32(s.kept[v]))
	s.shape[v], s.kept[v] = shape, shape
	if h >= 0 {
		s.need[h].add(s.m, v, shape, h, 1)
		s.code += scramble(uint64(v)<<32 | uint64(h)<<16 | uint64(shape))
	}
}

// add adds VM v with the shape on host h, or takes it out if times is -1.
func (n *need) add(m *model, v int32, shape int16, h int, times int64) {
	n.memory += times * m.vms[v].Memory
	n.demand += times * int64(m.vms[v].VCPUs) * m.vms[v].Demand
	n.far += times * m.fit(v, shape, h).Far
	n.key += uint64(times) * scramble(uint64(v)<<16|uint64(shape))
}

// scramble returns a number that looks random, the same for the same x. Source: Steele, Lea, Flood, Fast Splittable
// Pseudorandom Number Generators, 2014.
func scramble(x uint64) uint64 {
	x = (x + 1) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// with returns the need of host h with the VMs of in, in their present shape, and without those of out.
func (s *state) with(h int, in, out []int32) need {
	n := s.need[h]
	for _, v := range out {
		n.add(s.m, v, s.kept[v], h, -1)
	}
	for _, v := range in {
		n.add(s.m, v, s.shape[v], h, 1)
	}
	return n
}

// least returns a lower bound of the cost of host h with these VMs: their memory and demand are divisible there.
func (m *model) least(h int, n *need) int64 {
	all := &m.all[h]
	return n.far*m.weights.Far + max(0, n.memory-all.memory)*m.weights.Remote + max(0, n.demand-all.demand)*m.weights.Ready
}

// price returns the weighted cost of host h with the VMs of in, in their present shape, and without those of out. It places them
// unless the memo has the cost.
func (s *state) price(h int, in, out []int32) int64 {
	n := s.with(h, in, out)
	key := n.key + s.m.all[h].key
	known := &s.memo[key>>(64-memoBits)]
	if known.key != key {
		list := s.On[h]
		if len(in)+len(out) > 0 {
			list = s.list(h, in, out, &s.bench.list)
		}
		s.work += int64(1 + len(list))
		*known = price{key, s.hostCost(h, list)}
	}
	return known.cost
}

// recount recomputes all costs.
func (s *state) recount() {
	s.total = 0
	for h := range s.cost {
		s.cost[h] = s.price(h, nil, nil)
		s.total += s.cost[h]
	}
	for u := range s.m.units {
		s.split[u] = s.splits(u)
		s.total += s.split[u] * broken
	}
	for v := range s.In {
		s.total += s.change(int32(v))
	}
}

// change returns the cost of VM v being on another host, or having another shape, than at the beginning.
func (s *state) change(v int32) int64 {
	return s.m.moving(v, int(s.In[v])) + s.m.cycling(s.shape[v])
}

func (m *model) moving(v int32, h int) int64 {
	if h != m.vms[v].Host {
		return m.weights.Move
	}
	return 0
}

func (m *model) cycling(shape int16) int64 {
	if shape != 0 {
		return m.weights.Cycle
	}
	return 0
}

// splits returns the number of additional hosts of the unit beyond one.
func (s *state) splits(u int) int64 {
	s.touched = s.touched[:0]
	for _, v := range s.m.units[u] {
		if !slices.Contains(s.touched, s.In[v]) {
			s.touched = append(s.touched, s.In[v])
		}
	}
	return int64(len(s.touched)) - 1
}

// hostCost returns the weighted cost of host h with these VMs, ascending.
func (s *state) hostCost(h int, vms []int32) int64 {
	m := s.m
	l := m.place(h, vms, s.shape, s.bench)
	return l.remote*m.weights.Remote + l.far*m.weights.Far + l.ready*m.weights.Ready + s.excess(h, vms)*broken
}

// excess returns the amount by which host h with these VMs breaks constraints.
func (s *state) excess(h int, vms []int32) int64 {
	over, pairs := s.Over(h, vms)
	return over.CPU + over.Mem + over.Reserved + pairs
}

// roomFor reports whether host h has room for the VMs of in, without those of out. This also covers single steps: a VM that
// arrives needs its room before another one leaves.
func (s *state) roomFor(h int, in, out []int32) bool {
	return !slices.ContainsFunc(in, func(v int32) bool { return !s.m.takes(h, v, s.shape[v]) }) && s.Room(h, in, out)
}

// sortRooms notes the room on the hosts for shortage.
func (s *state) sortRooms() {
	s.left, s.emptiest = append(s.left[:0], s.Left...), s.emptiest[:0]
	for h := range s.Left {
		s.emptiest = append(s.emptiest, int32(h))
	}
	slices.SortStableFunc(s.emptiest, func(a, b int32) int { return cmp.Compare(s.Left[b].Mem, s.Left[a].Mem) })
}

// shortage places the VMs of host x, the largest first, on the emptiest of the others, and returns the MiB that do not fit. sortRooms
// has noted the room.
func (s *state) shortage(x int) (short int64) {
	m := s.m
	s.touched = append(s.touched[:0], s.On[x]...)
	slices.SortFunc(s.touched, func(a, b int32) int { return cmp.Compare(m.rank[a], m.rank[b]) })
	lent := s.lent[:0] // hosts with less room than sortRooms noted
	for _, v := range s.touched {
		thing, best := s.Things[v], int32(-1)
		fits := func(h int32) bool {
			l := s.left[h]
			return l.CPU >= thing.CPU && l.Mem >= thing.Mem && int(h) != x && !m.hosts[h].Closed && m.takes(int(h), v, s.shape[v])
		}
		roomier := func(h int32) bool {
			return best < 0 || s.left[h].Mem > s.left[best].Mem || s.left[h].Mem == s.left[best].Mem && h < best
		}
		for _, h := range lent {
			if roomier(h) && fits(h) {
				best = h
			}
		}
		for _, h := range s.emptiest {
			if s.Left[h].Mem < thing.Mem || best >= 0 && s.Left[h].Mem < s.left[best].Mem {
				break
			}
			if !slices.Contains(lent, h) && roomier(h) && fits(h) {
				best = h
				break
			}
		}
		if best < 0 {
			short += m.vms[v].Memory
			continue
		}
		if s.left[best] = s.left[best].Less(thing); !slices.Contains(lent, best) {
			lent = append(lent, best)
		}
	}
	for _, h := range lent {
		s.left[h] = s.Left[h]
	}
	s.lent = lent
	return short
}

// survives reports whether every host failure that is survived at the beginning is still survived, if N+1 is required.
func (s *state) survives() bool {
	if !s.m.nplus1 {
		return true
	}
	s.work += int64(len(s.m.vms) / fits)
	s.sortRooms()
	for x := range s.m.hosts {
		if s.m.short[x] == 0 && s.shortage(x) > 0 {
			return false
		}
	}
	return true
}

// score sums up the parts.
func (s *state) score() Score { return s.sum(s.ledger()) }

// sum sums up the parts; the ledger is that of the state.
func (s *state) sum(l *ledger) Score {
	var out Score
	for h, load := range l.loads {
		out.Remote, out.Far, out.Ready = out.Remote+load.remote, out.Far+load.far, out.Ready+load.ready
		out.Broken += l.broken[h]
	}
	for u := range s.m.units {
		out.Broken += s.splits(u)
	}
	for v := range s.m.vms {
		if int(s.In[v]) != s.m.vms[v].Host {
			out.Moves++
		}
		if s.shape[v] != 0 {
			out.Cycles++
		}
	}
	out.weigh(&s.m.weights)
	return out
}

// list returns the VMs of host h without those of out and with those of in, which are
// ascending. It is valid until the next call with the same buffer.
func (s *state) list(h int, in, out []int32, buffer *[]int32) []int32 {
	l := (*buffer)[:0]
	for _, v := range s.On[h] {
		if slices.Contains(out, v) {
			continue
		}
		for len(in) > 0 && in[0] < v {
			l = append(l, in[0])
			in = in[1:]
		}
		l = append(l, v)
	}
	l = append(l, in...)
	*buffer = l
	return l
}

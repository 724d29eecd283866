package optimise

import (
	"cmp"
	"slices"

	"homenode/internal/binpack"
)

// A state is a distribution of the VMs, with up-to-date costs.
type state struct {
	*binpack.Packing
	m     *model
	shape []int16 // by VM
	cost  []int64 // by host, weighted
	split []int64 // by unit: hosts beyond the first
	total int64   // weighted

	bench   *bench
	left    []binpack.Size // scratch of shortage
	touched []int32        // scratch of splits and shortage
}

// newState returns the initial distribution.
func newState(m *model) *state {
	s := &state{Packing: m.bins.Packing(), m: m, shape: make([]int16, len(m.vms)), cost: make([]int64, len(m.hosts)), split: make([]int64, len(m.units)), bench: &bench{}}
	s.Back = func(v int32, h int, shape int32) {
		s.put(v, h)
		s.shape[v] = int16(shape)
	}
	for i := range m.vms {
		s.put(int32(i), m.vms[i].Host)
	}
	s.recount()
	return s
}

// take copies the distribution of o.
func (s *state) take(o *state) {
	for i := range s.In {
		if s.In[i] != o.In[i] {
			s.put(int32(i), int(o.In[i]))
		}
	}
	copy(s.shape, o.shape)
	copy(s.cost, o.cost)
	copy(s.split, o.split)
	s.total = o.total
}

// put moves VM v to host h without updating the costs.
func (s *state) put(v int32, h int) { s.Put(v, h, int32(s.shape[v])) }

// recount recomputes all costs.
func (s *state) recount() {
	s.total = 0
	for h := range s.cost {
		s.cost[h] = s.hostCost(h, s.On[h])
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
	return over.CPU + over.Mem + pairs
}

// roomFor reports whether host h has room for the VMs of in, without those of out. This also covers single steps: a VM that
// arrives needs its room before another one leaves.
func (s *state) roomFor(h int, in, out []int32) bool {
	return !slices.ContainsFunc(in, func(v int32) bool { return !s.m.takes(h, v, s.shape[v]) }) && s.Room(h, in, out)
}

// shortage places the VMs of host x, the largest first, on the emptiest of the others, and returns the MiB that do not fit.
func (s *state) shortage(x int) (short int64) {
	m := s.m
	s.left = append(s.left[:0], s.Left...)
	s.left[x] = binpack.Size{}
	s.touched = append(s.touched[:0], s.On[x]...)
	slices.SortFunc(s.touched, func(a, b int32) int { return cmp.Compare(m.rank[a], m.rank[b]) })
	for _, v := range s.touched {
		best := binpack.Emptiest(s.left, s.Things[v], func(h int) bool { return h != x && !m.hosts[h].Closed && m.takes(h, v, s.shape[v]) })
		if best < 0 {
			short += m.vms[v].Memory
			continue
		}
		s.left[best] = s.left[best].Less(s.Things[v])
	}
	return short
}

// survives reports whether every host failure that is survived at the beginning is still survived, if N+1 is required.
func (s *state) survives() bool {
	if !s.m.nplus1 {
		return true
	}
	for x := range s.m.hosts {
		if s.m.short[x] == 0 && s.shortage(x) > 0 {
			return false
		}
	}
	return true
}

// score sums up the parts.
func (s *state) score() Score {
	var out Score
	for h := range s.m.hosts {
		l := s.m.place(h, s.On[h], s.shape, s.bench)
		out.Remote, out.Far, out.Ready = out.Remote+l.remote, out.Far+l.far, out.Ready+l.ready
		out.Broken += s.excess(h, s.On[h])
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

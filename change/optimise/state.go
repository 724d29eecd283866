package optimise

import (
	"cmp"
	"slices"
)

// A state is a distribution of the VMs, with its costs kept up to date.
type state struct {
	m      *model
	host   []int32   // by VM
	shape  []int16   // by VM
	on     [][]int32 // by host: its VMs, ascending
	memory []int64   // by host: MiB of its VMs
	vcpus  []int64   // by host
	count  [][]int16 // by host and group of apart: VMs
	cost   []int64   // by host, weighted
	split  []int64   // by unit: hosts beyond the first
	total  int64     // weighted

	bench   *bench
	free    []int64 // scratch of shortages
	room    []int64
	seen    []int16 // scratch of hostCost, by group
	touched []int32 // scratch of change
}

// newState returns the distribution at the beginning.
func newState(m *model) *state {
	s := &state{
		m: m, host: make([]int32, len(m.vms)), shape: make([]int16, len(m.vms)), on: make([][]int32, len(m.hosts)),
		memory: make([]int64, len(m.hosts)), vcpus: make([]int64, len(m.hosts)), count: make([][]int16, len(m.hosts)),
		cost: make([]int64, len(m.hosts)), split: make([]int64, len(m.units)), bench: &bench{},
		free: make([]int64, len(m.hosts)), room: make([]int64, len(m.hosts)), seen: make([]int16, m.groups),
	}
	for h := range m.hosts {
		s.count[h] = make([]int16, m.groups)
	}
	for i := range m.vms {
		s.host[i] = -1
	}
	for i := range m.vms {
		s.put(int32(i), m.vms[i].Host)
	}
	s.recount()
	return s
}

// take copies the distribution of o.
func (s *state) take(o *state) {
	for i := range s.host {
		if s.host[i] != o.host[i] {
			s.put(int32(i), int(o.host[i]))
		}
	}
	copy(s.shape, o.shape)
	copy(s.cost, o.cost)
	copy(s.split, o.split)
	s.total = o.total
}

// put moves VM v to host h and leaves the costs as they are.
func (s *state) put(v int32, h int) {
	vm := &s.m.vms[v]
	if a := s.host[v]; a >= 0 {
		i, _ := slices.BinarySearch(s.on[a], v)
		s.on[a] = slices.Delete(s.on[a], i, i+1)
		s.memory[a] -= vm.Memory
		s.vcpus[a] -= int64(vm.VCPUs)
		for _, g := range s.m.apart[v] {
			s.count[a][g]--
		}
	}
	s.host[v] = int32(h)
	if h < 0 {
		return
	}
	i, _ := slices.BinarySearch(s.on[h], v)
	s.on[h] = slices.Insert(s.on[h], i, v)
	s.memory[h] += vm.Memory
	s.vcpus[h] += int64(vm.VCPUs)
	for _, g := range s.m.apart[v] {
		s.count[h][g]++
	}
}

// recount computes all costs afresh.
func (s *state) recount() {
	s.total = 0
	for h := range s.cost {
		s.cost[h] = s.hostCost(h, s.on[h])
		s.total += s.cost[h]
	}
	for u := range s.m.units {
		s.split[u] = s.splits(u)
		s.total += s.split[u] * broken
	}
	for v := range s.host {
		s.total += s.change(int32(v))
	}
}

// change returns what it costs that VM v is elsewhere, or other, than at the beginning.
func (s *state) change(v int32) int64 {
	return s.m.moving(v, int(s.host[v])) + s.m.cycling(s.shape[v])
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

// splits returns over how many hosts more than one the unit lies.
func (s *state) splits(u int) int64 {
	s.touched = s.touched[:0]
	for _, v := range s.m.units[u] {
		if !slices.Contains(s.touched, s.host[v]) {
			s.touched = append(s.touched, s.host[v])
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

// excess returns by how much host h with these VMs breaks constraints.
func (s *state) excess(h int, vms []int32) int64 {
	m := s.m
	memory, vcpus, pairs := int64(0), int64(0), int64(0)
	clear(s.seen)
	for _, v := range vms {
		memory += m.vms[v].Memory
		vcpus += int64(m.vms[v].VCPUs)
		for _, g := range m.apart[v] {
			pairs += int64(s.seen[g])
			s.seen[g]++
		}
	}
	out := max(0, memory-m.hosts[h].Memory) + pairs
	if most := m.hosts[h].VCPUs; most > 0 {
		out += max(0, vcpus-most)
	}
	return out
}

// roomFor reports whether host h may take the VMs in, after those of out have left it.
// It stands for a step too: what moves in needs its room before anything else leaves.
func (s *state) roomFor(h int, in, out []int32) bool {
	m := s.m
	memory, vcpus := s.memory[h], s.vcpus[h]
	for _, v := range out {
		memory -= m.vms[v].Memory
		vcpus -= int64(m.vms[v].VCPUs)
	}
	for _, v := range in {
		if !m.takes(h, v, s.shape[v]) {
			return false
		}
		memory += m.vms[v].Memory
		vcpus += int64(m.vms[v].VCPUs)
		for _, g := range m.apart[v] {
			n := s.count[h][g]
			for _, o := range out {
				if slices.Contains(m.apart[o], g) {
					n--
				}
			}
			if n > 0 {
				return false
			}
		}
	}
	most := m.hosts[h].VCPUs
	return (memory <= m.hosts[h].Memory || memory <= s.memory[h]) && (most == 0 || vcpus <= most || vcpus <= s.vcpus[h])
}

// shortages returns for each host the MiB of its VMs that find no room on the others
// after its loss, appended to out.
func (s *state) shortages(out []int64) []int64 {
	for x := range s.m.hosts {
		out = append(out, s.shortage(x))
	}
	return out
}

// shortage fills the VMs of host x, the largest first, into the emptiest of the others.
func (s *state) shortage(x int) (short int64) {
	m := s.m
	for h := range m.hosts {
		s.free[h] = m.hosts[h].Memory - s.memory[h]
		s.room[h] = 1 << 40
		if m.hosts[h].VCPUs > 0 {
			s.room[h] = m.hosts[h].VCPUs - s.vcpus[h]
		}
	}
	s.touched = append(s.touched[:0], s.on[x]...)
	slices.SortFunc(s.touched, func(a, b int32) int { return cmp.Compare(m.rank[a], m.rank[b]) })
	for _, v := range s.touched {
		vm, best := &m.vms[v], -1
		for _, h := range vm.Allowed {
			if h == x || m.hosts[h].Closed || !m.fit(v, s.shape[v], h).OK || s.free[h] < vm.Memory || s.room[h] < int64(vm.VCPUs) {
				continue
			}
			if best < 0 || s.free[h] > s.free[best] {
				best = h
			}
		}
		if best < 0 {
			short += vm.Memory
			continue
		}
		s.free[best] -= vm.Memory
		s.room[best] -= int64(vm.VCPUs)
	}
	return short
}

// survives reports whether the loss of every host is survived that is survived at the
// beginning, where N+1 is wanted.
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

// score adds up the parts.
func (s *state) score() Score {
	var out Score
	for h := range s.m.hosts {
		l := s.m.place(h, s.on[h], s.shape, s.bench)
		out.Remote, out.Far, out.Ready = out.Remote+l.remote, out.Far+l.far, out.Ready+l.ready
		out.Broken += s.excess(h, s.on[h])
	}
	for u := range s.m.units {
		out.Broken += s.splits(u)
	}
	for v := range s.m.vms {
		if int(s.host[v]) != s.m.vms[v].Host {
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
	for _, v := range s.on[h] {
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

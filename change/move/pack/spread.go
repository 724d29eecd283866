package pack

import (
	"context"
	"slices"
)

// maxSpreads bounds how often all VMs are looked at.
const maxSpreads = 4

// spread fills the hosts evenly, as people run them: VMs, the largest first, go to the host that is least full with them, where that is less
// full than theirs. No VM is left out for it, and spare hosts stay empty.
func (s *search) spread(ctx context.Context) {
	list := slices.DeleteFunc(slices.Clone(s.m.packed), func(v int32) bool { return s.host[v] < 0 })
	s.sort(list, orders[1], 0)
	s.even, s.weightCPU, s.weightMem, s.weightChance = true, 1, 1, 0
	for again, n := true, 0; again && n < maxSpreads; n++ {
		again = false
		for _, v := range list {
			if ctx.Err() != nil {
				return
			}
			again = s.relocate(v) || again
		}
	}
	s.even = false
}

// relocate moves a VM to the host that is least full with it; false when it stays.
func (s *search) relocate(v int32) bool {
	it, from := &s.m.items[v], s.host[v]
	was := s.fullWith(from, &item{})
	nodes := slices.Clone(s.node[it.offset : it.offset+len(it.cells)])
	s.remove(v)
	tried := map[int32]bool{from: true}
	for range candidates {
		best, least := int32(-1), was
		for h := range int32(len(s.on)) {
			if full := s.fullWith(h, it); full < least && !tried[h] && s.m.fits[int(v)*len(s.m.kinds)+int(s.m.kind[h])] && !slices.Contains(s.m.spare, h) {
				best, least = h, full
			}
		}
		if best < 0 {
			break
		}
		if s.fit(best, v, true) {
			s.put(best, v, s.best)
			return true
		}
		tried[best] = true
	}
	s.put(from, v, nodes)
	return false
}

// fullWith is how full a host is with one more VM, in thousandths of the fuller of cores and memory.
func (s *state) fullWith(h int32, it *item) int64 {
	cpu, mem := s.m.hostCPU[h], s.m.hostMem[h]
	if len(s.on[h]) > 0 {
		r := s.tree.at(h)
		cpu, mem = r.sumCPU, r.sumMem
	}
	full := func(free, takes, all int64) int64 { return (all - free + takes) * 1000 / max(1, all) }
	return max(full(cpu, it.cpu, s.m.hostCPU[h]), full(mem/1024, it.mem/1024, s.m.hostMem[h]/1024))
}

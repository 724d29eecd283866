package pack

import (
	"context"
	"slices"

	"example.org/homenode/internal/binpack"
)

// maxSpreads limits how often all VMs are tried.
const maxSpreads = 4

// spread fills the hosts evenly, as administrators do: VMs, the largest first, move to the host that would be least full with them, if that
// is less full than their own. All VMs stay placed, and spare hosts stay empty.
func (s *search) spread(ctx context.Context) {
	list := slices.DeleteFunc(slices.Clone(s.m.packed), func(v int32) bool { return s.In[v] < 0 })
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

// relocate moves a VM to the host that would be least full with it; false if it stays.
func (s *search) relocate(v int32) bool {
	it, from := &s.m.items[v], s.In[v]
	was := s.full(from, binpack.Size{})
	return s.Try(func() bool {
		s.remove(v)
		tried := map[int32]bool{from: true}
		for range candidates {
			best, least := int32(-1), was
			for h := range int32(len(s.On)) {
				if full := s.full(h, it.all); full < least && !tried[h] && s.m.fits[int(v)*len(s.m.kinds)+int(s.m.kind[h])] && !slices.Contains(s.m.spare, h) {
					best, least = h, full
				}
			}
			if best < 0 {
				return false
			}
			if s.fit(best, v, true) {
				s.put(best, v, s.best)
				return true
			}
			tried[best] = true
		}
		return false
	})
}

// full is the fill level of a host with the additional load, in thousandths of the fuller of cores and memory.
func (s *state) full(h int32, more binpack.Size) int64 {
	left, all := s.Left[h].Less(more), s.Bins[h]
	full := func(free, all int64) int64 { return (all - free) * 1000 / max(1, all) }
	return max(full(left.CPU, all.CPU), full(left.Mem/1024, all.Mem/1024))
}

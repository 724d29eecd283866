package optimise

import (
	"cmp"
	"slices"
)

// mostOut is the number of units that a round takes out: enough for a chain of moves over three
// hosts, few enough that most rounds are quick.
const mostOut = 6

// blink: one of this many places is skipped when a unit is put back, because the cheapest place
// for one is not the best for all. Source: Christiaens, Vanden Berghe, Slack Induction by
// String Removals for Vehicle Routing Problems, 2020.
const blink = 8

// rebuild takes a few units out, mostly from a host with a cost and from another one, and puts
// them back one by one at their cheapest place, roughly the largest first. The result is
// accepted if its total is at most the limit; otherwise the state is restored.
func (s *search) rebuild(limit int64) {
	s.pick()
	if len(s.picked) == 0 {
		return
	}
	before := s.total
	s.Try(func() bool { return s.refill() && s.total <= limit && (s.total == before || s.survives()) })
}

// pick chooses the units to take out.
func (s *search) pick() {
	s.picked = s.picked[:0]
	a := s.random.IntN(len(s.m.hosts))
	for range len(s.m.hosts) {
		if s.cost[a] > 0 {
			break
		}
		a = (a + 1) % len(s.m.hosts)
	}
	b := s.random.IntN(len(s.m.hosts))
	want := 1 + s.random.IntN(mostOut)
	for range 4 * want {
		h := a
		if s.random.IntN(2) == 1 {
			h = b
		}
		if len(s.On[h]) == 0 {
			continue
		}
		u := s.m.unitOf[s.On[h][s.random.IntN(len(s.On[h]))]]
		if len(s.picked) < want && !slices.Contains(s.picked, u) && s.split[u] == 0 {
			s.picked = append(s.picked, u)
		}
	}
}

// refill takes the picked units out and puts them back; false if one does not fit.
func (s *search) refill() bool {
	m := s.m
	size := make(map[int32]int64, len(s.picked))
	for _, u := range s.picked {
		for _, v := range m.units[u] {
			size[u] += m.vms[v].Memory
			s.move(v, -1, false, 0)
		}
		size[u] = size[u] * int64(70+s.random.IntN(60)) / 100
	}
	slices.SortFunc(s.picked, func(a, b int32) int { return cmp.Or(cmp.Compare(size[b], size[a]), cmp.Compare(a, b)) })
	ok := true
	for _, u := range s.picked {
		ok = s.insert(u) && ok
	}
	return ok
}

// insert puts a unit that is out at its cheapest place; false if no host has room.
func (s *search) insert(u int32) bool {
	m := s.m
	unit := m.units[u]
	best := choice{host: -1}
	for _, h := range m.vms[unit[0]].Allowed {
		shapes := 1
		if len(unit) == 1 {
			shapes = len(m.vms[unit[0]].Shapes)
		}
		for k := range shapes {
			if len(unit) == 1 {
				s.shape[unit[0]] = int16(k)
			}
			if best.host >= 0 && s.random.IntN(blink) == 0 || !s.roomFor(h, unit, nil) {
				continue
			}
			delta := s.hostCost(h, s.list(h, unit, nil, &s.bench.list)) - s.cost[h]
			for _, v := range unit {
				delta += m.moving(v, h) + m.cycling(s.shape[v])
			}
			if best.host < 0 || delta < best.delta {
				best = choice{delta: delta, host: h, shape: int16(k)}
			}
		}
	}
	if best.host < 0 {
		return false
	}
	for _, v := range unit {
		s.move(v, best.host, len(unit) == 1, best.shape)
	}
	return true
}

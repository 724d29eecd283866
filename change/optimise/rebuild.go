package optimise

import (
	"cmp"
	"math"
	"slices"
)

// mostOut is the number of units that a round takes out: enough for a chain of moves over three
// hosts, few enough that most rounds are quick.
const mostOut = 6

// blinks: one of this many places is skipped when a unit is put back, because the cheapest place
// for one is not the best for all; in some rounds every second one, so that each distribution of a few VMs comes up.
// Source: Christiaens, Vanden Berghe, Slack Induction by String Removals for Vehicle Routing Problems, 2020.
var blinks = [...]int{8, 8, 4, 2}

// rebuild takes a few units out, mostly from a host with a cost and from another one, and puts
// them back one by one at their cheapest place, roughly the largest first. The result is
// accepted if its total is at most the limit; otherwise the state is restored.
func (s *search) rebuild(limit int64) {
	s.pick()
	if len(s.picked) == 0 {
		return
	}
	s.blink = blinks[s.random.IntN(len(blinks))]
	before := s.code
	s.try(func() bool { return s.refill() && s.total <= limit && (s.code == before || s.survives()) })
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
			s.move(v, -1, s.shape[v])
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

// insert puts a unit that is out at its cheapest place of those tried; false if no host has room.
func (s *search) insert(u int32) bool {
	m := s.m
	unit := m.units[u]
	best := choice{host: -1}
	shapes := 1
	if len(unit) == 1 {
		shapes = len(m.vms[unit[0]].Shapes)
	}
	change := func(h int) (cost int64) {
		for _, v := range unit {
			cost += m.moving(v, h) + m.cycling(s.shape[v])
		}
		return cost
	}
	for k := range shapes {
		if len(unit) == 1 {
			s.shape[unit[0]] = int16(k)
		}
		targets := s.targets(unit, -1, func(h int) (int64, int64) { return change(h), math.MaxInt64 })
		for i, t := range targets {
			last := best.host < 0 && i == len(targets)-1 && k == shapes-1
			if best.host >= 0 && t.guess >= best.delta || !last && s.random.IntN(s.blink) == 0 {
				continue
			}
			if delta := change(t.host) + s.price(t.host, unit, nil) - s.cost[t.host]; best.host < 0 || delta < best.delta {
				best = choice{delta: delta, host: t.host, shape: int16(k)}
			}
		}
	}
	if best.host < 0 {
		return false
	}
	for _, v := range unit {
		shape := s.shape[v]
		if len(unit) == 1 {
			shape = best.shape
		}
		s.move(v, best.host, shape)
	}
	return true
}

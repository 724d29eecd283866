package capture

import (
	"testing"
	"time"

	"example.org/homenode/numa"
)

// checkHost asks the questions about a host of all its ticks, as checkVM does.
func checkHost(t *testing.T, r *Recording, ticks []*numa.Tick, o *Options) {
	t.Helper()
	var host []*seen
	var covered time.Duration
	var states [numa.Low + 1]time.Duration
	for i, tick := range ticks {
		s := &seen{tick: tick, over: tick.Since}
		if i > 0 && tick.Time.Sub(ticks[i-1].Time) <= o.Gap {
			s.before = host[i-1]
			s.before.linked, s.before.next = true, tick.Time
			if s.over == 0 {
				s.over = s.before.length()
			}
		}
		host = append(host, s)
	}
	for _, s := range host {
		covered += s.length()
		if s.tick.Has&numa.HasState != 0 {
			states[s.tick.State] += s.length()
		}
	}
	equal(t, "Covered", r.Covered, covered)
	equal(t, "States", r.States, states)
	equal(t, "Short", r.Short, spells(host, more, state(func(s *seen) (float64, bool) {
		return float64(s.tick.State), s.tick.Has&numa.HasState != 0 && s.tick.State > numa.High
	})))
	equal(t, "Imbalance", r.Imbalance, spells(host, more, state(func(s *seen) (float64, bool) {
		most, least, known := 0.0, mostShare+0.0, false
		for _, n := range s.tick.Nodes {
			if busy, ok := n.Busy(); ok {
				most, least, known = max(most, busy), min(least, busy), true
			}
		}
		return most - least, known && most >= o.BusyNode && least <= o.IdleNode
	})))
	for i := range r.Nodes {
		checkNode(t, &r.Nodes[i], host, o)
	}
}

func checkNode(t *testing.T, n *Node, host []*seen, o *Options) {
	t.Helper()
	var busy Level
	least, lastFree := unknown, unknown
	var leastAt time.Time
	for _, s := range host {
		for _, one := range s.tick.Nodes {
			if one.ID != n.ID || one.Has&numa.HasFree == 0 { // with it goes the load
				continue
			}
			share := hundredths(one.Util)
			busy.Sum += share * s.over.Milliseconds()
			busy.Time += s.over
			if busy.At.IsZero() || share > busy.Most {
				busy.Most, busy.At = share, s.tick.Time
			}
			lastFree = one.Free
			if least < 0 || one.Free < least {
				least, leastAt = one.Free, s.tick.Time
			}
		}
	}
	equal(t, "Busy", n.Busy, busy)
	equal(t, "Least, LastFree", [2]numa.Bytes{n.Least, n.LastFree}, [2]numa.Bytes{least, lastFree})
	equal(t, "LeastAt", n.LeastAt, leastAt)
}

package fit

import (
	"context"
	"math"
	"slices"
)

// First fit is poor where VMs of few shapes need both resources unlike: a large VM takes the memory that makes small ones
// fit beside it. A further packing fills one host after the other: the largest VM that is left, and beside it the VMs that
// leave least of the host (minimum bin slack: Gupta and Ho, "A new heuristic algorithm for the one-dimensional bin-packing
// problem", 1999; Fleszar and Hindi, 2002, start from the largest). All counts of the first shapes that fit are
// tried, and of the others as many as fit.

const (
	slackShapes = 4      // shapes of a host of which all counts are tried
	slackTakes  = 50_000 // attempts to place a VM in such a search, on all hosts of a packing: some 30 ms
)

// A slack is the search for the VMs of the next host.
type slack struct {
	b      *bin
	take   taker
	items  []item // that are left, the largest first
	takes  int    // that are left
	used   float64
	placed []int // shapes on the best host, in order
}

// A state is the filling of a bin.
type state struct {
	load, free   []int64
	own          []int
	last, placed int
}

func (b *bin) state() state {
	return state{slices.Clone(b.Load), slices.Clone(b.Free), slices.Clone(b.own), b.Last, len(b.placed)}
}

func (b *bin) restore(s state) {
	copy(b.Load, s.load)
	copy(b.Free, s.free)
	copy(b.own, s.own)
	b.Last, b.placed = s.last, b.placed[:s.placed]
}

// used returns the sum of the shares of vCPUs and memory that are taken.
func (b *bin) used() float64 {
	var load, takes, free, memory float64
	for i, n := range b.r.host.Nodes {
		load, takes = load+float64(b.taken(i)), takes+float64(b.r.vcpus[i])
		free, memory = free+float64(b.Free[i]), memory+float64(n.Memory.Value)
	}
	return load/max(1, takes) - free/max(1, memory)
}

// hostByHost packs the items on fewer hosts than limit; nil if it does not find how, or ctx ends.
func (r *room) hostByHost(ctx context.Context, sorted []item, take taker, limit int) (bins []*bin) {
	s := slack{take: take, items: slices.Clone(sorted), takes: slackTakes}
	at := map[int]*item{}
	for i := range s.items {
		at[s.items[i].shape] = &s.items[i]
	}
	left := func(it item) bool { return it.count > 0 }
	for slices.ContainsFunc(s.items, left) {
		if len(bins) == limit-1 || ctx.Err() != nil {
			return nil
		}
		s.b, s.used = newBin(r), math.Inf(-1)
		s.fill(0, slackShapes)
		b := newBin(r)
		for _, shape := range s.placed {
			take(b, at[shape])
			at[shape].count--
		}
		bins = append(bins, b)
	}
	return bins
}

// fill fills the host with items from number i on; of so many of them that fit it tries all counts.
func (s *slack) fill(i, vary int) {
	for ; i < len(s.items) && (vary == 0 || s.takes < 0 || s.items[i].count == 0); i++ {
		for n := 0; n < s.items[i].count && s.take(s.b, &s.items[i]); n++ {
			s.takes--
		}
	}
	if i == len(s.items) {
		if used := s.b.used(); used > s.used {
			s.used, s.placed = used, slices.Clone(s.b.placed)
		}
		return
	}
	it, states := &s.items[i], []state{s.b.state()}
	for len(states) <= it.count && s.take(s.b, it) {
		states = append(states, s.b.state())
	}
	if s.takes -= len(states); len(states) > 1 {
		vary--
	}
	least := 0
	if states[0].placed == 0 {
		least = 1 // the largest VM that is left
	}
	for k := len(states) - 1; k >= least; k-- {
		s.b.restore(states[k])
		s.fill(i+1, vary)
		if s.takes < 0 {
			return
		}
	}
}

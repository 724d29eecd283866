//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"example.org/homenode/cmd/bench/contest"
	"example.org/homenode/measure/guest/chase"
	"example.org/homenode/measure/guest/cpu"
)

const (
	lineBytes = 64   // of both contenders
	turns     = 3    // of each contender per round and working set
	samples   = 21   // per turn; on shared machines many short samples hit more calm moments than a few long ones
	sampleNS  = 15e4 // approximate duration of a sample
	within    = 0.05 // maximum relative difference of the contenders
	edge      = 0.10 // if neighbouring sizes differ by more, they are at the edge of a cache
)

// pageNames has the names of page sizes, by whether they are huge.
var pageNames = map[bool]string{false: "small pages", true: "huge pages"}

// chaseLadder measures both contenders on the same cycles in the same memory. Each round allocates new memory, because the
// placement of its pages determines how well they fit in a cache.
func chaseLadder(ctx context.Context, s *settings, c *peer, w io.Writer) (goals []goal, err error) {
	if _, err := c.do("pin %d", s.cpus[0]); err != nil {
		return nil, err
	}
	sizes := chase.Sizes(s.most)
	for _, huge := range []bool{true, false} {
		rungs := make([]pairs, len(sizes))
		multi := make([]pairs, len(sizes))
		for round := range s.rounds {
			if err := chaseRound(ctx, s, c, round, huge, sizes, rungs, multi); err != nil {
				return nil, err
			}
		}
		worst, err := writeLadder(w, s, "C", "Pointer chase beside C, "+pageNames[huge], sizes, rungs)
		if err != nil {
			return nil, err
		}
		goals = append(goals, ratioGoal("chase beside C, "+pageNames[huge]+", the size that is furthest off, edges left out", 1-within, 1+within, worst))
		if s.multichase == "" {
			continue
		}
		if worst, err = writeLadder(w, s, "multichase", "Pointer chase beside multichase, "+pageNames[huge], sizes, multi); err != nil {
			return nil, err
		}
		goals = append(goals, ratioGoal("chase beside multichase, "+pageNames[huge]+", the size that is furthest off, edges left out", 1-within, 1+within, worst))
	}
	return goals, nil
}

// chaseRound measures all sizes in newly allocated memory.
func chaseRound(ctx context.Context, s *settings, c *peer, round int, huge bool, sizes []int, rungs, multi []pairs) (err error) {
	m, err := share(c, s.most, huge)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	for i, size := range sizes {
		random := rand.New(rand.NewPCG(uint64(round), uint64(i)))
		cycle, err := chase.Link(ctx, m.bytes[:size], lineBytes, random.Uint64(), nil)
		if err != nil {
			return err
		}
		for turn := range turns {
			s.calm.await()
			// The program in C starts where homenode has not just been.
			if _, err := c.do("begin %d", random.IntN(size/lineBytes)*lineBytes); err != nil {
				return err
			}
			own, other, err := chaseTurn(s.cpus[0], c, cycle, (round+turn)%2 == 0)
			if err != nil {
				return err
			}
			rungs[i].add(own, other)
		}
		if s.multichase != "" && round < multiRounds && size&(size-1) == 0 {
			if err := multiTurn(ctx, s, (round+i)%2 == 0, huge, size, &multi[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// chaseTurn measures both once, one after the other on the same processor. Each warms the caches first, because the other
// has used them. The samples of both have the same number of loads.
func chaseTurn(on int, c *peer, cycle *chase.Cycle, ownFirst bool) (own, other float64, err error) {
	warm := min(cycle.Lines(), 1<<18)
	their := func() (err error) {
		ns, err := c.do("walk %d 1", max(warm, 1<<12))
		if err != nil {
			return err
		}
		ns, err = c.do("walk %d %d", loadsFor(ns[0]), samples)
		if err == nil {
			other = median(ns)
		}
		return err
	}
	if !ownFirst {
		if err := their(); err != nil {
			return 0, 0, err
		}
	}
	err = cpu.On(on, func() error {
		loads := loadsFor(cycle.Walk(max(warm, 1<<12)))
		var ns [samples]float64
		for i := range ns {
			ns[i] = cycle.Walk(loads)
		}
		own = median(ns[:])
		return nil
	})
	if err == nil && ownFirst {
		err = their()
	}
	return own, other, err
}

// loadsFor returns the number of loads in a sample.
func loadsFor(ns float64) int { return int(min(max(sampleNS/ns, 64), 5e7)) }

// writeLadder prints the table. It returns the worst ratio, the one furthest from 1, excluding sizes at the edge of a
// cache.
func writeLadder(w io.Writer, s *settings, other, title string, sizes []int, rungs []pairs) (worst float64, err error) {
	t := contest.Table{Markdown: s.markdown}
	t.Row(append(append([]string{"working set"}, cellNames(other, "ns")...), other+" by round, ns", "")...)
	var kept []int
	for i := range sizes {
		if len(rungs[i].own) > 0 {
			kept = append(kept, i)
		}
	}
	worst = 1
	for at, i := range kept {
		_, middle, _ := rungs[i].ratios()
		note := ""
		switch {
		case at > 0 && steep(&rungs[kept[at-1]], &rungs[i]) || at < len(kept)-1 && steep(&rungs[i], &rungs[kept[at+1]]):
			note = "edge"
		case math.Abs(math.Log(middle)) > math.Abs(math.Log(worst)):
			worst = middle
		}
		t.Row(append(append([]string{bytesText(sizes[i])}, rungs[i].cells()...), rungs[i].byRound(turns), note)...)
	}
	return worst, t.Write(w, title)
}

// steep reports whether two neighbours differ by more than 10 %, by the geometric mean of both contenders.
func steep(a, b *pairs) bool {
	a1, a2 := a.medians()
	b1, b2 := b.medians()
	step := math.Sqrt(b1 * b2 / (a1 * a2))
	return max(step, 1/step) > 1+edge
}

func bytesText(n int) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%g MiB", float64(n)/(1<<20))
}

//go:build linux

package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"strconv"
	"unsafe"

	"homenode/cmd/bench/contest"
	"homenode/measure/guest/chase"
	"homenode/measure/guest/cpu"
	"homenode/measure/guest/pages"
)

const (
	lineBytes = 64   // of both contenders
	turns     = 3    // of each contender in a round, at each working set
	samples   = 21   // of a turn; others run on a shared machine, so many short ones find more calm moments than a few long ones
	sampleNS  = 15e4 // how long one takes, about
	within    = 0.05 // how far the contenders may be from each other
	edge      = 0.10 // neighbours in the ladder that differ by more are at the edge of a cache
)

// pageNames name both sizes of pages.
var pageNames = map[bool]string{false: "small pages", true: "huge pages"}

// chaseLadder lets both contenders follow the same cycles, in memory of their own that is taken anew in each round: where
// its pages are decides how well they fit in a cache.
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

// chaseRound measures all sizes in new memory.
func chaseRound(ctx context.Context, s *settings, c *peer, round int, huge bool, sizes []int, rungs, multi []pairs) (err error) {
	m, err := pages.Take(ctx, pages.Ask{Bytes: s.most, Node: pages.Anywhere, Huge: huge})
	if err != nil {
		return err
	}
	defer func() { err = joinClose(err, m) }()
	if err := c.take(s.most, huge); err != nil {
		return err
	}
	for i, size := range sizes {
		seed := uint64(round*len(sizes) + i)
		cycle, err := chase.Link(ctx, m.Bytes[:size], lineBytes, seed)
		if err != nil {
			return err
		}
		if _, err := c.do("link %d %d %d", size, lineBytes, seed); err != nil {
			return err
		}
		if round == 0 {
			if err := samePattern(c, m.Bytes[:size]); err != nil {
				return err
			}
		}
		for turn := range turns {
			s.calm.await()
			own, other, err := chaseTurn(s.cpus[0], c, cycle, (round+turn)%2 == 0)
			if err != nil {
				return err
			}
			rungs[i].add(own, other)
		}
		if s.multichase != "" && round < multiRounds && size&(size-1) == 0 {
			if err := multiTurn(ctx, s, cycle, huge, size, &multi[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// samePattern sees that the program in C goes through its lines in the same order.
func samePattern(c *peer, b []byte) error {
	text, err := c.line("order")
	if err != nil {
		return err
	}
	if want := strconv.FormatUint(order(b), 10); text != want {
		return fmt.Errorf("a cycle of %d bytes: the program in C goes through it in another order: %s, want %s", len(b), text, want)
	}
	return nil
}

// order is the hash of the offsets of the lines of b in the order of the cycle that chase.Link made of them.
func order(b []byte) uint64 {
	hash, base := fnv.New64a(), uint64(uintptr(unsafe.Pointer(&b[0])))
	for at, i := uint64(0), 0; i < len(b)/lineBytes; i++ {
		var offset [8]byte
		binary.LittleEndian.PutUint64(offset[:], at)
		hash.Write(offset[:])
		at = binary.NativeEndian.Uint64(b[at:]) - base
	}
	return hash.Sum64()
}

// chaseTurn lets both measure once, one after the other on the same processor. Each one warms the caches before, since
// the other one has used them. The samples of both have the same number of loads.
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

// loadsFor returns how many loads a sample has.
func loadsFor(ns float64) int { return int(min(max(sampleNS/ns, 64), 5e7)) }

// writeLadder prints the table, and returns the ratio that is furthest from 1 of the sizes that are at no edge.
func writeLadder(w io.Writer, s *settings, other, title string, sizes []int, rungs []pairs) (worst float64, err error) {
	t := contest.Table{Markdown: s.markdown}
	t.Row(append(append([]string{"working set"}, cellNames(other, "ns")...), "")...)
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
		t.Row(append(append([]string{bytesText(sizes[i])}, rungs[i].cells()...), note)...)
	}
	return worst, t.Write(w, title)
}

// steep says whether two neighbours differ by more than 10 %, by the geometric mean of both contenders.
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

//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"homenode/cmd/bench/contest"
	"homenode/internal/stat"
	"homenode/measure/guest/pingpong"
)

// swapTurns is how often each contender measures the pair in a round.
const swapTurns = 15

// swaps lets both contenders measure one pair of processors in turn.
func swaps(ctx context.Context, s *settings, c *peer, w io.Writer) ([]goal, error) {
	if len(s.cpus) < 2 {
		_, err := fmt.Fprintln(w, "\nPing-pong is left out: this process may use one processor.")
		return nil, err
	}
	a, b, f := s.cpus[0], s.cpus[1], pingpong.Full
	var p pairs
	own := func() (float64, error) {
		out, err := pingpong.Swap(ctx, a, b, f, 10*time.Second, nil)
		if err != nil {
			return 0, err
		}
		return belowQuartile(out), nil
	}
	other := func() (float64, error) {
		out, err := c.do("swap %d %d %d %d", a, b, f.Samples, f.Trips)
		if err != nil {
			return 0, err
		}
		return belowQuartile(out), nil
	}
	for turn := range s.rounds * swapTurns {
		s.calm.await()
		order := []func() (float64, error){own, other}
		var ns [2]float64
		for i := range order {
			who := (i + turn) % 2
			var err error
			if ns[who], err = order[who](); err != nil {
				return nil, err
			}
		}
		p.add(ns[0], ns[1])
	}
	t := contest.Table{Markdown: s.markdown}
	t.Row(append([]string{""}, cellNames("C", "ns")...)...)
	t.Row(append([]string{fmt.Sprintf("%s, vCPUs %d and %d", pingpong.Method, a, b)}, p.cells()...)...)
	_, middle, _ := p.ratios()
	return []goal{ratioGoal("ping-pong beside C", 1-within, 1+within, middle)}, t.Write(w, "Ping-pong, nanoseconds of one way")
}

// belowQuartile is the median of the samples below the 75th percentile.
func belowQuartile(samples []float64) float64 {
	sorted := slices.Sorted(slices.Values(samples))
	limit := stat.Quantile(sorted, 0.75)
	end := slices.IndexFunc(sorted, func(x float64) bool { return x >= limit })
	if end < 1 {
		return stat.Median(sorted)
	}
	return stat.Median(sorted[:end])
}

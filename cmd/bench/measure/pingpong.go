//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"
	"unsafe"

	"example.org/homenode/cmd/bench/contest"
	"example.org/homenode/internal/stat"
	"example.org/homenode/measure/guest/pingpong"
)

const (
	swapTurns = 15      // of each contender per round
	swapBytes = 1 << 20 // size of the memory that contains the word
)

// swaps measures one pair of processors with both contenders in turns.
func swaps(ctx context.Context, s *settings, c *peer, w io.Writer) (goals []goal, err error) {
	if len(s.cpus) < 2 {
		_, err := fmt.Fprintln(w, "\nPing-pong is left out: this process may use one processor.")
		return nil, err
	}
	// The address of the word changes in each turn and is the same for both, because the location of its cache line
	// affects the figure.
	m, err := share(c, swapBytes, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	a, b, f := s.cpus[0], s.cpus[1], pingpong.Full
	const size = int(unsafe.Sizeof(pingpong.Table{}))
	var p pairs
	at := 0
	own := func() (float64, error) {
		clear(m.bytes[at : at+size])
		table := (*pingpong.Table)(unsafe.Pointer(&m.bytes[at]))
		out, err := table.Swap(ctx, a, b, f, 10*time.Second, nil)
		if err != nil {
			return 0, err
		}
		return belowQuartile(out), nil
	}
	other := func() (float64, error) {
		out, err := c.do("swap %d %d %d %d %d", a, b, at+int(pingpong.WordOffset), f.Samples, f.Trips)
		if err != nil {
			return 0, err
		}
		return belowQuartile(out), nil
	}
	for turn := range s.rounds * swapTurns {
		s.calm.await()
		at = rand.IntN((swapBytes-size)/lineBytes) * lineBytes
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

// belowQuartile returns the median of the samples below the 75th percentile.
func belowQuartile(samples []float64) float64 {
	sorted := slices.Sorted(slices.Values(samples))
	limit := stat.Quantile(sorted, 0.75)
	end := slices.IndexFunc(sorted, func(x float64) bool { return x >= limit })
	if end < 1 {
		return stat.Median(sorted)
	}
	return stat.Median(sorted[:end])
}

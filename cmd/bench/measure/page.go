//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"
	"unsafe"

	"example.org/homenode/cmd/bench/contest"
	"example.org/homenode/measure/guest/chase"
	"example.org/homenode/measure/guest/cpu"
	"example.org/homenode/measure/guest/pages"
)

const (
	probedBytes = 256 << 20 // size of the memory for probes, and of the chase for comparison
	hugeBytes   = 2 << 20   // a unit that is probed as a whole, as the command does beside its ladder
	hugeLines   = 16
	blockBytes  = 8 << 20 // of the chase that visits memory block by block
	probed      = 1024    // pages per turn
	costUS      = 3.0     // maximum cost of a probe on a calm machine
	probeWithin = 0.15    // maximum relative difference of a probe and the chase
	probeTurns  = 7       // per round
)

// pageProbe measures the cost of probing a page, and compares its result with chases in huge pages of the same round. A probe does
// not wait for page walks. A chase over many pages does, even in huge pages of a guest if the hypervisor backs them by small
// pages. The probe is therefore compared with a chase that stays in few pages for a while, and with the plain chase.
func pageProbe(ctx context.Context, s *settings, _ *peer, w io.Writer) (goals []goal, err error) {
	p, err := chase.NewProber(chase.PageBytes, chase.PageLines, 1)
	if err != nil {
		_, err = fmt.Fprintf(w, "\nThe probe of a page is left out: %v.\n", err)
		return nil, err
	}
	far, err := chase.NewProber(hugeBytes, hugeLines, 1)
	if err != nil {
		return nil, err
	}
	small, err := pages.Take(ctx, pages.Ask{Bytes: probedBytes, Node: pages.Anywhere})
	if err != nil {
		return nil, err
	}
	defer func() { err = joinClose(err, small) }()
	huge, err := pages.Take(ctx, pages.Ask{Bytes: probedBytes, Node: pages.Anywhere, Huge: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = joinClose(err, huge) }()
	wide, err := chase.Link(ctx, huge.Bytes[:probedBytes/2], lineBytes, 1, nil)
	if err != nil {
		return nil, err
	}
	near, err := chase.LinkBlocks(ctx, huge.Bytes[probedBytes/2:], lineBytes, blockBytes, 1)
	if err != nil {
		return nil, err
	}
	var besideWide, besideNear, farWide pairs
	units := rand.New(rand.NewPCG(1, 1)).Perm(probedBytes / hugeBytes)
	var costs, overheads []float64
	for turn := range s.rounds * probeTurns {
		chosen := rand.New(rand.NewPCG(uint64(turn), 1)).Perm(len(small.Bytes) / chase.PageBytes)[:probed]
		out := make([]float64, probed)
		s.calm.await()
		err := cpu.On(s.cpus[0], func() error {
			overhead := p.Overhead(pageAt(small, chosen[0]))
			var wideNS, nearNS float64
			walk := func() { wideNS, nearNS = chaseNS(wide), chaseNS(near) }
			if turn%2 == 0 {
				walk()
			}
			start := time.Now()
			if err := p.Sweep(ctx, small, chosen, 1, out); err != nil {
				return err
			}
			costs = append(costs, time.Since(start).Seconds()*1e6/probed)
			if turn%2 != 0 {
				walk()
			}
			farNS := make([]float64, len(units)*4)
			if err := far.Sweep(ctx, huge, units, 4, farNS); err != nil {
				return err
			}
			farWide.add(median(farNS)-far.Overhead(pageAt(huge, 0)), wideNS)
			overheads = append(overheads, overhead)
			besideWide.add(median(out)-overhead, wideNS)
			besideNear.add(median(out)-overhead, nearNS)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	t := contest.Table{Markdown: s.markdown}
	t.Row("", "median", "least to most")
	t.Row(append([]string{"a probe, µs"}, span(costs)...)...)
	t.Row(append([]string{"its overhead, ns of a load"}, span(overheads)...)...)
	if err := t.Write(w, fmt.Sprintf("One page of %d, %d loads a probe", len(small.Bytes)/chase.PageBytes, chase.PageLines)); err != nil {
		return nil, err
	}
	b := contest.Table{Markdown: s.markdown}
	b.Row(append([]string{""}, cellNames("chase", "ns")...)...)
	nearName := "beside a chase block by block, of " + bytesText(blockBytes)
	wideName := "beside a chase through all of " + bytesText(probedBytes/2)
	b.Row(append([]string{nearName}, besideNear.cells()...)...)
	b.Row(append([]string{wideName}, besideWide.cells()...)...)
	farName := fmt.Sprintf("of %s with %d loads, %s", bytesText(hugeBytes), hugeLines, wideName)
	b.Row(append([]string{farName}, farWide.cells()...)...)
	_, farRatio, _ := farWide.ratios()
	_, nearRatio, _ := besideNear.ratios()
	_, wideRatio, _ := besideWide.ratios()
	cost := median(costs)
	goals = []goal{
		{"a probe of a page, calm", fmt.Sprintf("at most %g µs", costUS), contest.Figure(cost) + " µs", cost <= costUS},
		ratioGoal("probe − overhead "+nearName, 1-probeWithin, 1+probeWithin, nearRatio),
		ratioGoal("probe − overhead "+wideName, 1-probeWithin, 1+probeWithin, wideRatio),
		ratioGoal("probe − overhead "+farName, 1-probeWithin, 1+probeWithin, farRatio),
	}
	return goals, b.Write(w, "Probe − overhead and the chase")
}

// chaseNS returns the median of some samples of the chase. Its cycle is so long that the caches need no warming.
func chaseNS(c *chase.Cycle) float64 {
	var ns [41]float64
	for i := range ns {
		ns[i] = c.Walk(1 << 9)
	}
	return median(ns[:])
}

func pageAt(m *pages.Memory, page int) unsafe.Pointer {
	return unsafe.Pointer(&m.Bytes[page*chase.PageBytes])
}

// span returns the median and the range.
func span(all []float64) []string {
	return []string{contest.Figure(median(all)), contest.Figure(slices.Min(all)) + " to " + contest.Figure(slices.Max(all))}
}

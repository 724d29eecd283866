package hidden

import (
	"cmp"
	"math"
	"slices"

	"example.org/homenode/internal/stat"
	"example.org/homenode/source/measured"
)

// A Sample is one latency of a pair of vCPUs.
type Sample struct {
	At float64 // seconds, ascending
	NS float64
}

const (
	stateWidth = 1.3  // greatest ÷ least latency within one state
	stateShare = 0.05 // of the samples
)

// States finds the latencies of a pair of vCPUs: one, or several if the hypervisor moved a vCPU meanwhile (5 ns as threads of a core,
// 26 ns in one L3 and 105 ns between two were observed within 20 s). It selects the range of latencies, 1.3 times wide, with most
// samples, then the next, as long as a range has 5 % of them and is 1.3 times apart from the others. The remaining samples were
// interrupted.
//
// Shares refer to the samples in a state, so they add up to 1; states are ordered by latency. changes is the number of state changes a
// minute: a single sample in another state between two of one state is not a change.
func States(samples []Sample) (states []measured.State, changes float64) {
	centres, width := centresOf(samples), math.Log(stateWidth)
	count := make([]float64, len(centres))
	var path []int // state by sample
	var from, to float64
	for _, s := range samples {
		if s.NS <= 0 {
			continue
		}
		best := slices.IndexFunc(centres, func(c float64) bool { return math.Abs(math.Log(s.NS)-c) <= width/2 })
		if best < 0 {
			continue
		}
		if len(path) == 0 {
			from = s.At
		}
		to = s.At
		count[best]++
		path = append(path, best)
	}
	for i, c := range centres {
		states = append(states, measured.State{Nanoseconds: math.Exp(c), Share: count[i] / float64(len(path))})
	}
	steps, now := 0, -1
	for i, s := range path {
		switch {
		case now < 0:
			now = s
		case s != now && i+1 < len(path) && path[i+1] == s:
			steps++
			now = s
		}
	}
	if to > from {
		changes = float64(steps) / (to - from) * 60
	}
	slices.SortFunc(states, func(a, b measured.State) int { return cmp.Compare(a.Nanoseconds, b.Nanoseconds) })
	return states, changes
}

// centresOf returns the centres of clusters of latencies (logarithms), in ascending order.
func centresOf(samples []Sample) (centres []float64) {
	var sorted []float64
	for _, s := range samples {
		if s.NS > 0 {
			sorted = append(sorted, math.Log(s.NS))
		}
	}
	slices.Sort(sorted)
	total, width := len(sorted), math.Log(stateWidth)
	for len(sorted) > 0 {
		from, most := 0, 0
		for i, j := 0, 0; i < len(sorted); i++ {
			for j < len(sorted) && sorted[j] <= sorted[i]+width {
				j++
			}
			if j-i > most {
				from, most = i, j-i
			}
		}
		if float64(most) < stateShare*float64(total) || most < 3 {
			break
		}
		middle := stat.Median(sorted[from : from+most])
		if !slices.ContainsFunc(centres, func(c float64) bool { return math.Abs(middle-c) < width }) {
			centres = append(centres, middle)
		}
		sorted = slices.Delete(sorted, from, from+most)
	}
	slices.Sort(centres)
	return centres
}

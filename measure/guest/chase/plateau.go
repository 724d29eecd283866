package chase

import (
	"slices"
	"strconv"

	"homenode/internal/stat"
)

// A Plateau is a run of working sets that are about as fast: they are in the same cache, or in RAM.
type Plateau struct {
	Name     string  // L1, L2, … or RAM
	From, To int     // working sets in bytes; the cache has at least To
	NS       float64 // of one load: the median of the run
}

// flat is how far neighbours of a plateau may differ.
const flat = 0.10

// shortest is how many sizes make a plateau: fewer are on a slope.
const shortest = 3

// Plateaus finds the plateaus of a ladder: the longest runs of sizes whose neighbours differ by less than 10 %, at least three
// sizes each, one for each cache of the guest's CPU and one for RAM. A size on a slope is in none, so a cache of
// which the guest gets a small part may have none. ns is the median of each size, told the sizes of
// the caches that the guest was told, L1 first, in bytes; without them it looks for three.
//
// Plateaus are named in order when there is one for each cache and RAM, and when no caches were told; otherwise
// by the smallest cache that was told with room for them.
func Plateaus(bytes []int, ns []float64, told []int) []Plateau {
	levels := 4
	if len(told) > 0 {
		levels = len(told) + 1
	}
	found := runs(bytes, ns)
	slices.SortStableFunc(found, func(a, b run) int { return b.n - a.n })
	found = found[:min(len(found), levels)]
	slices.SortFunc(found, func(a, b run) int { return a.from - b.from })
	var out []Plateau
	for i, r := range found {
		p := Plateau{From: bytes[r.from], To: bytes[r.from+r.n-1], NS: stat.MedianOf(slices.Clone(ns[r.from : r.from+r.n]))}
		p.Name = name(p, i, len(found), told)
		out = append(out, p)
	}
	return out
}

type run struct{ from, n int }

// runs are the flat parts of the ladder that are long enough.
func runs(bytes []int, ns []float64) []run {
	var out []run
	for from, i := 0, 1; i <= len(bytes); i++ {
		if i < len(bytes) && max(ns[i], ns[i-1]) < (1+flat)*min(ns[i], ns[i-1]) {
			continue
		}
		if i-from >= shortest {
			out = append(out, run{from, i - from})
		}
		from = i
	}
	return out
}

func name(p Plateau, i, all int, told []int) string {
	const ram = "RAM"
	if len(told) == 0 || all == len(told)+1 {
		if i > 0 && i == all-1 {
			return ram
		}
		return "L" + strconv.Itoa(i+1)
	}
	for level, size := range told {
		if p.To <= size {
			return "L" + strconv.Itoa(level+1)
		}
	}
	return ram
}

package chase

import (
	"slices"
	"strconv"

	"example.org/homenode/internal/stat"
)

// A Plateau is a run of working sets with about the same latency: they are in the same cache, or in RAM.
type Plateau struct {
	Name     string  // L1, L2, … or RAM
	From, To int     // working sets in bytes; the cache has at least To
	NS       float64 // per load: the median of the run
}

// flat is the maximum difference between neighbours on a plateau.
const flat = 0.10

// shortest is the minimum number of sizes in a plateau: fewer are on a slope.
const shortest = 3

// Plateaus finds the plateaus of a ladder: the longest runs of sizes whose neighbours differ by less than 10 %, with at least
// three sizes each, one for each cache of the guest's CPU and one for RAM. A size on a slope is in no plateau, so a cache of
// which the guest gets only a small part may have none. ns is the median of each size. told has the reported cache sizes in
// bytes, L1 first; without them Plateaus assumes three caches.
//
// Plateaus are named in order if there is one for each cache and RAM, or if no cache sizes were reported. Otherwise the name
// is that of the smallest reported cache that is large enough.
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

// runs returns the flat parts of the ladder that are long enough.
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

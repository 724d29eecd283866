// Package binpack bounds how many bins things need, whoever packs them.
package binpack

import "slices"

// A Weight is things of one size.
type Weight struct {
	Size  int64
	Count int
}

// Least is the bound L2 of Martello and Toth (Knapsack Problems, 1990, section 8.3): fewer
// bins of this size do not hold the weights, however they are packed. For a threshold t, what
// is larger than size − t has a bin alone; what is larger than half shares none with another
// such; and what of the others, down to t, does not fit beside these needs more.
func Least(weights []Weight, size int64) int {
	best := 0
	thresholds := []int64{0}
	for _, w := range weights {
		if 2*w.Size <= size {
			thresholds = append(thresholds, w.Size)
		}
	}
	slices.Sort(thresholds)
	for _, t := range slices.Compact(thresholds) {
		alone, half := 0, 0
		room, small := int64(0), int64(0)
		for _, w := range weights {
			switch {
			case w.Size > size-t:
				alone += w.Count
			case 2*w.Size > size:
				half += w.Count
				room += (size - w.Size) * int64(w.Count)
			case w.Size >= t:
				small += w.Size * int64(w.Count)
			}
		}
		bins := alone + half
		if over := small - room; over > 0 {
			bins += int(Ceil(over, max(1, size)))
		}
		best = max(best, bins)
	}
	return best
}

// Ceil divides, rounded up.
func Ceil[T int | int64](a, b T) T { return (a + b - 1) / b }

// Package binpack contains the common parts of all packers of VMs: bins and things of two sizes, a Packing with the bin of
// each thing and an undo of trials, and bounds that apply to every packer. The packers differ in their goals:
//
//	         size fit                    plans of KVM hosts           optimise
//	goal     fewest hosts, as many as    most vCPUs, then fewest      least cost of memory, vCPUs and
//	         are needed                  hosts, then evenly filled    moves, from where VMs are
//	nodes    ESXi chooses                the plan chooses             ESXi chooses
//	must     memory and vCPUs of nodes   these, whole cores, pages,   memory and vCPUs of hosts, apart,
//	                                     apart, spare hosts           together, loss of a host
//	search   first fit in six orders     best fit in eight orders,    single moves, swaps, a few VMs
//	                                     hosts emptied and refilled,  taken out and put back
//	                                     a node with what leaves least
//	bound    Fewest, Kind.Most           Fewest                       of cost
//
// The searches are separate. Where ESXi chooses, a VM that leaves a host changes the nodes of the VMs after it, so each trial
// places the whole host again: about 4 µs for 31 VMs (BenchmarkPlace of change/optimise). Where the plan chooses, the others
// stay: about 1 µs a VM with up to 16 hosts weighed, 400,000 times a plan (BenchmarkMake of change/move/pack). The goals
// differ too: best fit instead of first fit made one of 451 generated mixes of size fit one host smaller, and no other.
package binpack

import (
	"cmp"
	"slices"
)

// A weight is a number of things of one size.
type weight struct {
	Size  int64
	Count int
}

// least is the lower bound L2 of Martello and Toth (Knapsack Problems, 1990, section 8.3) on the number of bins of this size,
// for any packing of the weights. For a threshold t, things larger than size − t need a bin each; things larger than half do
// not share a bin with each other; and the others, down to t, need more bins if they do not fit beside these. It takes n log
// n for n different sizes.
func least(weights []weight, size int64) int {
	list := slices.Clone(weights)
	slices.SortFunc(list, func(a, b weight) int { return cmp.Compare(a.Size, b.Size) })
	// Prefix sums: the count and the total size of the first i of the list.
	counts, sums := make([]int, len(list)+1), make([]int64, len(list)+1)
	for i, w := range list {
		counts[i+1], sums[i+1] = counts[i]+w.Count, sums[i]+w.Size*int64(w.Count)
	}
	// to returns how many of the list are of size t or smaller.
	to := func(t int64) int {
		i, _ := slices.BinarySearchFunc(list, t+1, func(w weight, t int64) int { return cmp.Compare(w.Size, t) })
		return i
	}
	best, small := 0, to(size/2)
	for i := -1; i < small; i++ {
		t, from := int64(0), 0
		if i >= 0 {
			t, from = list[i].Size, to(list[i].Size-1)
		}
		half := max(small, to(size-t)) // the end of those that are larger than half but not alone
		alone, halves := counts[len(list)]-counts[half], counts[half]-counts[small]
		room := size*int64(halves) - (sums[half] - sums[small])
		bins := alone + halves
		if over := sums[small] - sums[from] - room; over > 0 {
			bins += int(Ceil(over, max(1, size)))
		}
		best = max(best, bins)
	}
	return best
}

// Ceil divides, rounded up.
func Ceil[T int | int64](a, b T) T { return (a + b - 1) / b }

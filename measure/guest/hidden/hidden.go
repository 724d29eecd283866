// Package hidden infers from latencies what a guest was not told of NUMA nodes: vCPUs of one node of the guest that are on several nodes
// of the host, pages that are far from the vCPUs, and changes of both over time. Its functions measure nothing and know no clock.
//
// All of it looks for one step: a load takes Δ longer, published are 44 to 76 ns, when vCPU and page are on different
// nodes.
//
//	           page 0  page 1  page 2  page 3         what differs    what it may come from
//	vCPU 0       150     205     152     207          columns only    pages on two nodes, or two kinds of pages
//	vCPU 1       149     203     151     206          rows only       vCPUs on two nodes, or a slow processor, or drift
//	vCPU 2       204     151     207     153          crosswise       vCPUs and pages on two nodes: nothing else
//	vCPU 3       205     148     206     151                          makes a vCPU slower to one page and faster to another
//
// Therefore what is crosswise is believed from 15 ns on, and rows or columns alone only under more conditions (Between, Fit).
// How often each answer is wrong, and how often a step is found, is measured by simulation on recorded noise: docs/evidence/measure-power.md.
//
// # What the caller must do
//
// The statistics can keep drift and distance apart only if it was measured so:
//
//  1. In rounds, 8 or more: in each round every vCPU measures every page once, a block a vCPU. The vCPUs take turns in the order that
//     Order returns: random, and every second round backwards, so that what drifts evenly costs all vCPUs the same.
//     Never all rounds of one vCPU and then those of the next.
//  2. Within a block the pages come in a new random order, with lines chosen anew.
//  3. All rounds together last a second or longer, so that a burst of a neighbour's load does not fill them.
//  4. After the pages of each block the vCPU times the same chase in its L1 cache (Core; chase.Prober's Overhead). It shows cores
//     that are slower than others.
//  5. Pages are in different blocks of 2 MiB, and touched first by all vCPUs in turns: then both nodes have some, and what is
//     found is crosswise.
//  6. Latencies are without the time of the counter and fences.
package hidden

import (
	"math/rand/v2"
	"slices"
)

// A Kind is how a page came to where it is.
type Kind string

// The kinds.
const (
	Fresh  Kind = "fresh"      // touched by this program: placed by today's policy
	Cached Kind = "page cache" // resident pages of a file: placed some time ago
)

// A Page is one page of memory that was measured.
type Page struct {
	Block int64 // of 2 MiB that it lies in: pages of one block are no independent evidence, since hypervisors place whole blocks
	Kind  Kind
}

// Probes are latencies of the same pages, measured from several vCPUs in rounds. What was not measured is NaN.
type Probes struct {
	CPUs  []int  // logical processors, by the guest's numbers
	Pages []Page // 32 or more, else nothing is said
	// NS has nanoseconds a load, by round, vCPU and page.
	NS [][][]float64
	// At is when each block began, in seconds since the first, by round and vCPU. Without it differences between rows alone are not
	// believed.
	At [][]float64
	// Core is nanoseconds a load of the same chase in the L1 cache beside each block, by round and vCPU. Without it differences between rows
	// alone are not believed.
	Core [][]float64
}

// The least that is judged.
const (
	LeastRounds = 8  // with 4 one slow round of a busy machine is a quarter of all
	LeastPages  = 32 // of a vCPU, with a latency in both halves of the rounds
	// LeastStep is the least distance that is believed, in ns: sub-NUMA clusters and the quadrants of one node differ by 7 to 12.
	LeastStep = 15
)

// Order returns in which order the vCPUs measure, by round: every even round is drawn, every odd one is the one before
// backwards. In such a pair of rounds the middle of a vCPU's two blocks is the same moment for all.
func Order(vcpus, rounds int, rng *rand.Rand) [][]int {
	out := make([][]int, rounds)
	for r := range out {
		if r%2 == 0 {
			out[r] = rng.Perm(vcpus)
			continue
		}
		out[r] = slices.Clone(out[r-1])
		slices.Reverse(out[r])
	}
	return out
}

// Package hidden infers NUMA nodes that a guest does not see from latencies: vCPUs of one guest node that are on several nodes of the host,
// pages that are far from the vCPUs, and changes of both over time. Its functions do not measure and do not use a clock.
//
// Everything is based on one step: a load takes Δ longer (published: 44 to 76 ns) if vCPU and page are on different nodes.
//
//	           page 0  page 1  page 2  page 3         difference    possible cause
//	vCPU 0       150     205     152     207          columns only  pages on two nodes, or two kinds of pages
//	vCPU 1       149     203     151     206          rows only     vCPUs on two nodes, or a slow processor, or drift
//	vCPU 2       204     151     207     153          crosswise     vCPUs and pages on two nodes: nothing else
//	vCPU 3       205     148     206     151                        makes a vCPU slower to one page and faster to another
//
// Therefore crosswise differences are accepted from 15 ns on, and differences of rows or columns only under more conditions (Between, Fit).
// The error rate of each answer and the detection rate of a step are measured by simulation on recorded noise:
// docs/evidence/measure-power.md.
//
// # Requirements for the caller
//
// The statistics can only separate drift from distance if the measurement meets these requirements:
//
//  1. At least 8 rounds: in each round every vCPU measures every page once, one block for each vCPU. The vCPUs take turns in the
//     order that Order returns: random, and every second round backwards, so that uniform drift affects all vCPUs equally.
//     Never measure all rounds of one vCPU and then those of the next.
//  2. Within a block the pages are in a new random order, with newly chosen lines.
//  3. All rounds together last at least a second, so that a burst of a neighbour's load does not cover them.
//  4. After the pages of each block the vCPU times the same chase in its L1 cache (Core; chase.Prober's Overhead). It reveals
//     slower cores.
//  5. Pages are in different blocks of 2 MiB, and first touched by all vCPUs in turns: then both nodes have some, and
//     differences are crosswise.
//  6. Latencies do not include the time of the counter and fences.
package hidden

import (
	"math/rand/v2"
	"slices"
)

// A Kind is the origin of a page.
type Kind string

// The kinds.
const (
	Fresh  Kind = "fresh"      // touched by this program: placed by the current policy
	Cached Kind = "page cache" // resident pages of a file: placed some time ago
)

// A Page is one measured page of memory.
type Page struct {
	Block int64 // number of its block of 2 MiB: pages of one block are not independent evidence, because hypervisors place whole blocks
	Kind  Kind
}

// Probes are latencies of the same pages, measured from several vCPUs in rounds. Missing values are NaN.
type Probes struct {
	CPUs  []int  // logical processors, as numbered in the guest
	Pages []Page // at least 32, else there is no answer
	// NS has nanoseconds a load, by round, vCPU and page.
	NS [][][]float64
	// At is the start time of each block, in seconds since the first, by round and vCPU. Without it differences between rows only are not
	// accepted.
	At [][]float64
	// Core is the nanoseconds per load of the same chase in the L1 cache after each block, by round and vCPU. Without it differences between
	// rows only are not accepted.
	Core [][]float64
}

// Minimum requirements for an answer.
const (
	LeastRounds = 8  // with 4, one slow round of a busy machine would be a quarter of all
	LeastPages  = 32 // of a vCPU, with a latency in both halves of the rounds
	// LeastStep is the minimum distance that is accepted, in ns: sub-NUMA clusters and the quadrants of one node differ by 7 to 12.
	LeastStep = 15
)

// Order returns the order in which the vCPUs measure, by round: every even round is random, every odd one is the previous one backwards. In
// such a pair of rounds, the middle between a vCPU's two blocks is the same time for all vCPUs.
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

// Package memory computes the local share of a VM's memory on a host. The prediction of one VM on
// an empty host, the placement of many VMs, and the scheduler all use it.
//
//	|<------------------- node ------------------->|
//	[ used | first local: Fill ... | home  | reserve ]
//	                               ^ pages in use migrate home to here: Returns
//
// New pages leave a reserve free on every node while another node has more (C-15). Pages in use by
// the guest migrate home later, until less is free (C-16). ESXi's own use of a node is not
// published and counts as 0 where it is not stated. Nor is a VM's overhead counted on its node: the
// published fills leave no room for it.
package memory

import (
	"math/bits"
	"strconv"
	"strings"

	"example.org/homenode/numa"
)

// A Reserve is memory that stays free on each node of a host, in bytes.
type Reserve struct {
	MinFree numa.Bytes // of the whole host (C-23)
	New     numa.Bytes // of each node, from new pages while another node has more (C-15)
	Home    numa.Bytes // of each node, from pages that migrate home (C-16)
}

// Of returns the reserve of a host from its known properties.
func Of(h *numa.Host, fill bool) Reserve {
	return ReserveOf(All(h), len(h.Nodes.Value), h.Release.Value, MinFreePercent(h), fill)
}

// All returns the memory of a host: the sum of its nodes, or the host's total where a node's memory is unknown.
func All(h *numa.Host) (sum numa.Bytes) {
	known := true
	for _, n := range h.Nodes.Value {
		known = known && n.Memory.Known()
		sum += n.Memory.Value
	}
	if known {
		return sum
	}
	return h.Memory.Or(sum)
}

// MinFreePercent returns Mem.MemMinFreePct of a host; 0 when it is not set to a percentage.
func MinFreePercent(h *numa.Host) int {
	s, _ := h.Options.Value.Lookup("Mem.MemMinFreePct")
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 0 || n > 100 {
		return 0
	}
	return n
}

// ReserveOf returns the reserve of a host with so much memory and so many nodes. percent is
// Mem.MemMinFreePct, 0 for the scale of C-23. fill is the alternative of F-23: new pages
// leave minFree on each node.
func ReserveOf(memory numa.Bytes, nodes int, r numa.Release, percent int, fill bool) Reserve {
	if r == 0 {
		r = numa.ESXi60 // unknown: 6.0 or later
	}
	out := Reserve{MinFree: numa.MinFree(memory, r)}
	if percent > 0 {
		out.MinFree = memory * numa.Bytes(percent) / 100
	}
	out.MinFree = out.MinFree / numa.PageSize * numa.PageSize
	out.Home = out.MinFree / numa.Bytes(max(1, nodes))
	switch {
	case r < numa.ESXi50: // a published host had 372 MB free on one node and 13 GB on another (C-15)
	case fill:
		out.New = numa.OfNode(out.MinFree, nodes)
	default:
		out.New = numa.OfNode(numa.SoftFactor(r)*out.MinFree, nodes)
	}
	return out
}

// Fill allocates want of new memory for a client with this home: on the home down to reserve, then
// on the other allowed nodes, most free first, down to reserve too; then on the home and the others
// down to nothing (C-15). It sets gives to the memory from each node and returns the remainder that
// fits nowhere. free is read only.
func Fill(free []int64, home int, allowed numa.NodeSet, want, reserve int64, gives []int64) (nowhere int64) {
	clear(gives)
	for _, floor := range [...]int64{reserve, 0} {
		part := max(0, min(want, free[home]-gives[home]-floor))
		gives[home] += part
		if want = Lend(free, home, allowed, want-part, floor, gives); want == 0 {
			break
		}
	}
	return want
}

// Lend allocates want on the allowed nodes other than but, most free first, each down to floor. It
// adds each node's part to gives and returns the remainder.
func Lend(free []int64, but int, allowed numa.NodeSet, want, floor int64, gives []int64) int64 {
	for want > 0 {
		most := -1
		for n := range free {
			if n != but && allowed.Has(n) && (most < 0 || free[n]-gives[n] > free[most]-gives[most]) {
				most = n
			}
		}
		if most < 0 || free[most]-gives[most] <= floor {
			break
		}
		part := min(want, free[most]-gives[most]-floor)
		gives[most] += part
		want -= part
	}
	return want
}

// Spread allocates want for a VM without home nodes: on all nodes in proportion to their free
// memory. It sets gives to the memory from each node and returns the remainder that fits nowhere.
func Spread(free []int64, want int64, gives []int64) (nowhere int64) {
	clear(gives)
	sum := int64(0)
	for _, f := range free {
		sum += max(0, f)
	}
	fits := min(want, sum)
	left := fits
	for n, f := range free {
		if f > 0 {
			gives[n] = Share(fits, f, sum)
			left -= gives[n]
		}
	}
	Lend(free, -1, 1<<len(free)-1, left, 0, gives)
	return want - fits
}

// Share returns x × part / whole, with 0 ≤ part ≤ whole and whole > 0.
func Share(x, part, whole int64) int64 {
	high, low := bits.Mul64(uint64(x), uint64(part))
	q, _ := bits.Div64(high, low, uint64(whole))
	return int64(q)
}

// Returns computes the part of a client's memory on other nodes that migrates home once the guest uses it.
func Returns(away, freeAtHome, home int64) int64 { return max(0, min(away, freeAtHome-home)) }

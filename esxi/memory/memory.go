// Package memory answers what of a VM's memory is local on a host. The prediction of one
// VM on an empty host, the placement of many, and the scheduler all ask it.
//
//	|<------------------- node ------------------->|
//	[ used | first local: Fill ... | home  | reserve ]
//	                               ^ pages in use come home to here: Returns
//
// New pages leave a reserve free on every node while another node has more (C-15). Pages
// that the guest uses come home afterwards until less is free (C-16). What ESXi itself uses
// of a node is not published and counts as 0 where it is not stated; neither does the
// overhead of a VM count on its node: the published fills leave no room for it.
package memory

import (
	"math/bits"
	"strconv"
	"strings"

	"homenode/numa"
)

// A Reserve is memory that stays free on each node of a host, in bytes.
type Reserve struct {
	MinFree numa.Bytes // of the whole host (C-23)
	New     numa.Bytes // of each node, from new pages while another node has more (C-15)
	Home    numa.Bytes // of each node, from pages that come home (C-16)
}

// Of returns the reserve of a host by what is known of it.
func Of(h *numa.Host, fill bool) Reserve {
	return ReserveOf(All(h), len(h.Nodes.Value), h.Release.Value, MinFreePercent(h), fill)
}

// All returns the memory of a host: of its nodes, or what is stated for the whole where
// that of a node is unknown.
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
	case r < numa.ESXi50: // nodes were seen with 372 MB free beside 13 GB (C-15)
	case fill:
		out.New = numa.OfNode(out.MinFree, nodes)
	default:
		out.New = numa.OfNode(numa.SoftFactor(r)*out.MinFree, nodes)
	}
	return out
}

// Fill finds where want new memory of a client with this home goes: to the home as long as
// reserve stays free there, to the other allowed nodes, the one with the most free memory
// first, down to reserve too; then to the home and to the others down to nothing (C-15).
// It sets what each node gives and returns what none has room for. free is read only.
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

// Lend adds to gives what the allowed nodes other than one give, the one with the most free
// memory first, each down to a floor, and returns what they do not.
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

// Spread finds where want memory of a VM without home nodes goes: to all nodes in
// proportion to what is free there. It sets what each node gives and returns what none has
// room for.
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

// Returns is what of a client's memory on other nodes comes home once the guest uses it.
func Returns(away, freeAtHome, home int64) int64 { return max(0, min(away, freeAtHome-home)) }

// Package move converts a VM to a definition for another platform: the shape, its placement, and the NUMA settings of
// vSphere that are carried, changed and lost, each with the fact that is the reason. It contains the capabilities of
// platforms, but not their file formats: see package output/move.
//
//	vnuma.Layout, or observation ────► Shape ──► features of the platform ──► Move
//	                                     └──────────► Check ◄── every writer
package move

import (
	"fmt"

	"example.org/homenode/numa"
	"example.org/homenode/rules/shape"
)

// A Shape is the topology of a guest at its target.
type Shape = numa.Shape

// A Cell is one NUMA node of the guest.
type Cell = numa.Cell

// arrange divides the vCPUs, whose cells are given, into sockets of perSocket vCPUs, and these into dies if a socket
// contains several whole cells. A socket that would span two nodes gets as many vCPUs as fit; why is the reason.
func arrange(s *Shape, cell []int, perSocket, threads int, dies bool) (why string) {
	n := len(cell)
	perSocket = max(1, min(perSocket, n))
	wanted := perSocket
	perDie := perSocket
	fitting := func() int { // one vCPU each is the worst: rather the largest that lies in a node
		if fit := shape.Fitting(cell, wanted); fit > 1 {
			return fit
		}
		return shape.Fitting(cell, n)
	}
	switch {
	case n > 1 && perSocket == 1 && shape.Fitting(cell, n) > 1:
		// The 24 sockets of an import: each vCPU has a cache of its own, and editions limit sockets.
		perSocket = shape.Fitting(cell, n)
		perDie, why = perSocket, "one socket for each vCPU gives each a last-level cache of its own, and software that counts sockets fails"
	case n%perSocket != 0:
		perSocket = fitting()
		perDie, why = perSocket, fmt.Sprintf("%d vCPUs are no whole sockets of %d", n, wanted)
	case !shape.Within(cell, perSocket):
		perDie = shape.Fitting(cell, perSocket)
		switch {
		case !shape.WholeCells(cell, perSocket, perDie):
			why = "a socket cannot lie in two nodes that are not its dies"
		case !dies:
			why = "a socket would lie in two nodes, and dies cannot be stated"
		}
		if why != "" {
			perSocket = fitting()
			perDie = perSocket
		}
	}
	s.Sockets, s.Dies, s.Threads = n/perSocket, perSocket/perDie, 1
	if threads > 1 && perDie%threads == 0 {
		s.Threads = threads
	}
	s.Cores = perDie / s.Threads
	return why
}

// divide divides memory by weights into multiples of unit. The sums up to each cell are rounded down; the last cell gets
// the rest.
func divide(memory, unit numa.Bytes, weights []int) []numa.Bytes {
	all := 0
	for _, w := range weights {
		all += w
	}
	out := make([]numa.Bytes, len(weights))
	if all == 0 {
		return out
	}
	units := int64(memory / unit)
	upTo, before := 0, int64(0)
	for i, w := range weights {
		upTo += w
		to := units * int64(upTo) / int64(all)
		out[i], before = numa.Bytes(to-before)*unit, to
	}
	out[len(out)-1] += memory - numa.Bytes(units)*unit
	return out
}

// Package move makes of a VM what another platform is to show its guest: the shape, where it is placed, and what of
// vSphere's NUMA is carried, changed and lost, each with the fact that decided it. It knows what platforms can express and
// no form of a file: package output/move writes those.
//
//	vnuma.Layout, or what was seen ──► Shape ──► what the platform can ──► Move
//	                                     └──────────► Check ◄── every writer, homenode move --check
package move

import (
	"fmt"
	"slices"

	"homenode/numa"
)

// A Shape is the topology that a guest is to see at its target.
type Shape struct {
	Sockets int `json:"sockets"`
	Dies    int `json:"dies"`    // of a socket
	Cores   int `json:"cores"`   // of a die
	Threads int `json:"threads"` // of a core
	// VCPUs are there at the start: all, or fewer where more can be added.
	VCPUs  int        `json:"vcpus"`
	Memory numa.Bytes `json:"bytes"`
	Page   numa.Bytes `json:"pageBytes,omitempty"` // of huge pages; 0 for those of the target
	Cells  []Cell     `json:"cells"`               // the NUMA nodes of the guest
	// Distance is that of each cell to each, 10 being local; nil for the target's own.
	Distance [][]int `json:"distance,omitempty"`
}

// A Cell is one NUMA node of the guest.
type Cell struct {
	CPUs   []int      `json:"cpus"` // vCPUs in ascending order, also those that can be added; none for memory alone
	Memory numa.Bytes `json:"bytes"`
}

// Most returns how many vCPUs there can be: those of the topology.
func (s *Shape) Most() int { return s.Sockets * s.Dies * s.Cores * s.Threads }

// PerSocket returns the vCPUs of a socket.
func (s *Shape) PerSocket() int { return s.Dies * s.Cores * s.Threads }

// PerDie returns the vCPUs of a die.
func (s *Shape) PerDie() int { return s.Cores * s.Threads }

// Even reports whether all cells have as many vCPUs and as much memory, up to a page: platforms that divide evenly give
// the first cells a page more.
func (s *Shape) Even() bool {
	unit := s.unit()
	for _, c := range s.Cells {
		if len(c.CPUs) != len(s.Cells[0].CPUs) || max(c.Memory, s.Cells[0].Memory)-min(c.Memory, s.Cells[0].Memory) > unit {
			return false
		}
	}
	return true
}

// unit is what the memory of a cell is a multiple of.
func (s *Shape) unit() numa.Bytes { return max(s.Page, numa.MiB) }

// Consecutive reports whether the vCPUs of the cells are in order: the first cell has the first.
func (s *Shape) Consecutive() bool {
	next := 0
	for _, c := range s.Cells {
		for _, v := range c.CPUs {
			if v != next {
				return false
			}
			next++
		}
	}
	return true
}

// Sizes returns the vCPUs of each cell.
func (s *Shape) Sizes() []int {
	out := make([]int, len(s.Cells))
	for i := range s.Cells {
		out[i] = len(s.Cells[i].CPUs)
	}
	return out
}

// Of returns the cell that each vCPU is in; -1 for none.
func (s *Shape) Of() []int {
	out := slices.Repeat([]int{-1}, max(0, s.Most()))
	for i, c := range s.Cells {
		for _, v := range c.CPUs {
			if v >= 0 && v < len(out) {
				out[v] = i
			}
		}
	}
	return out
}

// Topology writes sockets × dies × cores × threads, the dies and threads where there are several: "2 sockets of 12 cores".
func (s *Shape) Topology() string {
	text := fmt.Sprintf("%s of ", plural(s.Sockets, "socket"))
	if s.Dies > 1 {
		text += fmt.Sprintf("%d dies of ", s.Dies)
	}
	text += plural(s.Cores, "core")
	if s.Threads > 1 {
		text += fmt.Sprintf(" of %d threads", s.Threads)
	}
	return text
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// arrange divides the vCPUs, whose cells are given, into sockets of so many, and these into dies where a socket has
// several whole cells. A socket that would lie in two nodes otherwise gets as many vCPUs as fit; why says so.
func (s *Shape) arrange(cell []int, perSocket, threads int, dies bool) (why string) {
	n := len(cell)
	perSocket = max(1, min(perSocket, n))
	wanted := perSocket
	perDie := perSocket
	switch {
	case n > 1 && perSocket == 1 && fitting(cell, n) > 1:
		// The 24 sockets of an import: each vCPU has a cache of its own, and editions limit sockets.
		perSocket = fitting(cell, n)
		perDie, why = perSocket, "one socket for each vCPU gives each a last-level cache of its own, and software that counts sockets fails"
	case n%perSocket != 0:
		perSocket = fitting(cell, perSocket)
		perDie, why = perSocket, fmt.Sprintf("%d vCPUs are no whole sockets of %d", n, wanted)
	case !within(cell, perSocket):
		perDie = fitting(cell, perSocket)
		switch {
		case !wholeCells(cell, perSocket, perDie):
			perSocket, why = perDie, "a socket cannot lie in two nodes that are not its dies"
		case !dies:
			perSocket, why = perDie, "a socket would lie in two nodes, and dies cannot be stated"
		}
	}
	s.Sockets, s.Dies, s.Threads = n/perSocket, perSocket/perDie, 1
	if threads > 1 && perDie%threads == 0 {
		s.Threads = threads
	}
	s.Cores = perDie / s.Threads
	return why
}

// fitting returns the largest divisor of the number of vCPUs, at most so many, whose blocks lie in one cell each.
func fitting(cell []int, most int) int {
	for per := min(most, len(cell)); per > 1; per-- {
		if len(cell)%per == 0 && most%per == 0 && within(cell, per) {
			return per
		}
	}
	return 1
}

// within reports whether each block of so many vCPUs lies in one cell.
func within(cell []int, per int) bool {
	for i := range cell {
		if cell[i] != cell[i/per*per] {
			return false
		}
	}
	return true
}

// wholeCells reports whether every die of the sockets is a cell of its own.
func wholeCells(cell []int, perSocket, perDie int) bool {
	if perDie == perSocket {
		return false
	}
	seen := map[int]bool{}
	for i := 0; i < len(cell); i += perDie {
		if seen[cell[i]] {
			return false
		}
		seen[cell[i]] = true
	}
	return true
}

// divide divides memory by weights into multiples of unit, as the sums up to each cell round down; the last takes the rest.
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

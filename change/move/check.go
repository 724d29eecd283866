package move

import (
	"fmt"
	"homenode/numa"
	"slices"

	"homenode/internal/words"
)

// A Fault is a mistake in a shape or its placement that no schema finds: libvirt's, for one, accepts every one of them.
type Fault struct {
	Check string `json:"check"` // its name: "memory"
	Text  string `json:"text"`
}

// The checks, in the order in which Check makes them.
const (
	CheckTopology = "topology" // sockets × dies × cores × threads = vCPUs
	CheckVCPUs    = "vcpus"    // each vCPU is in exactly one cell
	CheckMemory   = "memory"   // the cells have the memory of the VM
	CheckPages    = "pages"    // in whole pages
	CheckSockets  = "sockets"  // no socket lies in two cells that are not its dies
	CheckEmpty    = "empty"    // each cell has vCPUs, where the platform needs that
	CheckDistance = "distance"
	CheckHost     = "host" // the nodes of the host exist and hold the pins
)

// most is the largest number of vCPUs that is checked: more than any platform has.
const most = 1 << 14

// Check returns the faults of a shape and of where it is placed; nil when there are none. at may be nil. memoryOnly says
// that cells without vCPUs are allowed.
func Check(s *Shape, at *Placement, memoryOnly bool) []Fault {
	var out []Fault
	fault := func(check, text string, args ...any) { out = append(out, Fault{check, fmt.Sprintf(text, args...)}) }
	for _, n := range []int{s.Sockets, s.Dies, s.Cores, s.Threads} {
		if n < 1 || n > most || s.Most() > most {
			fault(CheckTopology, "%d sockets, %d dies, %d cores and %d threads: want 1 or more of each, and at most %d vCPUs", s.Sockets, s.Dies, s.Cores, s.Threads, most)
			return out
		}
	}
	all := s.Most()
	if s.VCPUs < 1 || s.VCPUs > all {
		fault(CheckTopology, "%d vCPUs at the start, and a topology of %d", s.VCPUs, all)
	}
	if len(s.Cells) == 0 {
		fault(CheckVCPUs, "there is no cell")
		return out
	}
	cell := s.checkVCPUs(fault)
	s.checkMemory(fault)
	for i := range s.Cells {
		if len(s.Cells[i].CPUs) == 0 && !memoryOnly {
			fault(CheckEmpty, "cell %d has no vCPU", i)
		}
	}
	if cell != nil {
		s.checkSockets(cell, fault)
	}
	s.checkDistance(fault)
	if at != nil {
		at.check(s, fault)
	}
	return out
}

type faulter func(check, text string, args ...any)

// checkVCPUs returns the cell of each vCPU; nil when some are in none or in several.
func (s *Shape) checkVCPUs(fault faulter) []int {
	cell := slices.Repeat([]int{-1}, s.Most())
	good := true
	for i, c := range s.Cells {
		if !slices.IsSorted(c.CPUs) {
			fault(CheckVCPUs, "the vCPUs of cell %d do not ascend", i)
		}
		for _, v := range c.CPUs {
			switch {
			case v < 0 || v >= len(cell):
				fault(CheckVCPUs, "cell %d has vCPU %d of %d", i, v, len(cell))
				good = false
			case cell[v] >= 0:
				fault(CheckVCPUs, "vCPU %d is in cells %d and %d", v, cell[v], i)
				good = false
			default:
				cell[v] = i
			}
		}
	}
	var none []int
	for v, c := range cell {
		if c < 0 {
			none = append(none, v)
		}
	}
	if none != nil {
		fault(CheckVCPUs, "vCPUs %s are in no cell", words.Ranges(none)) // libvirt and QEMU give them to cell 0 without a word
		good = false
	}
	if !good {
		return nil
	}
	return cell
}

func (s *Shape) checkMemory(fault faulter) {
	var sum numa.Bytes
	for i, c := range s.Cells {
		sum += c.Memory
		if c.Memory <= 0 {
			fault(CheckMemory, "cell %d has no memory", i)
		}
		if s.Page > 0 && c.Memory%s.Page != 0 {
			fault(CheckPages, "the %s of cell %d are no whole pages of %s", c.Memory, i, s.Page)
		}
	}
	if sum != s.Memory { // libvirt makes the VM smaller without a word
		fault(CheckMemory, "the cells have %s, the VM has %s", sum, s.Memory)
	}
}

func (s *Shape) checkSockets(cell []int, fault faulter) {
	if !within(cell, s.PerDie()) || s.Dies > 1 && !within(cell, s.PerSocket()) && !wholeCells(cell, s.PerSocket(), s.PerDie()) {
		for v := range cell {
			if first := v / s.PerSocket() * s.PerSocket(); cell[v] != cell[first] {
				fault(CheckSockets, "socket %d lies in cells %d and %d, which are not its dies", v/s.PerSocket(), cell[first], cell[v])
				return
			}
		}
	}
}

func (s *Shape) checkDistance(fault faulter) {
	if s.Distance == nil {
		return
	}
	const local, farthest = 10, 254 // ACPI SLIT; 255 is unreachable
	for i, row := range s.Distance {
		for j, d := range row {
			if i == j && d != local || i != j && (d <= local || d > farthest) {
				fault(CheckDistance, "cell %d is at %d from cell %d: want %d to itself, and %d to %d to others", i, d, j, local, local+1, farthest)
			}
		}
		if len(row) != len(s.Cells) || len(s.Distance) != len(s.Cells) {
			fault(CheckDistance, "%d rows, %d distances from cell %d, and %d cells", len(s.Distance), len(row), i, len(s.Cells))
		}
	}
}

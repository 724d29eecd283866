// Package shape checks shapes for the mistakes that no schema finds: those in a definition (the rules of KVM) and those in the
// output of a move.
package shape

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
)

// A Fault is a mistake in a shape or its placement that no schema finds: libvirt's schema, for example, accepts all of them.
type Fault struct {
	Check string `json:"check"` // its name: "memory"
	Text  string `json:"text"`
}

// The checks, in the order in which Check makes them.
const (
	Topology = "topology" // sockets × dies × cores × threads = vCPUs
	VCPUs    = "vcpus"    // each vCPU is in exactly one cell
	Memory   = "memory"   // the cells have the memory of the VM
	Pages    = "pages"    // in whole pages
	Sockets  = "sockets"  // no socket spans two cells that are not its dies
	Empty    = "empty"    // each cell has vCPUs, if the platform requires that
	Distance = "distance"
	Host     = "host" // the nodes of the host exist and hold the pins
)

// most is the maximum number of vCPUs that is checked: more than any platform has.
const most = 1 << 14

// Check returns the faults of a shape; nil if there are none. memoryOnly allows cells without vCPUs.
func Check(s *numa.Shape, memoryOnly bool) []Fault {
	var out []Fault
	fault := func(check, text string, args ...any) { out = append(out, Fault{check, fmt.Sprintf(text, args...)}) }
	for _, n := range []int{s.Sockets, s.Dies, s.Cores, s.Threads} {
		if n < 1 || n > most || s.Most() > most {
			fault(Topology, "%d sockets, %d dies, %d cores and %d threads: want 1 or more of each, and at most %d vCPUs", s.Sockets, s.Dies, s.Cores, s.Threads, most)
			return out
		}
	}
	all := s.Most()
	if s.VCPUs < 1 || s.VCPUs > all {
		fault(Topology, "%d vCPUs at the start, and a topology of %d", s.VCPUs, all)
	}
	if len(s.Cells) == 0 {
		fault(VCPUs, "there is no cell")
		return out
	}
	cell := checkVCPUs(s, fault)
	checkMemory(s, fault)
	for i := range s.Cells {
		if len(s.Cells[i].CPUs) == 0 && !memoryOnly {
			fault(Empty, "cell %d has no vCPU", i)
		}
	}
	if cell != nil {
		checkSockets(s, cell, fault)
	}
	checkDistance(s, fault)
	return out
}

type faulter func(check, text string, args ...any)

// checkVCPUs returns the cell of each vCPU; nil if some are in no cell or in several.
func checkVCPUs(s *numa.Shape, fault faulter) []int {
	cell := slices.Repeat([]int{-1}, s.Most())
	good := true
	for i, c := range s.Cells {
		if !slices.IsSorted(c.CPUs) {
			fault(VCPUs, "the vCPUs of cell %d do not ascend", i)
		}
		var absent []int
		twice := map[int][]int{} // by the first cell
		for _, v := range c.CPUs {
			switch {
			case v < 0 || v >= len(cell):
				absent = append(absent, v)
			case cell[v] >= 0:
				twice[cell[v]] = append(twice[cell[v]], v)
			default:
				cell[v] = i
			}
		}
		if absent != nil {
			fault(VCPUs, "cell %d has %s of %d, which libvirt refuses", i, words.Numbered("vCPU", absent), len(cell))
		}
		for _, first := range slices.Sorted(maps.Keys(twice)) {
			fault(VCPUs, "%s in cells %d and %d, which libvirt refuses", words.Be("vCPU", twice[first]), first, i)
		}
		good = good && absent == nil && len(twice) == 0
	}
	var none []int
	for v, c := range cell {
		if c < 0 {
			none = append(none, v)
		}
	}
	if none != nil {
		fault(VCPUs, "%s in no cell", words.Be("vCPU", none)) // libvirt and QEMU assign them to cell 0 without a message
		good = false
	}
	if !good {
		return nil
	}
	return cell
}

func checkMemory(s *numa.Shape, fault faulter) {
	var sum numa.Bytes
	for i, c := range s.Cells {
		sum += c.Memory
		if c.Memory <= 0 {
			fault(Memory, "cell %d has no memory", i)
		}
		if page, own := s.PageOf(i), c.Memory-c.Added; page > 0 && own%page != 0 {
			over := ""
			if rounded(own) == rounded(own/page*page) {
				over = fmt.Sprintf(": %s are left over", own%page)
			}
			fault(Pages, "the %s of cell %d are no whole pages of %s%s", own, i, page, over)
		}
	}
	switch { // libvirt makes the VM smaller without a message
	case sum == s.Memory:
	case rounded(sum) != rounded(s.Memory):
		fault(Memory, "the cells have %s, the VM has %s", sum, s.Memory)
	case sum > s.Memory:
		fault(Memory, "the cells have %s more than the %s of the VM", sum-s.Memory, s.Memory)
	default:
		fault(Memory, "the cells have %s less than the %s of the VM", s.Memory-sum, s.Memory)
	}
}

// rounded formats a size for people: 64.0 GB is 64 GB.
func rounded(b numa.Bytes) string { return strings.Replace(b.String(), ".0 ", " ", 1) }

func checkSockets(s *numa.Shape, cell []int, fault faulter) {
	for v := range cell {
		if first := v / s.Threads * s.Threads; cell[v] != cell[first] { // worse than sockets, of which no more is said
			fault(Sockets, "the threads of core %d, vCPUs %d and %d, are in cells %d and %d", v/s.Threads, first, v, cell[first], cell[v])
			return
		}
	}
	if s.Sharing > 0 && Within(cell, s.Sharing) {
		return
	}
	if !Within(cell, s.PerDie()) || s.Dies > 1 && !Within(cell, s.PerSocket()) && !WholeCells(cell, s.PerSocket(), s.PerDie()) {
		for v := range cell {
			if first := v / s.PerSocket() * s.PerSocket(); cell[v] != cell[first] {
				fault(Sockets, "socket %d lies in cells %d and %d, which are not its dies", v/s.PerSocket(), cell[first], cell[v])
				return
			}
		}
	}
}

func checkDistance(s *numa.Shape, fault faulter) {
	if s.Distance == nil {
		return
	}
	const local, farthest = 10, 255 // ACPI SLIT; 255 is unreachable, which libvirt and QEMU accept
	for i, row := range s.Distance {
		for j, d := range row {
			if i == j && d != local || i != j && (d <= local || d > farthest) {
				fault(Distance, "cell %d is at %d from cell %d: want %d to itself, and %d to %d to others", i, d, j, local, local+1, farthest)
			}
		}
		if len(row) != len(s.Cells) || len(s.Distance) != len(s.Cells) {
			fault(Distance, "%d rows, %d distances from cell %d, and %d cells", len(s.Distance), len(row), i, len(s.Cells))
		}
	}
}

// Within reports whether each block of per vCPUs is in one cell.
func Within(cell []int, per int) bool {
	for i := range cell {
		if cell[i] != cell[i/per*per] {
			return false
		}
	}
	return true
}

// WholeCells reports whether every die of the sockets is a cell of its own.
func WholeCells(cell []int, perSocket, perDie int) bool {
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

// Fitting returns the largest divisor of the number of vCPUs, up to most, whose blocks are in one cell each.
func Fitting(cell []int, most int) int {
	for per := min(most, len(cell)); per > 1; per-- {
		if len(cell)%per == 0 && most%per == 0 && Within(cell, per) {
			return per
		}
	}
	return 1
}

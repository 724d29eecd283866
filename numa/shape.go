package numa

import (
	"cmp"
	"fmt"
	"slices"
)

// A Shape is the topology that the guest sees if a definition states it, as on KVM: it is parsed, or generated for a target, and never predicted.
type Shape struct {
	Sockets int `json:"sockets"`
	Dies    int `json:"dies"`    // per socket
	Cores   int `json:"cores"`   // per die
	Threads int `json:"threads"` // per core
	// Sharing is the number of vCPUs that share the last-level cache, where that is not a die: those of a cluster, or of a core without more caches; else 0.
	Sharing int `json:"sharing,omitempty"`
	// VCPUs is the number at start: all, or fewer if vCPUs can be hot-plugged.
	VCPUs  int    `json:"vcpus"`
	Memory Bytes  `json:"bytes"`
	Page   Bytes  `json:"pageBytes,omitempty"` // size of huge pages; 0 for the default of the target
	Cells  []Cell `json:"cells"`               // NUMA nodes of the guest
	// Distance is the distance between cells, where 10 is local; nil for the default of the target.
	Distance [][]int `json:"distance,omitempty"`
}

// A Cell is one NUMA node of the guest.
type Cell struct {
	CPUs   []int  `json:"cpus"` // vCPUs in ascending order, including hot-pluggable ones; none for a cell with memory only
	Memory Bytes  `json:"bytes"`
	Page   Bytes  `json:"pageBytes,omitempty"`  // size of its huge pages if the cells differ
	Added  Bytes  `json:"addedBytes,omitempty"` // part of its memory that the Modules of a definition add
	At     string `json:"at,omitempty"`         // place in the definition; "" if generated
}

// Most returns the maximum number of vCPUs: the product of the topology.
func (s *Shape) Most() int { return s.Sockets * s.Dies * s.Cores * s.Threads }

// PerSocket returns the vCPUs of a socket.
func (s *Shape) PerSocket() int { return s.Dies * s.Cores * s.Threads }

// PerDie returns the vCPUs of a die.
func (s *Shape) PerDie() int { return s.Cores * s.Threads }

// Even reports whether all cells have equal vCPUs and equal memory, up to a page: platforms that divide evenly give the first cells an additional
// page.
func (s *Shape) Even() bool {
	unit := s.Unit()
	for _, c := range s.Cells {
		if len(c.CPUs) != len(s.Cells[0].CPUs) || max(c.Memory, s.Cells[0].Memory)-min(c.Memory, s.Cells[0].Memory) > unit {
			return false
		}
	}
	return true
}

// CellMemory returns the memory of all cells.
func (s *Shape) CellMemory() (sum Bytes) {
	for i := range s.Cells {
		sum += s.Cells[i].Memory
	}
	return sum
}

// PageOf returns the size of the huge pages of a cell; 0 if not stated.
func (s *Shape) PageOf(cell int) Bytes { return cmp.Or(s.Cells[cell].Page, s.Page) }

// Unit returns the unit of a cell's memory: a page, or a MiB.
func (s *Shape) Unit() Bytes { return max(s.Page, MiB) }

// Parts returns the number of cells for dividing vCPUs again: the given number, or the next one, up to most, that makes them equal. Cells of two
// sizes share no socket size other than a single vCPU.
func Parts(vcpus, cells, most int) int {
	if vcpus%cells != 0 && vcpus%(cells+1) == 0 && vcpus > cells+1 && cells < most {
		return cells + 1
	}
	return cells
}

// A Space is what a node of a host has for the cells of a guest.
type Space struct {
	Cores  int // or logical CPUs, where a platform gives these away
	Memory Bytes
}

// EqualCells returns the fewest cells of like vCPUs, at most so many in each (0 for any number), and of memory in proportion, that nodes of
// a host hold, each on a node of its own; 0 when no number of cells does.
func EqualCells(vcpus int, memory Bytes, most int, nodes []Space) int {
	for k := 1; k <= min(len(nodes), vcpus); k++ {
		k = Parts(vcpus, k, len(nodes))
		if most > 0 && (vcpus+k-1)/k > most {
			continue
		}
		held := 0
		for held < k {
			size := (vcpus + k - 1 - held) / k // the larger ones first: a node that holds one holds all behind it
			holding := 0
			for _, n := range nodes {
				if n.Cores >= size && n.Memory >= Bytes(float64(memory)*float64(size)/float64(vcpus)) {
					holding++
				}
			}
			if holding <= held {
				break
			}
			held++
		}
		if held == k {
			return k
		}
	}
	return 0
}

// Consecutive reports whether the vCPUs of the cells are in order, beginning with the first cell.
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

// Sizes returns the number of vCPUs of each cell.
func (s *Shape) Sizes() []int {
	out := make([]int, len(s.Cells))
	for i := range s.Cells {
		out[i] = len(s.Cells[i].CPUs)
	}
	return out
}

// Of returns the cell of each vCPU; -1 for none.
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

// Topology formats sockets × dies × cores × threads, with dies and threads only if there are several: "2 sockets of 12 cores".
func (s *Shape) Topology() string {
	text := fmt.Sprintf("%s of ", count(s.Sockets, "socket"))
	if s.Dies > 1 {
		text += fmt.Sprintf("%d dies of ", s.Dies)
	}
	text += count(s.Cores, "core")
	if s.Threads > 1 {
		text += fmt.Sprintf(" of %d threads", s.Threads)
	}
	return text
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// A HugePages is a configuration of huge pages of one size.
type HugePages struct {
	Size  Bytes
	Cells []int // of the guest; nil for all cells without their own entry
}

// PagesOf returns the size in bytes of the huge pages of each cell, 0 if not stated, and the common size, 0 if they differ. An entry with cells
// takes precedence (https://libvirt.org/formatdomain.html#memory-backing).
func PagesOf(pages []HugePages, cells int) (each []Bytes, all Bytes) {
	each = make([]Bytes, cells)
	for _, named := range []bool{false, true} {
		for _, p := range pages {
			for i := range each {
				if named && slices.Contains(p.Cells, i) || !named && p.Cells == nil {
					each[i] = p.Size
				}
			}
		}
	}
	if cells == 0 || slices.Min(each) != slices.Max(each) {
		return each, 0
	}
	return each, each[0]
}

// HugeSizes returns the huge page sizes of a host, in ascending order: any can be its default. Nil if unknown.
func (h *Host) HugeSizes() (sizes []Bytes) {
	for _, pools := range h.Pools.Value {
		for _, pool := range pools {
			if pool.Huge() {
				sizes = append(sizes, pool.Size)
			}
		}
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

// Lacks reports whether the host is known to have no huge pages of a size: capabilities list all sizes, if they list the ordinary pages.
func (h *Host) Lacks(size Bytes) bool {
	whole := slices.ContainsFunc(h.Pools.Value, func(pools []Pool) bool { return slices.ContainsFunc(pools, func(p Pool) bool { return !p.Huge() }) })
	return size > 0 && whole && !slices.Contains(h.HugeSizes(), size)
}

// A Module is memory that a QEMU device adds to a VM, with its own huge pages or host nodes.
type Module struct {
	Model  string `json:"model"`               // as named by libvirt: dimm, nvdimm, virtio-mem, sgx-epc
	Cell   int    `json:"cell"`                // its cell; -1 for none
	Memory Bytes  `json:"bytes"`               // part of the cell, and of host memory; 0 if it is backed by a file or a device of the host
	Page   Bytes  `json:"pageBytes,omitempty"` // size of its huge pages
	Bound  Bound  `json:"bound"`
	At     string `json:"at"`
}

func (m *Module) check(cells int) error {
	if m.Cell < -1 || m.Cell >= cells || m.Memory < 0 || m.Memory > 0 && m.Cell < 0 {
		return fmt.Errorf("a memory module of %d bytes in cell %d of %d", int64(m.Memory), m.Cell, cells)
	}
	return nil
}

// DefaultPage is the page size of a Piece with huge pages of the host's default size.
const DefaultPage Bytes = -1

// A Piece is memory of a cell with one page size and one binding: a module, or the memory of the cell without its modules.
type Piece struct {
	Cell   int
	What   string // "cell 0", "a memory module of cell 0"
	Memory Bytes
	Page   Bytes // 0 for ordinary pages
	Bound  *Bound
	At     string
}

// Pieces returns the memory of the VM by source: a piece for each cell, and one for each module that uses memory of the host.
func (s *Stated) Pieces() []Piece {
	var out []Piece
	for i := range s.Cells {
		c := &s.Cells[i]
		p := Piece{Cell: i, What: fmt.Sprint("cell ", i), Memory: c.Memory - c.Added, Page: s.PageOf(i), Bound: &s.Bound[i], At: c.At}
		if p.Page == 0 && s.DefaultPage {
			p.Page = DefaultPage
		}
		out = append(out, p)
	}
	for i := range s.Modules {
		if m := &s.Modules[i]; m.Memory > 0 {
			out = append(out, Piece{Cell: m.Cell, What: fmt.Sprint("a memory module of cell ", m.Cell), Memory: m.Memory, Page: m.Page, Bound: &m.Bound, At: m.At})
		}
	}
	return out
}

// Home returns the intended nodes of a piece of memory: the nodes that it is bound to, or else the nodes that the vCPUs of its cell may run on;
// nil if neither is stated.
func (s *Stated) Home(p *Piece, h *Host) []int {
	if p.Bound.Nodes != nil {
		return p.Bound.Nodes
	}
	return s.RunsOn(p.Cell, h)
}

// LocalTo returns the nodes whose memory is local to the vCPUs of a piece: those of its home near which they run (Near), all that they run on if
// it is bound elsewhere, its home if they may run anywhere.
func (s *Stated) LocalTo(p *Piece, h *Host) []int {
	home, runs := s.Home(p, h), s.RunsOn(p.Cell, h)
	if runs == nil {
		return home
	}
	if local := slices.DeleteFunc(slices.Clone(home), func(n int) bool { return !h.Near(n, runs) }); len(local) > 0 {
		return local
	}
	return runs
}

// Ordinary returns the part of a node's memory left for ordinary pages: reserved huge pages cannot be used otherwise
// (https://docs.kernel.org/admin-guide/mm/hugetlbpage.html).
func Ordinary(memory Bytes, pools []Pool) Bytes {
	for _, p := range pools {
		if p.Huge() {
			memory -= Bytes(p.Count) * p.Size
		}
	}
	return max(0, memory)
}

// Huge reports whether the pages are huge: ordinary ones have up to 64 KiB, on ARM and POWER.
func (p *Pool) Huge() bool { return p.Size > 64*KiB }

// Room returns the memory of a host node that is available for pages of a size: for ordinary pages the memory outside of the huge pages, for huge
// pages all of it, because their pools are checked separately. False if it is unknown.
func (h *Host) Room(id int, page Bytes) (Bytes, bool) {
	for i := range h.Nodes.Value {
		n := &h.Nodes.Value[i]
		switch {
		case n.ID != id:
		case page == 0 && i < len(h.Pools.Value):
			return Ordinary(n.Memory.Value, h.Pools.Value[i]), n.Memory.Known()
		default:
			return n.Memory.Value, n.Memory.Known()
		}
	}
	return 0, false
}

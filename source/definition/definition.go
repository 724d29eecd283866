// Package definition contains the parts that the readers of KVM definitions share: domain XML, QEMU arguments, Proxmox VE configurations,
// KubeVirt VirtualMachines, and the limits of QEMU machines. The layout of a VM is stated, never predicted.
//
// Readers are lenient: a setting that the platform rejects, or interprets in an unexpected way, becomes a stray of the layout, and the
// checks report it.
package definition

import (
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/source/fact"
	"example.org/homenode/source/text"
)

// A VM is a VM as stated in a definition. Stated is nil if the number of vCPUs is unknown.
type VM struct {
	numa.VM
	Title     string
	Key       string // identifies the VM on its platform where its name does not: namespace and name, or VMID
	Line, Col int
	Emulated  bool        // QEMU runs it without KVM, on a processor of any architecture
	Arch      string      // of the processor in the guest
	Bits      int         // of its addresses, which the host must have too; 0 if not stated
	Why       string      // why Stated is nil, if known
	Cut       bool        // the file is truncated or damaged before its end
	Under     *Under      // the command that starts it, if that states nodes of the host
	Notes     []numa.Note // about reading it; these are no problems of the VM

	file *fact.File
}

// Under is what numactl states for the VM that it starts: nodes of the host whose CPUs its threads may run on, and those of memory that is not
// bound otherwise; nil for none.
type Under struct {
	CPUs, Memory []int
	Everywhere   bool   // Memory is all nodes of the host
	Mode         string // strict, preferred or interleave
	Line         int
}

// On puts the VM on a host, nil if it is unknown: the nodes of the command that starts it become CPUs and bindings.
func (v *VM) On(h *numa.Host) {
	u, s := v.Under, v.Stated
	if u == nil || s == nil {
		return
	}
	at, memory, known := numa.Place(v.file.Name, u.Line, 1), u.Memory, h != nil && h.Nodes.Known()
	var cpus []int
	if known {
		for i, n := range h.Nodes.Value {
			if slices.Contains(u.CPUs, n.ID) && i < len(h.CPUs.Value) {
				cpus = append(cpus, h.CPUs.Value[i]...)
			}
			if u.Everywhere {
				memory = append(memory, n.ID)
			}
		}
		slices.Sort(cpus)
		if i := slices.IndexFunc(u.CPUs, func(id int) bool { return h.Node(id) == nil }); i >= 0 {
			v.Refuse(u.Line, 1, "numactl names the CPUs of node %d, which %s has not: it does not start the VM", u.CPUs[i], h.Name)
		}
	}
	for i := range s.CPUs {
		if s.CPUs[i] == nil && cpus != nil {
			s.CPUs[i], s.VCPUsAt = cpus, at
		}
	}
	for i := range s.Bound {
		if b := &s.Bound[i]; b.Nodes == nil && b.Mode == "" && memory != nil {
			*b = numa.Bound{Mode: u.Mode, Nodes: memory, At: at}
		}
	}
}

// New returns a VM of a file, with an empty layout.
func New(f *fact.File, line, col int) *VM {
	v := &VM{Line: line, Col: col, file: f}
	v.At = numa.Place(f.Name, line, 0)
	v.Stated = &numa.Stated{At: numa.Place(f.Name, line, col)}
	return v
}

// File returns the facts of the file.
func (v *VM) File() *fact.File { return v.file }

// Stray adds a part of the definition that contradicts the rest; refused means that the VM does not start with it.
func (v *VM) Stray(line, col int, refused bool, format string, args ...any) {
	at := numa.Note{At: numa.Place(v.file.Name, line, col), Text: fmt.Sprintf(format, args...)}
	v.Stated.Strays = append(v.Stated.Strays, numa.Stray{Note: at, Refused: refused})
}

// Note adds a note about reading the definition. It is no problem of the VM.
func (v *VM) Note(line, col int, format string, args ...any) {
	v.Notes = append(v.Notes, numa.Note{At: numa.Place(v.file.Name, line, col), Text: fmt.Sprintf(format, args...)})
}

// Doubt adds a stray that causes a problem only with some releases or settings, which the definition does not state.
func (v *VM) Doubt(line, col int, format string, args ...any) {
	v.Stray(line, col, false, format, args...)
	v.Stated.Strays[len(v.Stated.Strays)-1].Doubtful = true
}

// Blocks checks sizes of virtio-mem memory, which grows and shrinks in blocks, for values that libvirt and QEMU reject
// (virDomainMemoryDefValidate in src/conf/domain_validate.c; hw/virtio/virtio-mem.c). block is 0 if unknown.
func (v *VM) Blocks(line, col int, size, requested, block numa.Bytes) {
	const of = "virtio-mem: the "
	switch {
	case requested > size:
		v.Stray(line, col, true, of+"requested size of %d KiB is above its size of %d KiB: it is refused", requested/numa.KiB, size/numa.KiB)
	case block == 0:
	case block&(block-1) != 0:
		v.Stray(line, col, true, of+"block size of %d KiB is no power of two: it is refused", block/numa.KiB)
	case requested%block != 0:
		v.Stray(line, col, true, of+"requested size of %d KiB is no whole blocks of %d KiB: it is refused", requested/numa.KiB, block/numa.KiB)
	case size%block != 0:
		v.Stray(line, col, true, of+"size of %d KiB is no whole blocks of %d KiB: it is refused", size/numa.KiB, block/numa.KiB)
	}
}

// Close completes the layout after topology, cells and bindings are set. most is the maximum number of vCPUs, present the number at start,
// or 0 if vCPUs are not hot-pluggable. Without cells everything is in one cell. Without a number of vCPUs there is no layout.
func (v *VM) Close(most, present int) {
	s := v.Stated
	if s.Shape.Memory > numa.MaxVMMemory || s.CellMemory() > numa.MaxVMMemory {
		v.Stated, v.Why = nil, "found more memory than "+numa.Bytes(numa.MaxVMMemory).String()
		return
	}
	if most < 1 || most > numa.MaxVCPUs || len(s.Slots) >= most || s.Sockets > numa.MaxVCPUs || s.Dies > numa.MaxVCPUs || s.Cores > numa.MaxVCPUs || s.Threads > numa.MaxVCPUs {
		v.Stated = nil
		return
	}
	if s.Sockets < 1 || s.Dies < 1 || s.Cores < 1 || s.Threads < 1 { // the default is one socket for each vCPU
		s.Sockets, s.Dies, s.Cores, s.Threads, s.TopologyAt = most, 1, 1, 1, ""
	}
	if len(s.Slots) == 0 && present > 0 {
		for vcpu := present; vcpu < most; vcpu++ {
			s.Slots = append(s.Slots, vcpu)
		}
	}
	s.VCPUs = most - len(s.Slots)
	if s.Shape.Memory == 0 {
		s.Shape.Memory = s.CellMemory()
	}
	if s.Cells == nil {
		s.Cells = []numa.Cell{{CPUs: UpTo(most), Memory: s.Shape.Memory, At: s.At}}
	} else {
		s.CellsAt = s.Cells[0].At
		v.unlisted(most)
	}
	s.Bound = append(s.Bound, make([]numa.Bound, max(0, len(s.Cells)-len(s.Bound)))...)
	s.CPUs = append(s.CPUs, make([][]int, max(0, most-len(s.CPUs)))...)
	slices.SortStableFunc(s.Pins, func(a, b numa.Pinned) int { return a.VCPU - b.VCPU })
	v.VCPUs = numa.ReadAt(s.VCPUs, "vcpu")
	v.CoresPerSocket = numa.ReadAt(min(numa.MaxVCPUs, s.PerSocket()), "topology")
	if s.Shape.Memory > 0 {
		v.Memory = numa.ReadAt(s.Shape.Memory, "memory")
	}
	if sum := s.CellMemory(); s.CellsAt != "" && s.Platform == "" && sum > 0 && !s.HotPlug { // libvirt gives the VM that of its cells (virDomainDefPostParseMemory)
		v.Memory = numa.ReadAt(sum, "cells")
	}
	if s.Running {
		v.Power = numa.ReadAt(numa.PoweredOn, "id")
	}
}

// unlisted puts the vCPUs that no cell lists into the first (virDomainNumaFillCPUsInNode in src/conf/numa_conf.c of libvirt;
// machine_numa_finish_cpu_init in hw/core/machine.c of QEMU).
func (v *VM) unlisted(most int) {
	s := v.Stated
	listed := make([]bool, most)
	for _, c := range s.Cells {
		for _, vcpu := range c.CPUs {
			if vcpu < most {
				listed[vcpu] = true
			}
		}
	}
	for vcpu := range most {
		if !listed[vcpu] {
			s.Unlisted = append(s.Unlisted, vcpu)
		}
	}
	if s.Unlisted != nil {
		s.Cells[0].CPUs = slices.Concat(s.Cells[0].CPUs, s.Unlisted)
		slices.Sort(s.Cells[0].CPUs)
	}
}

// Pages sets the huge pages of the cells in the layout, per cell if they differ.
func (v *VM) Pages(pages []numa.HugePages, cells int, line, col int) {
	pages = slices.DeleteFunc(pages, func(p numa.HugePages) bool { return p.Size == ordinaryPage })
	each, all := numa.PagesOf(pages, max(1, cells))
	v.Stated.Page = all
	for i, page := range each {
		if all == 0 && i < len(v.Stated.Cells) {
			v.Stated.Cells[i].Page = page
		}
	}
	for _, p := range pages {
		for _, c := range p.Cells {
			if c >= max(1, cells) {
				v.Stray(line, col, true, "it states huge pages for cell %d, which there is not", c)
			}
		}
	}
}

// ordinaryPage is the size of ordinary pages, which libvirt takes where a definition states them as huge ones.
const ordinaryPage = 4 * numa.KiB

// UpTo returns 0 to n-1.
func UpTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// Modes maps the memory policies of QEMU and Proxmox VE to those of libvirt.
var Modes = map[string]string{"bind": "strict", "preferred": "preferred", "interleave": "interleave"}

// most is the maximum of a number in a list, and of their count: more than any VM has.
const most = 1 << 14

// List parses a list of these, such as 0-3,8, in ascending order.
func List(of, s string) (out []int, err error) {
	for part := range strings.SplitSeq(s, ",") {
		numbers, ok := text.Numbers(part, most, most)
		if part != "" && !ok || len(out) > most {
			return nil, fmt.Errorf("found %q, want a list of %s such as 0-3,8", text.Short(s), of)
		}
		out = append(out, numbers...)
	}
	slices.Sort(out)
	return out, nil
}

package numa

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

// A Hypervisor runs the VMs of a fleet. The layout of a VM is predicted for ESXi, and stated by its definition for KVM.
type Hypervisor string

// The hypervisors.
const (
	ESXi Hypervisor = "" // the default
	KVM  Hypervisor = "KVM"
)

// A Stated is the layout of a VM in its definition: the topology that the guest sees, and the placement of vCPUs and memory. Places are
// file:line:column.
type Stated struct {
	Shape             // with a single cell if the definition states none
	At         string `json:"at"`
	TopologyAt string `json:"topologyAt,omitempty"` // place of sockets and cores; empty if not stated: then each vCPU is a socket
	CellsAt    string `json:"cellsAt,omitempty"`    // place of the NUMA nodes; empty if not stated: then the guest has one node
	VCPUsAt    string `json:"vcpusAt,omitempty"`
	MemoryAt   string `json:"memoryAt,omitempty"`
	Partial    bool   `json:"partial,omitempty"` // fragments of a definition: missing parts are unknown
	Running    bool   `json:"running,omitempty"` // read from a running VM
	Auto       bool   `json:"auto,omitempty"`    // numad chooses the host nodes at each start
	// CPUs are the host CPUs that each vCPU may run on; null for any.
	CPUs [][]int `json:"cpus"`
	// Pins are the vCPUs with their own CPUs, by ascending number, with their places. The others have the CPUs of VCPUsAt.
	Pins []Pinned `json:"pins,omitempty"`
	// Bound is the memory binding of each cell, in the order of the cells.
	Bound []Bound `json:"bound"`
	// Modules are memory devices with their own huge pages or host nodes; others are part of the memory of their cells.
	Modules []Module `json:"modules,omitempty"`
	HotPlug bool     `json:"hotPlug,omitempty"` // memory that is added is not stated, so that the VM may have more than its cells
	// Strays are parts that contradict the rest of the definition: bindings of missing cells, pins of missing vCPUs.
	Strays []Stray `json:"strays,omitempty"`
	// Slots are hot-pluggable vCPUs that are not present, in ascending order.
	Slots []int `json:"slots,omitempty"`
	// ACPI: without it the guest is told no distances, and perhaps no nodes. Unknown when the definition is a part of one.
	ACPI Fact[bool] `json:"acpi,omitzero"`
	// Unlisted are vCPUs that no cell lists: they are in the first, as libvirt and QEMU put them there.
	Unlisted []int    `json:"unlisted,omitempty"`
	Helpers  []Helper `json:"helpers,omitempty"` // threads of QEMU with logical CPUs of their own
	// DefaultPage: the VM uses huge pages of the host's default size. Reserves: the platform reserves its pages at each start.
	DefaultPage bool `json:"defaultPage,omitempty"`
	Reserves    bool `json:"reserves,omitempty"`
	// Taken: QEMU allocates all memory at start, and keeps it.
	Taken bool `json:"taken,omitempty"`
	// Platform is KubeVirt, Proxmox VE or QEMU, empty for libvirt. Dedicated: each vCPU gets its own host CPU when the VM starts, whole cores first,
	// as with the static CPU manager of the kubelet.
	Platform  string `json:"platform,omitempty"`
	Dedicated bool   `json:"dedicated,omitempty"`
	// Dieless: the platform or the machine type has no dies. RealTime: vCPUs have a scheduler (fifo, rr) before which other threads of their CPUs wait.
	Dieless  bool `json:"dieless,omitempty"`
	RealTime bool `json:"realTime,omitempty"`
}

// Same reports whether o states the same topology, memory and placement, wherever it is stated.
func (s *Stated) Same(o *Stated) bool {
	text := func(s *Stated) string {
		out := fmt.Sprint(s.Topology(), s.VCPUs, s.Memory, s.Page, s.Distance, s.CPUs, s.Slots, s.HotPlug)
		for i := range s.Cells {
			out += fmt.Sprint(s.Cells[i].CPUs, s.Cells[i].Memory, s.Cells[i].Page, s.Bound[i].Mode, s.Bound[i].Nodes)
		}
		return out
	}
	return text(s) == text(o)
}

// check returns an error for the first invalid part: the checks of definitions index cells and vCPUs without further checks.
func (s *Stated) check() error {
	for _, n := range []int{s.Sockets, s.Dies, s.Cores, s.Threads, s.VCPUs, len(s.Cells), len(s.CPUs)} {
		if n < 1 || n > MaxVCPUs {
			return fmt.Errorf("%s with %d vCPUs in %d cells", s.Topology(), s.VCPUs, len(s.Cells))
		}
	}
	if len(s.Bound) != len(s.Cells) || s.Distance != nil && len(s.Distance) != len(s.Cells) {
		return fmt.Errorf("%d cells, the memory of %d, the distances of %d", len(s.Cells), len(s.Bound), len(s.Distance))
	}
	for i := range s.Cells {
		if s.Distance != nil && len(s.Distance[i]) != len(s.Cells) {
			return fmt.Errorf("%d distances of cell %d", len(s.Distance[i]), i)
		}
		for _, v := range s.Cells[i].CPUs {
			if v < 0 || v >= MaxVCPUs {
				return fmt.Errorf("vCPU %d in cell %d", v, i)
			}
		}
	}
	for i := range s.Modules {
		if err := s.Modules[i].check(len(s.Cells)); err != nil {
			return err
		}
	}
	for _, p := range s.Pins {
		if p.VCPU < 0 || p.VCPU >= len(s.CPUs) {
			return fmt.Errorf("CPUs of vCPU %d, of %d", p.VCPU, len(s.CPUs))
		}
	}
	return nil
}

// A Stray is a part of a definition that contradicts the rest.
type Stray struct {
	Note
	Refused  bool `json:"refused,omitempty"`  // the VM does not start with it
	Doubtful bool `json:"doubtful,omitempty"` // it causes a problem only with some releases or settings, which are not stated
}

// Present returns the number of enabled vCPUs of a cell; hot-pluggable ones do not count.
func (s *Stated) Present(cell int) (n int) {
	for _, v := range s.Cells[cell].CPUs {
		if s.There(v) && (s.CPUs == nil || v < len(s.CPUs)) {
			n++
		}
	}
	return n
}

// There reports whether a vCPU is enabled; a hot-pluggable one is not.
func (s *Stated) There(vcpu int) bool {
	_, slot := slices.BinarySearch(s.Slots, vcpu)
	return !slot
}

// Enabled returns the enabled vCPUs, without hot-pluggable ones, in ascending order.
func (s *Stated) Enabled() []int {
	out := make([]int, 0, len(s.CPUs))
	for vcpu := range s.CPUs {
		if s.There(vcpu) {
			out = append(out, vcpu)
		}
	}
	return out
}

// A Helper is one or several QEMU threads other than those of vCPUs.
type Helper struct {
	What string `json:"what"` // "the other threads of QEMU", "I/O thread 1"
	IO   bool   `json:"io,omitempty"`
	CPUs []int  `json:"cpus"` // host CPUs
	At   string `json:"at"`
}

// A Pinned is a vCPU with its own host CPUs, and the place of the pin.
type Pinned struct {
	VCPU int    `json:"vcpu"`
	At   string `json:"at"`
}

// A Bound is the set of host nodes that provide memory.
type Bound struct {
	Mode  string `json:"mode,omitempty"` // strict, preferred, interleave, restrictive; empty if not stated
	Nodes []int  `json:"nodes"`          // null for all
	At    string `json:"at,omitempty"`
}

// Hard reports whether memory comes only from these nodes.
func (b *Bound) Hard() bool {
	return b.Nodes != nil && (b.Mode == "strict" || b.Mode == "restrictive" || b.Mode == "interleave")
}

// NodesOf returns the IDs of the nodes of h with these logical CPUs, ascending, each once; and the CPUs that the host lacks. nil CPUs are all.
func (h *Host) NodesOf(cpus []int) (nodes, absent []int) {
	if cpus == nil {
		for _, n := range h.Nodes.Value {
			if n.Cores > 0 {
				nodes = append(nodes, n.ID)
			}
		}
		return nodes, nil
	}
	for _, c := range cpus {
		n, ok := h.NodeOfPCPU(c)
		switch {
		case !ok:
			absent = append(absent, c)
		case !slices.Contains(nodes, n):
			nodes = append(nodes, n)
		}
	}
	slices.Sort(nodes)
	return nodes, absent
}

// Node returns the node of h with this ID; nil when there is none.
func (h *Host) Node(id int) *Node {
	i, ok := slices.BinarySearchFunc(h.Nodes.Value, id, func(n Node, id int) int { return cmp.Compare(n.ID, id) })
	if !ok {
		return nil
	}
	return &h.Nodes.Value[i]
}

// Near reports whether memory on a node is local to CPUs on other nodes: on one of them, or on a node without CPUs (HBM, CXL memory) for which one of
// them is among the nearest nodes with CPUs. If distances are unknown, all count as equally near.
func (h *Host) Near(node int, runs []int) bool {
	if slices.Contains(runs, node) {
		return true
	}
	if n := h.Node(node); n == nil || n.Cores > 0 {
		return false
	}
	nodes, d := h.Nodes.Value, h.Distance.Value
	to := slices.IndexFunc(nodes, func(n Node) bool { return n.ID == node })
	least, near := math.MaxInt, false
	for i, n := range nodes {
		far := 0
		if i < len(d) && to < len(d[i]) {
			far = d[i][to]
		}
		if n.Cores > 0 && far <= least {
			near = slices.Contains(runs, n.ID) || near && far == least
			least = far
		}
	}
	return near
}

// Empty reports whether a node is known to have no memory; nil is no node.
func (n *Node) Empty() bool { return n != nil && n.Memory.Known() && n.Memory.Value == 0 }

// MemoryOn returns the newest observation of the VM's memory per host node; nil for none.
func (v *VM) MemoryOn() *Observation {
	for i := range slices.Backward(v.Observed) {
		if v.Observed[i].OnNode.Known() {
			return &v.Observed[i]
		}
	}
	return nil
}

// RemoteOf returns the part of the observed memory that is not local to its cells. It counts memory on nodes that are local to no cell (LocalTo)
// and are not the nearest ones without CPUs (Near), and memory on the node of one cell that is missing on that of another, except QEMU's own memory.
// all is the total observed memory, home the local nodes of the cells. ok is false without an observation, or if the layout does not restrict the VM.
func (s *Stated) RemoteOf(h *Host, o *Observation) (remote, all Bytes, home []int, ok bool) {
	if o == nil || h == nil || !h.Nodes.Known() {
		return 0, 0, nil, false
	}
	room := s.RoomOn(h)
	if room == nil {
		return 0, 0, nil, false
	}
	home = slices.Sorted(maps.Keys(room))
	var beyond, lacks Bytes // beyond: memory outside the home nodes of cells; lacks: memory missing on them
	seen := map[int]Bytes{}
	for _, m := range o.OnNode.Value {
		all += m.Guest
		seen[m.Node] += m.Guest
		if _, ok := room[m.Node]; !ok && !h.Near(m.Node, home) {
			remote += m.Guest
		}
	}
	for n, want := range room {
		beyond += max(0, seen[n]-want)
		lacks += max(0, want-seen[n])
	}
	remote += max(0, min(beyond-OwnOfQEMU(s.Shape.Memory, s.VCPUs), lacks))
	return remote, all, home, all > 0
}

// OwnOfQEMU returns the memory of a VM in addition to that of its guest: page tables, and threads, buffers and devices of QEMU and its helpers, by
// KubeVirt's formula (GetMemoryOverhead in pkg/virt-controller/services/renderresources.go).
func OwnOfQEMU(memory Bytes, vcpus int) Bytes {
	const fixed, perVCPU, tables = 250 * MiB, 8 * MiB, 512
	return fixed + Bytes(vcpus)*perVCPU + memory/tables
}

// RoomOn returns the maximum memory that the layout needs on each node that is local to its cells (LocalTo); nil if it does not restrict some of the memory.
func (s *Stated) RoomOn(h *Host) map[int]Bytes {
	room := map[int]Bytes{}
	for _, p := range s.Pieces() {
		nodes := s.LocalTo(&p, h)
		if nodes == nil {
			return nil
		}
		for _, n := range nodes {
			room[n] += p.Memory
		}
	}
	return room
}

// HomeOf returns the intended nodes of the memory of a cell: the nodes that it is bound to, or else the nodes that its vCPUs may run on; nil if
// neither is stated.
func (s *Stated) HomeOf(cell int, h *Host) []int {
	if cell < len(s.Bound) && s.Bound[cell].Nodes != nil {
		return s.Bound[cell].Nodes
	}
	return s.RunsOn(cell, h)
}

// RunsOn returns the nodes that the vCPUs of a cell may run on; nil if one may run on all, or the cell has no vCPUs.
func (s *Stated) RunsOn(cell int, h *Host) (nodes []int) {
	if h == nil || cell >= len(s.Cells) {
		return nil
	}
	there := s.Present(cell) > 0
	for _, v := range s.Cells[cell].CPUs {
		if there && !s.There(v) {
			continue
		}
		of, held := s.HeldOn(v, h)
		if !held {
			return nil
		}
		nodes = append(nodes, of...)
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// HeldOn returns the nodes that a vCPU may run on; false if it may run on all CPUs of several nodes, by a list of them or without one.
func (s *Stated) HeldOn(vcpu int, h *Host) (nodes []int, held bool) {
	if vcpu >= len(s.CPUs) || s.CPUs[vcpu] == nil {
		return nil, false
	}
	nodes, _ = h.NodesOf(s.CPUs[vcpu])
	everywhere := h.CPUs.Known() && !slices.ContainsFunc(h.CPUs.Value, func(node []int) bool {
		return slices.ContainsFunc(node, func(c int) bool { return !slices.Contains(s.CPUs[vcpu], c) })
	})
	return nodes, len(nodes) == 1 || !everywhere
}

// PinAt returns the place of the pins of a cell's vCPUs; "" if there is none.
func (s *Stated) PinAt(cell int) string {
	for _, p := range s.Pins {
		if slices.Contains(s.Cells[cell].CPUs, p.VCPU) {
			return p.At
		}
	}
	for _, v := range s.Cells[cell].CPUs {
		if v < len(s.CPUs) && s.CPUs[v] != nil {
			return s.VCPUsAt
		}
	}
	return ""
}

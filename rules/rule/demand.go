package rule

import (
	"slices"

	"homenode/numa"
)

// A Demand is memory of one page size that VMs of a host allocate from a set of its nodes and from no others.
type Demand struct {
	Memory numa.Bytes
	Own    numa.Bytes   // of the assessed VM
	Parts  []numa.Bytes // of cells and memory devices
	Names  []string     // names of the VMs, in the order of the fleet, the assessed one first
}

// DemandOn returns the memory of a VM, and of the VMs that run at the same time, that is bound to nodes; soft also counts what should come
// from them and may come from others: it is preferred there, or its vCPUs are pinned there. With nodes nil, which means the
// whole host, it returns the memory that QEMU allocates at the start and keeps: huge pages, and ordinary ones if that is stated. standard
// is the size of huge pages whose size is not stated.
func (v *StatedVM) DemandOn(nodes []int, page, standard numa.Bytes, soft bool) Demand {
	d := Demand{}
	d.add(v, v.takes(nodes, page, standard, soft))
	d.Own = d.Memory
	for _, other := range v.Beside {
		if other.Stated.Running == v.Stated.Running && (page == 0 || !other.Stated.Reserves) {
			d.add(other, other.takes(nodes, page, standard, soft))
		}
	}
	return d
}

func (d *Demand) add(v *StatedVM, parts []numa.Bytes) {
	if len(parts) > 0 {
		d.Parts, d.Names = append(d.Parts, parts...), append(d.Names, v.Name)
	}
	for _, memory := range parts {
		d.Memory += memory
	}
}

// Left returns the ordinary memory that no VM takes from a node with cores, 0 for another; those that run count for one that is off too, and
// not the reverse. It returns false if the memory of the node is unknown.
func (v *StatedVM) Left(n *numa.Node) (numa.Bytes, bool) {
	room, known := v.Host.Room(n.ID, 0)
	if !known || n.Cores == 0 {
		return 0, known
	}
	d, at := v.DemandOn([]int{n.ID}, 0, 0, true), []int{n.ID}
	for _, other := range v.Beside {
		if other.Stated.Running && !v.Stated.Running {
			d.add(other, other.takes(at, 0, 0, true))
		}
	}
	return max(0, room-d.Memory), true
}

// takes returns the parts of a VM's memory that come only from these nodes; soft adds what should come from them.
func (v *StatedVM) takes(nodes []int, page, standard numa.Bytes, soft bool) (parts []numa.Bytes) {
	for _, p := range v.Stated.Pieces() {
		size := p.Page
		if size == numa.DefaultPage {
			size = standard
		}
		from := size > 0 || v.Stated.Taken
		if nodes != nil {
			home := v.Stated.Home(&p, v.Host)
			from = home != nil && (soft || p.Bound.Hard()) && !slices.ContainsFunc(home, func(n int) bool { return !slices.Contains(nodes, n) })
		}
		if size == page && from && p.Memory > 0 {
			parts = append(parts, p.Memory)
		}
	}
	return parts
}

// Sets returns the distinct sets of nodes to which memory of a page size is bound, or from which it should come; nil, which is the whole
// host, comes first.
func (v *StatedVM) Sets(page numa.Bytes) [][]int {
	out := [][]int{nil}
	for _, p := range v.Stated.Pieces() {
		home := v.Stated.Home(&p, v.Host)
		if p.Page == page && home != nil && !slices.ContainsFunc(out, func(o []int) bool { return o != nil && slices.Equal(o, home) }) {
			out = append(out, home)
		}
	}
	return out
}

// RoomOn returns the total memory on nodes of the host for pages of a size; nil means all nodes. It returns false if some is unknown.
func (v *StatedVM) RoomOn(nodes []int, page numa.Bytes) (sum numa.Bytes, ok bool) {
	for i := range v.Host.Nodes.Value {
		id := v.Host.Nodes.Value[i].ID
		if nodes != nil && !slices.Contains(nodes, id) {
			continue
		}
		room, known := v.Host.Room(id, page)
		if !known {
			return 0, false
		}
		sum += room
	}
	return sum, true
}

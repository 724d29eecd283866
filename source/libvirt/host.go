package libvirt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/numa"
)

// Host returns the host, without a name. The notes explain why its nodes are unknown or doubtful.
func (c *Host) Host() (h *numa.Host, notes []string) {
	h = &numa.Host{}
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if c.Model != "" {
		h.CPUModel = numa.ReadAt(strings.TrimSpace(c.Vendor+" "+c.Model), "cpu")
	}
	cells := slices.SortedFunc(slices.Values(c.Cells), func(a, b HostCell) int { return cmp.Compare(a.ID, b.ID) })
	if c.Cut {
		note("the capabilities break off: the nodes of the host count as unknown")
		return h, notes
	}
	if len(cells) == 0 {
		note("the capabilities state no NUMA nodes")
		return h, notes
	}
	var nodes []numa.Node
	var cpus, split [][]int
	var pools [][]numa.Pool
	var memory numa.Bytes
	cores, threads, known := 0, 0, true
	sockets := map[int]bool{}
	for i := range cells {
		cell := &cells[i]
		groups, err := cell.Cores()
		if err != nil {
			note("the capabilities %v", err)
			return h, notes
		}
		if cell.Partial {
			note("the capabilities list a part of the CPUs of node %d: the nodes of the host count as unknown", cell.ID)
			return h, notes
		}
		n, own := cell.node(len(groups), sockets)
		nodes, cpus, split, pools = append(nodes, n), append(cpus, own), append(split, groups...), append(pools, cell.Pages)
		cores, threads, memory, known = cores+n.Cores, threads+n.Threads, memory+n.Memory.Value, known && n.Memory.Known()
	}
	if cores == 0 {
		note("the capabilities state no CPU that is online")
		return h, notes
	}
	const where = "topology"
	h.Nodes, h.CPUs, h.CoreCPUs = numa.ReadAt(nodes, where), numa.ReadAt(cpus, where), numa.ReadAt(split, where)
	if slices.ContainsFunc(pools, func(p []numa.Pool) bool { return p != nil }) {
		h.Pools = numa.ReadAt(pools, where)
	}
	h.Cores, h.Threads, h.HyperThreading = numa.ReadAt(cores, where), numa.ReadAt(threads, where), numa.ReadAt(threads > cores, where)
	if !sockets[-1] {
		h.Packages = numa.ReadAt(len(sockets), where)
	}
	if known && memory > 0 {
		h.Memory = numa.ReadAt(memory, where)
	}
	if table := distances(cells); table != nil {
		h.Distance = numa.ReadAt(table, where)
	}
	return h, notes
}

// node returns the node with this number of cores, and its CPUs, and adds its sockets.
func (c *HostCell) node(cores int, sockets map[int]bool) (n numa.Node, cpus []int) {
	n, cpus = numa.Node{ID: c.ID, Package: -1, Cores: cores, Threads: len(c.CPUs), Memory: c.Memory}, []int{}
	for _, cpu := range c.CPUs {
		cpus = append(cpus, cpu.ID)
		sockets[cpu.Socket] = true
		n.Package = cpu.Socket
	}
	slices.Sort(cpus)
	return n, cpus
}

// distances returns the table of distances between cells; nil if it has gaps.
func distances(cells []HostCell) (table [][]int) {
	for i := range cells {
		var row []int
		for j := range cells {
			d, ok := cells[i].Distances[cells[j].ID]
			if !ok {
				return nil
			}
			row = append(row, d)
		}
		table = append(table, row)
	}
	return table
}

package libvirt

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/source/fact"
)

// A Host is the content of virsh capabilities.
type Host struct {
	Line          int
	Arch          string
	Model, Vendor string     // of the processor, as named by libvirt
	Bits          int        // of physical addresses; 0 if unknown
	Cells         []HostCell // NUMA nodes, in the order of the file
	Cut           bool       // the file is truncated or damaged before its end

	file *fact.File
}

// A HostCell is a NUMA node of a host.
type HostCell struct {
	ID        int
	Memory    numa.Fact[numa.Bytes]
	Pages     []numa.Pool // by size, with the base page size
	Distances map[int]int // to nodes by ID, where 10 is local; nil if unknown
	CPUs      []HostCPU   // online logical CPUs
	Partial   bool        // the stated number of CPUs differs from the number listed
}

// A HostCPU is a logical CPU. Unknown fields are -1; Siblings, which include the CPU itself, is then nil.
type HostCPU struct {
	ID, Socket, Die, Core int
	Siblings              []int
}

// Cores returns the logical CPUs of each core of the node, sorted by the first CPU; the error names the first CPU without core and
// siblings.
func (c *HostCell) Cores() (out [][]int, err error) {
	type core struct{ socket, die, id int }
	index := map[core]int{}
	for _, cpu := range slices.SortedFunc(slices.Values(c.CPUs), func(a, b HostCPU) int { return cmp.Compare(a.ID, b.ID) }) {
		at := core{cpu.Socket, cpu.Die, cpu.Core}
		switch {
		case len(cpu.Siblings) > 0:
			at = core{-1, -1, cpu.Siblings[0]}
		case cpu.Core < 0:
			return nil, fmt.Errorf("state neither core nor siblings of CPU %d: lscpu -e does", cpu.ID)
		}
		i, ok := index[at]
		if !ok {
			i = len(out)
			index[at] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], cpu.ID)
	}
	return out, nil
}

// File returns the facts of the file about the host.
func (h *Host) File() *fact.File { return h.file }

func readHost(name string, e *element) *Host {
	r := newReader(name, "virsh capabilities")
	h := &Host{Line: e.line, Cut: !e.closed, file: r.file}
	cpu := e.child("cpu")
	for _, s := range []struct {
		name string
		to   *string
	}{{"arch", &h.Arch}, {"model", &h.Model}, {"vendor", &h.Vendor}} {
		if c := cpu.child(s.name); c.content() != "" {
			*s.to = c.content()
			r.file.Add(c.line, c.col, "host", s.name, *s.to, "")
		}
	}
	h.Bits, _ = r.number(cpu, "maxphysaddr", cpu.child("maxphysaddr").attr("bits"), 1<<7)
	seen := map[int]bool{}
	for _, c := range e.child("topology", "cells").all("cell") {
		id, ok := r.number(c, "cell", c.attr("id"), maxNode)
		if !ok {
			continue
		}
		if seen[id] {
			r.file.Warn(c.line, c.col, "node %d is there twice: the first counts", id)
			continue
		}
		seen[id] = true
		h.Cells = append(h.Cells, r.cell(id, c))
	}
	h.dropOffline()
	if links := e.child("topology", "interconnects"); links != nil {
		r.file.Warn(links.line, links.col, "latencies and bandwidths between nodes (interconnects) are not read: the distances count")
	}
	for _, c := range h.Cells {
		if missing := slices.ContainsFunc(h.Cells, func(o HostCell) bool { return c.Distances[o.ID] == 0 }); missing && len(c.Distances) > 0 {
			at := e.child("topology", "cells")
			r.file.Warn(at.line, at.col, "node %d has distances to some nodes alone: those of the host count as unknown", c.ID)
			break
		}
	}
	r.file.Sort()
	return h
}

// dropOffline removes the CPUs without data if others have some: libvirt writes offline CPUs in this way
// (virCapabilitiesHostNUMAFormat in src/conf/capabilities.c).
func (h *Host) dropOffline() {
	bare := func(c HostCPU) bool { return c.Core < 0 && c.Siblings == nil }
	var stated bool
	for _, c := range h.Cells {
		stated = stated || slices.ContainsFunc(c.CPUs, func(c HostCPU) bool { return !bare(c) })
	}
	for i := range h.Cells {
		if c := &h.Cells[i]; stated {
			c.CPUs = slices.DeleteFunc(c.CPUs, bare)
		}
	}
}

func (r *reader) cell(id int, e *element) HostCell {
	c := HostCell{ID: id, Distances: r.distances(e)}
	subject := fmt.Sprint("node ", id)
	if m := e.child("memory"); m != nil {
		if c.Memory = r.bytes(m, "memory", m.content(), m.attr("unit")); c.Memory.Known() {
			r.file.Add(m.line, m.col, subject, "memory", int64(c.Memory.Value/numa.KiB), "KiB")
		}
	}
	for _, p := range e.all("pages") {
		size := r.bytes(p, "pages", p.attr("size"), p.attr("unit"))
		n, ok := r.number(p, "pages", p.content(), math.MaxInt)
		if size.Known() && size.Value > 0 && ok {
			c.Pages = append(c.Pages, numa.Pool{Size: size.Value, Count: n})
			r.file.Add(p.line, p.col, subject, "pages of "+size.Value.String(), n, "")
		}
	}
	for _, s := range e.child("distances").all("sibling") {
		if value, ok := r.number(s, "distance", s.attr("value"), 256); ok {
			r.file.Add(s.line, s.col, subject, "distance to node "+s.attr("id"), value, "")
		}
	}
	cpus := e.child("cpus")
	seen := map[int]bool{}
	var ids []int
	for _, p := range cpus.all("cpu") {
		n, ok := r.number(p, "CPU", p.attr("id"), maxCPU)
		if !ok {
			continue
		}
		if seen[n] {
			r.file.Warn(p.line, p.col, "CPU %d is there twice", n)
			continue
		}
		seen[n] = true
		cpu := HostCPU{ID: n, Socket: -1, Die: -1, Core: -1, Siblings: r.list(p, "siblings", maxCPU)}
		for _, a := range []struct {
			name string
			to   *int
		}{{"socket_id", &cpu.Socket}, {"die_id", &cpu.Die}, {"core_id", &cpu.Core}} {
			if v, ok := r.number(p, a.name, p.attr(a.name), 1<<30); ok {
				*a.to = v
			}
		}
		ids = append(ids, n)
		c.CPUs = append(c.CPUs, cpu)
	}
	if cpus != nil {
		r.file.Add(cpus.line, cpus.col, subject, "CPUs", words.Ranges(ids), "")
		if n, ok := r.number(cpus, "cpus", cpus.attr("num"), maxCPU+1); ok && n != len(ids) {
			c.Partial = true
			r.file.Warn(cpus.line, cpus.col, "node %d: found %d CPUs, the file says %d", id, len(ids), n)
		}
	}
	return c
}

package kvm

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"homenode/internal/words"
	"homenode/numa"
	"homenode/source/libvirt"
)

// vmOf returns the VM of a domain; false and a note when it does not state how many vCPUs there are.
func vmOf(d *domain, r *reader) (v numa.VM, ok bool) {
	at := func(line, col int) string { return r.at(d.file, line, col) }
	v = numa.VM{Name: d.Name, UUID: d.UUID, At: at(d.Line, 0)}
	if v.Name == "" {
		base := filepath.Base(d.file)
		v.Name = strings.TrimSuffix(base, filepath.Ext(base))
	}
	if d.Cut {
		r.unjudged(d, "%s: its definition breaks off: it is not judged", v.Name)
		return v, false
	}
	s := &numa.Stated{Partial: !d.Whole, At: at(d.Line, d.Col), Running: d.Running, Auto: d.Auto, ACPI: d.ACPI}
	most := shapeOf(d.Domain, s, at)
	if most == 0 {
		r.unjudged(d, "%s: found no number of vCPUs, and no cells of which it follows", v.Name)
		return v, false
	}
	if d.Running {
		v.Power = numa.ReadAt(numa.PoweredOn, "id")
	}
	v.VCPUs = numa.ReadAt(s.VCPUs, "vcpu")
	v.CoresPerSocket = numa.ReadAt(max(0, min(numa.MaxVCPUs, s.PerSocket())), "topology")
	if s.Shape.Memory > 0 {
		v.Memory = numa.ReadAt(s.Shape.Memory, "memory")
	}
	boundOf(d.Domain, s, at)
	pinsOf(d.Domain, s, most, at)
	v.Stated = s
	return v, true
}

// unjudged notes why a domain is not judged.
func (r *reader) unjudged(d *domain, format string, args ...any) {
	r.incomplete(d.file)
	r.note(r.at(d.file, d.Line, d.Col), format, args...)
}

// shapeOf reads the shape, and returns how many vCPUs there can be; 0 when that is unknown.
func shapeOf(d *libvirt.Domain, s *numa.Stated, at func(line, col int) string) (most int) {
	cells := slices.SortedFunc(slices.Values(d.Cells), func(a, b libvirt.Cell) int { return cmp.Compare(a.ID, b.ID) })
	most = d.VCPUs.Value
	if t := d.Topology; t != nil {
		// Clusters count as more cores: nothing that is judged lies between a die and a core.
		s.Sockets, s.Dies, s.Cores, s.Threads = t.Sockets, t.Dies, t.Cores*t.Clusters, t.Threads
		s.TopologyAt = at(t.Line, t.Col)
		if most == 0 {
			most = s.Most()
		}
	}
	if most == 0 {
		for _, c := range cells {
			for _, v := range c.CPUs {
				most = max(most, v+1)
			}
		}
	}
	if most <= 0 || most > numa.MaxVCPUs {
		return 0
	}
	if d.Topology == nil {
		s.Sockets, s.Dies, s.Cores, s.Threads = most, 1, 1, 1
	}
	s.VCPUs = most
	if n := d.Current.Value; n > 0 && n < most {
		s.VCPUs = n
	}
	s.VCPUsAt, s.MemoryAt = at(lineOf(d.VCPUs.Origin), 0), at(lineOf(d.Memory.Origin), 0)
	s.Shape.Memory = d.Memory.Value
	s.HotPlug = d.MaxMemory.Known()
	_, s.Page = numa.PagesOf(d.Backing.Pages, max(1, len(cells)))
	var sum numa.Bytes
	for i, c := range cells {
		s.Cells = append(s.Cells, numa.Cell{CPUs: c.CPUs, Memory: c.Memory.Value, At: at(c.Line, c.Col)})
		sum += c.Memory.Value
		if c.ID != i {
			s.Strays = append(s.Strays, numa.Note{At: at(c.Line, c.Col), Text: fmt.Sprintf("cell %d comes where %d is due: libvirt wants them from 0, without a gap", c.ID, i)})
		}
	}
	if s.Shape.Memory == 0 {
		s.Shape.Memory = sum
	}
	if len(cells) == 0 {
		all := numa.Cell{Memory: s.Shape.Memory, At: s.At}
		for v := range most {
			all.CPUs = append(all.CPUs, v)
		}
		s.Cells = []numa.Cell{all}
		return most
	}
	s.CellsAt = s.Cells[0].At
	s.Distance = distanceOf(cells)
	return most
}

// distanceOf returns the distances of cells; nil when none is stated. What is not stated is 10 and 20, as libvirt takes it.
func distanceOf(cells []libvirt.Cell) (table [][]int) {
	if !slices.ContainsFunc(cells, func(c libvirt.Cell) bool { return c.Distances != nil }) {
		return nil
	}
	for i := range cells {
		row := make([]int, len(cells))
		for j := range cells {
			if row[j] = 20; i == j {
				row[j] = 10
			}
			if d, ok := cells[i].Distances[cells[j].ID]; ok {
				row[j] = d
			} else if d, ok := cells[j].Distances[cells[i].ID]; ok {
				row[j] = d // the other way round is stated
			}
		}
		table = append(table, row)
	}
	return table
}

// boundOf reads where the memory of each cell comes from.
func boundOf(d *libvirt.Domain, s *numa.Stated, at func(line, col int) string) {
	s.Bound = make([]numa.Bound, len(s.Cells))
	bound := func(b *libvirt.Binding) numa.Bound {
		if b.Auto {
			s.Auto = true
		}
		return numa.Bound{Mode: b.Mode, Nodes: b.Nodes, At: at(b.Line, b.Col)}
	}
	if d.Bound != nil {
		for i := range s.Bound {
			s.Bound[i] = bound(d.Bound)
		}
	}
	for i := range d.BoundCells {
		b := &d.BoundCells[i]
		if s.CellsAt == "" || b.Cell >= len(s.Cells) {
			s.Strays = append(s.Strays, numa.Note{At: at(b.Line, b.Col), Text: fmt.Sprintf("it binds the memory of cell %d, which there is not", b.Cell)})
			continue
		}
		s.Bound[b.Cell] = bound(b)
	}
}

// pinsOf reads the CPUs of the host that vCPUs may run on.
func pinsOf(d *libvirt.Domain, s *numa.Stated, most int, at func(line, col int) string) {
	s.CPUs = make([][]int, most)
	for i := range s.CPUs {
		s.CPUs[i] = d.CPUSet
	}
	for _, p := range slices.SortedStableFunc(slices.Values(d.Pins), func(a, b libvirt.Pin) int { return cmp.Compare(a.VCPU, b.VCPU) }) {
		if p.VCPU >= most {
			s.Strays = append(s.Strays, numa.Note{At: at(p.Line, p.Col), Text: fmt.Sprintf("it pins vCPU %d to host CPUs %s, and there are %d vCPUs", p.VCPU, words.Ranges(p.CPUs), most)})
			continue
		}
		s.CPUs[p.VCPU] = p.CPUs
		s.Pins = append(s.Pins, numa.Pinned{VCPU: p.VCPU, At: at(p.Line, p.Col)})
	}
	for _, h := range d.Helpers {
		s.Helpers = append(s.Helpers, numa.Helper{What: h.What, CPUs: h.CPUs, At: at(h.Line, h.Col)})
	}
}

// lineOf returns the line of an origin such as "line 16:3"; 0 for none.
func lineOf(o numa.Origin) (line int) {
	if _, err := fmt.Sscanf(o.Where, "line %d", &line); err != nil {
		return 0
	}
	return line
}

package libvirt

import (
	"fmt"
	"regexp"

	"homenode/internal/words"
	"homenode/numa"
	"homenode/source/fact"
	"homenode/source/text"
)

// A Domain is a VM as its XML defines it. What is not stated is zero or nil.
type Domain struct {
	Line, Col  int
	Name, UUID string
	Type       string         // kvm, qemu, …
	Arch       string         // of the processor that the guest sees
	Running    bool           // it has the ID of a domain that runs
	Whole      bool           // not parts of a domain
	Cut        bool           // the file ends, or breaks off, before its end
	VCPUs      numa.Fact[int] // the most there can be
	Current    numa.Fact[int] // of VCPUs, those that are there now
	CPUSet     []int          // host CPUs of all vCPUs without a pin of their own
	// Auto: numad chooses the host nodes at each start.
	Auto      bool
	Memory    numa.Fact[numa.Bytes]
	MaxMemory numa.Fact[numa.Bytes] // with hot plug

	Topology *Topology
	Cells    []Cell // the NUMA nodes that the guest sees
	Pins     []Pin  // vCPUs with host CPUs of their own
	Helpers  []Helper

	Bound      *Binding // of all memory
	BoundCells []Binding
	Backing    Backing
	// ACPI: without it the guest is told no distances. Unknown of parts of a domain.
	ACPI numa.Fact[bool]

	file *fact.File
}

// A Topology is <topology> of the processor that the guest sees.
type Topology struct {
	Line, Col                               int
	Sockets, Dies, Clusters, Cores, Threads int
}

// A Cell is a NUMA node of the guest.
type Cell struct {
	Line, Col int
	ID        int
	CPUs      []int // vCPUs
	Memory    numa.Fact[numa.Bytes]
	Distances map[int]int // to cells by ID; nil without: then 20
}

// A Pin is the host CPUs that a vCPU may run on.
type Pin struct {
	Line, Col int
	VCPU      int
	CPUs      []int
}

// A Helper is a thread of QEMU beside those of vCPUs, or several, and the host CPUs that it may run on.
type Helper struct {
	Line, Col int
	What      string // "the other threads of QEMU", "I/O thread 1"
	CPUs      []int
}

// A Binding is the host nodes that memory comes from.
type Binding struct {
	Line, Col int
	Cell      int    // -1 for all memory
	Mode      string // strict, preferred, interleave, restrictive
	Nodes     []int
	Auto      bool // numad chooses the nodes
}

// A Backing is <memoryBacking>.
type Backing struct {
	HugePages    bool
	Pages        []numa.HugePages // empty with HugePages: of the host's default size
	Locked       bool
	NoSharePages bool
	Source       string // anonymous, file, memfd
}

// File returns what the file states of the domain.
func (d *Domain) File() *fact.File { return d.file }

// entity matches an entity that XML does not have by itself, and which the decoder leaves as it is.
var entity = regexp.MustCompile(`&[\pL_][\pL\pN._-]*;`)

func readDomain(name string, e *element, whole bool) *Domain {
	r := newReader(name, "libvirt domain")
	d := &Domain{Line: e.line, Col: e.col, Running: e.attr("id") != "", Name: e.child("name").content(), UUID: e.child("uuid").content(), Type: e.attr("type"),
		Arch: e.child("os", "type").attr("arch"), file: r.file}
	d.Whole, d.Cut = whole, !e.closed
	subject := "VM"
	if d.Name != "" {
		subject += " " + d.Name
	}
	if found := entity.FindString(d.Name); found != "" {
		at := e.child("name")
		r.file.Warn(at.line, at.col, "name: found the entity %s, which stays as it is: no entities are read", text.Short(found))
	}
	add := func(at *element, name string, value any, unit string) {
		r.file.Add(at.line, at.col, subject, name, value, unit)
	}
	if at := e.child("uuid"); d.UUID != "" {
		add(at, "UUID", d.UUID, "")
	}
	d.processors(r, e, add)
	d.memory(r, e, add)
	for _, c := range e.child("cpu", "numa").all("cell") {
		d.cell(r, c, add)
	}
	d.tune(r, e, add)
	f := e.child("features")
	switch {
	case f != nil:
		d.ACPI = numa.ReadAt(f.child("acpi") != nil, text.Where(f.line, f.col))
		add(f, "ACPI", d.ACPI.Value, "")
	case d.Whole:
		d.ACPI = numa.DerivedFrom(false, "no <features>")
	}
	r.file.Sort()
	return d
}

type adder func(at *element, name string, value any, unit string)

func (d *Domain) processors(r *reader, e *element, add adder) {
	if v := e.child("vcpu"); v != nil {
		d.VCPUs = r.count(v, "vcpu", v.content(), numa.MaxVCPUs+1)
		d.Current = d.VCPUs
		if d.VCPUs.Known() {
			add(v, "vCPUs", d.VCPUs.Value, "")
		}
		if s := v.attr("current"); s != "" {
			d.Current = r.count(v, "current", s, numa.MaxVCPUs+1)
			if d.Current.Known() {
				add(v, "vCPUs now", d.Current.Value, "")
			}
		}
		d.Auto = v.attr("placement") == "auto"
		if d.CPUSet = r.list(v, "cpuset", maxCPU); d.CPUSet != nil {
			add(v, "host CPUs", words.Ranges(d.CPUSet), "")
		}
	}
	t := e.child("cpu", "topology")
	if t == nil {
		return
	}
	d.Topology = &Topology{Line: t.line, Col: t.col, Dies: 1, Clusters: 1}
	for _, a := range []struct {
		name string
		to   *int
	}{{"sockets", &d.Topology.Sockets}, {"dies", &d.Topology.Dies}, {"clusters", &d.Topology.Clusters}, {"cores", &d.Topology.Cores}, {"threads", &d.Topology.Threads}} {
		if n, ok := r.number(t, a.name, t.attr(a.name), numa.MaxVCPUs+1); ok {
			*a.to = n
			add(t, a.name, n, "")
		}
	}
}

func (d *Domain) memory(r *reader, e *element, add adder) {
	for _, m := range []struct {
		name, words string
		to          *numa.Fact[numa.Bytes]
	}{{"memory", "memory", &d.Memory}, {"maxMemory", "most memory", &d.MaxMemory}} {
		if c := e.child(m.name); c != nil {
			if *m.to = r.bytes(c, m.name, c.content(), c.attr("unit")); m.to.Known() {
				add(c, m.words, int64(m.to.Value/numa.KiB), "KiB")
			}
		}
	}
	b := e.child("memoryBacking")
	if b == nil {
		return
	}
	d.Backing = Backing{HugePages: b.child("hugepages") != nil, Locked: b.child("locked") != nil, NoSharePages: b.child("nosharepages") != nil,
		Source: b.child("source").attr("type")}
	for _, p := range b.child("hugepages").all("page") {
		size := r.bytes(p, "page", p.attr("size"), p.attr("unit"))
		if !size.Known() || size.Value == 0 {
			continue
		}
		cells := r.list(p, "nodeset", maxNode)
		d.Backing.Pages = append(d.Backing.Pages, numa.HugePages{Size: size.Value, Cells: cells})
		of := "all cells"
		if cells != nil {
			of = "cells " + words.Ranges(cells)
		}
		add(p, "huge pages of "+of, size.Value.String(), "")
	}
	if d.Backing.HugePages && len(d.Backing.Pages) == 0 {
		add(b.child("hugepages"), "huge pages", true, "")
	}
	if d.Backing.Locked {
		add(b.child("locked"), "memory locked", true, "")
	}
}

func (d *Domain) cell(r *reader, e *element, add adder) {
	id := len(d.Cells) // libvirt numbers them when the file does not
	if s := e.attr("id"); s != "" {
		n, ok := r.number(e, "cell", s, maxNode)
		if !ok {
			return
		}
		id = n
	}
	for i := range d.Cells {
		if d.Cells[i].ID == id {
			r.file.Warn(e.line, e.col, "cell %d is there twice: the first counts", id)
			return
		}
	}
	c := Cell{Line: e.line, Col: e.col, ID: id, CPUs: r.list(e, "cpus", numa.MaxVCPUs), Distances: r.distances(e)}
	c.Memory = r.bytes(e, "memory", e.attr("memory"), e.attr("unit"))
	name := fmt.Sprint("cell ", id)
	if c.CPUs != nil {
		add(e, name+" vCPUs", words.Ranges(c.CPUs), "")
	}
	if c.Memory.Known() {
		add(e, name+" memory", int64(c.Memory.Value/numa.KiB), "KiB")
	}
	for _, s := range e.child("distances").all("sibling") {
		if value, ok := r.number(s, "distance", s.attr("value"), 256); ok {
			add(s, name+" distance to cell "+s.attr("id"), value, "")
		}
	}
	d.Cells = append(d.Cells, c)
}

func (d *Domain) tune(r *reader, e *element, add adder) {
	tune := e.child("cputune")
	for _, p := range tune.all("vcpupin") {
		v, ok := r.number(p, "vcpu", p.attr("vcpu"), numa.MaxVCPUs)
		cpus := r.list(p, "cpuset", maxCPU)
		if ok && cpus != nil {
			d.Pins = append(d.Pins, Pin{p.line, p.col, v, cpus})
			add(p, fmt.Sprintf("vCPU %d on host CPUs", v), words.Ranges(cpus), "")
		}
	}
	if p := tune.child("emulatorpin"); p != nil {
		if cpus := r.list(p, "cpuset", maxCPU); cpus != nil {
			d.Helpers = append(d.Helpers, Helper{p.line, p.col, "the other threads of QEMU", cpus})
			add(p, "emulator on host CPUs", words.Ranges(cpus), "")
		}
	}
	for _, p := range tune.all("iothreadpin") {
		if cpus := r.list(p, "cpuset", maxCPU); cpus != nil {
			name := "I/O thread " + p.attr("iothread")
			d.Helpers = append(d.Helpers, Helper{p.line, p.col, name, cpus})
			add(p, name+" on host CPUs", words.Ranges(cpus), "")
		}
	}
	numatune := e.child("numatune")
	if m := numatune.child("memory"); m != nil {
		b := r.binding(m, -1)
		d.Bound = &b
		if b.Nodes != nil {
			add(m, "memory of host nodes", words.Ranges(b.Nodes), "")
		}
		add(m, "memory mode", b.Mode, "")
	}
	for _, m := range numatune.all("memnode") {
		if cell, ok := r.number(m, "cellid", m.attr("cellid"), maxNode); ok {
			b := r.binding(m, cell)
			d.BoundCells = append(d.BoundCells, b)
			name := fmt.Sprintf("cell %d memory", cell)
			add(m, name+" of host nodes", words.Ranges(b.Nodes), "")
			add(m, name+" mode", b.Mode, "")
		}
	}
}

// binding reads <memory> or <memnode>; libvirt's mode is strict where none is stated.
func (r *reader) binding(e *element, cell int) Binding {
	b := Binding{Line: e.line, Col: e.col, Cell: cell, Mode: e.attr("mode"), Nodes: r.list(e, "nodeset", maxNode), Auto: e.attr("placement") == "auto"}
	if b.Mode == "" {
		b.Mode = "strict"
	}
	return b
}

package libvirt

import (
	"cmp"
	"slices"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/source/text"
)

// align is the unit to which libvirt rounds up the memory of cells (qemuDomainAlignMemorySizes in src/qemu/qemu_domain.c).
func (d *domain) align() numa.Bytes {
	if strings.HasPrefix(d.Arch, "ppc64") {
		return 256 * numa.MiB
	}
	return numa.MiB
}

// roundUp returns the smallest multiple of unit that is at least size.
func roundUp(size, unit numa.Bytes) numa.Bytes { return (size + unit - 1) / unit * unit }

// round returns the memory of a cell or a device, rounded up as in libvirt.
func (d *domain) round(size, unit numa.Bytes) numa.Bytes {
	up := roundUp(size, unit)
	d.rounded += up - size
	return up
}

// overlap reports whether two lists of cells intersect; nil stands for all cells without a list.
func overlap(a, b []int) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return slices.ContainsFunc(a, func(cell int) bool { return slices.Contains(b, cell) })
}

// memory reads the memory of the VM and its maximum.
func (d *domain) memory(e *element) {
	for _, m := range []struct{ name, words string }{{"memory", "memory"}, {"maxMemory", "most memory"}} {
		c := e.child(m.name)
		if c == nil {
			continue
		}
		size := d.bytes(c, m.name, c.content(), c.attr("unit"))
		switch {
		case !size.Known():
			continue
		case m.name == "maxMemory":
			d.Stated.HotPlug, d.largest = d.Stated.Partial, size.Value
		default:
			d.Stated.Shape.Memory, d.Stated.MemoryAt = size.Value, numa.Place(d.file.Name, c.line, 0)
		}
		d.add(c, m.words, int64(size.Value/numa.KiB), "KiB")
	}
}

// aligned subtracts memory outside of cells from the memory of the VM, and rounds it like the memory of cells: libvirt recalculates it.
func (d *domain) aligned() {
	s, unit := &d.Stated.Shape, d.align()
	sum := s.CellMemory()
	modules := numa.Bytes(0) // in cells; the memory may be stated without them too
	if s.Cells != nil {
		modules = sum - d.cellsAlone
	}
	for _, beside := range []numa.Bytes{0, d.idle, d.idle + d.enclaves, -modules} { // without modules that are beside the cells: libvirt adds them; releases may differ in whether enclaves count
		if over := sum + beside - s.Memory; s.Cells != nil && over >= 0 && over <= d.rounded {
			s.Memory = sum
			return
		}
	}
	if s.Memory > d.idle {
		s.Memory -= d.idle
	}
	s.Memory = roundUp(s.Memory, unit)
}

// backing reads the huge pages.
func (d *domain) backing(e *element) {
	if e == nil {
		return
	}
	if locked := e.child("locked"); locked != nil {
		d.Stated.Taken = true
		d.add(locked, "memory locked", true, "")
	}
	if mode := e.child("allocation"); mode.attr("mode") == "immediate" {
		d.Stated.Taken = true
		d.add(mode, "memory allocation", mode.attr("mode"), "")
	}
	huge := e.child("hugepages")
	if huge == nil {
		return
	}
	var pages []numa.HugePages
	for _, p := range huge.all("page") {
		size := d.bytes(p, "page", p.attr("size"), p.attr("unit"))
		if !size.Known() || size.Value == 0 {
			continue
		}
		one := numa.HugePages{Size: size.Value, Cells: d.list(p, "nodeset", maxNode)}
		if d.Stated.Cells == nil && len(one.Cells) == 1 && one.Cells[0] == 0 { // virDomainDefPostParseMemtune in src/conf/domain_postparse.c
			one.Cells = nil
		}
		of := "all cells"
		if one.Cells != nil {
			of = "cells " + words.Ranges(one.Cells)
		}
		if i := slices.IndexFunc(pages, func(o numa.HugePages) bool { return overlap(o.Cells, one.Cells) }); i >= 0 {
			d.Stray(p.line, p.col, true, "two sizes of huge pages, %s and %s, are stated for one cell: libvirt refuses it", pages[i].Size, one.Size)
		}
		pages = append(pages, one)
		d.add(p, "huge pages of "+of, size.Value.String(), "")
	}
	if pages == nil {
		d.Stated.DefaultPage = true
		d.add(huge, "huge pages", true, "")
	}
	d.Pages(pages, len(d.Stated.Cells), huge.line, huge.col)
}

// A device is a memory device: its size, and its current part in the memory of its cell.
type device struct {
	*element
	model       string
	size, taken numa.Bytes
	cell        int // -1 if there is none
}

// device reads a memory device; false if its size or its cell is not a number. nvdimm and virtio-pmem use memory of a file or a host
// device; virtio-mem grows and shrinks (https://libvirt.org/kbase/memorydevices.html).
func (d *domain) device(e *element) (m device, ok bool) {
	sized := func(name string) numa.Fact[numa.Bytes] {
		c := e.child("target", name)
		return d.bytes(e, name, c.content(), c.attr("unit"))
	}
	size := sized("size")
	m = device{element: e, model: cmp.Or(e.attr("model"), "dimm"), cell: -1}
	if node := e.child("target", "node"); node != nil {
		if m.cell, ok = d.number(e, "node", node.content(), maxNode); !ok {
			return m, false
		}
	}
	if label := e.child("target", "label", "size"); label != nil && m.model == "nvdimm" && size.Known() {
		if d.bytes(e, "label", label.content(), label.attr("unit")).Value >= size.Value {
			d.Refuse(label.line, label.col, "the label of a memory device (nvdimm) is not smaller than its %s: libvirt refuses it (asked: 9.0.0)", size.Value)
		}
	}
	m.size = d.round(size.Value, max(2*numa.MiB, d.align()))
	d.devices += size.Value
	switch m.model {
	case "dimm":
		m.taken = m.size
	case "virtio-mem":
		requested, now := sized("requested"), sized("current")
		m.taken = min(m.size, max(requested.Value, now.Value))
		block := sized("block").Value
		d.Blocks(e.line, e.col, size.Value, requested.Value, block)
		if (d.Arch == "" || d.Arch == "x86_64") && block > 0 && block < 2*numa.MiB { // the size of transparent huge pages
			d.Refuse(e.line, e.col, "virtio-mem: the block size of %d KiB is below 2048 KiB: libvirt refuses it", block/numa.KiB)
		}
	}
	return m, size.Known()
}

// modules adds memory devices to their cells; most is maxMemory, nil if there is none.
func (d *domain) modules(list []*element, most *element) {
	s, slots := d.Stated, d.hotplug(most)
	inSlots, beside := 0, 0
	for _, e := range list {
		m, ok := d.device(e)
		if m.model == "dimm" || m.model == "nvdimm" {
			inSlots++
		} else {
			beside++
		}
		if !ok {
			continue
		}
		what := "a memory device (" + text.Short(m.model) + ")"
		d.add(e, "memory device "+text.Short(m.model), int64(m.size/numa.KiB), "KiB")
		if m.model == "sgx-epc" {
			d.enclaves += m.size
		} else {
			d.idle += m.size - m.taken
		}
		switch {
		case m.cell >= max(1, len(s.Cells)):
			d.Stray(e.line, e.col, true, "%s of %s is of cell %d, which there is not: libvirt refuses it", what, m.size, m.cell)
			d.idle += m.taken
			continue
		case m.cell < 0 && len(s.Cells) > 0 && slices.Contains([]string{"dimm", "nvdimm", "virtio-mem"}, m.model):
			d.Stray(e.line, e.col, true, "%s of %s states no cell (node): libvirt refuses it", what, m.size)
			d.idle += m.taken
			continue
		}
		d.module(m, what)
	}
	d.room(list, most)
	switch at := slots >= 0 && !s.Partial && most != nil; {
	case at && inSlots <= slots && inSlots+beside > slots && slots > 0:
		d.Doubt(list[0].line, list[0].col, "%s, and maxMemory has %s: libvirt 9.0 counts those of virtio too, and refuses it", words.Plural(inSlots+beside, "memory device"), words.Plural(slots, "slot"))
	case at && inSlots > slots:
		d.Stray(list[0].line, list[0].col, true, "%s, and maxMemory has %s: libvirt refuses it", words.Plural(inSlots, "memory module"), words.Plural(slots, "slot"))
	}
}

// room finds memory devices without maxMemory (most), and memory above it. libvirt gives a VM the memory of its cells and of its devices at their
// full size; without cells the memory of the VM includes devices (virDomainDefPostParseMemory in src/conf/domain_postparse.c,
// qemuDomainDefValidateMemoryHotplug in src/qemu/qemu_domain.c).
func (d *domain) room(list []*element, most *element) {
	s, cells := d.Stated, d.cellsAlone-d.rounding
	all := s.Shape.Memory
	if cells > 0 {
		all = cells + d.devices
	}
	switch {
	case d.largest > 0 && all > d.largest:
		d.Refuse(most.line, most.col, "maxMemory of %s is below the memory of %s, with memory devices: libvirt refuses it", d.largest, all)
	case s.Partial || list == nil:
	case d.devices > all && all > 0:
		d.Refuse(list[0].line, list[0].col, "memory devices of %s, and the memory with them is %s: libvirt refuses it", d.devices, all)
	case most == nil && slices.ContainsFunc(list, func(e *element) bool { return e.attr("model") != "sgx-epc" }):
		d.Refuse(list[0].line, list[0].col, "%s, and no maxMemory: libvirt refuses it", words.Plural(len(list), "memory device"))
	case most == nil:
		d.Doubt(list[0].line, list[0].col, "%s (sgx-epc), and no maxMemory: libvirt 9.0 refuses it", words.Plural(len(list), "memory device"))
	}
}

// module adds a memory device to its cell, and to the modules if it has its own pages or nodes. Otherwise it uses those of its cell,
// depending on the mode of binding (qemuBuildMemoryBackendProps in src/qemu/qemu_command.c).
func (d *domain) module(m device, what string) {
	s := d.Stated
	source := m.child("source")
	nodes := source.child("nodemask")
	page := source.child("pagesize")
	one := numa.Module{Model: m.model, Cell: m.cell, Memory: m.taken, At: d.at(m.element)}
	if nodes != nil {
		one.Bound = numa.Bound{Mode: "strict", Nodes: d.numbers(nodes, "nodemask", nodes.content(), maxNode), At: d.at(nodes)}
		if m.cell >= 0 && m.cell < len(s.Bound) {
			one.Bound.Mode = cmp.Or(s.Bound[m.cell].Mode, "strict")
		}
		d.add(nodes, what+" from host nodes", words.Ranges(one.Bound.Nodes), "")
	} else if m.cell >= 0 && m.cell < len(s.Bound) {
		one.Bound = s.Bound[m.cell]
	}
	if m.cell >= 0 && m.cell < len(s.Cells) {
		one.Page = s.PageOf(m.cell)
		if s.DefaultPage {
			one.Page = numa.DefaultPage
		}
	}
	if page != nil {
		one.Page = d.bytes(page, "pagesize", page.content(), page.attr("unit")).Value
		if small := (numa.Pool{Size: one.Page}); !small.Huge() {
			one.Page = 0
		}
	}
	own := nodes != nil || page != nil
	if own && one.Page > 0 && m.size%one.Page != 0 {
		d.Stray(m.line, m.col, true, "%s of %s is no whole pages of %s: QEMU refuses it", what, m.size, one.Page)
	}
	if m.cell >= 0 && m.cell < len(s.Cells) {
		s.Cells[m.cell].Memory += m.taken
		if own {
			s.Cells[m.cell].Added += m.taken
		}
	}
	if own && len(s.Cells) > 0 {
		s.Modules = append(s.Modules, one)
	}
}

// mostSlots is ACPI_MAX_RAM_SLOTS of QEMU (include/hw/acpi/acpi.h); 7.2.22, asked: "unsupported amount of memory slots: 300".
const mostSlots = 256

// hotplug returns the maximum number of memory modules, -1 if not stated. It finds memory hot-plug in a VM without cells: except on
// POWER, libvirt rejected it before it added a cell automatically (qemuDomainDefNumaAutoAdd in src/qemu/qemu_postparse.c).
func (d *domain) hotplug(e *element) (slots int) {
	n, ok := d.number(e, "slots", e.attr("slots"), 1<<16)
	switch {
	case e == nil && !d.Stated.Partial:
		return 0
	case !ok:
		return -1
	case n > mostSlots && !d.Stated.Running:
		d.Refuse(e.line, e.col, "maxMemory has %d slots: QEMU starts %d at most", n, mostSlots)
	case len(d.Stated.Cells) == 0 && !d.Stated.Partial && !strings.HasPrefix(d.Arch, "ppc64"):
		d.Doubt(e.line, e.col, "memory can be added (maxMemory), and no cell is stated: releases of libvirt that do not add one refuse it")
	}
	return n
}

// unheld finds huge pages if the vCPUs of cells run on different CPUs and no cell is bound to its own nodes: QEMU allocates the pages at
// start, in threads that run on the CPUs of one cell or of none.
func (d *domain) unheld(e *element) {
	s := d.Stated
	own := slices.ContainsFunc(s.Bound, func(b numa.Bound) bool { return b.At != s.Bound[0].At || len(b.Nodes) == 1 })
	if e == nil || len(s.Cells) < 2 || own || s.Auto {
		return
	}
	a, b := d.cpusOf(0), d.cpusOf(1)
	if a != nil && b != nil && !slices.ContainsFunc(a, func(cpu int) bool { return slices.Contains(b, cpu) }) {
		d.Stray(e.line, e.col, false, "QEMU takes the huge pages when it starts, wherever its thread runs: the vCPUs of cells 0 and 1 are pinned apart, and no cell is bound to a node")
	}
}

// cpusOf returns the host CPUs on which the first vCPU of a cell may run; nil for all.
func (d *domain) cpusOf(cell int) []int {
	if c := d.Stated.Cells[cell].CPUs; len(c) > 0 && c[0] < len(d.Stated.CPUs) {
		return d.Stated.CPUs[c[0]]
	}
	return nil
}

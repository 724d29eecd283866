package qemu

import (
	"slices"
	"strconv"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/text"
)

// devices matches a memory device by its driver, with the driver names of libvirt, in the form key=value,… or JSON.
var devices = pattern.Of(`^(?:driver=|\{.*"driver" *: *")?(pc-dimm|nvdimm|virtio-mem|virtio-pmem)\b`)

// A module is -device pc-dimm, or another memory device.
type module struct {
	line             int
	model, backend   string
	node             int
	requested, block numa.Bytes // of virtio-mem
}

// device parses a memory device; other devices are ignored.
func (a *arguments) device(last func(key string) string) error {
	driver := devices.FindStringSubmatch(last("driver"))
	if driver == nil { // if there are several drivers, the last is not for memory
		return nil
	}
	m := module{line: a.line, model: driver[1], backend: last("memdev")}
	if m.model == "pc-dimm" {
		m.model = "dimm"
	}
	if value := last("node"); value != "" {
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 || n >= most {
			return notNumber("node", value)
		}
		m.node = n
	}
	for _, size := range []struct {
		key string
		to  *numa.Bytes
	}{{"requested-size", &m.requested}, {"block-size", &m.block}} {
		if value := last(size.key); value != "" {
			n, err := sizeOf(value, "B")
			if err != nil {
				return err
			}
			*size.to = n
		}
	}
	a.modules = append(a.modules, m)
	return nil
}

// addModules adds the memory of devices to their cells and to the VM, and finds values that QEMU rejects (hw/mem/memory-device.c,
// hw/mem/pc-dimm.c). nvdimm and virtio-pmem use memory of a file or a host device; virtio-mem has its requested size.
func (a *arguments) addModules() {
	s := a.s
	var user []string
	for _, n := range a.nodes {
		user = append(user, n.backend)
	}
	var size numa.Bytes
	slots := 0
	initial := s.Shape.Memory
	for _, m := range a.modules {
		refuse := func(format string, args ...any) { a.Stray(m.line, 1, true, format+": QEMU refuses it", args...) }
		b, there := a.backends[m.backend]
		switch {
		case !there:
			refuse("memory device (%s): the memory backend %s does not exist", m.model, text.Short(m.backend))
			continue
		case slices.Contains(user, m.backend):
			refuse("the memory backend %s of a memory device (%s) is used twice", text.Short(m.backend), m.model)
			continue
		case m.node >= len(s.Cells):
			refuse("memory device (%s, %s): there is no node %d, the VM has %s", m.model, b.size, m.node, words.Plural(len(s.Cells), "node"))
			continue
		}
		user = append(user, m.backend)
		size += b.size
		taken := numa.Bytes(0)
		switch m.model {
		case "dimm":
			taken = b.size
			slots++
		case "nvdimm":
			slots++
		case "virtio-mem":
			taken = min(b.size, m.requested)
			a.Blocks(m.line, 1, b.size, m.requested, m.block)
		}
		s.Shape.Memory += taken
		s.Cells[m.node].Memory += taken
		s.Cells[m.node].Added += taken
		s.Modules = append(s.Modules, numa.Module{Model: m.model, Cell: m.node, Memory: taken, Page: b.page, Bound: b.bound, At: numa.Place(a.File().Name, m.line, 1)})
	}
	a.Memory = numa.ReadAt(s.Shape.Memory, "memory")
	refuse := func(format string, args ...any) {
		a.Stray(max(1, a.size), 1, true, format+": QEMU refuses it", args...)
	}
	switch {
	case a.most > 0 && a.most < initial:
		refuse("maxmem of %s is below the memory of %s", a.most, initial)
	case size > 0 && a.most == 0:
		refuse("memory devices need maxmem in -m")
	case initial+size > a.most && size > 0:
		refuse("memory devices of %s and %s of memory exceed maxmem (%s)", size, initial, a.most)
	case slots > a.slots:
		refuse("%s, but -m has %s", words.Plural(slots, "memory module"), words.Plural(a.slots, "slot"))
	}
}

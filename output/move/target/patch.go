package target

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	"homenode/change/move"
	"homenode/internal/words"
	"homenode/numa"
)

// A Patched is a domain of another tool with the NUMA elements of a move.
type Patched struct {
	Data    []byte
	Changes []string // in file order; nil if the domain already has them
	Why     string   // why it is not patched: parts of its present cells that the new ones would not have; then there is no Data
}

// Patch replaces the NUMA elements in the domain XML of a file by those of a move: vcpu, the topology and the cells of cpu,
// numatune, pins of cputune, huge pages of memoryBacking, acpi of features, and memory if it differs; it takes vcpus out. Every other
// byte is unchanged.
func Patch(name string, data []byte, m *move.Move) (*Patched, error) {
	root, err := parseDomain(name, data)
	if err != nil {
		return nil, err
	}
	if root.empty {
		return nil, &numa.SyntaxError{File: name, Line: root.line, Col: root.col, Msg: "found an empty <domain>"}
	}
	p := &patcher{data: data, root: root, out: &Patched{}}
	p.domain(m)
	if len(p.edits) > 0 {
		if why := p.beyond(len(m.Shape.Cells)); why != "" {
			return &Patched{Why: why}, nil
		}
	}
	slices.SortStableFunc(p.edits, func(a, b edit) int { return cmp.Or(a.from-b.from, a.to-b.to) })
	last, windows := 0, bytes.Contains(data, []byte("\r\n"))
	for _, e := range p.edits {
		if windows {
			e.text = strings.ReplaceAll(e.text, "\n", "\r\n") // all inserted lines have these line ends
		}
		p.out.Data = append(append(p.out.Data, data[last:e.from]...), e.text...)
		if e.says != "" {
			p.out.Changes = append(p.out.Changes, e.says)
		}
		last = e.to
	}
	p.out.Data = append(p.out.Data, data[last:]...)
	return p.out, nil
}

// mostDeep is the maximum nesting depth of elements in a domain.
const mostDeep = 100

// An edit replaces bytes of a file.
type edit struct {
	from, to int
	text     string
	says     string
}

type patcher struct {
	data  []byte
	root  *node
	edits []edit
	out   *Patched
}

// domain creates the edits, one element of the domain at a time. It keeps pins, memory binding and huge pages of the file if the
// move has none.
func (p *patcher) domain(m *move.Move) {
	d := domainOf(m)
	p.amount("memory", d.Memory)
	if p.root.child("currentMemory") != nil {
		p.amount("currentMemory", d.Memory)
	}
	p.element(p.root, "vcpu", d.VCPU)
	if old := p.root.child("vcpus"); old != nil {
		p.replace(old, "", "vcpus is taken out: all vCPUs of vcpu are there at the start")
	}
	if d.Backing != nil {
		if d.Backing.Huge != nil {
			p.inside(p.root, "memoryBacking", []string{"hugepages"}, []part{{"hugepages", d.Backing.Huge}})
		} else {
			p.inside(p.root, "memoryBacking", []string{"allocation"}, []part{{"allocation", d.Backing.Allocation}})
		}
	}
	if m.Binding() != nil {
		var pins []part
		if d.CPUTune != nil {
			for _, pin := range d.CPUTune.Pins {
				pins = append(pins, part{"vcpupin", pin})
			}
			if d.CPUTune.Emulator != nil {
				pins = append(pins, part{"emulatorpin", d.CPUTune.Emulator})
			}
		}
		p.inside(p.root, "cputune", []string{"vcpupin", "emulatorpin"}, pins)
		p.element(p.root, "numatune", d.Tune)
	}
	p.features(d)
	if d.Devices != nil && !p.extended() && p.q35() {
		p.inside(p.root, "devices", []string{"iommu"}, []part{{"iommu", d.Devices.IOMMU}})
	}
	parts := []part{{"topology", d.CPU.Topology}}
	if bits := move.AddressBits(m.Shape); bits > 0 && !p.passthrough() && p.root.child("cpu").child("maxphysaddr") == nil {
		parts = append(parts, part{"maxphysaddr", address{"emulate", bits}})
	}
	if m.Topoext() && p.passthrough() && !p.has(topoext.Name) {
		parts = append(parts, part{"feature", topoext})
	}
	if d.CPU.NUMA != nil {
		parts = append(parts, part{"numa", d.CPU.NUMA})
	}
	p.inside(p.root, "cpu", []string{"topology", "numa"}, parts)
}

// q35 reports whether the machine type takes a virtual IOMMU; K013 says that others do not take as many vCPUs.
func (p *patcher) q35() bool {
	of := p.root.child("os").child("type")
	if of == nil {
		return true
	}
	i := slices.IndexFunc(of.attrs, func(a xml.Attr) bool { return a.Name.Local == "machine" })
	return i < 0 || strings.Contains(of.attrs[i].Value, "q35")
}

// extended reports whether the domain has an IOMMU with extended interrupt mode.
func (p *patcher) extended() bool {
	driver := p.root.child("devices").child("iommu").child("driver")
	return driver != nil && slices.ContainsFunc(driver.attrs, func(a xml.Attr) bool { return a.Name.Local == "eim" && a.Value == "on" })
}

// passthrough reports whether the domain uses the CPU of the host.
func (p *patcher) passthrough() bool {
	cpu := p.root.child("cpu")
	return cpu != nil && slices.ContainsFunc(cpu.attrs, func(a xml.Attr) bool { return a.Name.Local == "mode" && a.Value == passthrough })
}

// has reports whether the domain has a CPU feature.
func (p *patcher) has(name string) bool {
	return slices.ContainsFunc(p.root.child("cpu").all("feature"), func(n *node) bool {
		return slices.ContainsFunc(n.attrs, func(a xml.Attr) bool { return a.Name.Local == "name" && a.Value == name })
	})
}

// features adds missing features.
func (p *patcher) features(d *domain) {
	has := p.root.child("features")
	var parts []part
	if has.child("acpi") == nil {
		parts = append(parts, part{"acpi", struct{}{}})
	}
	dedicated := d.Feature.KVM != nil && p.passthrough() // the CPU mode is unchanged; with other modes some versions of libvirt reject the hint
	if kvm := has.child("kvm"); dedicated && kvm == nil {
		parts = append(parts, part{"kvm", d.Feature.KVM})
	} else if dedicated && kvm.child("hint-dedicated") == nil {
		p.inside(has, "kvm", nil, []part{{"hint-dedicated", d.Feature.KVM.Dedicated}})
	}
	var old []string
	if d.Feature.APIC != nil && p.q35() {
		old, parts = []string{"ioapic"}, append(parts, part{"ioapic", d.Feature.APIC})
	}
	if parts != nil {
		p.inside(p.root, "features", old, parts)
	}
}

// closed replaces empty elements by self-closing tags, as all libvirt tools write them.
var closed = strings.NewReplacer("></topology>", "/>", "></cell>", "/>", "></sibling>", "/>", "></vcpupin>", "/>", "></emulatorpin>", "/>", "></memory>", "/>", "></memnode>", "/>",
	"></page>", "/>", "></allocation>", "/>", "></acpi>", "/>", "></hint-dedicated>", "/>", "></ioapic>", "/>", "></driver>", "/>", "></feature>", "/>", "></maxphysaddr>", "/>")

// element replaces a child of the same name, or inserts it after <vcpu>, <memory> or the name.
func (p *patcher) element(parent *node, name string, value any) {
	old := parent.child(name)
	indent := p.indent(parent)
	text := write(part{name, value}, indent)
	switch {
	case old == nil:
		p.insert(parent, text, indent, fmt.Sprintf("%s is put in", name))
	case !p.same(old, text):
		p.replace(old, text, fmt.Sprintf("%s becomes %s", short(string(p.data[old.from:old.to])), short(text)))
	}
}

// short returns the beginning of an element on one line.
func short(text string) string {
	const most = 90
	text = words.Paragraph(text)
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + " …"
	}
	return text
}

// amount sets a size if it differs.
func (p *patcher) amount(name string, want amount) {
	old := p.root.child(name)
	if old != nil {
		var has amount
		if xml.Unmarshal(p.data[old.from:old.to], &has) == nil {
			a, ok := has.bytes()
			if b, _ := want.bytes(); ok && a == b {
				return
			}
		}
	}
	indent := p.indent(p.root)
	text := fmt.Sprintf("<%s unit='%s'>%d</%s>", name, want.Unit, want.Value, name)
	if old == nil {
		p.insert(p.root, text, indent, name+" is put in")
		return
	}
	p.replace(old, text, fmt.Sprintf("%s becomes %s", short(string(p.data[old.from:old.to])), text))
}

// units are the units of sizes in libvirt.
var units = map[string]numa.Bytes{"": numa.KiB, "b": 1, "bytes": 1, "KB": 1e3, "k": numa.KiB, "KiB": numa.KiB, "MB": 1e6, "M": numa.MiB, "MiB": numa.MiB, "GB": 1e9, "G": numa.GiB, "GiB": numa.GiB, "TB": 1e12, "T": numa.TiB, "TiB": numa.TiB}

// bytes returns a size; ok is false if it is invalid.
func (a amount) bytes() (numa.Bytes, bool) {
	u, ok := units[a.Unit]
	return numa.Bytes(a.Value) * u, ok && a.Value >= 0 && a.Value < 1<<50/int64(max(1, u))
}

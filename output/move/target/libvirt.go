package target

import (
	"bytes"
	"encoding/xml"
	"strings"

	"example.org/homenode/change/move"
	"example.org/homenode/numa"
)

// Elements of a domain that affect NUMA (https://libvirt.org/formatdomain.html).
type (
	domain struct {
		XMLName xml.Name       `xml:"domain"`
		Type    string         `xml:"type,attr"`
		Name    string         `xml:"name"`
		Title   string         `xml:"title"`
		Memory  amount         `xml:"memory"`
		Backing *memoryBacking `xml:"memoryBacking"`
		VCPU    vcpu           `xml:"vcpu"`
		CPUTune *cputune       `xml:"cputune"`
		Tune    *numatune      `xml:"numatune"`
		OS      osType         `xml:"os"`
		Feature features       `xml:"features"`
		CPU     cpu            `xml:"cpu"`
		Devices *devices       `xml:"devices"`
	}
	amount struct {
		Unit  string `xml:"unit,attr"`
		Value int64  `xml:",chardata"`
	}
	memoryBacking struct {
		Huge       *hugepages  `xml:"hugepages"`
		Allocation *allocation `xml:"allocation"`
	}
	hugepages struct {
		Pages []page `xml:"page"`
	}
	allocation struct {
		Mode string `xml:"mode,attr"`
	}
	page struct {
		Size int64  `xml:"size,attr"`
		Unit string `xml:"unit,attr"`
	}
	vcpu struct {
		Placement string `xml:"placement,attr"`
		CPUSet    string `xml:"cpuset,attr,omitempty"`
		Current   int    `xml:"current,attr,omitempty"`
		Most      int    `xml:",chardata"`
	}
	cputune struct {
		Pins     []vcpupin `xml:"vcpupin"`
		Emulator *cpuset   `xml:"emulatorpin"`
	}
	vcpupin struct {
		VCPU   int    `xml:"vcpu,attr"`
		CPUSet string `xml:"cpuset,attr"`
	}
	cpuset struct {
		CPUSet string `xml:"cpuset,attr"`
	}
	numatune struct {
		Memory *nodeset  `xml:"memory"`
		Nodes  []memnode `xml:"memnode"`
	}
	nodeset struct {
		Mode string `xml:"mode,attr"`
		Set  string `xml:"nodeset,attr"`
	}
	memnode struct {
		Cell int    `xml:"cellid,attr"`
		Mode string `xml:"mode,attr"`
		Set  string `xml:"nodeset,attr"`
	}
	osType struct {
		Type struct {
			Arch    string `xml:"arch,attr"`
			Machine string `xml:"machine,attr"`
			Value   string `xml:",chardata"`
		} `xml:"type"`
	}
	features struct {
		ACPI struct{} `xml:"acpi"` // without it the guest keeps its nodes, but all distances are 20
		KVM  *kvm     `xml:"kvm"`
		// APIC is QEMU's IOAPIC, which interrupt remapping requires.
		APIC *driver `xml:"ioapic"`
	}
	driver struct {
		Driver string `xml:"driver,attr"`
	}
	devices struct {
		IOMMU *iommu `xml:"iommu"`
	}
	iommu struct {
		Model  string `xml:"model,attr"`
		Driver struct {
			Remap    string `xml:"intremap,attr"`
			Extended string `xml:"eim,attr"`
		} `xml:"driver"`
	}
	kvm struct {
		Dedicated state `xml:"hint-dedicated"`
	}
	state struct {
		State string `xml:"state,attr"`
	}
	cpu struct {
		Mode     string    `xml:"mode,attr"`
		Topology topology  `xml:"topology"`
		Address  *address  `xml:"maxphysaddr"`
		Features []feature `xml:"feature"`
		NUMA     *cells    `xml:"numa"`
	}
	address struct {
		Mode string `xml:"mode,attr"`
		Bits int    `xml:"bits,attr"`
	}
	feature struct {
		Policy string `xml:"policy,attr"`
		Name   string `xml:"name,attr"`
	}
	topology struct {
		Sockets int `xml:"sockets,attr"`
		Dies    int `xml:"dies,attr"`
		Cores   int `xml:"cores,attr"`
		Threads int `xml:"threads,attr"`
	}
	cells struct {
		Cells []cell `xml:"cell"`
	}
	cell struct {
		ID        int        `xml:"id,attr"`
		CPUs      string     `xml:"cpus,attr,omitempty"` // none for a node with memory only
		Memory    int64      `xml:"memory,attr"`
		Unit      string     `xml:"unit,attr"`
		Distances *distances `xml:"distances"`
	}
	distances struct {
		Siblings []sibling `xml:"sibling"`
	}
	sibling struct {
		ID    int `xml:"id,attr"`
		Value int `xml:"value,attr"`
	}
)

// libvirt writes a domain with all elements that affect NUMA, without devices.
func libvirt(b *bytes.Buffer, m *move.Move) {
	b.WriteString("<!--\n")
	for _, line := range head(m) {
		for strings.Contains(line, "--") { // they would end the comment
			line = strings.ReplaceAll(line, "--", "- -")
		}
		b.WriteString("  " + xmlLine(line) + "\n")
	}
	b.WriteString("-->\n")
	e := xml.NewEncoder(b)
	e.Indent("", "  ")
	if err := e.Encode(domainOf(m)); err != nil {
		panic(err) // cannot fail for plain structs in a buffer
	}
	b.WriteByte('\n')
}

// passthrough is the CPU mode with which every libvirt accepts hint-dedicated. Older versions reject it with other modes.
const passthrough = "host-passthrough"

var topoext = feature{"require", "topoext"}

// domainOf returns the domain of a move.
func domainOf(m *move.Move) *domain {
	s := m.Shape
	d := &domain{Type: "kvm", Name: m.Name, Title: xmlLine(m.Title), Memory: amount{"KiB", int64(s.Memory / numa.KiB)}}
	d.OS.Type.Arch, d.OS.Type.Machine, d.OS.Type.Value = "x86_64", "q35", "hvm"
	d.VCPU = vcpu{Placement: "static", Most: s.Most()}
	if s.VCPUs < s.Most() {
		d.VCPU.Current = s.VCPUs
	}
	d.CPU = cpu{Mode: "host-model", Topology: topology{s.Sockets, s.Dies, s.Cores, s.Threads}}
	if len(s.Cells) > 1 { // a guest with a single cell sees no NUMA
		d.CPU.NUMA = cellsOf(s)
	}
	if s.Page > 0 {
		d.Backing = &memoryBacking{Huge: &hugepages{[]page{{int64(s.Page / numa.KiB), "KiB"}}}}
	}
	if s.Most() > move.FewAPICs {
		d.Feature.APIC = &driver{"qemu"}
		d.Devices = &devices{&iommu{Model: "intel"}}
		d.Devices.IOMMU.Driver.Remap, d.Devices.IOMMU.Driver.Extended = "on", "on"
	}
	if at := m.Binding(); at != nil {
		placed(d, m, at)
	}
	if bits := move.AddressBits(s); bits > 0 && d.CPU.Mode != passthrough {
		d.CPU.Address = &address{"emulate", bits}
	}
	if d.CPU.Mode == passthrough && m.Topoext() {
		d.CPU.Features = []feature{topoext}
	}
	return d
}

func cellsOf(s *move.Shape) *cells {
	out := &cells{}
	for i, c := range s.Cells {
		one := cell{ID: i, CPUs: ranges(c.CPUs, ","), Memory: int64(c.Memory / numa.KiB), Unit: "KiB"}
		if s.Distance != nil {
			one.Distances = &distances{}
			for j, value := range s.Distance[i] {
				one.Distances.Siblings = append(one.Distances.Siblings, sibling{j, value})
			}
		}
		out.Cells = append(out.Cells, one)
	}
	return out
}

// placed binds memory and vCPUs. Each vCPU is allowed on every CPU of its cell's node, like a NUMA client on its home node, or
// is pinned to one CPU.
func placed(d *domain, m *move.Move, at *move.Placement) {
	s := m.Shape
	mode := "preferred"
	if m.Strict {
		mode = "strict"
		if d.Backing == nil { // huge pages are allocated at the start anyway
			d.Backing = &memoryBacking{Allocation: &allocation{"immediate"}}
		}
	}
	all, _ := at.All()
	d.Tune = &numatune{}
	if len(s.Cells) == 1 {
		d.Tune.Memory = &nodeset{mode, ranges(at.Nodes, ",")}
	} else {
		for i, n := range at.Nodes {
			d.Tune.Nodes = append(d.Tune.Nodes, memnode{i, mode, ranges([]int{n}, ",")})
		}
	}
	switch {
	case m.Exclusive:
		d.CPUTune = &cputune{}
		for v, c := range at.Pins(s) {
			d.CPUTune.Pins = append(d.CPUTune.Pins, vcpupin{v, ranges([]int{c}, ",")})
		}
		if at.Helpers != nil {
			d.CPUTune.Emulator = &cpuset{ranges(at.Helpers, ",")}
		}
		d.Feature.KVM = &kvm{state{"on"}}
		d.CPU.Mode = passthrough
	case len(s.Cells) == 1:
		d.VCPU.CPUSet = ranges(all, ",")
	default:
		d.CPUTune = &cputune{Emulator: &cpuset{ranges(all, ",")}}
		for v, c := range s.Of() {
			d.CPUTune.Pins = append(d.CPUTune.Pins, vcpupin{v, ranges(at.HostCPUs(c), ",")})
		}
	}
}

// xmlLine returns a text on one line, without characters that are invalid in XML.
func xmlLine(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "?"), func(r rune) bool { return r < ' ' || r == 0x7f || r == 0xfffe || r == 0xffff }), " ")
}

package machine

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"example.org/homenode/internal/cpuid"
	"example.org/homenode/numa"
)

// A leafFunc executes one leaf of the instruction CPUID.
type leafFunc func(leaf, sub uint32) (eax, ebx, ecx, edx uint32)

// leaves returns the function for this machine's processor; nil without the instruction.
func leaves() leafFunc {
	if !cpuid.Has {
		return nil
	}
	return cpuid.Leaf
}

// Hypervisors by the signature of CPUID leaf 0x40000000, in the names of lscpu.
var signatures = map[string]string{
	"VMwareVMware": "VMware",
	"KVMKVMKVM":    "KVM",
	"Linux KVM Hv": "KVM", // with the interface of Hyper-V
	"Microsoft Hv": "Microsoft",
	"XenVMMXenVMM": "Xen",
	tcgSignature:   "QEMU",
	"VBoxVBoxVBox": "Oracle",
	"prl hyperv":   "Parallels",
	"bhyve bhyve":  "bhyve",
	"ACRNACRNACRN": "ACRN",
	"Apple VZ":     "Apple",
}

const (
	tcgSignature     = "TCGTCGTCGTCG"
	hypervisorLeaf   = 0x40000000
	hypervFeatures   = 0x40000003
	frequencyLeaf    = 0x40000010
	brandLeaf        = 0x80000002
	hypervisorBit    = 1 << 31 // leaf 1, ECX
	createPartitions = 1       // Hyper-V features, EBX: this is the root partition
)

// byCPUID sets the facts from the instruction CPUID. Each leaf is read once.
func (id *Identity) byCPUID(read leafFunc) {
	_, b, c, d := read(0, 0)
	id.Vendor = words(b, d, c)
	a, _, features, _ := read(1, 0)
	id.Family, id.Model, id.Stepping = int(a>>8&0xf), int(a>>4&0xf), int(a&0xf)
	if id.Family == 6 || id.Family == 0xf {
		id.Model |= int(a >> 16 & 0xf << 4)
	}
	if id.Family == 0xf {
		id.Family += int(a >> 20 & 0xff)
	}
	if last, _, _, _ := read(0x80000000, 0); last >= brandLeaf+2 {
		var brand []uint32
		for leaf := range uint32(3) {
			a, b, c, d := read(brandLeaf+leaf, 0)
			brand = append(brand, a, b, c, d)
		}
		id.CPU = strings.Join(strings.Fields(words(brand...)), " ")
	}
	if features&hypervisorBit == 0 {
		return // bare metal, or a hypervisor that hides itself
	}
	last, b, c, d := read(hypervisorLeaf, 0)
	signature := words(b, c, d)
	where := fmt.Sprintf("CPUID %#x: %s", hypervisorLeaf, signature)
	name, known := signatures[signature]
	if !known {
		name = signature
	}
	id.Virtualised = numa.ReadAt(true, "CPUID 1: hypervisor bit")
	if name != "" {
		id.Hypervisor = numa.ReadAt(name, where)
	}
	if known {
		id.Emulated = numa.ReadAt(signature == tcgSignature, where)
	}
	if name == "Microsoft" {
		if _, b, _, _ := read(hypervFeatures, 0); b&createPartitions != 0 {
			id.Virtualised = numa.ReadAt(false, fmt.Sprintf("CPUID %#x: the root partition of Hyper-V, on the hardware itself", hypervFeatures))
		}
	} else if last >= frequencyLeaf && last < hypervisorLeaf+1<<16 {
		a, _, _, _ := read(frequencyLeaf, 0)
		id.TSCKHz = int(a)
	}
}

// words returns the text in registers.
func words(registers ...uint32) string {
	var b []byte
	for _, r := range registers {
		b = binary.LittleEndian.AppendUint32(b, r)
	}
	return clean(string(b))
}

// clean removes characters that a terminal would interpret from a firmware text: it returns its printable ASCII
// characters, trimmed.
func clean(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, s))
}

// implementers are the makers of arm64 processors, by the number in MIDR_EL1.
var implementers = map[int]string{
	0x41: "ARM", 0x42: "Broadcom", 0x43: "Cavium", 0x46: "Fujitsu", 0x48: "HiSilicon", 0x4e: "NVIDIA",
	0x50: "APM", 0x51: "Qualcomm", 0x53: "Samsung", 0x61: "Apple", 0x69: "Intel", 0x6d: "Microsoft", 0xc0: "Ampere",
}

// byCPUInfo sets the facts about the first processor in Linux's /proc/cpuinfo.
func (id *Identity) byCPUInfo(text string) {
	first, _, _ := strings.Cut(text, "\n\n")
	for line := range strings.Lines(first) {
		key, value, _ := strings.Cut(line, ":")
		value = clean(value)
		wide, _ := number(value)
		n := int(wide & math.MaxInt32)
		switch strings.TrimSpace(key) {
		case "vendor_id":
			id.Vendor = value
		case "model name":
			id.CPU = value
		case "cpu family":
			id.Family = n
		case "model":
			id.Model = n
		case "stepping":
			id.Stepping = n
		case "CPU implementer":
			id.Vendor = implementers[n]
			if value == "0x00" { // reserved for software
				id.Emulated = numa.DerivedFrom(true, "/proc/cpuinfo: CPU implementer 0x00")
			}
		case "CPU part":
			id.Model = n
		case "CPU revision":
			id.Stepping = n
		case "flags":
			if !id.Virtualised.Known() && strings.Contains(" "+value+" ", " hypervisor ") {
				id.Virtualised = numa.ReadAt(true, "/proc/cpuinfo: flag hypervisor")
			}
		}
	}
}

// vendors maps the machine's names in DMI to hypervisors.
var vendors = []struct{ part, name string }{
	{"VMware", "VMware"}, {"Microsoft Corporation Virtual Machine", "Microsoft"}, {"QEMU", "QEMU"}, {"KVM", "KVM"}, {"Google Compute Engine", "KVM"},
	{"Amazon EC2", "Amazon"}, {"Xen", "Xen"}, {"VirtualBox", "Oracle"}, {"Parallels", "Parallels"}, {"OpenStack", "OpenStack"},
	{"BHYVE", "bhyve"}, {"Apple Virtualization", "Apple"},
}

// byDMI sets the facts from vendor and product of the machine that CPUID lacks.
func (id *Identity) byDMI(vendor, product, where string) {
	machine := clean(vendor + " " + product)
	for _, v := range vendors {
		if strings.Contains(machine, v.part) && !strings.Contains(machine, ".metal") {
			if !id.Hypervisor.Known() {
				id.Hypervisor = numa.ReadAt(v.name, where+": "+machine)
			}
			if !id.Virtualised.Known() {
				id.Virtualised = numa.ReadAt(true, where+": "+machine)
			}
			return
		}
	}
}

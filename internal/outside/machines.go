package outside

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Machine is a type of machine of QEMU, from a version on.
type Machine struct {
	Type  string // "pc-q35"
	From  [2]int // the version of the type: 8.1
	VCPUs int    // that it has at most
}

var machines = parseMachines()

func parseMachines() (out []Machine) {
	for _, c := range rows("Machine types", 5) {
		from, ok := versionOf(c[1])
		n, err := strconv.Atoi(c[2])
		if !ok || err != nil {
			panic(fmt.Sprintf("facts.md: found %q from %q, want a number and a version", c[2], c[1]))
		}
		out = append(out, Machine{c[0], from, n})
	}
	return out
}

// versionOf reads "7.2", or "4.0.1" of which the first two count.
func versionOf(text string) (v [2]int, ok bool) {
	parts := strings.Split(text, ".")
	if len(parts) < 2 {
		return v, false
	}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil {
			return v, false
		}
		if i < len(v) {
			v[i] = n
		}
	}
	return v, true
}

// MachineOf returns what is known of a machine type as definitions name it: "pc-q35-7.2", "pc-i440fx-9.0+pve1". "q35" and "pc" are of the
// newest release, and versioned is false. ok is false for a type that the table lacks, such as one of a distribution.
func MachineOf(name string) (m Machine, versioned, ok bool) {
	name, _, _ = strings.Cut(name, "+")
	kind, version := name, [2]int{1 << 30, 0}
	if at := strings.LastIndex(name, "-"); at >= 0 {
		if v, is := versionOf(name[at+1:]); is {
			kind, version, versioned = name[:at], v, true
		}
	}
	switch kind {
	case "q35":
		kind = "pc-q35"
	case "pc":
		kind = "pc-i440fx"
	}
	for _, one := range machines {
		if one.Type == kind && slices.Compare(one.From[:], version[:]) <= 0 {
			m, ok = one, true
		}
	}
	return m, versioned, ok
}

// More returns the first versions of a type that have more vCPUs, in words: "1024 from 8.1, 4096 from 9.0"; "" for none.
func (m Machine) More() string {
	var out []string
	for _, one := range machines {
		if one.Type == m.Type && one.VCPUs > m.VCPUs {
			out = append(out, fmt.Sprintf("%d from %d.%d", one.VCPUs, one.From[0], one.From[1]))
		}
	}
	return strings.Join(out, ", ")
}

// FewAPICs are as many vCPUs as QEMU and libvirt start without extended interrupt mode (QEMU, hw/i386/pc_q35.c, hw/i386/intel_iommu.c;
// libvirt, QEMU_MAX_VCPUS_WITHOUT_EIM).
const FewAPICs = 255

// ModelBits are the bits of physical addresses of the models of processors that QEMU knows (the fact "physbits").
const ModelBits = 40

// AddressBits returns how many bits of physical addresses a guest of so much memory, in bytes, needs at least, with what a machine type
// puts above and below it: q35, or else i440fx (pc_max_used_gpa and pc_pci_hole64_start in hw/i386/pc.c of QEMU). A guest with a processor of AMD needs more from 978
// GB on, since its memory is moved out of the way of HyperTransport.
func AddressBits(memory int64, machine string) int {
	const gib = 1 << 30
	above := int64(2+2) * gib // the hole below 4 GB, and the window of PCI above the memory
	if m, _, _ := MachineOf(machine); cmp.Or(m.Type, "pc-q35") == "pc-q35" {
		above = (2 + 32) * gib
	}
	bits := 32
	for int64(1)<<bits < (memory+above+gib-1)/gib*gib {
		bits++
	}
	return bits
}

package definition

import (
	"cmp"
	"strconv"
	"strings"

	"example.org/homenode/internal/outside"
	"example.org/homenode/numa"
)

// Limits are what QEMU looks at before it starts a VM: the vCPUs that its machine type has, and the memory that its processor addresses.
type Limits struct {
	Machine   string     // its type as it is stated; "" for none
	Default   string     // the type that the platform takes then; "" for an unknown one
	VCPUs     int        // with those that can be added
	Clusters  int        // of a die
	Dies      int        // of a socket
	Memory    numa.Bytes // with what can be added
	Bits      int        // of addresses of the processor; 0 for those of the host, or unknown ones
	More      string     // what gives the processor more bits
	CPU, Size [2]int     // line and column of vCPUs and of memory
}

// Limits finds more vCPUs than the machine type has, and more memory than the processor addresses, in a definition of x86 of a VM that
// does not run.
func (v *VM) Limits(l Limits) {
	if v.Stated == nil {
		return
	}
	other := v.Arch != "" && v.Arch != "x86_64" && v.Arch != "i686" || strings.HasPrefix(l.Machine, "virt")
	v.Stated.Dieless = other || v.Stated.Platform == "Proxmox VE" || v.Stated.Platform == "KubeVirt"
	if other && l.Dies > 1 && !v.Stated.Running { // machine_parse_smp_config: smp_props.dies_supported, of x86 alone
		v.Refuse(l.CPU[0], l.CPU[1], "%d dies of a socket, which the machine type %s has not: QEMU refuses it", l.Dies, cmp.Or(l.Machine, v.Arch))
	}
	if v.Arch == "s390x" && len(v.Stated.Cells) > 0 && !v.Stated.Running { // set_numa_options, hw/core/numa.c: no numa_state
		v.Refuse(l.CPU[0], l.CPU[1], "NUMA nodes, which machines of s390x have not: QEMU refuses them")
	}
	if other || v.Stated.Running {
		return
	}
	name, stray := cmp.Or(l.Machine, l.Default), v.Refuse
	m, versioned, known := outside.MachineOf(name)
	if !known {
		return
	}
	if n := l.VCPUs; n > m.VCPUs {
		more, of := m.More(), name
		if more != "" {
			more = " (" + more + ")"
		}
		if l.Machine == "" {
			of += ", which is taken where none is stated,"
		}
		stray(l.CPU[0], l.CPU[1], "%d vCPUs, and the machine type %s has at most %d%s: QEMU refuses it", n, of, m.VCPUs, more)
	}
	if l.Clusters > 1 { // smp_props.clusters_supported
		v.Refuse(l.CPU[0], l.CPU[1], "%d clusters of a die, which the machine type %s has not: QEMU refuses it", l.Clusters, name)
	}
	if !versioned && v.Stated.Platform != "Proxmox VE" { // types of Red Hat have the bits of the host
		stray = v.Doubt
	}
	if bits := outside.AddressBits(int64(l.Memory), m.Type); l.Bits > 0 && bits > l.Bits && l.Memory > 0 {
		stray(l.Size[0], l.Size[1], "%s of memory need %d address bits, and the processor has %d: QEMU from 7.1 on refuses it; %s has more", l.Memory, bits, l.Bits, l.More)
	}
}

// Refuse adds what the platform refuses.
func (v *VM) Refuse(line, col int, format string, args ...any) {
	v.Stray(line, col, true, format, args...)
}

// BitsOf returns the bits of addresses of a processor as -cpu of QEMU and cpu of Proxmox VE state it: "Skylake-Server,phys-bits=42"; 0 for
// those of the host.
func BitsOf(cpu string) int {
	bits := outside.ModelBits
	for i, part := range strings.Split(cpu, ",") {
		key, value, named := strings.Cut(part, "=")
		n, err := strconv.Atoi(value)
		switch {
		case i == 0 && (part == "host" || part == "max" || part == "cputype=host" || part == "cputype=max"), key == "host-phys-bits" && value != "off", key == "phys-bits" && value == "host":
			return 0
		case key == "phys-bits" && named && err == nil:
			bits = n
		}
	}
	return bits
}

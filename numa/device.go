package numa

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa/pattern"
)

// The kinds of attachment of a host's device to a VM.
const (
	Passthrough = "passthrough" // the whole device: DirectPath I/O
	SRIOV       = "SR-IOV"      // a virtual function of a network adapter
	Dynamic     = "dynamic"     // DirectPath I/O of a device chosen at power-on
	VGPU        = "vGPU"        // a share of a graphics adapter
)

// A Device is a PCI device of a host that is assigned to a VM.
type Device struct {
	Name string `json:"name,omitempty"` // as named by its maker or in the configuration
	Kind string `json:"kind"`           // passthrough, SR-IOV, dynamic or vGPU
	// PCI is the address on the host in the form of PCIAddress; empty if ESXi chooses the device at power-on.
	PCI string `json:"pci,omitempty"`
	// VirtualNode is the virtual node of the device in the guest (8.0); -1 for none.
	VirtualNode int `json:"virtualNode"`
}

// Tied returns the device that ties the VM to its host, nil for none: a VM with DirectPath I/O or SR-IOV does not migrate, and
// vSphere HA does not restart it on another host (rule book D-5). Devices of Dynamic DirectPath I/O and vGPUs are chosen at power-on.
func (c *Config) Tied() *Device {
	i := slices.IndexFunc(c.Devices.Value, func(d Device) bool { return d.Kind == Passthrough || d.Kind == SRIOV })
	if i < 0 {
		return nil
	}
	return &c.Devices.Value[i]
}

// String returns the name of the device: the maker's name, and its address.
func (d *Device) String() string {
	if d.Name == "" {
		return strings.TrimSpace(d.Kind + " device " + d.PCI)
	}
	return fmt.Sprintf("%s (%s)", d.Name, d.PCI)
}

var pciForm = pattern.Of(`^(?:([0-9a-fA-F]{4,5}):)?([0-9a-fA-F]{2,3}):([0-9a-fA-F]{2})\.([0-9a-fA-F])$`)

// PCIAddress normalises a PCI address, such as 0000:3b:00.0. The API writes hexadecimal numbers, .vmx files of ESXi decimal
// ones with a bus of three digits: 00000:059:00.0. It returns "" for anything else.
func PCIAddress(s string) string {
	m := pciForm.FindStringSubmatch(s)
	if m == nil {
		return ""
	}
	base := 16
	if len(m[2]) == 3 {
		base = 10
	}
	var n [4]uint64
	for i, most := range []uint64{1<<16 - 1, 1<<8 - 1, 1<<5 - 1, 7} {
		if m[i+1] == "" {
			continue
		}
		v, err := strconv.ParseUint(m[i+1], base, 32)
		if err != nil || v > most {
			return ""
		}
		n[i] = v
	}
	return fmt.Sprintf("%04x:%02x:%02x.%x", n[0], n[1], n[2], n[3])
}

// An Attached is a PCI device's address and the NUMA node that it is attached to.
type Attached struct {
	PCI  string `json:"pci"`
	Node int    `json:"node"`
}

// NodeOf returns the NUMA node that the device at the address is attached to.
func (h *Host) NodeOf(pci string) (id int, ok bool) {
	i := slices.IndexFunc(h.Attached.Value, func(a Attached) bool { return a.PCI == pci })
	if i < 0 {
		return 0, false
	}
	return h.Attached.Value[i].Node, true
}

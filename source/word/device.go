package word

import (
	"strconv"
	"strings"

	"example.org/homenode/numa"
)

// attached parses the nodes of the PCI devices of a host: 3b:00.0@1,af:00.0@0.
func attached(h *numa.Host, w Word, where string) error {
	var list []numa.Attached
	for part := range strings.SplitSeq(w.Value, ",") {
		address, node, _ := strings.Cut(part, "@")
		pci := numa.PCIAddress(address)
		n, err := strconv.Atoi(node)
		if pci == "" || err != nil || n < 0 || n >= numa.MaxNodes {
			return Errorf(w.Col, "found %s=%q, want PCI addresses and the nodes of the devices, such as 3b:00.0@1,af:00.0@0", Short(w.Key), Short(w.Value))
		}
		list = append(list, numa.Attached{PCI: pci, Node: n})
	}
	h.Attached = numa.ReadAt(list, where)
	return nil
}

// devices parses the passthrough PCI devices of a VM: 3b:00.0,af:00.0.
func devices(v *numa.VM, w Word, where string) error {
	if w.Value == "" || strings.EqualFold(w.Value, "none") {
		v.Devices = numa.ReadAt([]numa.Device{}, where)
		return nil
	}
	var list []numa.Device
	for part := range strings.SplitSeq(w.Value, ",") {
		pci := numa.PCIAddress(part)
		if pci == "" {
			return Errorf(w.Col, "found %s=%q, want PCI addresses on the host, such as 3b:00.0,af:00.0", Short(w.Key), Short(w.Value))
		}
		list = append(list, numa.Device{Kind: numa.Passthrough, PCI: pci, VirtualNode: -1})
	}
	v.Devices = numa.ReadAt(list, where)
	return nil
}

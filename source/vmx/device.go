package vmx

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/fact"
)

var deviceKey = pattern.Of(`^pcipassthru\d+\.(id|present)$`)

// mostDevices is the maximum number of a passthrough device in a configuration.
const mostDevices = 128

// devices reads pciPassthruN.id: the passthrough devices of the VM (Denneman, PCIe device NUMA
// node locality, 2020).
func (d *Dict) devices(c *numa.Config, file *fact.File) {
	if d == nil || !slices.ContainsFunc(d.list, func(e Entry) bool { return strings.HasPrefix(strings.ToLower(e.Key), "pcipassthru") }) {
		return
	}
	var list []numa.Device
	first := 0
	for i := range mostDevices {
		key := fmt.Sprintf("pciPassthru%d.", i)
		e, ok := d.Lookup(key + "id")
		if present, there := d.Lookup(key + "present"); !ok || there && strings.EqualFold(present.Value, "FALSE") {
			continue
		}
		pci := numa.PCIAddress(e.Value)
		if pci == "" {
			file.Warn(e.Line, e.Col, "%s: found %q, want an address such as 00000:059:00.0", e.Key, shown(e.Value))
			continue
		}
		first = cmp.Or(first, e.Line)
		list = append(list, numa.Device{Kind: numa.Passthrough, PCI: pci, VirtualNode: -1})
	}
	if list != nil {
		c.Devices = numa.ReadAt(list, "line "+strconv.Itoa(first))
	}
}

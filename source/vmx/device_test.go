package vmx

import (
	"slices"
	"strings"
	"testing"

	"example.org/homenode/numa"
)

// TestDevices: decimal addresses, as ESXi writes them; one device is not present, one malformed.
func TestDevices(t *testing.T) {
	v, err := Read("db01.vmx", strings.NewReader(`numvcpus = "8"
pciPassthru0.id = "00000:059:00.0"
pciPassthru0.present = "TRUE"
pciPassthru1.id = "00000:175:00.0"
pciPassthru1.present = "FALSE"
pciPassthru2.id = "nonsense"
pciPassthru13.id = "00000:216:00.1"
`))
	if err != nil {
		t.Fatal(err)
	}
	c, file := v.config, v.file
	want := []numa.Device{{Kind: numa.Passthrough, PCI: "0000:3b:00.0", VirtualNode: -1}, {Kind: numa.Passthrough, PCI: "0000:d8:00.1", VirtualNode: -1}}
	if !slices.Equal(c.Devices.Value, want) || len(file.Warnings) != 1 {
		t.Errorf("got %+v, %+v", c.Devices, file.Warnings)
	}
}

package serve

import (
	"strconv"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/source/vsphere/lab"
)

// AtPowerOn returns the settings that ESXi stores at a power-on according to the model. A simulated vCenter uses
// it.
func AtPowerOn(v *numa.VM, h *numa.Host) (out lab.PowerOn) {
	g, _, err := vnuma.NewGuest(v)
	if err != nil {
		return out
	}
	m, err := vnuma.NewMachine(h)
	if err != nil {
		return out
	}
	l := vnuma.Predict(&g, &m, &vnuma.Case{})
	if l.Stored.Written {
		out.Settings = numa.Settings{{Key: "numa.autosize.cookie", Value: strconv.Itoa(l.Stored.Cookie)},
			{Key: "numa.autosize.vcpu.maxPerVirtualNode", Value: strconv.Itoa(l.Stored.Size)}}
	}
	out.CoresPerSocket, out.CoresPerNode = l.CoresPerSocket, l.VPDs.Max()
	return out
}

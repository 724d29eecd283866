package vsphere

import (
	"cmp"
	"context"
	"slices"

	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/numa"
)

// readDevices reads the PCI devices of the VMs that are likely to have any: vSphere reserves all their
// memory when they are added ("Add a PCI Device to a Virtual Machine", vSphere Virtual Machine
// Administration). VMs with a part of it reserved are read too: with a device they do not power on (B-31).
// The devices of all VMs would be ten times the size of the rest. A failure costs a note.
func (inv *inventory) readDevices(ctx context.Context) error {
	const path = "config.hardware.device"
	at := map[types.ManagedObjectReference]int{}
	var refs []types.ManagedObjectReference
	for i := range inv.vms {
		if v := &inv.vms[i]; v.MemoryReservationLocked.Value || v.MemoryReservation.Value > 0 {
			at[v.ref] = i
			refs = append(refs, v.ref)
		}
	}
	return pagewise(ctx, inv, refs, labelsPage, path, "the PCI devices of VMs", func(vm *mo.VirtualMachine) {
		which, ok := at[vm.Self]
		if !ok || vm.Config == nil {
			return
		}
		if devices := devicesOf(vm.Config.Hardware.Device); devices != nil {
			inv.vms[which].Devices = numa.ReadAt(devices, path)
		}
	})
}

// devicesOf returns a VM's PCI devices of its host.
func devicesOf(list []types.BaseVirtualDevice) (devices []numa.Device) {
	for _, device := range list {
		var d numa.Device
		switch p := device.(type) {
		case *types.VirtualPCIPassthrough:
			switch b := p.Backing.(type) {
			case *types.VirtualPCIPassthroughDeviceBackingInfo:
				d = numa.Device{Kind: numa.Passthrough, Name: b.DeviceName, PCI: numa.PCIAddress(b.Id)}
			case *types.VirtualPCIPassthroughDynamicBackingInfo:
				d = numa.Device{Kind: numa.Dynamic, Name: b.DeviceName, PCI: numa.PCIAddress(b.AssignedId)}
			case *types.VirtualPCIPassthroughVmiopBackingInfo:
				d = numa.Device{Kind: numa.VGPU, Name: b.Vgpu}
			default:
				continue
			}
		case *types.VirtualSriovEthernetCard:
			d.Kind = numa.SRIOV
			if p.SriovBacking != nil && p.SriovBacking.PhysicalFunctionBacking != nil {
				d.Name, d.PCI = p.SriovBacking.PhysicalFunctionBacking.DeviceName, numa.PCIAddress(p.SriovBacking.PhysicalFunctionBacking.Id)
			}
		default:
			continue
		}
		d.VirtualNode = -1
		if n := device.GetVirtualDevice().NumaNode; n != nil && *n >= 0 {
			d.VirtualNode = int(*n)
		}
		devices = append(devices, d)
	}
	return devices
}

// placeDevices sets the nodes of those devices of hosts that VMs use.
func (inv *inventory) placeDevices() {
	for i := range inv.vms {
		v := &inv.vms[i]
		at, ok := inv.hostAt[v.host]
		if !ok {
			continue
		}
		h := &inv.hosts[at]
		for _, d := range v.Devices.Value {
			k := slices.IndexFunc(h.attached, func(a numa.Attached) bool { return a.PCI == d.PCI })
			if k >= 0 && !slices.Contains(h.Attached.Value, h.attached[k]) {
				h.Attached = numa.ReadAt(append(h.Attached.Value, h.attached[k]), "hardware.numaInfo.numaNode.pciId")
			}
		}
		slices.SortFunc(h.Attached.Value, func(a, b numa.Attached) int { return cmp.Compare(a.PCI, b.PCI) })
	}
}

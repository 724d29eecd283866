package lab

import (
	"fmt"
	"math"
	"strings"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/numa"
)

// addVM adds a VM with the configuration of v, on its host, in its cluster's resource pool and in its folder.
func (b *builder) addVM(v *numa.VM) error {
	config, err := configOf(v)
	if err != nil {
		return fmt.Errorf("VM %q: %w", v.Name, err)
	}
	vm := &simulator.VirtualMachine{DataSets: make(map[string]*simulator.DataSet)}
	vm.Self = types.ManagedObjectReference{Type: "VirtualMachine", Value: v.ID}
	vm.Name = escaper.Replace(v.Name)
	vm.Config = config
	for _, a := range attributesOf(v) {
		vm.CustomValue = append(vm.CustomValue, &types.CustomFieldStringValue{CustomFieldValue: types.CustomFieldValue{Key: b.attributes[a.Name]}, Value: a.Value})
	}
	vm.Datastore = []types.ManagedObjectReference{b.datastore.Self}
	// Fields that the simulator needs to change a VM.
	vm.Guest, vm.Summary.Guest = &types.GuestInfo{}, &types.VirtualMachineGuestSummary{}
	vm.Layout, vm.LayoutEx = &types.VirtualMachineFileLayout{}, &types.VirtualMachineFileLayoutEx{}
	vm.Storage, vm.Summary.Storage = &types.VirtualMachineStorageInfo{}, &types.VirtualMachineStorageSummary{}
	vm.Summary.Vm = &vm.Self
	vm.Runtime.ConnectionState = types.VirtualMachineConnectionStateConnected
	if config == nil {
		vm.Runtime.ConnectionState = types.VirtualMachineConnectionStateInaccessible
	}
	vm.Runtime.PowerState = powerStates[v.Power.Value]
	// Fields that clients of real vCenters (Ansible's pyVmomi) expect in every VM.
	vm.Runtime.FaultToleranceState = types.VirtualMachineFaultToleranceStateNotConfigured
	vm.Runtime.RecordReplayState = types.VirtualMachineRecordReplayStateInactive
	vm.OverallStatus, vm.Summary.OverallStatus, vm.GuestHeartbeatStatus = types.ManagedEntityStatusGreen, types.ManagedEntityStatusGreen, types.ManagedEntityStatusGray
	vm.Summary.QuickStats.GuestHeartbeatStatus = types.ManagedEntityStatusGray
	vm.Guest.ToolsStatus, vm.Guest.ToolsRunningStatus = types.VirtualMachineToolsStatusToolsNotRunning, string(types.VirtualMachineToolsRunningStatusGuestToolsNotRunning)
	vm.Guest.GuestState = string(types.VirtualMachineGuestStateNotRunning)
	if vm.Runtime.PowerState == types.VirtualMachinePowerStatePoweredOn {
		vm.Runtime.BootTime = new(b.boot)
		vm.Guest.ToolsStatus, vm.Guest.ToolsRunningStatus = types.VirtualMachineToolsStatusToolsOk, string(types.VirtualMachineToolsRunningStatusGuestToolsRunning)
		vm.Guest.GuestState = string(types.VirtualMachineGuestStateRunning)
	}
	vm.Summary.Guest.ToolsStatus, vm.Summary.Guest.ToolsRunningStatus = vm.Guest.ToolsStatus, vm.Guest.ToolsRunningStatus
	if config != nil {
		config.ChangeVersion, config.Modified = b.boot.Format(versionForm), b.boot
		vm.ResourceConfig = &types.ResourceConfigSpec{Entity: &vm.Self, ChangeVersion: config.ChangeVersion, LastModified: new(b.boot),
			CpuAllocation: *config.CpuAllocation, MemoryAllocation: *config.MemoryAllocation}
		vm.Summary.Config = types.VirtualMachineConfigSummary{Name: vm.Name, Template: config.Template, InstanceUuid: config.InstanceUuid,
			NumCpu: config.Hardware.NumCPU, MemorySizeMB: config.Hardware.MemoryMB, GuestId: config.GuestId, GuestFullName: config.GuestFullName, HwVersion: config.Version}
	}

	folder := b.folder(v.Folder)
	b.ctx.Map.PutEntity(folder, vm)
	folder.ChildEntity = append(folder.ChildEntity, vm.Self)

	pool := b.poolOf(v)
	if host := b.hosts[v.Host]; host != nil {
		vm.Runtime.Host = &host.Self
		host.Vm = append(host.Vm, vm.Self)
	}
	if pool != nil && !v.Template.Value { // a template is in no pool
		vm.ResourcePool = &pool.Self
		pool.Vm = append(pool.Vm, vm.Self)
	}
	vm.Summary.Runtime = vm.Runtime
	return nil
}

// poolOf returns the root resource pool of the VM's cluster or standalone host.
func (b *builder) poolOf(v *numa.VM) *simulator.ResourcePool {
	var ref *types.ManagedObjectReference
	if cluster := b.clusters[v.Cluster]; cluster != nil {
		ref = cluster.ResourcePool
	} else if host := b.hosts[v.Host]; host != nil {
		ref = b.rootPool(host)
	}
	if ref == nil {
		return nil
	}
	return b.ctx.Map.Get(*ref).(*simulator.ResourcePool)
}

var powerStates = map[numa.PowerState]types.VirtualMachinePowerState{
	numa.PoweredOn:  types.VirtualMachinePowerStatePoweredOn,
	numa.PoweredOff: types.VirtualMachinePowerStatePoweredOff,
	numa.Suspended:  types.VirtualMachinePowerStateSuspended,
}

// configOf returns the configuration of a VM, nil when it is unknown.
func configOf(v *numa.VM) (*types.VirtualMachineConfigInfo, error) {
	if !v.Hardware.Known() && !v.VCPUs.Known() && !v.Memory.Known() {
		return nil, nil
	}
	mb := v.Memory.Value / numa.MiB
	if mb > math.MaxInt32 || v.Memory.Value%numa.MiB != 0 {
		return nil, fmt.Errorf("memory of %v does not fit the API", v.Memory.Value)
	}
	c := &types.VirtualMachineConfigInfo{
		Name:                         v.Name,
		InstanceUuid:                 v.UUID,
		Template:                     v.Template.Value,
		Version:                      fmt.Sprintf("vmx-%02d", v.Hardware.Value),
		CpuHotAddEnabled:             pointer(v.CPUHotAdd),
		MemoryHotAddEnabled:          pointer(v.MemoryHotAdd),
		MemoryReservationLockedToMax: pointer(v.MemoryReservationLocked),
		ExtraConfig:                  optionValues(v.Settings.Value),
	}
	c.Hardware.NumCPU = int32(v.VCPUs.Value)
	c.Hardware.NumCoresPerSocket = number[int32](v.CoresPerSocket)
	c.Hardware.AutoCoresPerSocket = pointer(v.AutoCoresPerSocket)
	c.Hardware.MemoryMB = int32(mb)
	c.Hardware.SimultaneousThreads = int32(v.VirtualThreads.Value)
	c.Firmware, c.Flags.VvtdEnabled = v.Firmware.Value, pointer(v.IOMMU)
	// An ID such as windows2019srv_64Guest is one word; a full name is not.
	if os := v.GuestOS.Value; strings.HasSuffix(os, "Guest") && !strings.Contains(os, " ") {
		c.GuestId = os
	} else {
		c.GuestFullName = os
	}
	if v.CoresPerNUMANode.Known() || v.AutoCoresPerNUMANode.Known() || v.VNUMAHotAdd.Known() {
		c.NumaInfo = &types.VirtualMachineVirtualNumaInfo{
			CoresPerNumaNode:        number[int32](v.CoresPerNUMANode),
			AutoCoresPerNumaNode:    pointer(v.AutoCoresPerNUMANode),
			VnumaOnCpuHotaddExposed: pointer(v.VNUMAHotAdd),
		}
	}
	c.Hardware.Device = devices(v.Devices.Value)
	c.CpuAffinity, c.MemoryAffinity = affinity(v.CPUAffinity.Value), affinity(v.MemoryAffinity.Value)
	if v.LatencySensitivity.Known() {
		c.LatencySensitivity = &types.LatencySensitivity{Level: types.LatencySensitivitySensitivityLevel(v.LatencySensitivity.Value)}
	}
	c.CpuAllocation = &types.ResourceAllocationInfo{Reservation: number[int64](v.CPUReservation), Limit: number[int64](v.CPULimit)}
	c.MemoryAllocation = &types.ResourceAllocationInfo{}
	if v.MemoryReservation.Known() {
		c.MemoryAllocation.Reservation = types.NewInt64(int64(v.MemoryReservation.Value / numa.MiB))
	}
	if limit := v.MemoryLimit; limit.Known() {
		c.MemoryAllocation.Limit = types.NewInt64(int64(limit.Value / numa.MiB))
		if limit.Value < 0 {
			c.MemoryAllocation.Limit = types.NewInt64(-1)
		}
	}
	return c, nil
}

// devices returns the PCI devices of a VM in the API's types.
func devices(list []numa.Device) (out []types.BaseVirtualDevice) {
	for i, d := range list {
		base := types.VirtualDevice{Key: int32(13000 + i)}
		if d.VirtualNode >= 0 {
			base.NumaNode = types.NewInt32(int32(d.VirtualNode))
		}
		name := types.VirtualDeviceDeviceBackingInfo{DeviceName: d.Name}
		fixed := types.VirtualPCIPassthroughDeviceBackingInfo{VirtualDeviceDeviceBackingInfo: name, Id: d.PCI}
		if d.Kind == numa.SRIOV {
			card := &types.VirtualSriovEthernetCard{SriovBacking: &types.VirtualSriovEthernetCardSriovBackingInfo{PhysicalFunctionBacking: &fixed}}
			card.VirtualDevice = base
			out = append(out, card)
			continue
		}
		switch d.Kind {
		case numa.Passthrough:
			base.Backing = &fixed
		case numa.Dynamic:
			base.Backing = &types.VirtualPCIPassthroughDynamicBackingInfo{VirtualDeviceDeviceBackingInfo: name, AssignedId: d.PCI}
		case numa.VGPU:
			base.Backing = &types.VirtualPCIPassthroughVmiopBackingInfo{Vgpu: d.Name}
		}
		out = append(out, &types.VirtualPCIPassthrough{VirtualDevice: base})
	}
	return out
}

// pointer returns a fact as an optional value of the API.
func pointer[T any](f numa.Fact[T]) *T {
	if !f.Known() {
		return nil
	}
	return &f.Value
}

// number returns a count as an optional number of the API.
func number[T int32 | int64](f numa.Fact[int]) *T {
	if !f.Known() {
		return nil
	}
	n := T(f.Value)
	return &n
}

func affinity(set []int) *types.VirtualMachineAffinityInfo {
	if len(set) == 0 {
		return nil
	}
	a := &types.VirtualMachineAffinityInfo{}
	for _, n := range set {
		a.AffinitySet = append(a.AffinitySet, int32(n))
	}
	return a
}

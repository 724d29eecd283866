package lab

import (
	"fmt"
	"time"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/types"

	"homenode/numa"
)

// Place puts a VM on a host, both by ID, as a vMotion does, and gives it a power state. Those who wait for updates are told.
func (v *VCenter) Place(vm, host string, power numa.PowerState) error {
	m, ok := v.Model.Map().Get(types.ManagedObjectReference{Type: "VirtualMachine", Value: vm}).(*simulator.VirtualMachine)
	to, there := v.Model.Map().Get(types.ManagedObjectReference{Type: "HostSystem", Value: host}).(*simulator.HostSystem)
	if !ok || !there {
		return fmt.Errorf("no VM %s or no host %s", vm, host)
	}
	var from types.ManagedObjectReference
	v.change(m.Self, func() []types.PropertyChange {
		if m.Runtime.Host != nil {
			from = *m.Runtime.Host
		}
		was := m.Runtime.PowerState
		changes := []types.PropertyChange{{Name: "runtime.host", Val: to.Self}, {Name: "runtime.powerState", Val: powerStates[power]}}
		return append(changes, v.placed(m, was, powerStates[power])...)
	})
	v.moved(v.context(), m.Self, from, to.Self)
	return nil
}

// placed returns what changes with the power of a VM that is placed.
func (v *VCenter) placed(vm *simulator.VirtualMachine, was, is types.VirtualMachinePowerState) []types.PropertyChange {
	if was == is {
		return nil
	}
	v.life(vm).Add(1)
	if is == types.VirtualMachinePowerStatePoweredOn {
		v.effect.Store(vm.Self, v.configNow(vm))
		return append(booted(time.Now()), tools(true)...)
	}
	v.effect.Delete(vm.Self)
	return append(booted(time.Time{}), tools(false)...)
}

// Set sets a property of a VM, by ID, beside all rules, such as what keeps a tool from changing it:
//
//	vc.Set("vm-1", "runtime.question", types.VirtualMachineQuestionInfo{Id: "1", Text: "Was it moved or copied?"})
//	vc.Set("vm-1", "runtime.faultToleranceState", types.VirtualMachineFaultToleranceStateRunning)
//	vc.Set("vm-1", "config.managedBy", types.ManagedByInfo{ExtensionKey: "com.vmware.vim.eam", Type: "agent"})
//	vc.Set("vm-1", "config.template", true)
//	vc.Set("vm-1", "snapshot", types.VirtualMachineSnapshotInfo{RootSnapshotList: []types.VirtualMachineSnapshotTree{{Name: "before"}}})
//
// Snapshots can be made over the API, too, and a VM suspended.
func (v *VCenter) Set(vm, property string, value any) {
	v.change(types.ManagedObjectReference{Type: "VirtualMachine", Value: vm}, func() []types.PropertyChange {
		return []types.PropertyChange{{Name: property, Val: value}}
	})
}

// Connect sets the connection of a host, such as connected or disconnected, and whether it is in maintenance.
func (v *VCenter) Connect(host, state string, maintenance bool) {
	v.change(types.ManagedObjectReference{Type: "HostSystem", Value: host}, func() []types.PropertyChange {
		return []types.PropertyChange{{Name: "runtime.connectionState", Val: types.HostSystemConnectionState(state)}, {Name: "runtime.inMaintenanceMode", Val: maintenance}}
	})
}

// change changes properties of an object, under its lock.
func (v *VCenter) change(ref types.ManagedObjectReference, changes func() []types.PropertyChange) {
	ctx := v.context()
	if o := v.Model.Map().Get(ref); o != nil {
		ctx.WithLock(o, func() { ctx.Update(o, changes()) })
	}
}

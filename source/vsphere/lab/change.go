package lab

import (
	"fmt"
	"time"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/numa"
)

// Place moves a VM to a host, both by ID, as a vMotion does, and sets its power state. Clients waiting for updates are notified.
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

// placed returns the changes that follow from the power state of a placed VM.
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

// Set sets a property of a VM, by ID, without any checks, such as one that prevents a tool from changing the VM:
//
//	vc.Set("vm-1", "runtime.question", types.VirtualMachineQuestionInfo{Id: "1", Text: "Was it moved or copied?"})
//	vc.Set("vm-1", "runtime.faultToleranceState", types.VirtualMachineFaultToleranceStateRunning)
//	vc.Set("vm-1", "config.managedBy", types.ManagedByInfo{ExtensionKey: "com.vmware.vim.eam", Type: "agent"})
//	vc.Set("vm-1", "config.template", true)
//	vc.Set("vm-1", "snapshot", types.VirtualMachineSnapshotInfo{RootSnapshotList: []types.VirtualMachineSnapshotTree{{Name: "before"}}})
//
// The API also supports making snapshots and suspending a VM.
func (v *VCenter) Set(vm, property string, value any) {
	v.change(types.ManagedObjectReference{Type: "VirtualMachine", Value: vm}, func() []types.PropertyChange {
		return []types.PropertyChange{{Name: property, Val: value}}
	})
}

// Connect sets the connection state of a host, such as connected or disconnected, and whether it is in maintenance.
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

package lab

import (
	"fmt"
	"slices"

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
	var from *simulator.HostSystem
	v.change(m.Self, func() []types.PropertyChange {
		if m.Runtime.Host != nil {
			from, _ = v.Model.Map().Get(*m.Runtime.Host).(*simulator.HostSystem)
		}
		return []types.PropertyChange{{Name: "runtime.host", Val: to.Self}, {Name: "runtime.powerState", Val: powerStates[power]}}
	})
	if from == to {
		return nil
	}
	if from != nil {
		v.change(from.Self, func() []types.PropertyChange {
			return []types.PropertyChange{{Name: "vm", Val: slices.DeleteFunc(slices.Clone(from.Vm), func(r types.ManagedObjectReference) bool { return r == m.Self })}}
		})
	}
	v.change(to.Self, func() []types.PropertyChange {
		return []types.PropertyChange{{Name: "vm", Val: append(slices.Clone(to.Vm), m.Self)}}
	})
	return nil
}

// Connect sets the connection of a host, such as connected or disconnected, and whether it is in maintenance.
func (v *VCenter) Connect(host, state string, maintenance bool) {
	v.change(types.ManagedObjectReference{Type: "HostSystem", Value: host}, func() []types.PropertyChange {
		return []types.PropertyChange{{Name: "runtime.connectionState", Val: types.HostSystemConnectionState(state)}, {Name: "runtime.inMaintenanceMode", Val: maintenance}}
	})
}

// change changes properties of an object, under its lock.
func (v *VCenter) change(ref types.ManagedObjectReference, changes func() []types.PropertyChange) {
	ctx := v.Model.Service.Context
	if o := v.Model.Map().Get(ref); o != nil {
		ctx.WithLock(o, func() { ctx.Update(o, changes()) })
	}
}

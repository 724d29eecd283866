package lab

import (
	"slices"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"
)

// RelocateVMTask moves a VM to another host, pool or datastore. A running VM keeps its boot time and the settings in effect.
func (m *vmMethods) RelocateVMTask(ctx *simulator.Context, req *types.RelocateVM_Task) soap.HasFault {
	task := m.relocate(ctx, "RelocateVM_Task", req)
	return &methods.RelocateVM_TaskBody{Res: &types.RelocateVM_TaskResponse{Returnval: task}}
}

// MigrateVMTask moves a VM to another host or pool, like RelocateVMTask.
func (m *vmMethods) MigrateVMTask(ctx *simulator.Context, req *types.MigrateVM_Task) soap.HasFault {
	task := m.relocate(ctx, "MigrateVM_Task", &types.RelocateVM_Task{This: req.This, Spec: types.VirtualMachineRelocateSpec{Host: req.Host, Pool: req.Pool}})
	return &methods.MigrateVM_TaskBody{Res: &types.MigrateVM_TaskResponse{Returnval: task}}
}

func (m *vmMethods) relocate(ctx *simulator.Context, method string, req *types.RelocateVM_Task) types.ManagedObjectReference {
	vm := m.v.vm(req.This)
	return m.v.task(ctx, vm, method, func() types.BaseMethodFault {
		from := *vm.Runtime.Host
		if to := req.Spec.Host; to != nil {
			host, ok := ctx.Map.Get(*to).(*simulator.HostSystem)
			switch {
			case !ok:
				return &types.ManagedObjectNotFound{Obj: *to}
			case host.Runtime.ConnectionState != types.HostSystemConnectionStateConnected:
				return &types.HostNotConnected{}
			case host.Runtime.InMaintenanceMode && vm.Runtime.PowerState != types.VirtualMachinePowerStatePoweredOff:
				return &types.InvalidState{}
			}
		}
		body := vm.RelocateVMTask(ctx, req).(*methods.RelocateVM_TaskBody)
		if fault := m.v.within(ctx, vm, body.Res.Returnval); fault != nil {
			return fault
		}
		m.v.moved(ctx, vm.Self, from, *vm.Runtime.Host)
		return nil
	})
}

// moved moves a VM from the list of one host to that of another.
func (v *VCenter) moved(ctx *simulator.Context, vm, from, to types.ManagedObjectReference) {
	if from == to {
		return
	}
	list := func(ref types.ManagedObjectReference, change func([]types.ManagedObjectReference) []types.ManagedObjectReference) {
		if h, ok := ctx.Map.Get(ref).(*simulator.HostSystem); ok {
			ctx.WithLock(h, func() {
				ctx.Update(h, []types.PropertyChange{{Name: "vm", Val: change(slices.Clone(h.Vm))}})
			})
		}
	}
	views := ctx.Map.Get(*v.Model.ServiceContent.ViewManager) // a new view reads the lists of all hosts with only this lock
	ctx.WithLock(views, func() {
		list(from, func(l []types.ManagedObjectReference) []types.ManagedObjectReference {
			return slices.DeleteFunc(l, func(r types.ManagedObjectReference) bool { return r == vm })
		})
		list(to, func(l []types.ManagedObjectReference) []types.ManagedObjectReference { return append(l, vm) })
	})
}

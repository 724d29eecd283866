package lab

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
)

// vmMethods implements the methods of VMs whose behaviour in a vCenter differs from the simulator's. The simulator asserts the type of
// its VMs in many places, so they are unchanged, and the calls are routed here. It locks the VM itself: a long task does not block
// others from reading the VM.
type vmMethods struct {
	Self types.ManagedObjectReference
	v    *VCenter
}

var methodsOfVM = types.ManagedObjectReference{Type: "LabMethods", Value: "vm"}

// replaced are the methods implemented by vmMethods.
var replaced = map[string]bool{
	"ReconfigVM_Task": true, "PowerOnVM_Task": true, "PowerOffVM_Task": true, "ResetVM_Task": true, "SuspendVM_Task": true,
	"ShutdownGuest": true, "RebootGuest": true, "RelocateVM_Task": true, "MigrateVM_Task": true, "UpgradeVM_Task": true,
}

// Reference implements the interface of registry objects.
func (m *vmMethods) Reference() types.ManagedObjectReference { return m.Self }

// Lock and Unlock do nothing, so that the simulator does not serialize the calls.
func (m *vmMethods) Lock()   {}
func (m *vmMethods) Unlock() {}

// vm returns a VM.
func (v *VCenter) vm(ref types.ManagedObjectReference) *simulator.VirtualMachine {
	vm, _ := v.Model.Map().Get(ref).(*simulator.VirtualMachine)
	return vm
}

// task starts a task of a VM and returns it. Before run it calls the hook; run has the lock of the VM. One task of a VM runs at a time.
// As in a vCenter, all faults except those of privileges and sessions are the task's.
func (v *VCenter) task(ctx *simulator.Context, vm *simulator.VirtualMachine, method string, run func() types.BaseMethodFault) types.ManagedObjectReference {
	name := strings.TrimSuffix(method, "_Task")
	t := simulator.CreateTask(vm, strings.ToLower(name[:1])+name[1:], nil)
	t.Self = types.ManagedObjectReference{Type: "Task", Value: fmt.Sprintf("task-%d", 1_000_000+v.tasks.Add(1))} // distinct from the simulator's own
	t.Info.Name, t.Info.Key, t.Info.Task = method, t.Self.Value, t.Self
	t.Info.StartTime, t.Info.State = new(time.Now()), types.TaskInfoStateRunning
	if ctx.Session != nil {
		t.Info.Reason = &types.TaskReasonUser{UserName: ctx.Session.UserName}
	}
	ctx.WithLock(vm, func() { ctx.Map.Put(t) })
	before, busy := v.busy.LoadOrStore(vm.Self, t.Self)
	go func() {
		var fault types.BaseMethodFault
		if busy {
			fault = &types.TaskInProgress{Task: before.(types.ManagedObjectReference)}
		} else {
			fault = v.ask(Call{Moment: Runs, Method: method, Object: vm.Self})
			if fault == nil {
				ctx.WithLock(vm, func() { fault = ready(vm, run) })
			}
			v.busy.Delete(vm.Self)
		}
		changes := []types.PropertyChange{{Name: "info.completeTime", Val: time.Now()}, {Name: "info.state", Val: types.TaskInfoStateSuccess}}
		if fault != nil {
			changes[1].Val = types.TaskInfoStateError
			changes = append(changes, types.PropertyChange{Name: "info.error", Val: types.LocalizedMethodFault{Fault: fault, LocalizedMessage: fmt.Sprintf("%T", fault)}})
		}
		ctx.Map.AtomicUpdate(ctx, t, changes)
	}()
	return t.Self
}

// ready calls run if the VM can be changed at all.
func ready(vm *simulator.VirtualMachine, run func() types.BaseMethodFault) types.BaseMethodFault {
	if vm.Config == nil || vm.Runtime.Host == nil || vm.Runtime.ConnectionState != types.VirtualMachineConnectionStateConnected {
		return &types.InvalidState{}
	}
	return run()
}

// within runs one of the simulator's own calls as a part of a task, with the VM's lock held: it waits for the task of that call and
// removes it, since a vCenter has one task per call.
func (v *VCenter) within(ctx *simulator.Context, vm *simulator.VirtualMachine, ref types.ManagedObjectReference) (fault types.BaseMethodFault) {
	t := ctx.Map.Get(ref).(*simulator.Task)
	for done := false; !done; time.Sleep(50 * time.Microsecond) {
		ctx.Map.WithLock(&simulator.Context{}, t, func() {
			done = t.Info.State == types.TaskInfoStateSuccess || t.Info.State == types.TaskInfoStateError
			if t.Info.Error != nil {
				fault = t.Info.Error.Fault
			}
		})
	}
	ctx.Map.Remove(ctx, ref)
	without := func(list []types.ManagedObjectReference) []types.PropertyChange {
		list = slices.DeleteFunc(slices.Clone(list), func(r types.ManagedObjectReference) bool { return r == ref })
		return []types.PropertyChange{{Name: "recentTask", Val: list}}
	}
	ctx.Update(vm, without(vm.RecentTask))
	if m, ok := ctx.Map.Get(*v.Model.ServiceContent.TaskManager).(*simulator.TaskManager); ok {
		m.Lock()
		ctx.Update(m, without(m.RecentTask))
		m.Unlock()
	}
	return fault
}

var _ mo.Reference = (*vmMethods)(nil)

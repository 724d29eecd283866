package lab

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/numa"
)

// A Guest is the timing of a VM's guest; negative is never.
type Guest struct {
	Shutdown time.Duration // from ShutdownGuest until it is off, from RebootGuest until it is down
	Tools    time.Duration // from power-on, reset or reboot until VMware Tools run
}

// SetGuest sets the timing of a VM's guest, by ID; "" sets that of all others. Initially every duration is 0. Running Tools stay so until the VM is
// down or SetTools changes them.
func (v *VCenter) SetGuest(vm string, g Guest) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.guests[vm] = g
}

func (v *VCenter) guest(vm types.ManagedObjectReference) Guest {
	v.mu.Lock()
	defer v.mu.Unlock()
	if g, ok := v.guests[vm.Value]; ok {
		return g
	}
	return v.guests[""]
}

// SetTools sets whether VMware Tools run in a VM, by ID.
func (v *VCenter) SetTools(vm string, run bool) {
	v.change(types.ManagedObjectReference{Type: "VirtualMachine", Value: vm}, func() []types.PropertyChange { return tools(run) })
}

// tools returns the properties for the state of VMware Tools.
func tools(run bool) []types.PropertyChange {
	status, running, state := types.VirtualMachineToolsStatusToolsNotRunning, types.VirtualMachineToolsRunningStatusGuestToolsNotRunning, types.VirtualMachineGuestStateNotRunning
	if run {
		status, running, state = types.VirtualMachineToolsStatusToolsOk, types.VirtualMachineToolsRunningStatusGuestToolsRunning, types.VirtualMachineGuestStateRunning
	}
	return []types.PropertyChange{
		{Name: "guest.toolsRunningStatus", Val: string(running)},
		{Name: "guest.toolsStatus", Val: status},
		{Name: "guest.guestState", Val: string(state)},
		{Name: "summary.guest.toolsRunningStatus", Val: string(running)},
		{Name: "summary.guest.toolsStatus", Val: status},
	}
}

// booted returns the properties for the boot time of a VM; the zero time is none.
func booted(at time.Time) []types.PropertyChange {
	changes := []types.PropertyChange{{Name: "runtime.bootTime"}, {Name: "summary.runtime.bootTime"}}
	if !at.IsZero() {
		changes[0].Val, changes[1].Val = at, at
	}
	return changes
}

// A PowerOn holds ESXi's decisions at a power-on of a VM.
type PowerOn struct {
	Settings       numa.Settings // written to extraConfig
	CoresPerSocket int           // for a VM with automatic cores per socket; 0 leaves them
	CoresPerNode   int           // for a VM with automatic virtual nodes; 0 leaves them
}

// AtPowerOn sets the function that decides which values ESXi writes at each power-on. Its inputs are the VM's configuration and its host. Without one
// nothing is written.
func (v *VCenter) AtPowerOn(decide func(*numa.VM, *numa.Host) PowerOn) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.decide = decide
}

// PowerOnVMTask powers a VM on: its settings take effect, its boot time is set, and its Tools run after a delay.
func (m *vmMethods) PowerOnVMTask(ctx *simulator.Context, req *types.PowerOnVM_Task) soap.HasFault {
	vm := m.v.vm(req.This)
	task := m.v.task(ctx, vm, "PowerOnVM_Task", func() types.BaseMethodFault {
		suspended := vm.Runtime.PowerState == types.VirtualMachinePowerStateSuspended
		if fault := m.v.powerOn(ctx, vm); fault != nil {
			return fault
		}
		if !suspended { // a VM that resumes keeps its settings in effect, and its boot time
			m.v.cycled(ctx, vm)
		}
		m.v.boots(ctx, vm)
		return nil
	})
	return &methods.PowerOnVM_TaskBody{Res: &types.PowerOnVM_TaskResponse{Returnval: task}}
}

// PowerOnMultiVMTask powers on VMs of a datacenter, each with its own task, as cluster clients do.
func (m *vmMethods) PowerOnMultiVMTask(ctx *simulator.Context, req *types.PowerOnMultiVM_Task) soap.HasFault {
	t := simulator.CreateTask(req.This, "powerOnMultiVM", func(*simulator.Task) (types.AnyType, types.BaseMethodFault) {
		var result types.ClusterPowerOnVmResult
		for _, ref := range req.Vm {
			if m.v.vm(ref) == nil {
				result.NotAttempted = append(result.NotAttempted, types.ClusterNotAttemptedVmInfo{Vm: ref, Fault: types.LocalizedMethodFault{Fault: &types.ManagedObjectNotFound{Obj: ref}}})
				continue
			}
			one := m.PowerOnVMTask(ctx, &types.PowerOnVM_Task{This: ref}).(*methods.PowerOnVM_TaskBody)
			result.Attempted = append(result.Attempted, types.ClusterAttemptedVmInfo{Vm: ref, Task: &one.Res.Returnval})
		}
		return result, nil
	})
	return &methods.PowerOnMultiVM_TaskBody{Res: &types.PowerOnMultiVM_TaskResponse{Returnval: t.Run(ctx)}}
}

// PowerOffVMTask powers a VM off, whatever the state of its guest.
func (m *vmMethods) PowerOffVMTask(ctx *simulator.Context, req *types.PowerOffVM_Task) soap.HasFault {
	vm := m.v.vm(req.This)
	task := m.v.task(ctx, vm, "PowerOffVM_Task", func() types.BaseMethodFault { return m.v.powerOff(ctx, vm) })
	return &methods.PowerOffVM_TaskBody{Res: &types.PowerOffVM_TaskResponse{Returnval: task}}
}

// SuspendVMTask suspends a VM.
func (m *vmMethods) SuspendVMTask(ctx *simulator.Context, req *types.SuspendVM_Task) soap.HasFault {
	vm := m.v.vm(req.This)
	task := m.v.task(ctx, vm, "SuspendVM_Task", func() types.BaseMethodFault {
		if fault := runs(vm); fault != nil {
			return fault
		}
		m.v.power(ctx, vm, types.VirtualMachinePowerStateSuspended, func(e types.VmEvent) types.BaseEvent { return &types.VmSuspendedEvent{VmEvent: e} })
		ctx.Update(vm, tools(false))
		return nil
	})
	return &methods.SuspendVM_TaskBody{Res: &types.SuspendVM_TaskResponse{Returnval: task}}
}

// ResetVMTask resets a VM. That is no power cycle: the settings in effect stay, and so does the boot time ("updated when the virtual machine is
// powered on from the poweredOff state", API reference of VirtualMachineRuntimeInfo).
func (m *vmMethods) ResetVMTask(ctx *simulator.Context, req *types.ResetVM_Task) soap.HasFault {
	vm := m.v.vm(req.This)
	task := m.v.task(ctx, vm, "ResetVM_Task", func() types.BaseMethodFault {
		if fault := runs(vm); fault != nil {
			return fault
		}
		m.v.boots(ctx, vm)
		return nil
	})
	return &methods.ResetVM_TaskBody{Res: &types.ResetVM_TaskResponse{Returnval: task}}
}

// newestHardware is the version of ESXi 8.0 Update 2.
const newestHardware = "vmx-21"

// UpgradeVMTask upgrades the virtual hardware of a powered-off VM.
func (m *vmMethods) UpgradeVMTask(ctx *simulator.Context, req *types.UpgradeVM_Task) soap.HasFault {
	vm := m.v.vm(req.This)
	task := m.v.task(ctx, vm, "UpgradeVM_Task", func() types.BaseMethodFault {
		if off := types.VirtualMachinePowerStatePoweredOff; vm.Runtime.PowerState != off {
			return &types.InvalidPowerState{RequestedState: off, ExistingState: vm.Runtime.PowerState}
		}
		version, err := strconv.Atoi(strings.TrimPrefix(cmp.Or(req.Version, newestHardware), "vmx-"))
		switch {
		case err != nil:
			return &types.InvalidArgument{InvalidProperty: "version"}
		case version <= hardwareVersion(vm.Config):
			return &types.AlreadyUpgraded{}
		}
		upgraded := fmt.Sprintf("vmx-%02d", version)
		ctx.Update(vm, []types.PropertyChange{{Name: "config.version", Val: upgraded}, {Name: "summary.config.hwVersion", Val: upgraded}})
		m.v.changed(ctx, vm)
		return nil
	})
	return &methods.UpgradeVM_TaskBody{Res: &types.UpgradeVM_TaskResponse{Returnval: task}}
}

// ShutdownGuest asks the guest to shut down and returns at once; the VM is off after Guest.Shutdown.
func (m *vmMethods) ShutdownGuest(ctx *simulator.Context, req *types.ShutdownGuest) soap.HasFault {
	fault := m.v.askGuest(ctx, m.v.vm(req.This), func(ctx *simulator.Context, vm *simulator.VirtualMachine) {
		_ = m.v.powerOff(ctx, vm) // it runs, as checked before
	}, func(e types.VmEvent) types.BaseEvent { return &types.VmGuestShutdownEvent{VmEvent: e} })
	if fault != nil {
		return &methods.ShutdownGuestBody{Fault_: simulator.Fault("", fault)}
	}
	return &methods.ShutdownGuestBody{Res: &types.ShutdownGuestResponse{}}
}

// powerCycleKey makes the next reboot of a guest a power cycle, which removes the key.
const powerCycleKey = "vmx.reboot.powerCycle"

// RebootGuest asks the guest to reboot and returns at once. After Guest.Shutdown it starts again; with vmx.reboot.powerCycle = TRUE as a power cycle,
// with rebootPowerOff it is off. The combination of both is undocumented: power-off has precedence here.
func (m *vmMethods) RebootGuest(ctx *simulator.Context, req *types.RebootGuest) soap.HasFault {
	fault := m.v.askGuest(ctx, m.v.vm(req.This), m.v.reboot, nil)
	if fault != nil {
		return &methods.RebootGuestBody{Fault_: simulator.Fault("", fault)}
	}
	return &methods.RebootGuestBody{Res: &types.RebootGuestResponse{}}
}

// reboot is the VM's part of a reboot of its guest.
func (v *VCenter) reboot(ctx *simulator.Context, vm *simulator.VirtualMachine) {
	if value(vm.Config.RebootPowerOff) {
		_ = v.powerOff(ctx, vm) // it runs
		vm.Config.RebootPowerOff = new(false)
		v.changed(ctx, vm)
		return
	}
	settings := v.configNow(vm).Settings.Value
	if cycle, _ := settings.Lookup(powerCycleKey); strings.EqualFold(cycle, "TRUE") {
		if v.powerOff(ctx, vm) != nil || v.powerOn(ctx, vm) != nil {
			return // its host is in maintenance: it stays off
		}
		v.write(ctx, vm, numa.Settings{{Key: powerCycleKey}})
		v.cycled(ctx, vm)
	}
	v.boots(ctx, vm)
}

// askGuest calls then when the guest of a VM is down.
func (v *VCenter) askGuest(ctx *simulator.Context, vm *simulator.VirtualMachine, then func(*simulator.Context, *simulator.VirtualMachine), event func(types.VmEvent) types.BaseEvent) (fault types.BaseMethodFault) {
	ctx.WithLock(vm, func() {
		switch fault = ready(vm, func() types.BaseMethodFault { return runs(vm) }); {
		case fault != nil:
		case vm.Guest.ToolsRunningStatus != string(types.VirtualMachineToolsRunningStatusGuestToolsRunning):
			fault = &types.ToolsUnavailable{}
		default:
			if event != nil {
				v.post(ctx, vm, event)
			}
			v.after(vm, v.guest(vm.Self).Shutdown, then)
		}
	})
	return fault
}

// runs returns a fault unless the VM runs.
func runs(vm *simulator.VirtualMachine) types.BaseMethodFault {
	if on := types.VirtualMachinePowerStatePoweredOn; vm.Runtime.PowerState != on {
		return &types.InvalidPowerState{RequestedState: on, ExistingState: vm.Runtime.PowerState}
	}
	return nil
}

// after calls then with a VM, with its lock held, after a delay, unless its power has changed meanwhile.
func (v *VCenter) after(vm *simulator.VirtualMachine, d time.Duration, then func(*simulator.Context, *simulator.VirtualMachine)) {
	if d < 0 {
		return
	}
	lives := v.life(vm)
	was := lives.Load()
	time.AfterFunc(d, func() {
		ctx := v.context()
		ctx.WithLock(vm, func() {
			if lives.Load() == was {
				then(ctx, vm)
			}
		})
	})
}

// powerOff powers a VM off.
func (v *VCenter) powerOff(ctx *simulator.Context, vm *simulator.VirtualMachine) types.BaseMethodFault {
	off := types.VirtualMachinePowerStatePoweredOff
	if vm.Runtime.PowerState == off {
		return &types.InvalidPowerState{RequestedState: off, ExistingState: off}
	}
	v.power(ctx, vm, off, func(e types.VmEvent) types.BaseEvent { return &types.VmPoweredOffEvent{VmEvent: e} })
	v.effect.Delete(vm.Self)
	ctx.Update(vm, append(booted(time.Time{}), tools(false)...))
	return nil
}

// powerOn only sets the power state of a VM.
func (v *VCenter) powerOn(ctx *simulator.Context, vm *simulator.VirtualMachine) types.BaseMethodFault {
	on := types.VirtualMachinePowerStatePoweredOn
	host, ok := ctx.Map.Get(*vm.Runtime.Host).(*simulator.HostSystem)
	switch {
	case vm.Runtime.PowerState == on:
		return &types.InvalidPowerState{RequestedState: on, ExistingState: on}
	case vm.Config.Template, !ok, host.Runtime.InMaintenanceMode:
		return &types.InvalidState{}
	case host.Runtime.ConnectionState != types.HostSystemConnectionStateConnected:
		return &types.HostNotConnected{}
	}
	v.power(ctx, vm, on, func(e types.VmEvent) types.BaseEvent { return &types.VmPoweredOnEvent{VmEvent: e} })
	return nil
}

// power sets the power state of a VM and posts the event. The simulator's own power tasks write a log file, which these VMs lack.
func (v *VCenter) power(ctx *simulator.Context, vm *simulator.VirtualMachine, state types.VirtualMachinePowerState, event func(types.VmEvent) types.BaseEvent) {
	v.life(vm).Add(1)
	ctx.Update(vm, []types.PropertyChange{{Name: "runtime.powerState", Val: state}, {Name: "summary.runtime.powerState", Val: state}})
	v.post(ctx, vm, event)
}

// post adds an event of a VM.
func (v *VCenter) post(ctx *simulator.Context, vm *simulator.VirtualMachine, event func(types.VmEvent) types.BaseEvent) {
	host, dc := ctx.Map.Get(*vm.Runtime.Host).(*simulator.HostSystem), ctx.Map.Any("Datacenter").(*simulator.Datacenter)
	name := func(n string) types.EntityEventArgument { return types.EntityEventArgument{Name: n} }
	e := types.VmEvent{Event: types.Event{
		Datacenter: &types.DatacenterEventArgument{EntityEventArgument: name(dc.Name), Datacenter: dc.Self},
		Host:       &types.HostEventArgument{EntityEventArgument: name(host.Name), Host: host.Self},
		Vm:         &types.VmEventArgument{EntityEventArgument: name(vm.Name), Vm: vm.Self},
	}}
	events := ctx.Map.EventManager()
	ctx.WithLock(events, func() { events.PostEvent(ctx, &types.PostEvent{EventToPost: event(e)}) })
}

// boots starts Tools in a VM after a delay.
func (v *VCenter) boots(ctx *simulator.Context, vm *simulator.VirtualMachine) {
	v.life(vm).Add(1)
	ctx.Update(vm, tools(false))
	v.after(vm, v.guest(vm.Self).Tools, func(ctx *simulator.Context, vm *simulator.VirtualMachine) { ctx.Update(vm, tools(true)) })
}

// cycled is the part of a power-on that makes settings take effect.
func (v *VCenter) cycled(ctx *simulator.Context, vm *simulator.VirtualMachine) {
	v.mu.Lock()
	decide := v.decide
	v.mu.Unlock()
	now := v.configNow(vm)
	host := v.hosts[now.Host]
	hw := &vm.Config.Hardware
	if decide != nil && host != nil {
		esxi := decide(&now, host)
		if value(hw.AutoCoresPerSocket) && esxi.CoresPerSocket > 0 {
			hw.NumCoresPerSocket = new(int32(esxi.CoresPerSocket))
		}
		if n := vm.Config.NumaInfo; n != nil && value(n.AutoCoresPerNumaNode) && esxi.CoresPerNode > 0 {
			chosen := *n
			chosen.CoresPerNumaNode = new(int32(esxi.CoresPerNode))
			vm.Config.NumaInfo = &chosen
		}
		v.write(ctx, vm, esxi.Settings)
		now = v.configNow(vm)
	}
	v.effect.Store(vm.Self, now)
	ctx.Update(vm, booted(time.Now()))
}

// write writes settings to a VM as ESXi does; an empty value removes one.
func (v *VCenter) write(ctx *simulator.Context, vm *simulator.VirtualMachine, settings numa.Settings) {
	c := vm.Config
	list := append([]types.BaseOptionValue(nil), c.ExtraConfig...) // readers may use the previous list
	for _, one := range extraConfig(list, optionValues(settings)) {
		list = set(list, one.GetOptionValue())
	}
	c.ExtraConfig = list
	v.changed(ctx, vm)
}

// set returns the options with one of them set, or removed when it is empty.
func set(list []types.BaseOptionValue, one *types.OptionValue) []types.BaseOptionValue {
	for i, o := range list {
		switch {
		case o.GetOptionValue().Key != one.Key:
		case one.Value == "":
			return append(list[:i], list[i+1:]...)
		default:
			list[i] = one
			return list
		}
	}
	return append(list, one)
}

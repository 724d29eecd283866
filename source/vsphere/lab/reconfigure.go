package lab

import (
	"fmt"
	"strings"
	"time"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"
)

// fieldKeys are the keys of extraConfig that have a field of their own in a configuration: "keys that would conflict with
// parameters that are explicitly configurable through other fields are silently ignored" (vSphere Web Services API reference,
// VirtualMachineConfigSpec.extraConfig). Which ones it does not list: these are the ones in lower case that a VM's settings could hold.
var fieldKeys = map[string]bool{
	"numvcpus": true, "cpuid.corespersocket": true, "memsize": true, "vcpu.hotadd": true, "mem.hotadd": true,
	"displayname": true, "annotation": true, "guestos": true, "firmware": true, "virtualhw.version": true, "uuid.bios": true, "vc.uuid": true,
}

// ReconfigVMTask changes the settings of a VM as the API reference says of ReconfigVM_Task, all or nothing. For tests:
//
//   - A changeVersion other than the VM's is ConcurrentAccess. Every change gives the VM a new one.
//   - A running VM keeps its cores per socket, hot add and virtual nodes: InvalidPowerState. It takes more vCPUs and memory
//     with hot add alone: else CpuHotPlugNotSupported and MemoryHotPlugNotSupported. A value that stays the same is no change.
//   - vCPUs that the cores per socket do not divide are an InvalidArgument.
//   - Keys of extraConfig are kept in any state; what the VM runs with changes at its next power cycle: InEffect.
func (m *vmMethods) ReconfigVMTask(ctx *simulator.Context, req *types.ReconfigVM_Task) soap.HasFault {
	vm := m.v.vm(req.This)
	task := m.v.task(ctx, vm, "ReconfigVM_Task", func() types.BaseMethodFault {
		spec := req.Spec
		if spec.ChangeVersion != "" && spec.ChangeVersion != vm.Config.ChangeVersion {
			return &types.ConcurrentAccess{}
		}
		if fault := fits(vm.Config, &spec); fault != nil {
			return fault
		}
		if vm.Runtime.PowerState != types.VirtualMachinePowerStatePoweredOff {
			if fault := whileRunning(vm, &spec); fault != nil {
				return fault
			}
		}
		return m.v.reconfigure(ctx, vm, spec)
	})
	return &methods.ReconfigVM_TaskBody{Res: &types.ReconfigVM_TaskResponse{Returnval: task}}
}

// fits refuses numbers that no VM can have.
func fits(c *types.VirtualMachineConfigInfo, spec *types.VirtualMachineConfigSpec) types.BaseMethodFault {
	invalid := func(field string) types.BaseMethodFault {
		return &types.InvalidArgument{InvalidProperty: "configSpec." + field}
	}
	if spec.NumCPUs < 0 {
		return invalid("numCPUs")
	}
	if spec.MemoryMB < 0 {
		return invalid("memoryMB")
	}
	if n := spec.VirtualNuma; n != nil && value(n.CoresPerNumaNode) < 0 {
		return invalid("virtualNuma.coresPerNumaNode")
	}
	if spec.NumCPUs == 0 && spec.NumCoresPerSocket == nil {
		return nil
	}
	vcpus, cores := spec.NumCPUs, value(c.Hardware.NumCoresPerSocket)
	if vcpus == 0 {
		vcpus = c.Hardware.NumCPU
	}
	if spec.NumCoresPerSocket != nil {
		cores = *spec.NumCoresPerSocket
	} else if value(c.Hardware.AutoCoresPerSocket) {
		cores = 0
	}
	if cores < 0 || cores > 0 && vcpus%cores != 0 {
		return invalid("numCoresPerSocket")
	}
	return nil
}

// whileRunning refuses what changes on a VM only when it is powered off.
func whileRunning(vm *simulator.VirtualMachine, spec *types.VirtualMachineConfigSpec) types.BaseMethodFault {
	c, hw := vm.Config, &vm.Config.Hardware
	state := &types.InvalidPowerState{RequestedState: types.VirtualMachinePowerStatePoweredOff, ExistingState: vm.Runtime.PowerState}
	if n := spec.NumCoresPerSocket; n != nil && (*n == 0) != value(hw.AutoCoresPerSocket) || n != nil && *n != 0 && *n != value(hw.NumCoresPerSocket) {
		return state
	}
	if differs(spec.CpuHotAddEnabled, c.CpuHotAddEnabled) || differs(spec.MemoryHotAddEnabled, c.MemoryHotAddEnabled) {
		return state
	}
	if n := spec.VirtualNuma; n != nil {
		var now types.VirtualMachineVirtualNumaInfo
		if c.NumaInfo != nil {
			now = *c.NumaInfo
		}
		cores := n.CoresPerNumaNode
		if differs(n.ExposeVnumaOnCpuHotadd, now.VnumaOnCpuHotaddExposed) || cores != nil && *cores != byHand(&now) {
			return state
		}
	}
	if n := spec.NumCPUs; n != 0 && n != hw.NumCPU && (n < hw.NumCPU || !value(c.CpuHotAddEnabled)) {
		return &types.CpuHotPlugNotSupported{}
	}
	if mb := spec.MemoryMB; mb != 0 && mb != int64(hw.MemoryMB) && (mb < int64(hw.MemoryMB) || !value(c.MemoryHotAddEnabled)) {
		return &types.MemoryHotPlugNotSupported{}
	}
	return nil
}

// byHand returns the cores per virtual node that were set, 0 for automatic.
func byHand(n *types.VirtualMachineVirtualNumaInfo) int32 {
	if value(n.AutoCoresPerNumaNode) {
		return 0
	}
	return value(n.CoresPerNumaNode)
}

// reconfigure applies a specification that is allowed. The simulator applies the most of it.
func (v *VCenter) reconfigure(ctx *simulator.Context, vm *simulator.VirtualMachine, spec types.VirtualMachineConfigSpec) types.BaseMethodFault {
	cores := spec.NumCoresPerSocket
	if value(cores) == 0 {
		spec.NumCoresPerSocket = nil // the simulator would keep the 0
	}
	spec.ExtraConfig = extraConfig(vm.Config.ExtraConfig, spec.ExtraConfig)
	body := vm.ReconfigVMTask(ctx, &types.ReconfigVM_Task{This: vm.Self, Spec: spec}).(*methods.ReconfigVM_TaskBody)
	if fault := v.within(ctx, vm, body.Res.Returnval); fault != nil {
		return fault
	}
	c, hw := vm.Config, &vm.Config.Hardware
	if cores != nil {
		hw.AutoCoresPerSocket = new(*cores == 0)
	}
	if spec.RebootPowerOff != nil {
		c.RebootPowerOff = spec.RebootPowerOff
	}
	// Older hardware has no virtual nodes to set. What a vCenter answers is not published: here the wish is ignored.
	if n := spec.VirtualNuma; n != nil && hardwareVersion(c) >= 20 {
		info := types.VirtualMachineVirtualNumaInfo{}
		if c.NumaInfo != nil {
			info = *c.NumaInfo // readers may hold the former
		}
		if n.CoresPerNumaNode != nil {
			info.AutoCoresPerNumaNode = new(*n.CoresPerNumaNode == 0)
			if *n.CoresPerNumaNode != 0 {
				info.CoresPerNumaNode = n.CoresPerNumaNode
			}
		}
		if n.ExposeVnumaOnCpuHotadd != nil {
			info.VnumaOnCpuHotaddExposed = n.ExposeVnumaOnCpuHotadd
		}
		c.NumaInfo = &info
	}
	v.changed(ctx, vm)
	return nil
}

// changed gives the configuration of a VM a new changeVersion and tells those who wait for updates.
func (v *VCenter) changed(ctx *simulator.Context, vm *simulator.VirtualMachine) {
	c, hw := vm.Config, &vm.Config.Hardware
	changes := []types.PropertyChange{
		{Name: "config.changeVersion", Val: v.nextVersion()},
		{Name: "config.hardware.numCPU", Val: hw.NumCPU},
		{Name: "config.hardware.memoryMB", Val: hw.MemoryMB},
		{Name: "config.extraConfig", Val: c.ExtraConfig},
	}
	changes = appendSet(changes, "config.hardware.numCoresPerSocket", hw.NumCoresPerSocket)
	changes = appendSet(changes, "config.hardware.autoCoresPerSocket", hw.AutoCoresPerSocket)
	changes = appendSet(changes, "config.cpuHotAddEnabled", c.CpuHotAddEnabled)
	changes = appendSet(changes, "config.memoryHotAddEnabled", c.MemoryHotAddEnabled)
	changes = appendSet(changes, "config.rebootPowerOff", c.RebootPowerOff)
	changes = appendSet(changes, "config.numaInfo", c.NumaInfo)
	ctx.Update(vm, changes)
}

// nextVersion returns a changeVersion in the form of a vCenter, later than all before.
func (v *VCenter) nextVersion() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.version = v.version.Add(time.Microsecond)
	if now := time.Now().UTC(); now.After(v.version) {
		v.version = now
	}
	return v.version.Format(versionForm)
}

// versionForm is the form of a changeVersion of a vCenter.
const versionForm = "2006-01-02T15:04:05.000000Z"

// appendSet appends a change of a property that is set.
func appendSet[T any](changes []types.PropertyChange, name string, val *T) []types.PropertyChange {
	if val == nil {
		return changes
	}
	return append(changes, types.PropertyChange{Name: name, Val: *val})
}

// extraConfig returns the asked-for changes of extraConfig as the simulator takes them: with the keys as the VM spells them, without
// those that have a field and without the removal of what is not there.
func extraConfig(now, asked []types.BaseOptionValue) (out []types.BaseOptionValue) {
	spelled := map[string]string{}
	for _, o := range now {
		key := o.GetOptionValue().Key
		spelled[strings.ToLower(key)] = key
	}
	for _, o := range asked {
		one := *o.GetOptionValue()
		fold := strings.ToLower(one.Key)
		text, ok := one.Value.(string)
		if !ok {
			text = fmt.Sprint(one.Value)
		}
		key, there := spelled[fold]
		if fieldKeys[fold] || text == "" && !there {
			continue
		}
		if there {
			one.Key = key
		}
		if one.Value = text; text == "" {
			delete(spelled, fold)
		} else {
			spelled[fold] = one.Key
		}
		out = append(out, &one)
	}
	return out
}

// differs reports whether a wish is there and is not what is so; unset is false.
func differs(wish, now *bool) bool { return wish != nil && *wish != value(now) }

// value returns what a pointer points to, zero for none.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

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

// fieldKeys are the keys of extraConfig that have their own field in a configuration: "keys that would conflict with parameters that
// are explicitly configurable through other fields are silently ignored" (vSphere Web Services API reference,
// VirtualMachineConfigSpec.extraConfig). The reference does not list them: these are the ones, in lower case, that a VM's settings can contain.
var fieldKeys = map[string]bool{
	"numvcpus": true, "cpuid.corespersocket": true, "memsize": true, "vcpu.hotadd": true, "mem.hotadd": true,
	"displayname": true, "annotation": true, "guestos": true, "firmware": true, "virtualhw.version": true, "uuid.bios": true, "vc.uuid": true,
}

// ReconfigVMTask changes the settings of a VM as documented for ReconfigVM_Task, all or nothing. For tests:
//
//   - A changeVersion other than the VM's is ConcurrentAccess. Every change sets a new one.
//   - A running VM keeps its cores per socket, hot add and virtual nodes: InvalidPowerState. More vCPUs and memory need
//     hot add: else CpuHotPlugNotSupported and MemoryHotPlugNotSupported. An equal value is no change.
//   - vCPUs that the cores per socket do not divide are an InvalidArgument.
//   - Keys of extraConfig can be set in any power state; they take effect at the next power cycle: InEffect.
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

// fits rejects numbers that are impossible for any VM.
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

// whileRunning rejects changes that need a powered-off VM.
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

// byHand returns the manual cores per virtual node, 0 for automatic.
func byHand(n *types.VirtualMachineVirtualNumaInfo) int32 {
	if value(n.AutoCoresPerNumaNode) {
		return 0
	}
	return value(n.CoresPerNumaNode)
}

// reconfigure applies a valid specification. The simulator applies most of it.
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
	// Older hardware has no virtual nodes to set. The answer of a real vCenter is undocumented: here the request is ignored.
	if n := spec.VirtualNuma; n != nil && hardwareVersion(c) >= 20 {
		info := types.VirtualMachineVirtualNumaInfo{}
		if c.NumaInfo != nil {
			info = *c.NumaInfo // readers may use the previous one
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

// changed sets a new changeVersion of a VM's configuration and notifies clients waiting for updates.
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

// nextVersion returns a changeVersion in vCenter's form, later than all earlier ones.
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

// extraConfig converts the requested changes of extraConfig for the simulator: with the VM's own spelling of keys, without keys that
// have a field, and without removals of missing keys.
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

// differs reports whether a requested value is set and differs from the present one; unset is false.
func differs(wish, now *bool) bool { return wish != nil && *wish != value(now) }

// value dereferences a pointer; zero for nil.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

package lab

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/numa"
)

// InEffect returns the VM with the settings in effect, those of its last power cycle: later changes are not in effect. False when there is no
// such VM or it does not run.
func (v *VCenter) InEffect(vm string) (numa.VM, bool) {
	m := v.vm(types.ManagedObjectReference{Type: "VirtualMachine", Value: vm})
	if m == nil {
		return numa.VM{}, false
	}
	ctx, now, runs := v.context(), numa.VM{}, false
	ctx.WithLock(m, func() {
		if runs = m.Runtime.PowerState == types.VirtualMachinePowerStatePoweredOn; !runs {
			return
		}
		if then, ok := v.effect.Load(m.Self); ok {
			now = then.(numa.VM)
		} else if known := v.fleet[vm]; known != nil { // running since the start
			now = *known
		}
	})
	return now, runs
}

// hardwareVersion returns 19 for vmx-19, 0 when unknown.
func hardwareVersion(c *types.VirtualMachineConfigInfo) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(c.Version, "vmx-"))
	return n
}

// configNow returns the VM of the fleet with its current configuration from the API.
func (v *VCenter) configNow(vm *simulator.VirtualMachine) numa.VM {
	out := numa.VM{ID: vm.Self.Value, Name: vm.Name}
	if known := v.fleet[vm.Self.Value]; known != nil {
		out = *known
	}
	c := vm.Config
	if c == nil {
		return out
	}
	if host := vm.Runtime.Host; host != nil {
		out.Host = host.Value
	}
	const at = "simulated vCenter"
	out.VCPUs, out.Memory = numa.ReadAt(int(c.Hardware.NumCPU), at), numa.ReadAt(numa.Bytes(c.Hardware.MemoryMB)*numa.MiB, at)
	out.Hardware = numa.ReadAt(hardwareVersion(c), at)
	out.CPUHotAdd, out.MemoryHotAdd = factOf(c.CpuHotAddEnabled), factOf(c.MemoryHotAddEnabled)
	out.CoresPerSocket, out.AutoCoresPerSocket = numberOf(c.Hardware.NumCoresPerSocket), factOf(c.Hardware.AutoCoresPerSocket)
	out.CoresPerNUMANode, out.AutoCoresPerNUMANode, out.VNUMAHotAdd = numa.Fact[int]{}, numa.Fact[bool]{}, numa.Fact[bool]{}
	if n := c.NumaInfo; n != nil {
		out.CoresPerNUMANode, out.AutoCoresPerNUMANode, out.VNUMAHotAdd = numberOf(n.CoresPerNumaNode), factOf(n.AutoCoresPerNumaNode), factOf(n.VnumaOnCpuHotaddExposed)
	}
	var settings numa.Settings
	for _, o := range c.ExtraConfig {
		settings = settings.With(o.GetOptionValue().Key, fmt.Sprint(o.GetOptionValue().Value))
	}
	out.Settings = numa.ReadAt(settings, at)
	return out
}

func factOf[T any](p *T) numa.Fact[T] {
	if p == nil {
		return numa.Fact[T]{}
	}
	return numa.ReadAt(*p, "simulated vCenter")
}

func numberOf(p *int32) numa.Fact[int] {
	if p == nil {
		return numa.Fact[int]{}
	}
	return numa.ReadAt(int(*p), "simulated vCenter")
}

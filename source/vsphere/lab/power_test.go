package lab_test

import (
	"testing"
	"time"

	"github.com/vmware/govmomi/find"
	"github.com/vmware/govmomi/object"
	"github.com/vmware/govmomi/property"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/numa"
	"example.org/homenode/source/vsphere/lab"
)

// until waits for a property of the VM.
func (c client) until(name string, is func(mo.VirtualMachine) bool) {
	c.Helper()
	pc := property.DefaultCollector(c.Client.Client)
	c.must(property.Wait(c.Context(), pc, c.vm.Reference(), []string{name}, func([]types.PropertyChange) bool { return is(c.properties()) }))
}

func toolsRun(vm mo.VirtualMachine) bool { return vm.Guest.ToolsRunningStatus == "guestToolsRunning" }
func isOff(vm mo.VirtualMachine) bool    { return vm.Runtime.PowerState == "poweredOff" }

// TestPowerCycle: what was written while a VM ran takes effect when it is powered on, when ESXi writes what it decides; its boot time is new and its
// Tools run a while later.
func TestPowerCycle(t *testing.T) {
	vc := serve(t)
	vc.AtPowerOn(func(v *numa.VM, h *numa.Host) lab.PowerOn {
		if v.ID != "vm-1" || h.ID != "host-1" || lookup(*v, "numa.vcpu.preferHT") != "FALSE" || v.VCPUs.Value != 40 {
			t.Errorf("power-on of %s with %v on %s", v.ID, v.Settings.Value, h.ID)
		}
		return lab.PowerOn{Settings: numa.Settings{{Key: "numa.autosize.cookie", Value: "400202"}, {Key: "numa.autosize.vcpu.maxPerVirtualNode", Value: "20"}}, CoresPerSocket: 20, CoresPerNode: 20}
	})
	c := login(t, vc, "vm-1")
	before := c.properties()
	if !toolsRun(before) || before.Runtime.BootTime == nil {
		t.Fatalf("a VM that runs has Tools %q and boot time %v", before.Guest.ToolsRunningStatus, before.Runtime.BootTime)
	}
	c.must(c.reconfigure(types.VirtualMachineConfigSpec{ExtraConfig: key("numa.vcpu.preferHT", "FALSE")}))
	c.must(c.wait(c.vm.PowerOff(t.Context())))
	off := c.properties()
	if off.Runtime.BootTime != nil || toolsRun(off) {
		t.Errorf("a VM that is off has the boot time %v and Tools %q", off.Runtime.BootTime, off.Guest.ToolsRunningStatus)
	}
	if _, ok := vc.InEffect("vm-1"); ok {
		t.Error("a VM that is off has settings in effect")
	}
	isFault[*types.InvalidPowerState](t, "power off twice", c.wait(c.vm.PowerOff(t.Context())))
	c.must(c.reconfigure(types.VirtualMachineConfigSpec{NumCoresPerSocket: types.NewInt32(0), VirtualNuma: &types.VirtualMachineVirtualNuma{CoresPerNumaNode: types.NewInt32(0)}}))
	vc.SetGuest("vm-1", lab.Guest{Tools: -1})
	c.must(c.wait(c.vm.PowerOn(t.Context())))
	on := c.properties()
	if on.Runtime.BootTime == nil || !on.Runtime.BootTime.After(*before.Runtime.BootTime) || on.Summary.Runtime.BootTime == nil {
		t.Errorf("boot time %v after %v, in the summary %v", on.Runtime.BootTime, before.Runtime.BootTime, on.Summary.Runtime.BootTime)
	}
	if toolsRun(on) {
		t.Error("Tools run at once, want never")
	}
	if got := c.setting("numa.autosize.cookie"); got != "400202" || on.Config.ChangeVersion <= off.Config.ChangeVersion {
		t.Errorf("ESXi wrote the cookie %q, version %s after %s", got, on.Config.ChangeVersion, off.Config.ChangeVersion)
	}
	if hw := on.Config.Hardware; *hw.NumCoresPerSocket != 20 || !*hw.AutoCoresPerSocket || *on.Config.NumaInfo.CoresPerNumaNode != 20 {
		t.Errorf("%d cores per socket, %d per node; want those of the power-on, 20", *hw.NumCoresPerSocket, *on.Config.NumaInfo.CoresPerNumaNode)
	}
	if v, ok := vc.InEffect("vm-1"); !ok || lookup(v, "numa.vcpu.preferHT") != "FALSE" || lookup(v, "numa.autosize.vcpu.maxPerVirtualNode") != "20" {
		t.Errorf("in effect: %v, %v", v.Settings.Value, ok)
	}
	isFault[*types.InvalidPowerState](t, "power on twice", c.wait(c.vm.PowerOn(t.Context())))
}

// TestPowerOnMultiVM: VMs that are powered on by their datacenter boot as others do.
func TestPowerOnMultiVM(t *testing.T) {
	vc := serve(t)
	c := login(t, vc, "vm-2")
	dc, err := find.NewFinder(c.Client.Client).DefaultDatacenter(t.Context())
	c.must(err)
	on := func(c client) error {
		return c.wait(object.NewDatacenter(c.Client.Client, dc.Reference()).PowerOnVM(t.Context(), []types.ManagedObjectReference{c.vm.Reference()}))
	}
	c.must(on(c))
	c.until("guest.toolsRunningStatus", toolsRun)
	if _, ok := vc.InEffect("vm-2"); !ok || c.properties().Runtime.BootTime == nil {
		t.Error("the VM has no boot time or nothing in effect")
	}
	lacks := c.as(vc.Add(lab.Account{User: "lacks", Password: "p", May: lab.AllBut("VirtualMachine.Interact.PowerOn")}))
	isFault[*types.NoPermission](t, "without the privilege", on(lacks))
}

// TestPlace: a VM that the lab places and starts has a boot time and Tools, one that it stops has not.
func TestPlace(t *testing.T) {
	vc := serve(t)
	c := login(t, vc, "vm-2")
	for _, power := range []numa.PowerState{numa.PoweredOn, numa.PoweredOff} {
		if err := vc.Place("vm-2", "host-2", power); err != nil {
			t.Fatal(err)
		}
		on, now := power == numa.PoweredOn, c.properties()
		if _, effect := vc.InEffect("vm-2"); (now.Runtime.BootTime != nil) != on || toolsRun(now) != on || effect != on || now.Runtime.Host.Value != "host-2" {
			t.Errorf("%s: boot time %v, Tools %v, in effect %v, host %v", power, now.Runtime.BootTime, toolsRun(now), effect, now.Runtime.Host)
		}
	}
}

// TestReset: a reset is no power cycle.
func TestReset(t *testing.T) {
	vc := serve(t)
	c := login(t, vc, "vm-1")
	boot := *c.properties().Runtime.BootTime
	c.must(c.reconfigure(types.VirtualMachineConfigSpec{ExtraConfig: append(key("numa.vcpu.preferHT", "FALSE"), key("vmx.reboot.powerCycle", "TRUE")...)}))
	c.must(c.wait(c.vm.Reset(t.Context())))
	if got := *c.properties().Runtime.BootTime; !got.Equal(boot) {
		t.Errorf("boot time after a reset: %v, want %v", got, boot)
	}
	if v, _ := vc.InEffect("vm-1"); lookup(v, "numa.vcpu.preferHT") != "TRUE" {
		t.Error("a reset brought settings into effect")
	}
	off := login(t, vc, "vm-2")
	isFault[*types.InvalidPowerState](t, "reset of one that is off", off.wait(off.vm.Reset(t.Context())))
}

// TestShutdownGuest: it takes time, may never end, and needs Tools.
func TestShutdownGuest(t *testing.T) {
	vc := serve(t)
	c := login(t, vc, "vm-1")
	vc.SetTools("vm-1", false)
	isFault[*types.ToolsUnavailable](t, "without Tools", c.vm.ShutdownGuest(t.Context()))
	isFault[*types.ToolsUnavailable](t, "reboot without Tools", c.vm.RebootGuest(t.Context()))
	vc.SetTools("vm-1", true)
	vc.SetGuest("vm-1", lab.Guest{Shutdown: -1})
	c.must(c.vm.ShutdownGuest(t.Context()))
	if isOff(c.properties()) {
		t.Error("a guest that never shuts down is off")
	}
	vc.SetGuest("vm-1", lab.Guest{Shutdown: time.Millisecond})
	c.must(c.vm.ShutdownGuest(t.Context()))
	c.until("runtime.powerState", isOff)
	isFault[*types.InvalidPowerState](t, "of one that is off", c.vm.ShutdownGuest(t.Context()))
	c.must(c.wait(c.vm.PowerOn(t.Context())))
	c.until("guest.toolsRunningStatus", toolsRun)
}

// TestShutdownGuestOvertaken: a shutdown that waits does not power off a VM that was powered off and on meanwhile.
func TestShutdownGuestOvertaken(t *testing.T) {
	vc := serve(t)
	c := login(t, vc, "vm-1")
	vc.SetGuest("vm-1", lab.Guest{Shutdown: 100 * time.Millisecond})
	c.must(c.vm.ShutdownGuest(t.Context()))
	c.must(c.wait(c.vm.PowerOff(t.Context())))
	c.must(c.wait(c.vm.PowerOn(t.Context())))
	time.Sleep(200 * time.Millisecond)
	if isOff(c.properties()) {
		t.Error("the shutdown of before powered the VM off")
	}
}

// TestRebootGuest: a reboot is a power cycle with the key, and a power-off with rebootPowerOff.
func TestRebootGuest(t *testing.T) {
	vc := serve(t)
	c := login(t, vc, "vm-1")
	boot := *c.properties().Runtime.BootTime
	c.must(c.reconfigure(types.VirtualMachineConfigSpec{ExtraConfig: key("numa.vcpu.preferHT", "FALSE")}))
	vc.SetGuest("", lab.Guest{Tools: -1})
	c.must(c.vm.RebootGuest(t.Context()))
	c.until("guest.toolsRunningStatus", func(vm mo.VirtualMachine) bool { return !toolsRun(vm) })
	if got := *c.properties().Runtime.BootTime; !got.Equal(boot) {
		t.Errorf("boot time after a plain reboot: %v, want %v", got, boot)
	}
	if v, _ := vc.InEffect("vm-1"); lookup(v, "numa.vcpu.preferHT") != "TRUE" {
		t.Error("a plain reboot brought settings into effect")
	}

	vc.SetTools("vm-1", true)
	c.must(c.reconfigure(types.VirtualMachineConfigSpec{ExtraConfig: key("vmx.reboot.powerCycle", "true")}))
	c.must(c.vm.RebootGuest(t.Context()))
	c.until("runtime.bootTime", func(vm mo.VirtualMachine) bool { return vm.Runtime.BootTime != nil && vm.Runtime.BootTime.After(boot) })
	if got := c.setting("vmx.reboot.powerCycle"); got != "" {
		t.Errorf("the key is still %q", got)
	}
	if v, ok := vc.InEffect("vm-1"); !ok || lookup(v, "numa.vcpu.preferHT") != "FALSE" {
		t.Error("a power cycle brought nothing into effect")
	}

	vc.SetTools("vm-1", true)
	c.must(c.reconfigure(types.VirtualMachineConfigSpec{RebootPowerOff: types.NewBool(true)}))
	c.must(c.vm.RebootGuest(t.Context()))
	c.until("runtime.powerState", isOff)
	if *c.properties().Config.RebootPowerOff {
		t.Error("rebootPowerOff stays after the reboot it was for")
	}
}

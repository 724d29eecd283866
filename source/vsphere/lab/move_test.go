package lab_test

import (
	"errors"
	"testing"

	"github.com/vmware/govmomi/object"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/numa"
	"example.org/homenode/source/vsphere"
)

func relocation(host string) types.VirtualMachineRelocateSpec {
	return types.VirtualMachineRelocateSpec{Host: &types.ManagedObjectReference{Type: "HostSystem", Value: host}}
}

// TestMove: a move keeps the boot time and what is in effect.
func TestMove(t *testing.T) {
	vc := serve(t)
	c := login(t, vc, "vm-1")
	c.must(c.reconfigure(types.VirtualMachineConfigSpec{ExtraConfig: key("numa.vcpu.preferHT", "FALSE")}))
	before := c.properties()
	hosts := func() (out []int) {
		for _, id := range []string{"host-1", "host-2"} {
			var h mo.HostSystem
			c.must(object.NewHostSystem(c.Client.Client, types.ManagedObjectReference{Type: "HostSystem", Value: id}).Properties(t.Context(), types.ManagedObjectReference{Type: "HostSystem", Value: id}, []string{"vm"}, &h))
			out = append(out, len(h.Vm))
		}
		return out
	}
	for i, move := range []func() (*object.Task, error){
		func() (*object.Task, error) { return c.vm.Relocate(t.Context(), relocation("host-2"), "") },
		func() (*object.Task, error) {
			return c.vm.Migrate(t.Context(), nil, object.NewHostSystem(c.Client.Client, *relocation("host-1").Host), types.VirtualMachineMovePriorityDefaultPriority, "")
		},
	} {
		c.must(c.wait(move()))
		now, want := c.properties(), []string{"host-2", "host-1"}[i]
		if now.Runtime.Host.Value != want || now.Summary.Runtime.Host.Value != want || !now.Runtime.BootTime.Equal(*before.Runtime.BootTime) || !toolsRun(now) {
			t.Errorf("after the move: host %v, boot time %v, Tools %v", now.Runtime.Host, now.Runtime.BootTime, toolsRun(now))
		}
		if n := hosts(); n[0] != []int{1, 2}[i] || n[1] != 1-i {
			t.Errorf("VMs of the hosts after move %d: %v", i+1, n)
		}
	}
	if v, _ := vc.InEffect("vm-1"); lookup(v, "numa.vcpu.preferHT") != "TRUE" {
		t.Error("a vMotion brought settings into effect")
	}
	vc.Connect("host-2", "connected", true)
	isFault[*types.InvalidState](t, "to a host in maintenance", c.wait(c.vm.Relocate(t.Context(), relocation("host-2"), "")))
}

// TestMovesBesideReads moves a VM while the fleet is read: under make race the lists of hosts are read and written with one lock.
func TestMovesBesideReads(t *testing.T) {
	vc := serve(t)
	done := make(chan error)
	go func() {
		var err error
		for range 20 {
			_, one := vsphere.Read(t.Context(), vc.URL, vsphere.Options{})
			err = errors.Join(err, one)
		}
		done <- err
	}()
	for i := 0; ; i++ {
		select {
		case err := <-done:
			if err != nil || i == 0 {
				t.Errorf("after %d moves: %v", i, err)
			}
			return
		default:
			if err := vc.Place("vm-1", []string{"host-1", "host-2"}[i%2], numa.PoweredOn); err != nil {
				t.Fatal(err)
			}
		}
	}
}

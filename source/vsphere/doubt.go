package vsphere

import (
	"github.com/vmware/govmomi/vim25/types"

	"homenode/numa"
)

// One odd object must not end the read of a fleet: what cannot be becomes
// unknown, and a note names the object.

// doubtHost makes the facts of a host unknown that cannot be. The API counts
// packages, cores and threads in 16 bits, which are within all bounds.
func (inv *inventory) doubtHost(ref types.ManagedObjectReference, h *numa.Host) {
	doubt := func(alone numa.Host, what string) (doubted bool) {
		err := alone.Check()
		if err != nil {
			inv.note(ref, "host %s: %v: its %s unknown", h.Name, err, what)
		}
		return err != nil
	}
	if doubt(numa.Host{Memory: h.Memory}, "memory is") {
		h.Memory = numa.Fact[numa.Bytes]{}
	}
	if doubt(numa.Host{Nodes: h.Nodes}, "NUMA nodes are") {
		h.Nodes = numa.Fact[[]numa.Node]{}
	}
}

// doubtVM makes the facts of a VM unknown that cannot be.
func (inv *inventory) doubtVM(ref types.ManagedObjectReference, v *numa.VM) {
	doubt := func(alone numa.VM, what string) (doubted bool) {
		err := alone.Check()
		if err != nil {
			inv.note(ref, "VM %s: %v: its %s unknown", v.Name, err, what)
		}
		return err != nil
	}
	if doubt(numa.VM{Config: numa.Config{VCPUs: v.VCPUs}}, "vCPU count is") {
		v.VCPUs = numa.Fact[int]{}
	}
	if doubt(numa.VM{Config: numa.Config{CoresPerSocket: v.CoresPerSocket}}, "number of cores per socket is") {
		v.CoresPerSocket = numa.Fact[int]{}
	}
	if doubt(numa.VM{Config: numa.Config{Memory: v.Memory}}, "memory is") {
		v.Memory = numa.Fact[numa.Bytes]{}
	}
}

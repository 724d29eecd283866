package vsphere

import (
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/numa"
)

// One odd object must not end the read of a fleet: an impossible value becomes unknown, and a note
// names the object.

// doubt makes a fact of an object unknown when check rejects it.
func doubt[T any](inv *inventory, ref types.ManagedObjectReference, whose string, f *numa.Fact[T], what string, check func() error) {
	if err := check(); err != nil {
		inv.note(ref, "%s: %v: its %s unknown", whose, err, what)
		*f = numa.Fact[T]{}
	}
}

// doubtHost makes impossible facts of a host unknown. The API counts packages, cores and threads in
// 16 bits, which are within all bounds.
func (inv *inventory) doubtHost(ref types.ManagedObjectReference, h *numa.Host) {
	doubt(inv, ref, "host "+h.Name, &h.Memory, "memory is", (&numa.Host{Memory: h.Memory}).Check)
	doubt(inv, ref, "host "+h.Name, &h.Nodes, "NUMA nodes are", (&numa.Host{Nodes: h.Nodes}).Check)
}

// doubtVM makes impossible facts of a VM unknown.
func (inv *inventory) doubtVM(ref types.ManagedObjectReference, v *numa.VM) {
	of := func(c numa.Config) func() error { return (&numa.VM{Config: c}).Check }
	doubt(inv, ref, "VM "+v.Name, &v.VCPUs, "vCPU count is", of(numa.Config{VCPUs: v.VCPUs}))
	doubt(inv, ref, "VM "+v.Name, &v.CoresPerSocket, "number of cores per socket is", of(numa.Config{CoresPerSocket: v.CoresPerSocket}))
	doubt(inv, ref, "VM "+v.Name, &v.Memory, "memory is", of(numa.Config{Memory: v.Memory}))
}

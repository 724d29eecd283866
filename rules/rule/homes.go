package rule

import (
	"homenode/esxi/placement"
	"homenode/esxi/vnuma"
	"homenode/numa"
)

// Placed has the home nodes that VMs get on a host, placed in their order.
type Placed struct {
	VMs   []*VM
	Nodes []HomeNode
	Loose []int // indexes of VMs without home node
}

// A HomeNode is a node of a host with what is placed on it; a HomeClient is one NUMA client
// there, its Request an index of Placed.VMs.
type (
	HomeNode   = placement.Node
	HomeClient = placement.Client
)

// HomesOn places VMs on a host, with the layouts that they have there.
func HomesOn(h *numa.Host, vms []*VM, layout func(v *VM) *vnuma.Layout, ch vnuma.Choices) Placed {
	requests := make([]placement.Request, len(vms))
	for i, v := range vms {
		requests[i] = placement.RequestOf(v.VM, layout(v))
	}
	at := placement.Of(h, ch)
	nodes, loose := placement.Place(&at, requests)
	return Placed{vms, nodes, loose}
}

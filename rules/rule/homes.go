package rule

import (
	"fmt"
	"slices"

	"homenode/esxi/placement"
	"homenode/esxi/vnuma"
	"homenode/internal/words"
	"homenode/numa"
)

// Placed has the home nodes that VMs get on a host, placed in their order.
type Placed struct {
	VMs   []*VM
	Seen  []*numa.Observation // of each VM, that its home nodes are taken from; nil where they are predicted
	Nodes []HomeNode
	Loose []int // indexes of VMs without home node
}

// A HomeNode is a node of a host with what is placed on it; a HomeClient is one NUMA client
// there, its Request an index of Placed.VMs.
type (
	HomeNode   = placement.Node
	HomeClient = placement.Client
)

// HomesOn places VMs on a host, with the layouts that they have there: where they were seen
// there last, and in their order where they were not.
func HomesOn(h *numa.Host, vms []*VM, layout func(v *VM) *vnuma.Layout, ch vnuma.Choices) Placed {
	out := Placed{VMs: vms, Seen: make([]*numa.Observation, len(vms))}
	requests := make([]placement.Request, len(vms))
	for i, v := range vms {
		requests[i] = placement.RequestOf(v.VM, layout(v))
		if o := v.SeenAt(h); o != nil && requests[i].Layout.Managed {
			out.Seen[i] = o
			requests[i].Seen = &numa.SeenVM{
				VM: v.ID, Host: h.ID, Homes: numa.SetOf(o.Homes.Value...), Local: o.Local.Value, Remote: o.Remote.Value, OnNode: o.OnNode.Value,
			}
		}
	}
	at := placement.Of(h, ch)
	out.Nodes, out.Loose = placement.Place(&at, requests)
	return out
}

// SeenAt returns the newest observation of home nodes that the VM has on the host; nil when there is none, or when it
// was powered on since, or seen on another host. An observation that names no host is of the VM's own.
func (v *VM) SeenAt(h *numa.Host) *numa.Observation {
	for i := range slices.Backward(v.Observed) {
		o := &v.Observed[i]
		switch {
		case o.By.InGuest():
		case o.Start != "", o.Host != "" && !numa.SameHost(o.Host, h.Name), o.NoHome():
			return nil // what is older was before it
		case o.Homes.Known() && (o.Host != "" || h == v.Host):
			return o
		}
	}
	return nil
}

// Basis says in words how many of the VMs are where they were seen, and when; empty when none is.
func (p *Placed) Basis() (text string, seen int) {
	first, last := "", ""
	for _, o := range p.Seen {
		if o == nil {
			continue
		}
		seen++
		if o.Time != "" && (first == "" || o.Time < first) {
			first = o.Time
		}
		last = max(last, o.Time)
	}
	if seen == 0 {
		return "", 0
	}
	text = fmt.Sprintf("%s seen", words.Plural(seen, "VM"))
	switch {
	case first == "":
	case first == last:
		text += " at " + first
	default:
		text += fmt.Sprintf(" from %s to %s", first, last)
	}
	return text, seen
}

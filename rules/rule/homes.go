package rule

import (
	"fmt"
	"slices"

	"example.org/homenode/esxi/placement"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
)

// Placed contains the home nodes that VMs get on a host, placed in their order.
type Placed struct {
	VMs   []*VM
	Seen  []*numa.Observation // for each VM, the observation of its home nodes; nil if they are predicted
	Nodes []HomeNode
	Loose []int // indexes of VMs without home node
}

// A HomeNode is a node of a host with its clients; a HomeClient is one NUMA client there, its Request an index of
// Placed.VMs.
type (
	HomeNode   = placement.Node
	HomeClient = placement.Client
)

// HomesOn places VMs on a host, with their layouts there: on the nodes where they were last observed there, and in
// their order if they were not.
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
	at.Reclaim(out.Nodes, requests)
	return out
}

// SeenAt returns the newest observation of home nodes of the VM on the host; nil if there is none, or if the VM was
// powered on since, or observed on another host. An observation without a host is of the VM's own.
func (v *VM) SeenAt(h *numa.Host) *numa.Observation {
	for i := range slices.Backward(v.Observed) {
		o := &v.Observed[i]
		switch {
		case o.By.InGuest():
		case o.Start != "", o.Host != "" && !numa.SameHost(o.Host, h.Name), o.NoHome():
			return nil // older observations were before it
		case o.Homes.Known() && (o.Host != "" || h == v.Host):
			return o
		}
	}
	return nil
}

// Basis describes the number of VMs with observed home nodes, and the time of the observations; empty for none.
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

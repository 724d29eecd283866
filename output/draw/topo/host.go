package topo

import (
	"fmt"
	"slices"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/rule"
)

// basis returns the first sentence of every caption: how many home nodes were observed, and how many
// are predicted.
func basis(p *rule.Placed) string {
	text, seen := p.Basis()
	switch managed := len(p.VMs) - len(p.Loose); {
	case seen == 0:
		return "The home nodes are predicted (C-4), not observed."
	case seen == managed:
		return fmt.Sprintf("The home nodes and what is remote are as seen: %s. Memory that was not in use then is predicted.", text)
	default:
		return fmt.Sprintf("The home nodes and what is remote are as seen for some: %s. Those of %s are predicted (C-4).", text, words.Plural(managed-seen, "VM"))
	}
}

// OfHost returns the drawing of a host with the clients of the powered-on VMs that are registered on
// it, placed in inventory order.
func OfHost(r *rules.Result, h *numa.Host) *Drawing {
	d, known := ofHost(h)
	if !known {
		return d
	}
	high, vms := urgent(r), running(r, h)
	homes := rule.HomesOn(h, vms, func(v *rule.VM) *vnuma.Layout { return &v.On[0].Layout }, r.Choices)
	d.nodesOf(homes.Nodes, func(i int) string { return texttab.Clean(vms[i].Name) }, func(c *rule.HomeClient) Client {
		v := vms[c.Request]
		out := d.clientOf(v, &v.On[0].Layout, c)
		out.High = high[v.ID]
		return out
	})
	for _, i := range homes.Loose {
		c := d.looseOf(vms[i])
		c.High = high[vms[i].ID]
		d.Loose = append(d.Loose, c)
	}
	d.Loose, d.LooseMore = fewest(d.Loose, d.ID+"__loose")
	if text := r.Fleet.LoadUnknownIn(h.Cluster); text != "" {
		d.Caption = []string{words.Capital(text) + "."}
		for i := range d.Nodes {
			d.Nodes[i].Part = true
		}
	}
	d.Caption = append(append(d.Caption, basis(&homes)+" VMs are placed in the order of the inventory."), beyond(h, homes.Nodes)...)
	d.Caption = append(d.Caption, leftOut(r, h, len(vms))...)
	return d
}

// hostFacts returns the processors, the release, and the reason if the host runs no VMs.
func hostFacts(h *numa.Host) []string {
	var facts []string
	if p := processors(h); p != "" {
		facts = append(facts, p)
	}
	if h.Release.Known() {
		facts = append(facts, h.Release.Value.String())
	}
	if h.Maintenance.Or(false) {
		facts = append(facts, "in maintenance")
	}
	if c := h.Connection.Or("connected"); c != "connected" {
		facts = append(facts, texttab.Clean(c))
	}
	return facts
}

// running returns the assessed VMs that run on the host. VMs with unknown power state count as
// running.
func running(r *rules.Result, h *numa.Host) []*rule.VM {
	var vms []*rule.VM
	for _, c := range r.Clusters {
		vms = append(vms, c.Running(h)...)
	}
	return slices.DeleteFunc(vms, func(v *rule.VM) bool { return v.Home == nil })
}

// leftOut describes VMs that are registered on the host but not drawn.
func leftOut(r *rules.Result, h *numa.Host, drawn int) []string {
	off, on, unknown := 0, 0, 0
	for i := range r.Fleet.VMs {
		v := &r.Fleet.VMs[i]
		switch {
		case v.Host != h.ID || v.Template.Or(false):
		case v.Power.Or(numa.PoweredOn) != numa.PoweredOn:
			off++
		default:
			on++
			if !v.Power.Known() {
				unknown++
			}
		}
	}
	var out []string
	if off > 0 {
		out = append(out, fmt.Sprintf("Not drawn: %s not powered on.", words.Plural(off, "VM")))
	}
	if on > drawn {
		out = append(out, fmt.Sprintf("Not drawn: %s that could not be judged, or cannot power on.", words.Plural(on-drawn, "VM")))
	}
	if unknown > 0 {
		out = append(out, fmt.Sprintf("Power state unknown, taken as on: %s.", words.Plural(unknown, "VM")))
	}
	return out
}

// clientOf returns the shape of a placed client.
func (d *Drawing) clientOf(v *rule.VM, l *vnuma.Layout, c *rule.HomeClient) Client {
	out := d.client(v.ID, v.Name, c.Index, l.PPDs.Len())
	out.First, _ = l.PPDs.Group(c.Index)
	out.VCPUs, out.Memory, out.MemoryKnown = c.VCPUs, c.Local+c.Crossed+c.Remote+c.Nowhere, v.Memory.Known()
	out.Crossed, out.Remote, out.Nowhere = c.Crossed, c.Remote, c.Nowhere
	out.Interleaved = l.Memory.Placement == vnuma.Interleaved
	return out
}

// looseOf returns the shape of a VM without home node.
func (d *Drawing) looseOf(v *rule.VM) Client {
	out := d.loose(v.VM)
	out.VCPUs, out.Memory = v.On[0].Layout.VPDs.Sum(), v.Memory.Value
	return out
}

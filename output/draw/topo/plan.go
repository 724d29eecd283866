package topo

import (
	"fmt"

	hosts "homenode/change/move/plan"
	"homenode/internal/texttab"
	"homenode/numa"
	"homenode/rules/rule"
)

// OfPlan returns the drawing of a host of a plan: its nodes less what is the host's own, and on each the NUMA nodes of the
// guests that it is to carry.
func OfPlan(p *hosts.Plan, host int) *Drawing {
	h, use := &p.Hosts[host], &p.Made.Hosts[host]
	d := &Drawing{ID: "planned-" + ShapeID(h.Name), Title: texttab.Clean(h.Name), Facts: []string{"planned"}}
	for i := range use.Nodes {
		n := &h.Nodes[i]
		at := Node{ID: fmt.Sprintf("%s__node-%d", d.ID, n.ID), Number: n.ID, Cores: use.Nodes[i].Cores, Threads: max(0, n.Threads-n.KeptCores*n.Threads/max(1, n.Cores)),
			Memory: numa.DerivedFrom(n.Memory-n.KeptMemory, "memory of the node less what is the host's own"), VCPUs: use.Nodes[i].VCPUs, Used: use.Nodes[i].Memory}
		for _, v := range use.VMs {
			for c, cell := range p.Made.VMs[v].Cells {
				if cell.Node == n.ID {
					at.Clients = append(at.Clients, plannedClient(d.ID, p, v, c))
				}
			}
		}
		at.Clients, at.More = fewest(at.Clients, at.ID)
		d.Nodes = append(d.Nodes, at)
	}
	d.Caption = []string{"Planned: each client is a NUMA node of a guest, and stays on its node."}
	if k := p.Policy; k.KeptCores > 0 || k.KeptMemory > 0 {
		d.Caption = append(d.Caption, fmt.Sprintf("Not drawn: %s and %s of each node, which are the host's own.", rule.Plural(k.KeptCores, "core"), k.KeptMemory))
	}
	return d
}

// plannedClient returns the shape of a node of a guest.
func plannedClient(drawing string, p *hosts.Plan, vm, cell int) Client {
	v, s := p.VMs[vm], p.Needs[vm].Shape
	out := Client{
		ID: fmt.Sprintf("%s__vm-%s__client-%d", drawing, ShapeID(v.ID), cell), VM: texttab.Clean(v.Name), Label: texttab.Clean(v.Name),
		Index: cell, VCPUs: len(s.Cells[cell].CPUs), Memory: s.Cells[cell].Memory, MemoryKnown: true, Wide: len(s.Cells) > 1,
	}
	if out.VCPUs > 0 {
		out.First = s.Cells[cell].CPUs[0]
	}
	if out.Wide {
		out.Label += fmt.Sprintf(".%d", cell)
	}
	return out
}

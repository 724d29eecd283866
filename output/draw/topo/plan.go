package topo

import (
	"fmt"

	hosts "example.org/homenode/change/move/plan"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/draw/picture"
)

// OfPlan returns the drawing of a planned host: its nodes without the resources of the host itself, with the planned guest
// nodes of VMs.
func OfPlan(p *hosts.Plan, host int) *Drawing {
	h, use := &p.Hosts[host], &p.Made.Hosts[host]
	d := &Drawing{ID: "planned-" + picture.ID(h.Name), Title: texttab.Clean(h.Name), Facts: []string{"planned"}}
	for i := range use.Nodes {
		n := &h.Nodes[i]
		at := Node{ID: fmt.Sprintf("%s__node-%d", d.ID, n.ID), Number: n.ID, Cores: use.Nodes[i].Cores, Threads: max(0, n.Threads-n.KeptCores*n.Threads/max(1, n.Cores)),
			Memory: numa.DerivedFrom(n.Memory-n.KeptMemory, "memory of the node less what is the host's own"), VCPUs: use.Nodes[i].VCPUs, Used: use.Nodes[i].Memory}
		for _, v := range use.VMs {
			for c, cell := range p.Made.VMs[v].Cells {
				if cell.Node != n.ID {
					continue
				}
				cells := p.Needs[v].Shape.Cells
				one := d.client(p.VMs[v].ID, p.VMs[v].Name, c, len(cells))
				one.VCPUs, one.Memory, one.MemoryKnown = len(cells[c].CPUs), cells[c].Memory, true
				if one.VCPUs > 0 {
					one.First = cells[c].CPUs[0]
				}
				at.Clients = append(at.Clients, one)
			}
		}
		at.Clients, at.More = fewest(at.Clients, at.ID)
		d.Nodes = append(d.Nodes, at)
	}
	d.Caption = []string{"Planned: each client is a NUMA node of a guest, and stays on its node."}
	if k := p.Policy; k.KeptCores > 0 || k.KeptMemory > 0 {
		d.Caption = append(d.Caption, fmt.Sprintf("Not drawn: %s and %s of each node, which are the host's own.", words.Plural(k.KeptCores, "core"), k.KeptMemory))
	}
	return d
}

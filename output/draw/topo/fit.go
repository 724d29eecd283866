package topo

import (
	"fmt"
	"strconv"

	"example.org/homenode/internal/texttab"
	"example.org/homenode/numa"
	filled "example.org/homenode/size/fit"
)

// OfFit returns the drawing of a host that size fit filled with VMs: its nodes without their reserve. names are those of the shapes of
// VMs; nil names them by number.
func OfFit(id, title string, facts []string, nodes []filled.Use, names []string) *Drawing {
	d := &Drawing{ID: id, Title: texttab.Clean(title), Facts: facts}
	clients := map[int]map[int]int{} // vCPUs, by VM and client
	for i := range nodes {
		for _, c := range nodes[i].Clients {
			if clients[c.VM] == nil {
				clients[c.VM] = map[int]int{}
			}
			clients[c.VM][c.Index] = c.VCPUs
		}
	}
	for i := range nodes {
		n := &nodes[i]
		at := Node{ID: fmt.Sprintf("%s__node-%d", id, n.Node), Number: n.Node, Cores: n.Cores, Memory: numa.DerivedFrom(n.Memory-n.Reserve, "memory of the node less its reserve"), Used: n.Foreign, Foreign: n.Foreign}
		for _, c := range n.Clients {
			name := fmt.Sprintf("VM %d", c.VM+1)
			if names != nil {
				name = names[c.Shape]
			}
			one := d.client(strconv.Itoa(c.VM), name, c.Index, len(clients[c.VM]))
			for i := range c.Index {
				one.First += clients[c.VM][i]
			}
			one.VCPUs, one.Memory, one.Remote, one.MemoryKnown = c.VCPUs, c.Memory, c.Remote, true
			at.Clients, at.VCPUs, at.Used = append(at.Clients, one), at.VCPUs+c.VCPUs, at.Used+c.Memory-c.Remote
		}
		at.Clients, at.More = fewest(at.Clients, at.ID)
		d.Nodes = append(d.Nodes, at)
	}
	return d
}

package topo

import (
	"fmt"
	"maps"
	"slices"

	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/rule"
)

// A group is the vCPUs of one cell of a KVM VM that are allowed on the same host nodes. It corresponds to a NUMA client of ESXi.
type group struct {
	cell, node int // node is -1 if several nodes are allowed
	cpus       []int
	memory     numa.Bytes // share of the cell's memory
	local      numa.Bytes // part of memory that is on the node
}

// spread returns the groups of a VM, and the amount of its memory on each host node: as observed by numastat, otherwise according to
// the memory binding of cells, otherwise with the vCPUs. Unbound memory of groups on several nodes is not counted on any node.
func spread(v *rule.StatedVM) (groups []group, on map[int]numa.Bytes) {
	s, h := v.Stated, v.Host
	on = map[int]numa.Bytes{}
	for i := range s.Cells {
		c := &s.Cells[i]
		byNode := map[int][]int{}
		for _, vcpu := range c.CPUs {
			node := -1
			if vcpu < len(s.CPUs) && (s.CPUs[vcpu] != nil || len(h.Nodes.Value) == 1) {
				if nodes, _ := h.NodesOf(s.CPUs[vcpu]); len(nodes) == 1 {
					node = nodes[0]
				}
			}
			byNode[node] = append(byNode[node], vcpu)
		}
		before, upTo := numa.Bytes(0), 0
		for _, node := range slices.Sorted(maps.Keys(byNode)) {
			cpus := byNode[node]
			upTo += len(cpus)
			to := numa.Bytes(int64(c.Memory/numa.KiB)*int64(upTo)/int64(len(c.CPUs))) * numa.KiB
			groups = append(groups, group{cell: i, node: node, cpus: cpus, memory: to - before})
			before = to
		}
	}
	for _, p := range s.Pieces() {
		home := s.Home(&p, h)
		for _, n := range home {
			on[n] += p.Memory / numa.Bytes(len(home))
		}
	}
	if o := v.MemoryOn(); o != nil {
		on = map[int]numa.Bytes{}
		for _, m := range o.OnNode.Value {
			on[m.Node] = m.Guest
		}
	}
	left := maps.Clone(on)
	for i := range groups {
		g := &groups[i]
		g.local = min(g.memory, left[g.node])
		left[g.node] -= g.local
	}
	return groups, on
}

func list(cpus []int) string {
	if len(cpus) == 0 || cpus[len(cpus)-1]-cpus[0] == len(cpus)-1 {
		return ""
	}
	return words.Ranges(cpus)
}

// place draws VMs on the nodes of a host.
func (d *Drawing) place(h *numa.Host, vms []*rule.StatedVM, high map[string]bool) {
	d.Stated = true
	index := map[int]int{}
	for i, n := range h.Nodes.Value {
		index[n.ID] = i
		d.Nodes = append(d.Nodes, Node{ID: fmt.Sprintf("%s__node-%d", d.ID, n.ID), Number: n.ID, Cores: n.Cores, Threads: n.Threads, Memory: n.Memory})
	}
	for _, v := range vms {
		groups, on := spread(v)
		loose := d.loose(v.VM)
		loose.High = high[v.ID]
		local := map[int]numa.Bytes{}
		for k, g := range groups {
			local[g.node] += g.local
			i, ok := index[g.node]
			if !ok {
				loose.VCPUs, loose.Memory = loose.VCPUs+len(g.cpus), loose.Memory+g.memory
				continue
			}
			c := d.client(v.ID, v.Name, k, len(groups))
			c.First, c.VCPUs, c.List, c.High = g.cpus[0], len(g.cpus), list(g.cpus), high[v.ID]
			c.Memory, c.MemoryKnown, c.Remote = g.memory, v.Memory.Known(), g.memory-g.local
			d.Nodes[i].Clients, d.Nodes[i].VCPUs = append(d.Nodes[i].Clients, c), d.Nodes[i].VCPUs+c.VCPUs
		}
		if loose.VCPUs > 0 {
			d.Loose = append(d.Loose, loose)
		}
		for id, i := range index {
			n, away := &d.Nodes[i], on[id]-local[id]
			n.Used, n.Foreign = n.Used+on[id], n.Foreign+away
			if away > 0 {
				n.Guests = append(n.Guests, texttab.Clean(v.Name))
			}
		}
	}
	for i := range d.Nodes {
		n := &d.Nodes[i]
		n.Clients, n.More = fewest(n.Clients, n.ID)
	}
	d.Loose, d.LooseMore = fewest(d.Loose, d.ID+"__loose")
}

// OfStatedHost returns the drawing of a KVM host with its running VMs, according to their definitions.
func OfStatedHost(r *rules.Result, h *numa.Host) *Drawing {
	d, known := ofHost(h, string(numa.KVM))
	if d.Stated = true; !known {
		return d
	}
	var vms []*rule.StatedVM
	unknown, seen, anywhere := 0, 0, 0
	for _, v := range r.Stated {
		if v.Host == nil || v.Host.ID != h.ID {
			continue
		}
		vms = append(vms, v)
		if !v.Stated.Running {
			unknown++
		}
		if v.MemoryOn() != nil {
			seen++
		} else if _, on := spread(v); len(on) == 0 {
			anywhere++
		}
	}
	d.place(h, vms, urgent(r))
	d.Caption = []string{"Stated by the definitions of the VMs, not predicted: vCPUs stand on the node that they are pinned to.", memoryCaption(seen, len(vms))}
	if anywhere > 0 {
		d.Caption = append(d.Caption, fmt.Sprintf("The memory of %s is drawn on no node: it is neither bound nor pinned nor seen.", words.Plural(anywhere, "VM")))
	}
	if unknown > 0 {
		d.Caption = append(d.Caption, fmt.Sprintf("Whether they run is not stated, taken as on: %s.", words.Plural(unknown, "VM")))
	}
	return d
}

// memoryCaption states for how many VMs numastat has the location of memory.
func memoryCaption(seen, all int) string {
	switch seen {
	case 0:
		return "Memory is drawn where it is bound, else with its vCPUs: where it is was not seen (numastat)."
	case all:
		return "Memory is where numastat saw it."
	}
	return fmt.Sprintf("Memory of %d of %d VMs is where numastat saw it; that of the others where it is bound, else with its vCPUs.", seen, all)
}

// OfStated returns the drawing of a KVM VM alone on its host, with the guest nodes above the host nodes; nil if the nodes of its host
// are unknown.
func OfStated(v *rule.StatedVM) *Drawing {
	h := v.Host
	if h == nil || !h.Nodes.Known() {
		return nil
	}
	s := v.Stated
	d := ofVM(v.VM, h, words.Plural(s.VCPUs, "vCPU"), s.Shape.Memory.String(), s.Topology())
	d.place(h, []*rule.StatedVM{v}, nil)
	seen := 0
	if v.MemoryOn() != nil {
		seen = 1
	}
	d.Caption = []string{"Stated by its definition, not predicted (" + texttab.Clean(s.At) + ").", memoryCaption(seen, 1)}
	d.dropEmpty()
	groups, _ := spread(v)
	for i := range s.Cells {
		c := &s.Cells[i]
		g := Guest{ID: fmt.Sprintf("%s__guest-%d", d.ID, i), Name: fmt.Sprintf("guest node %d", i), VCPUs: len(c.CPUs), List: list(c.CPUs), Memory: c.Memory, MemoryKnown: v.Memory.Known(), stated: true}
		if len(c.CPUs) > 0 {
			g.First = c.CPUs[0]
		}
		if len(s.Cells) == 1 {
			g.Name = "guest sees 1 node"
		}
		for k := range groups {
			at := slices.IndexFunc(d.Nodes, func(n Node) bool { return n.Number == groups[k].node })
			if groups[k].cell == i && at >= 0 {
				g.Clients++
				g.On = append(g.On, at)
			}
		}
		slices.Sort(g.On)
		g.On = slices.Compact(g.On)
		d.Guests = append(d.Guests, g)
	}
	for i := range d.Nodes {
		for k := range d.Nodes[i].Clients {
			c := &d.Nodes[i].Clients[k]
			c.Label = vcpuText(c.First, c.VCPUs, c.List)
		}
	}
	return d
}

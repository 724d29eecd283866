package replay

import (
	"fmt"
	"slices"

	"example.org/homenode/numa"
)

// settle determines the location of the VMs at the first moment, and the memory of the nodes that
// belongs to no VM. VMs with known locations come first; the others are placed where enough
// memory is in use.
func (p *plan) settle() {
	in := map[int]numa.Bytes{} // use of each node that is not yet assigned to a VM
	for i := range p.host.Nodes.Value {
		n := &p.host.Nodes.Value[i]
		in[n.ID] = n.Memory.Or(numa.MaxHostMemory) - p.node(n.ID).Free
	}
	p.settleUnmanaged(in)
	on := make([][]numa.MemoryOnNode, len(p.rec.first.VMs))
	take := func(i int, nodes []numa.MemoryOnNode) {
		on[i] = nodes
		for _, m := range nodes {
			in[m.Node] -= m.Guest
		}
	}
	for i := range on {
		if v := &p.rec.first.VMs[i]; p.stands(i) && p.own(v.Homes) != 0 {
			if nodes := p.stated(v); nodes != nil {
				take(i, nodes)
			}
		}
	}
	for i := range on {
		v := &p.rec.first.VMs[i]
		homes := p.own(v.Homes)
		if !p.stands(i) || homes == 0 {
			continue
		}
		if on[i] == nil {
			take(i, p.guessed(v, homes, in))
		}
		p.story.Seen = append(p.story.Seen, numa.SeenVM{VM: p.fleet.VMs[p.guestOf[i]].ID, Host: p.host.ID, Homes: homes, Local: v.Local, Remote: v.Remote, OnNode: on[i]})
	}
	p.settleRest(in)
}

// stands reports whether a VM of the first tick runs in the story from the start.
func (p *plan) stands(i int) bool { return p.guestOf[i] >= 0 && p.rec.lives[i].first < 0 }

// settleUnmanaged subtracts the memory of VMs without home node: the model takes it from every
// node in proportion to its free memory.
func (p *plan) settleUnmanaged(in map[int]numa.Bytes) {
	free := 0.0
	for i := range p.rec.first.Nodes {
		free += float64(p.rec.first.Nodes[i].Free)
	}
	for i := range p.rec.first.VMs {
		v := &p.rec.first.VMs[i]
		if !p.stands(i) || p.own(v.Homes) != 0 {
			continue
		}
		for k := range p.rec.first.Nodes {
			n := &p.rec.first.Nodes[k]
			in[n.ID] -= numa.Bytes(float64(touched(v)-reclaimed(v)) * (float64(n.Free) / max(1, free)))
		}
	}
}

// settleRest assigns the remaining use to no VM. If the VMs have more memory than is in use, the
// node is assumed to have so much more memory, because free memory is decisive.
func (p *plan) settleRest(in map[int]numa.Bytes) {
	for i := range p.host.Nodes.Value {
		n := &p.host.Nodes.Value[i]
		if !n.Memory.Known() {
			continue
		}
		used := in[n.ID] / numa.PageSize * numa.PageSize
		if used < 0 {
			if -used > n.Memory.Value/100 {
				p.note(fmt.Sprintf("node %d: its VMs have %s more than is in use there (pages that are shared count for each of them; where the memory of VMs on several nodes is may not be stated): it is taken to have so much more memory", n.ID, -used))
			}
			n.Memory.Value -= used
			continue
		}
		p.story.Used = append(p.story.Used, numa.NodeUse{Host: p.host.ID, Node: n.ID, Memory: used})
	}
}

// own returns the nodes of the set that the host has.
func (p *plan) own(s numa.NodeSet) (out numa.NodeSet) {
	for i := range p.host.Nodes.Value {
		if id := p.host.Nodes.Value[i].ID; s.Has(id) {
			out |= numa.SetOf(id)
		}
	}
	return out
}

// reclaimed returns the memory of a VM that is on no node.
func reclaimed(v *numa.VMTick) (b numa.Bytes) {
	if v.Has&numa.HasBalloon != 0 {
		b += v.Balloon
	}
	if v.Has&numa.HasSwapped != 0 {
		b += v.Swapped
	}
	return b
}

// stated returns the location of a VM's memory as stated in the capture, or as it follows from
// it; nil if unknown.
func (p *plan) stated(v *numa.VMTick) []numa.MemoryOnNode {
	sum, known := numa.Bytes(0), v.OnNode != nil
	for _, m := range v.OnNode {
		sum += m.Guest
		known = known && m.Node >= 0 && m.Node < numa.MaxNodes && p.own(numa.SetOf(m.Node)) != 0
	}
	if all := v.Local + v.Remote; known && max(sum, all)-min(sum, all) <= all/100+numa.MiB {
		out := slices.Clone(v.OnNode)
		for i := range out {
			out[i].Guest = whole(out[i].Guest)
		}
		return out
	}
	homes, others := p.own(v.Homes), len(p.host.Nodes.Value)-p.own(v.Homes).Len()
	if homes.Len() == 1 && (others == 1 || v.Remote == 0) {
		return p.guessed(v, homes, nil) // nothing to guess
	}
	return nil
}

// whole rounds down to pages.
func whole(b numa.Bytes) numa.Bytes { return b / numa.PageSize * numa.PageSize }

// guessed returns a possible location of a VM's memory: local memory equally on its home nodes,
// remote memory equally on the others, as far as enough is in use there.
func (p *plan) guessed(v *numa.VMTick, homes numa.NodeSet, in map[int]numa.Bytes) []numa.MemoryOnNode {
	on := make([]numa.MemoryOnNode, len(p.host.Nodes.Value))
	var near, far []int
	for i := range on {
		on[i] = numa.MemoryOnNode{Node: p.host.Nodes.Value[i].ID, Overhead: -1}
		if homes.Has(on[i].Node) {
			near = append(near, i)
		} else {
			far = append(far, i)
		}
	}
	spread(on, near, whole(v.Local), in)
	spread(on, far, whole(v.Remote), in)
	return on
}

// spread divides memory equally among nodes, but assigns no more to a node than is in use there
// while another has more.
func spread(on []numa.MemoryOnNode, nodes []int, b numa.Bytes, in map[int]numa.Bytes) {
	room := func(i int) numa.Bytes { return max(0, whole(in[on[i].Node])) }
	nodes = slices.Clone(nodes)
	slices.SortStableFunc(nodes, func(a, b int) int { return int(min(1, max(-1, room(a)-room(b)))) })
	for k, i := range nodes { // those with the least room first: the others take the rest
		part := min(whole(b/numa.Bytes(len(nodes)-k)), room(i))
		on[i].Guest, b = part, b-part
	}
	for k, i := range nodes { // there is no room anywhere
		part := whole(b / numa.Bytes(len(nodes)-k))
		on[i].Guest += part
		b -= part
	}
}

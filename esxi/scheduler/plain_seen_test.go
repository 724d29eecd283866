package scheduler

import "example.org/homenode/numa"

// seen returns how the VM was observed where the story begins; nil when it was not.
func (v *plainVM) seen() *numa.SeenVM {
	for i := range v.world.story.Seen {
		if v.world.story.Seen[i].VM == v.vm.ID {
			return &v.world.story.Seen[i]
		}
	}
	return nil
}

// takeAsSeen puts the VM where it was observed: see "Placement", VMs that were seen. It
// reports false when no home node was seen.
func (v *plainVM) takeAsSeen(seen *numa.SeenVM) bool {
	var homes []*plainNode
	for _, n := range v.host.nodes {
		if seen.Homes.Has(n.ID) {
			homes = append(homes, n)
		}
	}
	if len(homes) == 0 {
		return false
	}
	for i := range v.layout.PPDs.Len() {
		first, n := v.layout.PPDs.Group(i)
		v.addClient(first, n, wayBack).home = homes[i%len(homes)]
	}
	for _, n := range homes[min(len(homes), len(v.clients)):] {
		v.widened[n] = true
	}
	if seen.OnNode != nil {
		v.takeOnNodes(seen.OnNode)
	} else {
		for _, c := range v.clients {
			local, remote := c.part(pagesOf(seen.Local)), c.part(pagesOf(seen.Remote))
			c.touched = local + remote
			c.swapped = local - c.allocate(c.home, local, 0) + c.spill(remote, 0)
		}
	}
	for _, c := range v.clients {
		c.heat()
		v.world.decided["taken"]++
	}
	return true
}

// takeOnNodes gives the clients what was seen on each node: each first its part of what
// is on its home, then the rest in the order of nodes.
func (v *plainVM) takeOnNodes(seen []numa.MemoryOnNode) {
	left := map[*plainNode]int64{}
	var all int64
	for _, n := range v.host.nodes {
		for _, m := range seen {
			if m.Node == n.ID {
				left[n] = pagesOf(m.Guest)
			}
		}
		all += left[n]
	}
	take := func(c *plainClient, n *plainNode) {
		p := min(left[n], c.part(all)-c.touched)
		left[n] -= p
		c.touched += p
		c.swapped += p - c.allocate(n, p, 0)
	}
	for _, c := range v.clients {
		take(c, c.home)
	}
	for _, c := range v.clients {
		for _, n := range v.host.nodes {
			take(c, n)
		}
	}
}

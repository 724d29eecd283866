package scheduler

import (
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// placeable returns the nodes on which clients of the VM can be placed: those with
// cores, and of numa.nodeAffinity when it names any of them.
func (v *plainVM) placeable() []*plainNode {
	nodes := v.host.withCores()
	if named := v.named(nodes); len(named) > 0 {
		return named
	}
	return nodes
}

// allowed returns the nodes that memory of the VM can be on.
func (v *plainVM) allowed() []*plainNode {
	if len(v.named(v.host.withCores())) > 0 {
		return v.named(v.host.nodes)
	}
	return v.host.nodes
}

// named returns the nodes that numa.nodeAffinity names.
func (v *plainVM) named(nodes []*plainNode) (out []*plainNode) {
	for _, n := range nodes {
		for _, id := range vnuma.NodeAffinity(&v.vm) {
			if id == n.ID {
				out = append(out, n)
			}
		}
	}
	return out
}

// place makes the clients of the VM on its host and gives them homes: see "Placement".
func (v *plainVM) place(now int64, c vnuma.Case) {
	h := v.host
	if c.Event == vnuma.PowerCycle {
		m := h.machine
		v.poweredOnAt = &m
	}
	v.canLive, v.canUse = v.placeable(), v.allowed()
	v.threads = v.guest.PreferHT || h.machine.PreferHT
	c.Ran = true
	v.layout = vnuma.Predict(&v.guest, &h.machine, &c)
	if v.layout.Stored.Written {
		v.stored = v.layout.Stored
		v.read()
	}
	_, v.interleaved = v.layout.Spanning()
	v.clients, v.widened, v.came = nil, map[*plainNode]bool{}, now
	v.recent = plainSums{}
	v.tries = h.set.largeAlways
	if !v.layout.Managed {
		v.addClient(0, v.layout.VPDs.Sum(), now)
		h.world.decided["unmanaged"]++
		v.draw(max(0, now))
		return
	}
	if seen := v.seen(); seen != nil && now == wayBack && v.takeAsSeen(seen) {
		v.draw(0)
		return
	}
	used := map[*plainNode]bool{}
	for i := range v.layout.PPDs.Len() {
		first, n := v.layout.PPDs.Group(i)
		c := v.addClient(first, n, now)
		candidates := without(v.placeable(), used)
		if len(candidates) == 0 { // all are allowed again
			used = map[*plainNode]bool{}
			candidates = v.placeable()
		}
		c.home = h.choose(c, candidates, now)
		used[c.home] = true
		h.last = c.home.index
		h.world.decided["placed"]++
	}
	v.draw(max(0, now))
}

func (v *plainVM) addClient(first, n int, now int64) *plainClient {
	c := &plainClient{vm: v, first: first, n: n, pages: make([]int64, len(v.host.nodes)), homeSince: wayBack, considered: wayBack}
	v.clients = append(v.clients, c)
	return c
}

func without(nodes []*plainNode, used map[*plainNode]bool) (out []*plainNode) {
	for _, n := range nodes {
		if !used[n] {
			out = append(out, n)
		}
	}
	return out
}

// choose returns the home of a client, by the release of the host.
func (h *plainHost) choose(c *plainClient, candidates []*plainNode, now int64) *plainNode {
	switch r := h.host.Release.Value; {
	case r < numa.ESX41:
		return h.nextInTurn(candidates)
	case r < numa.ESXi50:
		return h.mostFree(c, candidates, now)
	}
	return h.leastLoaded(c, candidates, now)
}

// inTurn returns the nodes in the order of IDs, around, after the last one chosen.
func (h *plainHost) inTurn(nodes []*plainNode) (out []*plainNode) {
	for i := 1; i <= len(h.nodes); i++ {
		n := h.nodes[(h.last+i)%len(h.nodes)]
		for _, m := range nodes {
			if m == n {
				out = append(out, n)
			}
		}
	}
	return out
}

// nextInTurn is the round robin of up to 4.0.
func (h *plainHost) nextInTurn(candidates []*plainNode) *plainNode {
	return h.inTurn(candidates)[0]
}

// mostFree is the placement of 4.1.
func (h *plainHost) mostFree(c *plainClient, candidates []*plainNode, now int64) *plainNode {
	need := c.part(c.vm.toAllocate())
	var best *plainNode
	room := false
	for _, n := range h.inTurn(candidates) {
		free := h.countedFree(n, now)
		if best == nil || free > h.countedFree(best, now) {
			best = n
		}
		room = room || free-h.minFree >= need
	}
	if !room {
		return h.nextInTurn(candidates)
	}
	return best
}

// toAllocate returns the pages that a VM that is being placed will touch.
func (v *plainVM) toAllocate() int64 {
	return max(v.memory(), v.kept)
}

// countedFree returns the free memory of a node as placement counts it: before 4.1 U2
// the memory of VMs that came less than 60 s ago is not counted.
func (h *plainHost) countedFree(n *plainNode, now int64) int64 {
	free := n.free()
	if h.host.Release.Value < numa.ESX41+2 && now != wayBack {
		for _, c := range h.clients() {
			if now-c.vm.came < minute/2 {
				free += c.pages[n.index]
			}
		}
	}
	return free
}

const minute = 60 // seconds; half as many steps

// leastLoaded is the placement of 5.0 and later: near the clients of the VM, then least
// load, then most free memory, then in turn.
func (h *plainHost) leastLoaded(c *plainClient, candidates []*plainNode, now int64) *plainNode {
	var best *plainNode
	for _, n := range h.inTurn(candidates) {
		if best == nil || h.isBetter(c, n, best, now) {
			best = n
		}
	}
	return best
}

func (h *plainHost) isBetter(c *plainClient, n, than *plainNode, now int64) bool {
	if a, b := h.far(c, n), h.far(c, than); a != b {
		return a < b
	}
	a, b := h.known(n, now)*than.cap, h.known(than, now)*n.cap // shares of the capacity, exactly
	if a != b {
		return a < b
	}
	return n.free() > than.free()
}

// far returns how far a node is from the homes of the clients of the VM so far.
func (h *plainHost) far(c *plainClient, n *plainNode) (sum int64) {
	distance := h.host.Distance.Value
	square := len(distance) == len(h.nodes)
	for _, row := range distance {
		square = square && len(row) == len(h.nodes)
	}
	for _, other := range c.vm.clients {
		switch {
		case other.home == nil: // c itself
		case square:
			sum += int64(distance[n.index][other.home.index])
		case n.Package != other.home.Package || n.Package < 0:
			sum++
		}
	}
	return sum
}

// known returns the load of a node that placement knows of.
func (h *plainHost) known(n *plainNode, now int64) (sum int64) {
	for _, c := range h.clients() {
		if c.home != n {
			continue
		}
		most := int64(c.n) * whole
		switch {
		case now == wayBack:
			sum += most
		case h.set.placementLoad > 0 && strings.EqualFold(c.vm.vm.LatencySensitivity.Value, "high"):
			sum += most
		case now-c.vm.came >= minute/2:
			sum += c.demand
		case h.host.Release.Value < numa.ESXi80 || h.set.placementLoad > 0:
			sum += most
		}
	}
	return sum
}

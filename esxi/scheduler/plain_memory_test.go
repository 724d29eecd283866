package scheduler

import (
	"time"

	"example.org/homenode/numa"
)

// plainTime returns when step k begins.
func plainTime(k int64) time.Duration { return time.Duration(k) * numa.Step }

// growMemory is phase 4.
func (h *plainHost) growMemory() {
	for _, v := range h.running() {
		if h.state != numa.Low {
			v.grow()
		}
	}
}

// target returns the pages that the VM is to have touched after step k.
func (v *plainVM) target(k int64) int64 {
	over := v.over()
	line := v.t0 + times(max(0, v.memory()-v.t0), min(k+1-v.k0, over), over)
	return max(line, v.kept)
}

// grow touches the new pages of the clients of the VM.
func (v *plainVM) grow() {
	target := v.target(v.world.k)
	room := int64(1) << 60
	if v.host.takesIdle() {
		room = max(0, v.host.freeMemory()-(32*v.host.minFree+99)/100)
	}
	wants := func(c *plainClient) int64 {
		return min(room, min(c.part(target), c.part(v.configured()))-c.touched)
	}
	if len(v.clients) > 1 { // what goes elsewhere comes after what all have at home
		for _, c := range v.clients {
			if c.home != nil {
				if pages := min(wants(c), c.home.free()-v.host.soft()); pages > 0 {
					room -= pages
					c.touch(pages)
				}
			}
		}
	}
	for _, c := range v.clients {
		if pages := wants(c); pages > 0 {
			room -= pages
			c.touch(pages)
		}
	}
}

// touch allocates new pages of the client (C-15).
func (c *plainClient) touch(pages int64) {
	before := c.outside()
	c.touched += pages
	if c.home == nil {
		c.vm.host.noteTie(true) // takes by what is free
		pages = c.touchAnywhere(pages)
	} else {
		soft := c.vm.host.soft()
		pages -= c.allocate(c.home, pages, soft)
		pages = c.spill(pages, soft)
		pages -= c.allocate(c.home, pages, 0)
		pages = c.spill(pages, 0)
	}
	if pages > 0 && c.vm.host.takesIdle() { // it is asked for again
		c.touched -= pages
		pages = 0
	}
	c.swapped += pages
	if c.home == nil {
		return
	}
	c.widen()
	out := c.outside() - before
	if out > 0 {
		c.vm.world.decided["spilled"]++
	}
	c.hot += times(max(0, out), partsOf(c.vm.load.Active), whole)
	c.vm.coolDown()
}

// coolDown checks that no client has more hot pages than pages outside H.
func (v *plainVM) coolDown() {
	for _, c := range v.clients {
		c.hot = min(c.hot, c.outside())
	}
}

// allocate takes up to so many pages from a node as long as it has more than keep free.
func (c *plainClient) allocate(n *plainNode, pages, keep int64) int64 {
	p := max(0, min(pages, n.free()-keep))
	c.vm.host.noteTie(p < pages) // who comes first gets the memory
	n.used += p
	c.pages[n.index] += p
	return p
}

// spill takes pages from the other allowed nodes, the one with the most free memory
// first; it returns what is left.
func (c *plainClient) spill(pages, keep int64) int64 {
	done := map[*plainNode]bool{c.home: true}
	for pages > 0 {
		n := mostFreeOf(c.vm.canUse, done)
		if n == nil {
			break
		}
		done[n] = true
		pages -= c.allocate(n, pages, keep)
	}
	return pages
}

// mostFreeOf returns the node with the most free memory of those not done; nil for none.
func mostFreeOf(nodes []*plainNode, done map[*plainNode]bool) (most *plainNode) {
	for _, n := range nodes {
		if !done[n] && (most == nil || n.free() > most.free()) {
			most = n
		}
	}
	return most
}

// touchAnywhere allocates pages of a client without home; it returns what does not fit.
func (c *plainClient) touchAnywhere(pages int64) (left int64) {
	h := c.vm.host
	sum := h.freeMemory()
	fits := min(pages, sum)
	if fits > 0 {
		var got int64
		shares := map[*plainNode]int64{}
		for _, n := range h.nodes {
			shares[n] = times(fits, n.free(), sum)
		}
		for _, n := range h.nodes {
			got += c.allocate(n, shares[n], 0)
		}
		done := map[*plainNode]bool{}
		for got < fits {
			n := mostFreeOf(h.nodes, done)
			done[n] = true
			got += c.allocate(n, fits-got, 0)
		}
	}
	return pages - fits
}

// widen adds nodes to H when the client has new pages (D-2).
func (c *plainClient) widen() {
	v := c.vm
	if c.part(v.configured()) <= c.home.mem || c.n <= c.home.Cores && !v.world.choices.WidenAlways {
		return
	}
	for _, n := range v.host.nodes {
		if c.pages[n.index] > 0 && !v.homes()[n] {
			v.widened[n] = true
			v.world.decided["widened"]++
		}
	}
}

// migratePages is phase 5.
func (h *plainHost) migratePages() {
	if !h.set.pageMig {
		return
	}
	var load, capacity int64
	for _, n := range h.nodes {
		load += n.load + n.loose
		capacity += n.cap
	}
	for _, c := range h.clients() {
		if c.home == nil || c.outside() == 0 {
			continue
		}
		room := max(0, c.home.free()-h.minFree/int64(len(h.nodes)))
		rate := 2 * h.set.pageMigRate
		var p int64
		switch {
		case c.hot > 0:
			p = min(c.hot, rate*c.ramp()/16, room)
			c.hot -= p
		case load*20 >= capacity && c.outside() > c.touched/50:
			p = min(c.outside(), rate/40, room)
		}
		h.noteTie(p == room)
		c.bring(p)
		c.hot = min(c.hot, c.outside())
		if p > 0 && c.outside() == 0 {
			h.world.decided["all local"]++
		}
	}
}

// ramp is how fast page migration is, in sixteenths.
func (c *plainClient) ramp() int64 {
	switch age := c.vm.world.k - c.homeSince; {
	case age < 10:
		return 1
	case age < 20:
		return 2
	case age < 30:
		return 4
	case age < 40:
		return 8
	}
	return 16
}

// bring migrates pages to the home, from the node outside H with the most of them.
func (c *plainClient) bring(pages int64) {
	for pages > 0 {
		homes := c.vm.homes()
		var most *plainNode
		for _, n := range c.vm.host.nodes {
			if !homes[n] && (most == nil || c.pages[n.index] > c.pages[most.index]) {
				most = n
			}
		}
		p := min(pages, c.pages[most.index])
		c.pages[most.index] -= p
		most.used -= p
		c.pages[c.home.index] += p
		c.home.used += p
		pages -= p
	}
}

package scheduler

import (
	"sort"

	"example.org/homenode/numa"
)

// drawDemand is phase 1.
func (h *plainHost) drawDemand() {
	k := h.world.k
	for _, v := range h.running() {
		if k%10 == 0 {
			v.draw(k)
		}
	}
}

// draw draws the demand of a VM.
func (v *plainVM) draw(k int64) {
	wanted := int64(v.layout.VPDs.Sum()) * v.shareAt(k)
	demand := wanted
	if limit, ok := v.limit(); ok {
		demand = min(demand, limit)
	}
	for _, c := range v.clients {
		c.wanted, c.demand = c.byVCPUs(wanted), c.byVCPUs(demand)
	}
}

// limit returns the CPU limit in parts.
func (v *plainVM) limit() (most int64, ok bool) {
	mhz := v.host.host.CoreMHz
	if !v.vm.CPULimit.Known() || v.vm.CPULimit.Value < 0 || !mhz.Known() {
		return 0, false
	}
	return int64(v.vm.CPULimit.Value) * whole / int64(mhz.Value), true
}

// reserved returns the CPU reservation of the client in parts, at most its demand.
func (c *plainClient) reserved() int64 {
	mhz := c.vm.host.host.CoreMHz
	if !mhz.Known() {
		return 0
	}
	return min(c.demand, c.byVCPUs(int64(c.vm.vm.CPUReservation.Or(0))*whole/int64(mhz.Value)))
}

// shareAt is "Demand": the share of a core that each vCPU asks for in step k.
func (v *plainVM) shareAt(k int64) int64 {
	d := &v.load.CPU
	if len(d.Points) > 0 {
		share := int64(0)
		for i, p := range d.Points {
			if i == 0 || p.At <= plainTime(k) {
				share = partsOf(p.Share)
			}
		}
		return share
	}
	share := v.curve(k)
	if noise := partsOf(d.Noise); noise > 0 {
		share += int64(v.hash(k)%uint64(2*noise+1)) - noise
	}
	return max(0, min(whole, share))
}

// curve is the day curve.
func (v *plainVM) curve(k int64) int64 {
	const day = 86400
	low, high := partsOf(v.load.CPU.Low), partsOf(v.load.CPU.High)
	d := v.world.secondOfDay(k) - int64(v.load.CPU.Peak.Seconds())
	d = (d%day + day) % day
	d = min(d, day-d)
	x := day/2 - d
	return low + down((high-low)*x*x*(3*(day/2)-2*x), (day/2)*(day/2)*(day/2))
}

// hash is splitmix64.
func (v *plainVM) hash(k int64) uint64 {
	x := v.world.story.Seed + 0x9E3779B97F4A7C15*uint64(v.index+1) + 0xD1B54A32D192ED03*uint64(k/10)
	z := x + 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// sumLoad is phase 2.
func (h *plainHost) sumLoad() {
	var loose, vcpus, idle, capacity int64 // U and sums
	for _, n := range h.nodes {
		n.load, n.loose, n.weight = 0, 0, 0
	}
	for _, c := range h.clients() {
		if c.home == nil {
			loose += c.demand
			vcpus += int64(c.n)
		} else {
			c.home.load += c.demand
		}
	}
	for _, n := range h.withCores() {
		idle += max(0, n.cap-n.load)
		capacity += n.cap
	}
	left := loose
	for _, n := range h.withCores() {
		mine := max(0, n.cap-n.load)
		switch {
		case loose == 0:
		case loose <= idle:
			n.loose = times(loose, mine, idle)
		default:
			n.loose = mine + times(loose-idle, n.cap, capacity)
		}
		left -= n.loose
		n.weight = max(1, times(vcpus, n.cap, capacity))
	}
	if left > 0 {
		h.withCores()[0].loose += left
	}
}

// giveCPU is phase 3.
func (h *plainHost) giveCPU() {
	var looseGot, looseDemand int64 // S and U
	for _, n := range h.withCores() {
		got := n.loose
		looseDemand += n.loose
		level := int64(whole)
		over := n.load+n.loose > n.cap
		if over {
			level = h.level(n)
			got = min(n.loose, level*n.weight)
		}
		looseGot += got
		n.got = got
		for _, c := range h.clients() {
			if c.home != n {
				continue
			}
			c.got = c.demand
			if over {
				c.got = min(c.demand, max(c.reserved(), level*int64(c.n)))
			}
			n.got += c.got
		}
		n.shorten(h.at(n))
		n.busy += n.got
	}
	for _, c := range h.clients() {
		if c.home == nil {
			c.got = 0
			if looseDemand > 0 {
				c.got = times(c.demand, looseGot, looseDemand)
			}
		}
	}
	for _, v := range h.running() {
		v.wait()
	}
}

// shorten divides the capacity of a node on which more is reserved than it has.
func (n *plainNode) shorten(clients []*plainClient) {
	sum := n.got
	if sum <= n.cap {
		return
	}
	n.got = 0
	for _, c := range clients {
		c.got = times(c.got, n.cap, sum)
		n.got += c.got
	}
}

// level is the largest L at which the node has room.
func (h *plainHost) level(n *plainNode) int64 {
	tooMuch := sort.Search(whole+1, func(i int) bool {
		sum := min(n.loose, int64(i)*n.weight)
		for _, c := range h.clients() {
			if c.home == n {
				sum += min(c.demand, max(c.reserved(), int64(i)*int64(c.n)))
			}
		}
		return sum > n.cap
	})
	return max(0, int64(tooMuch)-1)
}

// wait is the co-scheduling of phase 3.
func (v *plainVM) wait() {
	progress := int64(whole)
	for _, c := range v.clients {
		if c.demand > 0 {
			progress = min(progress, c.got*whole/c.demand)
		}
	}
	for _, c := range v.clients {
		c.run = min(c.got, (c.demand*progress+whole-1)/whole)
		c.owed += c.demand - c.got
		c.demanded += c.demand
	}
}

// sharePages is phase 6.
func (h *plainHost) sharePages() {
	for _, c := range h.clients() {
		small := c.touched - c.large()
		l := &c.vm.load
		m := h.partners(c)
		can := times(small, partsOf(l.Zero), whole) + times(small, partsOf(l.Common), whole)*(m-1)/m
		most := min(2*h.set.shareRate, c.touched/(30*h.set.shareScanTime)+1)
		took := c.take(max(0, min(can-c.saved, most)))
		c.saved += took
		if took > 0 {
			h.world.decided["shared"]++
		}
	}
}

// large returns the large pages of the client, in small ones.
func (c *plainClient) large() int64 {
	share := partsOf(c.vm.load.AsksLarge)
	if c.vm.tries {
		share = whole
	}
	return max(0, times(c.touched, share, whole)-c.broken)
}

// partners returns m, the number of VMs that share pages with the VM of c, itself included.
func (h *plainHost) partners(c *plainClient) (m int64) {
	salt := func(v *plainVM) string {
		s, ok := v.vm.Settings.Value.Lookup("sched.mem.pshare.salt")
		if ok && s == "" {
			return "of " + v.vm.ID // its alone
		}
		return s
	}
	v := c.vm
	if v.load.Image == "" || c.home == nil {
		return 1
	}
	for _, o := range h.running() {
		if o == v {
			m++
			continue
		}
		if o.load.Image != v.load.Image {
			continue
		}
		switch h.set.salting {
		case 0:
		case 1:
			if salt(o) != salt(v) {
				continue
			}
		default:
			if salt(o) != salt(v) || salt(v) == "" {
				continue
			}
		}
		for _, oc := range o.clients {
			if oc.home == c.home {
				m++
				break
			}
		}
	}
	return m
}

// take takes pages from the node where the client has most, then from the next; it
// returns how many there were.
func (c *plainClient) take(pages int64) (taken int64) {
	for taken < pages {
		var most *plainNode
		for _, n := range c.vm.host.nodes {
			if most == nil || c.pages[n.index] > c.pages[most.index] {
				most = n
			}
		}
		p := min(pages-taken, c.pages[most.index])
		if p == 0 {
			break
		}
		c.pages[most.index] -= p
		most.used -= p
		taken += p
	}
	c.vm.coolDown()
	return taken
}

// freeMemory returns the free memory of all nodes together.
func (h *plainHost) freeMemory() (sum int64) {
	for _, n := range h.nodes {
		sum += n.free()
	}
	return sum
}

// memoryState is the state of phase 7.
func (h *plainHost) memoryState() {
	if !h.simulated {
		return
	}
	free := h.freeMemory() * 100
	before := h.state
	new60 := h.host.Release.Value >= numa.ESXi60
	switch {
	case !h.memoryKnown,
		new60 && free >= 400*h.minFree,
		!new60 && free >= 100*h.minFree:
		h.state = numa.High
	case new60 && free >= 100*h.minFree:
		h.state = numa.Clear
	case free >= 64*h.minFree:
		h.state = numa.Soft
	case free >= 32*h.minFree:
		h.state = numa.Hard
	default:
		h.state = numa.Low
	}
	if h.state != before {
		h.world.decided["state changed"]++
	}
}

// idleOf returns what may be taken of the client's memory.
func (c *plainClient) idleOf() int64 {
	return max(0, times(c.all(), whole-partsOf(c.vm.load.Active), whole)-c.part(c.vm.reservation()))
}

// takesIdle reports whether phase 7 will take memory for those who wait for it.
func (h *plainHost) takesIdle() bool {
	if !h.memoryKnown || h.freeMemory()*100 >= 64*h.minFree {
		return false
	}
	for _, c := range h.clients() {
		if c.idleOf() > 0 {
			return true
		}
	}
	return false
}

// reclaim is the rest of phase 7.
func (h *plainHost) reclaim() {
	const most = 65536
	if h.state == numa.High {
		return
	}
	for _, c := range h.clients() {
		c.broken += min(most, c.large())
	}
	need := min(h.minFree-h.freeMemory(), most)
	if h.state < numa.Soft || need <= 0 {
		return
	}
	idle := map[*plainClient]int64{}
	var sum int64
	for _, c := range h.clients() {
		idle[c] = c.idleOf()
		sum += idle[c]
	}
	for _, c := range h.clients() {
		if idle[c] == 0 {
			continue
		}
		p := min(times(need, idle[c], sum), idle[c])
		if h.state == numa.Soft {
			p = max(0, min(p, c.part(c.vm.configured())*65/100-c.ballooned))
			p = c.take(p)
			c.ballooned += p
		} else {
			p = c.take(p)
			c.swapped += p
		}
		if p > 0 {
			h.world.decided["reclaimed"]++
		}
	}
}

// reservation returns the memory reservation of the VM in pages.
func (v *plainVM) reservation() int64 {
	if v.vm.MemoryReservationLocked.Or(false) {
		return v.configured()
	}
	return pagesOf(v.vm.MemoryReservation.Or(0))
}

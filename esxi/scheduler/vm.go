package scheduler

import (
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// A vm is a VM that runs on a host: the fields that every draw of demand reads. The rest is in its guest.
type vm struct {
	index    int32 // in the fleet
	first    int32 // client
	n        int16 // clients
	vcpus    int16
	wanted   int32 // parts, before the limit
	came     int32 // step of its placement
	memSince int32 // step up to which memory is added up
	curve    curve
	growing  bool
	tries    bool         // pages are large whatever the guest requests
	shares   bool         // has pages of zeros or in common with others
	recorded bool         // demand is recorded, the curve is unused
	homes    numa.NodeSet // node indices: homes of its clients, and nodes added by widen
	facts    *vmFacts

	// Added up since it arrived on this host: see sumsOf.
	local int64 // pages × steps on home nodes
	run   int64 // parts × steps
	ready int64 // parts × steps
}

// vmFacts are the simulated properties of a VM's configuration. VMs with equal facts share them.
type vmFacts struct {
	nodes       vnuma.Split // virtual nodes of an interleaved VM with several clients for one; else empty
	clients     vnuma.Split // of such a VM
	homes       int         // home nodes of such a VM, when it is alone
	managed     bool
	eager       bool         // counts whole vCPUs at placement: high latency sensitivity
	mostThreads bool         // a client may have as many vCPUs as a node has threads
	size        int64        // pages configured
	limit       int64        // parts; -1 for none
	reserved    int64        // parts
	keep        int64        // pages of reserved memory
	mhz         int64        // reserved CPU as configured
	allowed     numa.NodeSet // node indices that clients and memory may use
	salt        string
}

// A guest is the state of a VM whether it runs or not.
type guest struct {
	at     int32 // host it is registered on: where it runs, or last ran; -1 for none
	origin int32 // index in World.machines of its last power-on; -1 before the first time
	cookie int32 // numa.autosize.cookie as stored; 0 for none
	size   int16 // numa.autosize.vcpu.maxPerVirtualNode as stored
	runs   bool
	load   *numa.Load
	rare   *rare // nil for most
}

// rare holds properties that most VMs rarely or never have.
type rare struct {
	config  *numa.Config // after resize or hot add; nil for that of the fleet
	growth  growth       // while memory grows
	widened numa.NodeSet // node indices that were added to the home nodes
	// Sums before it arrived on its host; and remote, far and swapped memory, co-stop and moves up to now.
	sums VMOutcome
}

// growth is the growth of a VM's touched memory: in a straight line (phase 4).
type growth struct {
	from   int64 // touched pages when the target was set
	target int64 // pages
	setAt  int64 // step from which memory grows to the target
	over   int64 // steps; 0 for no growth
	floor  int64 // pages touched on the host it came from
}

// host returns the host that the VM runs on; -1 when it does not.
func (g *guest) host() int {
	if !g.runs {
		return -1
	}
	return int(g.at)
}

// more returns the rare properties of a guest for modification.
func (g *guest) more() *rare {
	if g.rare == nil {
		g.rare = &rare{}
	}
	return g.rare
}

// widened returns the node indices that were added to the home nodes of a VM.
func (g *guest) widened() numa.NodeSet {
	if g.rare == nil {
		return 0
	}
	return g.rare.widened
}

// guestOf returns the guest of a VM that runs here.
func (h *host) guestOf(v *vm) *guest { return &h.guests[v.index] }

// loadOf returns the load of a VM.
func (h *host) loadOf(v *vm) *numa.Load { return h.guests[v.index].load }

// setLoadOf sets the load of a VM, as far as draws use it.
func (h *host) setLoadOf(v *vm, load *numa.Load) {
	h.guests[v.index].load = load
	v.curve, v.recorded = curveOf(&load.CPU), len(load.CPU.Points) > 0
	v.shares = load.Zero != 0 || load.Common != 0
}

// growthOf returns the memory growth of a VM. After the growth has ended, it is the touched memory.
func (h *host) growthOf(v *vm) growth {
	if r := h.guestOf(v).rare; r != nil && r.growth.over > 0 {
		return r.growth
	}
	touched := h.touchedBy(v)
	return growth{from: touched, target: touched, over: 1}
}

// setGrowth sets the memory growth of a VM.
func (h *host) setGrowth(v *vm, g growth) {
	h.guestOf(v).more().growth = g
	if !v.growing {
		v.growing = true
		h.grow++
	}
}

// endGrowth ends the growth. The touched memory then defines it, except after a hot add that took memory away.
func (h *host) endGrowth(v *vm) {
	v.growing = false
	h.grow--
	g := h.guestOf(v)
	if h.touchedBy(v) >= max(g.rare.growth.target, g.rare.growth.floor) {
		g.rare.growth = growth{}
	}
	if *g.rare == (rare{}) {
		g.rare = nil
	}
}

// A client is the state of a NUMA client that is not in the slices of the host.
type client struct {
	vm    int32 // index in host.vms
	start int16 // first vCPU in the VM
	vcpus int16
}

// A strain is a client's state other than pages in use at home.
type strain struct {
	saved     int64
	ballooned int64
	swapped   int64
	broken    int64 // large pages that were broken, in small ones
	hot       int64 // pages outside the homes that are in use
}

// strainOf returns the strain of a client.
func (h *host) strainOf(c int) strain {
	if h.strains == nil {
		return strain{}
	}
	return h.strains[c]
}

// strained returns the strain of a client for modification.
func (h *host) strained(c int) *strain {
	if h.strains == nil {
		h.strains, h.out = make([]strain, len(h.clients)), make([]int64, len(h.clients))
	}
	return &h.strains[c]
}

// outside returns the pages of a client that are outside the home nodes of its VM.
func (h *host) outside(c int) int64 {
	if h.out == nil {
		return 0
	}
	return h.out[c]
}

// touched returns the pages that a client has touched on this host.
func (h *host) touched(c int) int64 {
	if h.strains == nil {
		return h.resident(c)
	}
	s := &h.strains[c]
	return h.resident(c) + s.saved + s.ballooned + s.swapped
}

// touchedBy returns the pages that a VM has touched on this host.
func (h *host) touchedBy(v *vm) (pages int64) {
	for c, end := v.clientsOf(); c < end; c++ {
		pages += h.touched(c)
	}
	return pages
}

// clientsOf returns the first client of a VM and the one after the last.
func (v *vm) clientsOf() (first, end int) { return int(v.first), int(v.first) + int(v.n) }

// A past is the balancer's history of a client.
type past struct {
	swappedAt int32 // period in which it was last considered for a swap
	homeSince int32 // step of its last change of home
}

// pastOf returns the balancer's history of a client.
func (h *host) pastOf(c int) past {
	if h.pasts == nil {
		return past{longAgo, longAgo}
	}
	return h.pasts[c]
}

// remember returns the past of a client for modification.
func (h *host) remember(c int) *past {
	if h.pasts == nil {
		h.pasts = make([]past, len(h.clients))
		for i := range h.pasts {
			h.pasts[i] = past{longAgo, longAgo}
		}
	}
	return &h.pasts[c]
}

// rested reports whether a client has kept its home for long enough at the end of step k.
func (h *host) rested(c int, k int64) bool { return k+1-int64(h.pastOf(c).homeSince) >= rest }

// A debt is the CPU time owed to a client since the fairness interval began.
type debt struct {
	owed int64 // parts × steps
	of   int64 // its demand over the same time
}

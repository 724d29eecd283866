package scheduler

import (
	"homenode/esxi/vnuma"
	"homenode/numa"
)

// A vm is a VM that runs on a host: what every draw of demand looks at. The rest stands
// in its guest.
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
	tries    bool         // pages are large whatever the guest asks for
	shares   bool         // has pages of zeros or in common with others
	recorded bool         // demand is recorded, the curve says nothing
	homes    numa.NodeSet // node indices: homes of its clients and those it was widened by
	facts    *vmFacts

	// Added up since it came to this host: see sumsOf.
	local int64 // pages × steps on home nodes
	run   int64 // parts × steps
	ready int64 // parts × steps
}

// vmFacts are what a VM brings from its configuration. VMs that are alike have them
// together.
type vmFacts struct {
	nodes       vnuma.Split // virtual nodes of an interleaved VM, of which several clients carry one; else empty
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

// A guest is what a VM is wherever it runs, and while it does not.
type guest struct {
	at     int32 // host it is registered on: where it runs, or ran last; -1 for none
	origin int32 // of World.machines: where it was last powered on; -1 before the first time
	cookie int32 // numa.autosize.cookie as stored; 0 for none
	size   int16 // numa.autosize.vcpu.maxPerVirtualNode as stored
	runs   bool
	load   *numa.Load
	rare   *rare // nil for most
}

// rare is what most VMs do not have at a given moment, or never.
type rare struct {
	config  *numa.Config // after resize or hot add; nil for that of the fleet
	growth  growth       // while memory grows
	widened numa.NodeSet // node indices that were added to the home nodes
	// What it went through before it came to its host; and remote, far and swapped memory,
	// co-stop and moves up to now.
	sums VMOutcome
}

// growth is how the touched memory of a VM grows: in a straight line (phase 4).
type growth struct {
	from   int64 // touched pages when the target was set
	target int64 // pages
	setAt  int64 // step from which memory grows to the target
	over   int64 // steps; 0 for no growth
	floor  int64 // pages that it had touched on the host it came from
}

// host returns the host that the VM runs on; -1 when it does not.
func (g *guest) host() int {
	if !g.runs {
		return -1
	}
	return int(g.at)
}

// more returns what is rare of a guest, to be changed.
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

// setLoadOf gives a VM a load, as far as draws look at it.
func (h *host) setLoadOf(v *vm, load *numa.Load) {
	h.guests[v.index].load = load
	v.curve, v.recorded = curveOf(&load.CPU), len(load.CPU.Points) > 0
	v.shares = load.Zero != 0 || load.Common != 0
}

// growthOf returns how a VM's memory grows. One that has grown as far as it was to is
// what it has touched.
func (h *host) growthOf(v *vm) growth {
	if r := h.guestOf(v).rare; r != nil && r.growth.over > 0 {
		return r.growth
	}
	touched := h.touchedBy(v)
	return growth{from: touched, target: touched, over: 1}
}

// setGrowth lets a VM's memory grow.
func (h *host) setGrowth(v *vm, g growth) {
	h.guestOf(v).more().growth = g
	if !v.growing {
		v.growing = true
		h.grow++
	}
}

// endGrowth ends it. What it has touched then says it all, but after a hot add that took
// memory away.
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

// A client is what a NUMA client is beside the slices of the host.
type client struct {
	vm    int32 // index in host.vms
	start int16 // first vCPU in the VM
	vcpus int16
}

// A strain is what a client has beside pages that are in use at home.
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

// strained returns the strain of a client, to be changed.
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
	s := h.strainOf(c)
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

// A past is what the balancer did with a client.
type past struct {
	swappedAt int32 // period in which it was last considered for a swap
	homeSince int32 // step of its last change of home
}

// pastOf returns what the balancer did with a client.
func (h *host) pastOf(c int) past {
	if h.pasts == nil {
		return past{longAgo, longAgo}
	}
	return h.pasts[c]
}

// remember returns the past of a client, to be changed.
func (h *host) remember(c int) *past {
	if h.pasts == nil {
		h.pasts = make([]past, len(h.clients))
		for i := range h.pasts {
			h.pasts[i] = past{longAgo, longAgo}
		}
	}
	return &h.pasts[c]
}

// rested reports whether a client did not change its home lately, at the end of step k.
func (h *host) rested(c int, k int64) bool { return k+1-int64(h.pastOf(c).homeSince) >= rest }

// A debt is what a client is owed since the fairness interval began.
type debt struct {
	owed int64 // parts × steps
	of   int64 // its demand over the same time
}

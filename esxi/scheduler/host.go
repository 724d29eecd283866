package scheduler

import (
	"fmt"
	"slices"

	"example.org/homenode/esxi/memory"
	"example.org/homenode/esxi/placement"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// Units of the kernel: whole numbers, so that every machine computes the same.
const (
	wholeCore = 10000 // parts: a core for a whole step
	full      = 10000 // a share of 1
	percent   = full / 100
	noLimit   = int64(1) << 44 // pages of a node whose memory is unknown
	drawSteps = int64(numa.Draw / numa.Step)
)

// A host is one host of a run.
//
// Nodes, VMs and clients are addressed by their index: nodes in the order of IDs, VMs in the order
// of the fleet, clients in the order of their VMs. Quantities that every draw of demand reads have
// a slice each. Those used only by placements, migrations and shortage are in vm and client. Rare
// ones are in slices that are allocated on first use.
type host struct {
	// Configuration.
	index   int // in the fleet
	release numa.Release
	machine *vnuma.Machine
	// machineIndex is the index of the machine in World.machines.
	machineIndex int32
	hidden       int32      // packages behind the only node: node interleaving
	facts        *numa.Host // with the options in effect
	guests       []guest    // of the fleet
	set          *Settings
	cores        []int32
	mem          []int64 // pages; noLimit when unknown
	cap          []int64 // parts
	allCap       int64
	soft         int64 // pages a node keeps from new local memory while another has more
	minFree      int64 // pages
	keepsHome    int64 // pages a node keeps from pages that migrate home
	choices      *vnuma.Choices
	whole        numa.Bytes          // memory of the host
	talking      map[int32][]partner // by VM; shared by all hosts
	talks        bool                // a VM here talks to another above the threshold
	gone         bool                // failed
	closed       bool                // in maintenance

	// State of the nodes.
	used    []int64 // pages, including those of VMs outside the fleet
	load    []int64 // parts: demand of the clients at home
	loose   []int64 // parts: demand of clients without home
	got     []int64 // parts running there
	ran     []int64 // parts × steps that ran there until cpuSince
	place   *placement.Nodes
	state   numa.MemoryState
	grow    int32 // VMs whose memory grows
	away    int32 // clients with pages outside the home nodes
	sharing bool  // a VM has pages of zeros or in common with others

	// State of VMs and clients.
	vms     []vm
	clients []client
	home    []int8  // node index; -1 without NUMA management
	demand  []int32 // parts
	pages   []int64 // clients × nodes
	// Nil until needed.
	out     []int64 // by client: pages outside the home nodes
	strains []strain
	pasts   []past
	debts   []debt
	crowd   *crowd

	// State of the run.
	step     int64 // the next one
	cpuSince int64 // step up to which CPU time is added up
	dirty    bool  // demand or homes changed: loads must be computed
	crowded  bool  // a node has more load than capacity
	owing    bool  // some client may be owed CPU time of this fairness interval
	placed   bool  // memory was allocated or freed in this step, not only moved home
	moved    bool  // memory was moved, allocated or freed in this step
	still    bool  // memory stays unchanged until another event
	hopeless bool  // no client gains enough elsewhere until homes or memory change
	noMove   bool  // no move improves the balance until loads change
	wake     int64 // step of the next balancer check, unless another event comes first

	events []Decision
	room   int     // for events; 0 without a why-log
	logged int     // the scheduler's own decisions in events
	cut    leftOut // omitted from the why-log
	ticks  int64   // client steps
	trace  *tracer
}

// A crowd is the CPU time of the VMs and clients of a crowded host.
type crowd struct {
	given []int32 // by client, parts
	runs  []int32 // by VM, parts running
	stops []int32 // by VM, parts co-stopped
	here  []asked // of the node being processed
}

// A partner is a VM with which a VM communicates above the threshold.
type partner struct {
	vm   int32 // index in the fleet
	rate int64
}

// newHost returns the host without running VMs.
func newHost(index int, h *numa.Host, used []numa.NodeUse, choices *vnuma.Choices) (*host, []string, error) {
	m, err := vnuma.NewMachine(h)
	if err != nil {
		return nil, nil, err
	}
	nodes := h.Nodes.Value
	if slices.ContainsFunc(nodes, func(n numa.Node) bool { return n.ID < 0 || n.ID >= numa.MaxNodes }) {
		return nil, nil, fmt.Errorf("its nodes have IDs outside 0 to %d", numa.MaxNodes-1)
	}
	set, problems := SettingsOf(h)
	k := len(nodes)
	b := &host{
		index: index, release: h.Release.Value, machine: &m, set: &set, choices: choices,
		cores: make([]int32, k),
		mem:   make([]int64, k), cap: make([]int64, k), used: make([]int64, k),
		load: make([]int64, k), loose: make([]int64, k), got: make([]int64, k), ran: make([]int64, k),
		hidden: int32(max(1, h.Hidden())), dirty: true,
		closed: h.Maintenance.Value,
	}
	for i, n := range nodes {
		b.cores[i] = int32(n.Cores)
		b.mem[i] = noLimit
		if n.Memory.Known() {
			b.mem[i] = int64(n.Memory.Value / numa.PageSize)
		}
	}
	for _, u := range used {
		for i := range nodes {
			if u.Host == h.ID && nodes[i].ID == u.Node {
				b.used[i] += min(int64(u.Memory/numa.PageSize), b.mem[i]-b.used[i])
			}
		}
	}
	b.setCapacity()
	b.facts, b.whole = h, memory.All(h)
	at := placement.Of(h, *choices)
	b.place = placement.NewNodes(&at, b.cap, make([]int64, k), 0)
	b.setReserve()
	return b, problems, nil
}

// setCapacity computes the CPU capacity of the nodes.
func (h *host) setCapacity() {
	h.allCap = 0
	for i, c := range h.cores {
		h.cap[i] = int64(c) * (wholeCore + h.set.HTGain)
		h.allCap += h.cap[i]
	}
}

// setReserve computes the memory that the host keeps free (C-23) and that each node keeps free (C-15).
func (h *host) setReserve() {
	r := memory.ReserveOf(h.whole, len(h.cap), h.release, h.set.MinFreePct, h.choices.FillToMinFree)
	h.minFree, h.soft, h.keepsHome = int64(r.MinFree/numa.PageSize), int64(r.New/numa.PageSize), int64(r.Home/numa.PageSize)
	h.place.Keep = h.minFree
}

// id returns the ID of a node.
func (h *host) id(n int) int { return h.facts.Nodes.Value[n].ID }

// threads returns the hardware threads of a node.
func (h *host) threads(n int) int32 {
	if !hyperThreads(h.facts) {
		return h.cores[n]
	}
	return max(int32(h.facts.Nodes.Value[n].Threads), h.cores[n])
}

// free returns the free pages of a node.
func (h *host) free(n int) int64 { return h.mem[n] - h.used[n] }

// at returns the pages of a client by node.
func (h *host) at(c int) []int64 {
	k := len(h.cap)
	return h.pages[c*k : c*k+k : c*k+k]
}

// part returns the share of client c of the VM in x, by its vCPUs.
func (h *host) part(v *vm, c int, x int64) int64 {
	s, n, all := int64(h.clients[c].start), int64(h.clients[c].vcpus), int64(v.vcpus)
	return mulDiv(x, s+n, all) - mulDiv(x, s, all)
}

// slice returns the share of client c of the VM in x pages of its memory.
func (h *host) slice(v *vm, c int, x int64) int64 {
	if v.facts.nodes == (vnuma.Split{}) {
		return h.part(v, c, x)
	}
	index := c - int(v.first)
	return vnuma.PartOf(v.facts.clients, v.facts.nodes, v.facts.homes, index, x)
}

// mulDiv returns x × a / b rounded down. Pages of the largest VM times the most vCPUs
// fit 64 bits.
func mulDiv(x, a, b int64) int64 { return x * a / b }

// setHomes computes the home nodes of a VM, and the pages outside them.
func (h *host) setHomes(v *vm) {
	v.homes = h.guestOf(v).widened()
	for c, end := v.clientsOf(); c < end; c++ {
		if h.home[c] >= 0 {
			v.homes |= 1 << h.home[c]
		}
	}
	if h.home[v.first] < 0 {
		v.homes = 0
	}
	h.findOut(v)
}

// findOut computes the pages of a VM that are outside its home nodes.
func (h *host) findOut(v *vm) {
	for c, end := v.clientsOf(); c < end; c++ {
		out := int64(0)
		for n, p := range h.at(c) {
			if !v.homes.Has(n) {
				out += p
			}
		}
		if v.homes == 0 {
			out = 0
		}
		if out > 0 {
			h.strained(c)
		}
		if h.out != nil {
			h.out[c] = out
		}
	}
}

// decide adds a decision of the current step to the why-log.
func (h *host) decide(d Decision) { h.decideAt(h.step, d) }

// mostDecisions is the limit of the scheduler's own decisions in the why-log, over all hosts: some
// 60 MB. A year of moving to and fro has millions. Decisions that follow from the story are as few
// as its events, and all are logged.
var mostDecisions = 1 << 19

// leftOut counts the decisions omitted from the why-log.
type leftOut struct {
	count int64
	from  int64 // step
}

func (h *host) decideAt(k int64, d Decision) {
	if h.room == 0 {
		return
	}
	if d.Kind.own() {
		if h.logged == h.room {
			if h.cut.count++; h.cut.count == 1 {
				h.cut.from = k
			}
			return
		}
		h.logged++
	}
	d.At, d.Host = timeOf(k), h.index
	h.events = append(h.events, d)
}

// floorDiv returns x / y rounded down; y is above 0.
func floorDiv(x, y int64) int64 {
	q := x / y
	if x%y < 0 {
		q--
	}
	return q
}

// trim frees the spare capacity of slices, once all VMs that run from the start are there.
func (h *host) trim() {
	h.vms, h.clients = slices.Clone(h.vms), slices.Clone(h.clients)
	h.home, h.demand, h.pages = slices.Clone(h.home), slices.Clone(h.demand), slices.Clone(h.pages)
}

package scheduler

import (
	"maps"
	"math"
	"math/bits"
	"slices"
	"time"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
)

// The plain simulation is docs/evidence/simulation.md once more, as plainly as it can be written: one
// function for each paragraph, structs of pointers, loops. It is the specification that
// the kernel is compared with, tick by tick and sum by sum (TestTwin, FuzzTwin). It was
// written from the page alone, without a look at the kernel.

// whole is one core, in parts; also the whole of a share.
const whole = 10000

// wayBack is the step of what happened long before the story.
const wayBack = -1 << 40

// A plainWorld is a story being run.
type plainWorld struct {
	story   *numa.Story
	choices vnuma.Choices
	hosts   []*plainHost
	vms     []*plainVM
	talks   map[[2]int]int64 // rates above the threshold, by VMs, the lower index first
	k       int64            // the step that comes next
	events  int              // done
	copies  []*plainCopy
	begun   bool
	decided map[string]int // how often, by kind
	steps   int64          // of clients
	tied    bool           // the order of VMs has decided something
	onTick  func(host int, t *numa.Tick)
}

// A plainHost is a host with what changes on it.
type plainHost struct {
	world       *plainWorld
	index       int
	host        numa.Host // its options change
	machine     vnuma.Machine
	simulated   bool
	nodes       []*plainNode
	set         plainSettings
	memoryKnown bool  // of all nodes
	minFree     int64 // pages
	state       numa.MemoryState
	last        int // index of the node chosen last; -1 for none
	maintenance bool
	failed      bool
}

// A plainNode is a NUMA node; memory in pages, CPU in parts.
type plainNode struct {
	numa.Node
	index     int
	cap       int64
	mem, used int64
	load      int64
	loose     int64
	weight    int64 // of the loose share
	got       int64 // parts: what runs there
	busy      int64 // parts × steps since the last tick
}

// A plainVM is a VM with what changes of it.
type plainVM struct {
	world   *plainWorld
	index   int
	vm      numa.VM // its configuration changes
	guest   vnuma.Guest
	unknown bool // cannot be simulated
	load    numa.Load

	on          bool
	host        *plainHost // where it runs or is registered; nil for nowhere
	poweredOnAt *vnuma.Machine
	layout      vnuma.Layout
	clients     []*plainClient
	widened     map[*plainNode]bool
	stored      vnuma.Stored
	canUse      []*plainNode // for memory
	canLive     []*plainNode // for clients
	threads     bool         // a client may have as many vCPUs as a node has threads
	interleaved bool
	came        int64 // step
	tries       bool  // pages are large whatever the guest asks for

	t0, k0 int64 // touched pages and step at which the load was set
	kept   int64 // pages touched on the host before

	sums   plainSums
	recent plainSums // since the last tick
}

// plainSums has the fields of a VMOutcome.
type plainSums struct {
	Steps                      int64
	Local, Remote              int64
	Homeless, Far              int64
	Swapped                    int64
	Demand, Run, Ready, CoStop int64
	Moves                      numa.Moves
}

// A plainClient is a NUMA client.
type plainClient struct {
	vm       *plainVM
	first, n int
	home     *plainNode // nil for none
	pages    []int64    // by index of the node

	touched, saved, ballooned, swapped int64
	hot, broken                        int64

	demand, wanted, got, run int64
	owed, demanded           int64 // since long-term fairness was looked at
	homeSince                int64 // first step at this home
	considered               int64 // period in which it was last considered for a swap
}

// times returns ⌊a × b / c⌋ of what is not negative.
func times(a, b, c int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	q, _ := bits.Div64(hi, lo, uint64(c))
	return int64(q)
}

// down returns a / b rounded down, also below 0; b is above 0.
func down(a, b int64) int64 {
	if a < 0 && a%b != 0 {
		return a/b - 1
	}
	return a / b
}

// partsOf returns a share as hundredths of a percent.
func partsOf(share float64) int64 { return int64(math.Floor(float64(share*whole) + 0.5)) }

// pagesOf returns whole pages.
func pagesOf(b numa.Bytes) int64 { return int64(b / numa.PageSize) }

// part is what client c gets of memory of its VM: of that of a virtual node with several clients as much as each other of them, on as many homes as the VM has alone.
func (c *plainClient) part(x int64) (sum int64) {
	l := &c.vm.layout
	if !c.vm.interleaved || !l.Managed {
		return c.byVCPUs(x)
	}
	for i := range l.VPDs.Len() {
		sum += c.partOf(i, x)
	}
	return sum
}

// partOf is part for the memory of one virtual node.
func (c *plainClient) partOf(i int, x int64) int64 {
	l := &c.vm.layout
	all, own := int64(l.VPDs.Sum()), slices.Index(c.vm.clients, c)
	first, n := l.VPDs.Group(i)
	node := times(x, int64(first+n), all) - times(x, int64(first), all)
	from, to := l.Carriers(i)
	if own < from || own > to {
		return 0
	}
	var turns [][]int // of each home, the clients that are on it when the VM is alone
	for range min(to-from+1, l.HomeNodes) {
		turns = append(turns, nil)
	}
	for j := range to - from + 1 {
		turns[j%len(turns)] = append(turns[j%len(turns)], from+j)
	}
	home := (own - from) % len(turns)
	each := func(x int64, k, of int) int64 { return times(x, int64(k+1), int64(of)) - times(x, int64(k), int64(of)) }
	return each(each(node, home, len(turns)), slices.Index(turns[home], own), len(turns[home]))
}

// byVCPUs is what client c gets of anything else of its VM.
func (c *plainClient) byVCPUs(x int64) int64 {
	all := int64(c.vm.layout.VPDs.Sum())
	return times(x, int64(c.first+c.n), all) - times(x, int64(c.first), all)
}

// free returns the pages that are not used.
func (n *plainNode) free() int64 { return max(0, n.mem-n.used) }

// all returns the pages of the client on nodes.
func (c *plainClient) all() (sum int64) {
	for _, p := range c.pages {
		sum += p
	}
	return sum
}

// homes returns H: the homes of the clients and the nodes that the VM was widened by.
func (v *plainVM) homes() map[*plainNode]bool {
	set := maps.Clone(v.widened)
	if set == nil {
		set = map[*plainNode]bool{}
	}
	for _, c := range v.clients {
		if c.home != nil {
			set[c.home] = true
		}
	}
	return set
}

// outside returns the pages of the client that are not on a node of H.
func (c *plainClient) outside() (sum int64) {
	homes := c.vm.homes()
	for _, n := range c.vm.host.nodes {
		if !homes[n] {
			sum += c.pages[n.index]
		}
	}
	return sum
}

// configured returns the configured memory in pages.
func (v *plainVM) configured() int64 { return pagesOf(v.vm.Resident()) }

// touched returns the pages that the VM has touched, also those that are still to be
// allocated on a host it came to.
func (v *plainVM) touched() (sum int64) {
	for _, c := range v.clients {
		sum += c.touched
	}
	return max(sum, v.kept)
}

// running returns the VMs that run on the host, in the order of the fleet.
func (h *plainHost) running() (vms []*plainVM) {
	for _, v := range h.world.vms {
		if v.on && v.host == h {
			vms = append(vms, v)
		}
	}
	return vms
}

// clients returns the clients of the VMs that run on the host, in order.
func (h *plainHost) clients() (all []*plainClient) {
	for _, v := range h.running() {
		all = append(all, v.clients...)
	}
	return all
}

// withCores returns the nodes that have cores.
func (h *plainHost) withCores() (nodes []*plainNode) {
	for _, n := range h.nodes {
		if n.Cores > 0 {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// newPlain prepares a story: see "Placement", the VMs that run at the start.
func newPlain(story *numa.Story, choices vnuma.Choices) *plainWorld {
	w := &plainWorld{story: story, choices: choices, talks: map[[2]int]int64{}, decided: map[string]int{}}
	for i := range story.Fleet.Hosts {
		w.hosts = append(w.hosts, newPlainHost(w, i))
	}
	for i := range story.Fleet.VMs {
		w.vms = append(w.vms, newPlainVM(w, i))
	}
	for _, t := range story.Talks {
		w.talk(t)
	}
	var seenFirst, known, others []*plainVM
	for _, v := range w.vms {
		if seen := v.seen(); seen != nil && seen.Homes != 0 {
			seenFirst = append(seenFirst, v)
		} else if v.vm.StatedOn() {
			known = append(known, v)
		} else {
			others = append(others, v)
		}
	}
	for _, v := range slices.Concat(seenFirst, known, others) {
		if seen := v.seen(); seen != nil && v.vm.Power.Or(numa.PoweredOn) == numa.PoweredOn {
			v.host = w.hostOf(seen.Host)
		}
		if v.on = v.runsAtStart(); !v.on {
			continue
		}
		v.on = false
		if v.on = v.seen() != nil || v.admittedOn(v.host, !v.vm.StatedOn()); !v.on {
			continue
		}
		v.place(wayBack, vnuma.Case{Event: vnuma.PowerCycle, Choices: choices})
		v.t0 = v.memory()
		if v.touched() == 0 {
			v.grow()
		}
	}
	for _, h := range w.hosts {
		h.memoryState()
		h.world.decided["state changed"] = 0
	}
	return w
}

// runTo runs the steps before t; ticks are shown at the start and after the steps that
// end at a multiple of Every.
func (w *plainWorld) runTo(t time.Duration) {
	if !w.begun {
		w.begun = true
		w.tick()
	}
	for plainTime(w.k) < t {
		w.before()
		w.step()
		if plainTime(w.k)%w.story.Every == 0 {
			w.tick()
		}
	}
}

// step is one step of every host.
func (w *plainWorld) step() {
	for _, h := range w.hosts {
		h.drawDemand()
		h.sumLoad()
		h.giveCPU()
		h.growMemory()
		h.migratePages()
		h.sharePages()
		h.memoryState()
		h.reclaim()
	}
	for _, h := range w.hosts {
		h.balance()
	}
	for _, v := range w.vms {
		v.addUp()
	}
	w.k++
}

// addUp adds the step to what the VM went through.
func (v *plainVM) addUp() {
	if !v.on {
		return
	}
	for _, s := range []*plainSums{&v.sums, &v.recent} {
		s.Steps++
		s.Far += v.far()
		for _, c := range v.clients {
			if c.home != nil {
				s.Local += c.all() - c.outside()
				s.Remote += c.outside()
			} else {
				s.Homeless += c.all()
			}
			s.Demand += c.wanted
			s.Run += c.run
			s.Ready += c.wanted - c.got
			s.CoStop += c.got - c.run
			s.Swapped += c.swapped
		}
	}
	v.world.steps += int64(len(v.clients))
}

// far returns the pages that are not on the node of the client they belong to. Those of a virtual node are on
// the homes of all its clients alike, and a VM without home runs everywhere.
func (v *plainVM) far() (sum int64) {
	var all int64
	for _, c := range v.clients {
		all += c.all()
	}
	if packages := int64(v.host.host.Packages.Or(1)); len(v.host.nodes) == 1 && packages > 1 {
		return all - all/packages
	}
	if v.interleaved && v.layout.Managed {
		for i := range v.layout.VPDs.Len() {
			sum += v.farOf(i)
		}
		return sum
	}
	for _, c := range v.clients {
		switch {
		case c.home == nil:
			sum += all - all/int64(len(v.host.nodes))
		default:
			sum += c.all() - c.pages[c.home.index]
		}
	}
	return sum
}

// farOf returns the far pages of a virtual node.
func (v *plainVM) farOf(i int) (sum int64) {
	const one = 1 << 20
	first, n := v.layout.VPDs.Group(i)
	homes, carries := map[*plainNode]bool{}, map[*plainClient]bool{}
	for cpu := first; cpu < first+n; cpu++ {
		for _, c := range v.clients {
			if cpu >= c.first && cpu < c.first+c.n {
				homes[c.home] = true
				carries[c] = true
			}
		}
	}
	for c := range carries {
		there := int64(0)
		for node := range homes {
			there += c.pages[node.index]
		}
		sum += times(c.all()-there/int64(len(homes)), c.partOf(i, one), c.part(one))
	}
	return sum
}

// homeIDs returns the home nodes as a set of IDs.
func (v *plainVM) homeIDs() (set numa.NodeSet) {
	for n := range v.homes() {
		set |= numa.SetOf(n.ID)
	}
	return set
}

// vmOf returns the VM with this ID; nil for none.
func (w *plainWorld) vmOf(id string) *plainVM {
	i := slices.IndexFunc(w.story.Fleet.VMs, func(v numa.VM) bool { return v.ID == id })
	if i < 0 {
		return nil
	}
	return w.vms[i]
}

// hostOf returns the host with this ID; nil for none.
func (w *plainWorld) hostOf(id string) *plainHost {
	i := slices.IndexFunc(w.story.Fleet.Hosts, func(h numa.Host) bool { return h.ID == id })
	if i < 0 {
		return nil
	}
	return w.hosts[i]
}

// vnumaChoices are those of a random story: the rule book's, but for every fifth.
func vnumaChoices(seed uint64) (c vnuma.Choices) {
	if seed%5 == 0 {
		c.MinEight, c.MemoryMakesWide, c.EqualSlices, c.WidenAlways = true, true, true, true
	}
	c.FillToMinFree = seed%7 == 0
	return c
}

package vnuma

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unique"

	"example.org/homenode/esxi/memory"
	"example.org/homenode/numa"
)

// A Machine is the model's input about a host, as plain numbers. Equal Machines give equal layouts, so == groups the hosts of a cluster by shape.
type Machine struct {
	Release    numa.Release // as reported
	model      numa.Release // release of the rules that apply
	Nodes      int32        // NUMA nodes with cores (M of the rule book)
	Cores      int32        // cores of the smallest node (C)
	Threads    int32        // threads of that node (T)
	Hidden     int32        // packages that node interleaving shows as the only node; 0 for none
	AllCores   int32
	AllThreads int32
	NodeMemory int64 // bytes of the smallest node (Wn); 0 too when unknown
	MaxMemory  int64 // bytes of the largest node; 0 when unknown
	AllMemory  int64 // bytes of all nodes; 0 when unknown
	Reservable int64 // bytes of memory that VMs can at most reserve, including slower tiers; 0 when unknown
	CoreMHz    int32 // frequency of a core; 0 when unknown
	// MinFreePercent is Mem.MemMinFreePct; 0 for the scale of C-23.
	MinFreePercent int32
	Domains        int32 // Numa.MaxProximityDomains of 6.0; 0 for its default
	PreferHT       bool  // Numa.PreferHT
	AllowWide      bool  // Cpu.AllowWideVsmp: more vCPUs than logical CPUs power on
	// ThreadsKnown is false when the state of hyper-threading is not stated; Threads are then the cores.
	ThreadsKnown bool
	OneThread    bool // the side-channel aware scheduler turned hyper-threading off (E-2)
	Follow       bool // Numa.FollowCoresPerSocket
	EPYC         bool // an AMD EPYC host (B-19)
	Unscheduled  bool // Numa.RebalanceEnable = 0
	// The minimum cores that the NUMA scheduler requires of the host and of a node; 0 when met.
	leastCores, leastNode int32
	with                  numa.NodeSet // IDs of the nodes with cores; 0 for 0 to Nodes - 1
	unlike                unique.Handle[unlike]
	assumes               Assumptions
}

// unlike is the memory of hosts with unequal nodes, or with nodes without cores.
type unlike struct {
	n, cores int                  // nodes, and those of them with cores
	id       [numa.MaxNodes]uint8 // ascending
	memory   [numa.MaxNodes]int64 // bytes
	order    [numa.MaxNodes]uint8 // indexes of those with cores, in the order that the clients of a VM get them on an empty host
}

// NewMachine extracts the model's input from a host. The error names the missing fact: a host without nodes or release is not predicted.
func NewMachine(h *numa.Host) (Machine, error) {
	var m Machine
	if !h.Release.Known() {
		return m, fmt.Errorf("host %s: the ESXi release is unknown", h.Name)
	}
	m, ok := m.WithRelease(h.Release.Value)
	if !ok {
		return m, fmt.Errorf("host %s: %w", h.Name, numa.NotModelled(h.Release.Value))
	}
	if !h.Nodes.Known() {
		return m, fmt.Errorf("host %s: the NUMA nodes are unknown", h.Name)
	}
	if h.Nodes.Origin.Kind == numa.Assumed {
		m.assumes |= AssumedNodes
	}
	if err := m.addNodes(h); err != nil {
		return m, err
	}
	if m.AllMemory > 0 {
		m.Reservable = max(m.AllMemory, int64(h.Memory.Value)) + int64(h.TierMemory.Value)
	}
	m.Hidden = int32(h.Hidden())
	m.CoreMHz = int32(h.Frequency().Value)
	m.OneThread = numa.MitigationOf(h) == numa.SCAv1 && h.HasL1TF()
	m.MinFreePercent = int32(memory.MinFreePercent(h))
	if m.Reservable > 0 { // reserved memory is never taken back, and minFree stays free (B-30)
		m.Reservable -= int64(m.Reserve(false).MinFree)
	}
	m.EPYC = strings.Contains(h.CPUModel.Value, "EPYC")
	if !h.Options.Known() {
		m.assumes |= AssumedOptions
	}
	m.PreferHT = isTrue(h.Options.Value, "Numa.PreferHT")
	m.AllowWide = isTrue(h.Options.Value, "Cpu.AllowWideVsmp")
	m.ThreadsKnown = h.HyperThreading.Known() || m.AllThreads > m.AllCores
	m.Follow = isTrue(h.Options.Value, "Numa.FollowCoresPerSocket")
	m.schedule(h)
	if v, ok := h.Options.Value.Lookup("Numa.MaxProximityDomains"); ok {
		n, _ := strconv.Atoi(v) // 0 is unset
		m.Domains = int32(max(0, min(n, maxDomains)))
	}
	return m, nil
}

// Like reports whether VMs get the same layout on both: equal except for a frequency that agrees to 1 %, as cores of one model report it.
func (m Machine) Like(o Machine) bool {
	if d := m.CoreMHz - o.CoreMHz; m.CoreMHz > 0 && o.CoreMHz > 0 && max(d, -d)*100 <= o.CoreMHz {
		m.CoreMHz = o.CoreMHz
	}
	return m == o
}

// WithRelease returns m with release r; false when no rules of r are known.
func (m Machine) WithRelease(r numa.Release) (Machine, bool) {
	model, own, ok := numa.ModelOf(r)
	if !ok {
		return m, false
	}
	m.Release, m.model = r, model
	m.assumes &^= AssumedRelease
	if !own {
		m.assumes |= AssumedRelease
	}
	return m, true
}

// addNodes sets the capacity of all nodes to the cores of the smallest (rule book ); no client is placed on nodes without cores
// (memory only).
func (m *Machine) addNodes(h *numa.Host) error {
	memoryKnown := true
	uneven := false
	for _, n := range h.Nodes.Value {
		mem := int64(n.Memory.Value)
		m.AllMemory += mem
		if n.Cores == 0 {
			continue
		}
		memoryKnown = memoryKnown && n.Memory.Known()
		if n.ID >= 0 {
			m.with |= 1 << n.ID
		}
		m.AllCores += int32(n.Cores)
		m.AllThreads += int32(n.Threads)
		if m.Nodes > 0 && int32(n.Cores) != m.Cores {
			uneven = true
		}
		if m.Nodes == 0 || int32(n.Cores) < m.Cores {
			m.Cores, m.Threads = int32(n.Cores), int32(n.Threads)
		}
		if m.Nodes == 0 || mem < m.NodeMemory {
			m.NodeMemory = mem
		}
		m.MaxMemory = max(m.MaxMemory, mem)
		m.Nodes++
	}
	if m.Nodes == 0 {
		return fmt.Errorf("host %s: no NUMA node has cores", h.Name)
	}
	for i := range m.Nodes {
		if !m.with.Has(int(i)) {
			break
		} else if i == m.Nodes-1 {
			m.with = 0 // the usual IDs
		}
	}
	if h.HyperThreading.Known() && !h.HyperThreading.Value {
		m.Threads, m.AllThreads = m.Cores, m.AllCores
	}
	if !memoryKnown {
		m.NodeMemory, m.MaxMemory, m.AllMemory = 0, 0, 0
	}
	if uneven {
		m.assumes |= AssumedNodeCores
	}
	// Nodes differ by the kernel's own memory (65423 and 65536 MB on one host, A-5); only a difference caused by DIMMs counts.
	if m.UnlikeMemory() {
		m.assumes |= AssumedNodeMemory
	}
	if m.AllMemory != m.NodeMemory*int64(m.Nodes) {
		m.unlike = unique.Make(unlikeOf(h.Nodes.Value, h.Distance.Value))
	}
	return nil
}

// unlikeOf orders nodes as the clients of one VM get them on an empty host: near the earlier ones, then with the most memory, then in turn (C-4).
func unlikeOf(nodes []numa.Node, distance [][]int) (u unlike) {
	u.n = len(nodes)
	taken := make([]int, 0, len(nodes))
	better := func(a, b int) bool {
		near := int32(0)
		for _, t := range taken {
			near += numa.Far(nodes, distance, b, t) - numa.Far(nodes, distance, a, t)
		}
		return near > 0 || near == 0 && nodes[a].Memory.Value > nodes[b].Memory.Value
	}
	for i, n := range nodes {
		u.id[i], u.memory[i] = uint8(n.ID), int64(n.Memory.Value)
		if n.Cores > 0 {
			u.cores++
		}
	}
	for len(taken) < u.cores {
		best, last := -1, -1
		if len(taken) > 0 {
			last = taken[len(taken)-1]
		}
		for k := range nodes {
			i := (last + 1 + k) % len(nodes)
			if nodes[i].Cores > 0 && !slices.Contains(taken, i) && (best < 0 || better(i, best)) {
				best = i
			}
		}
		u.order[len(taken)] = uint8(best)
		taken = append(taken, best)
	}
	return u
}

// A room is the memory of an empty host that a VM may use.
type room struct {
	nodes, homes int                  // nodes, and those of them that can be homes of clients
	memory, free [numa.MaxNodes]int64 // bytes of each node, in the order of IDs
	order        [numa.MaxNodes]uint8 // indexes of the clients' nodes, in this order
	rest         int64                // bytes of the nodes that the VM may not use
}

// room returns the memory that a VM may use when restricted to the nodes with these IDs; to all nodes when ids is empty or none of them has
// cores (C-12).
func (m *Machine) room(ids numa.NodeSet) (r room) {
	with := m.with
	if with == 0 {
		with = 1<<min(m.Nodes, numa.MaxNodes) - 1
	}
	if ids&with == 0 {
		ids = ^numa.NodeSet(0)
	}
	if m.unlike == (unique.Handle[unlike]{}) {
		r.homes = (ids & with).Len()
		r.nodes, r.rest = r.homes, m.NodeMemory*int64(with.Len()-r.homes)
		for i := range r.homes {
			r.memory[i], r.order[i] = m.NodeMemory, uint8(i)
		}
		return r
	}
	u := m.unlike.Value()
	var at [numa.MaxNodes]uint8
	for i, has := range u.memory[:u.n] {
		if !ids.Has(int(u.id[i])) {
			r.rest += has
			continue
		}
		r.memory[r.nodes], at[i] = has, uint8(r.nodes)
		r.nodes++
	}
	for _, i := range u.order[:u.cores] {
		if ids.Has(int(u.id[i])) {
			r.order[r.homes] = at[i]
			r.homes++
		}
	}
	return r
}

// home returns the index of the home of client c.
func (r *room) home(c int) int { return int(r.order[c%max(1, r.homes)]) }

// Allowed returns how many of the nodes with these IDs have cores; it counts all nodes when ids is empty or none of them has cores (C-12).
func (m *Machine) Allowed(ids numa.NodeSet) int {
	if ids == 0 {
		return int(m.Nodes)
	}
	r := m.room(ids)
	return r.homes
}

// UnevenShare is the part of a node's memory by which nodes may differ and still count as equal: 1/25. The kernel's own share causes up to
// 2.3 % of difference on published hosts; one DIMM of 16 in a socket causes 6.25 %, or at least 4 % on top of the kernel's share.
const UnevenShare = 25

// UnlikeMemory reports whether the memory of the nodes differs by more than the kernel's own share.
func (m *Machine) UnlikeMemory() bool { return Unlike(m.NodeMemory, m.MaxMemory) }

// Unlike reports whether two nodes of these sizes differ by more than the kernel's own share.
func Unlike(least, most int64) bool { return least < most-most/UnevenShare }

// Reserve returns the memory that stays free on each node. fill selects the alternative of F-23.
func (m *Machine) Reserve(fill bool) memory.Reserve {
	nodes := int(m.Nodes)
	if m.unlike != (unique.Handle[unlike]{}) {
		nodes = m.unlike.Value().n
	}
	return memory.ReserveOf(numa.Bytes(m.AllMemory), nodes, m.model, int(m.MinFreePercent), fill)
}

// Holds returns the most memory, in bytes, that new pages of clients on n of the allowed nodes (0 for all) can use there on an empty host,
// and the total memory of these nodes; 0 when the memory of the nodes is unknown.
func (m *Machine) Holds(n int, allowed numa.NodeSet, fill bool) (holds, all numa.Bytes) {
	r, reserve := m.room(allowed), m.Reserve(fill).New
	for c := range min(max(1, n), r.homes) {
		has := numa.Bytes(r.memory[r.home(c)])
		holds += max(0, has-reserve)
		all += has
	}
	return holds, all
}

// MemoryKnown reports whether the memory of the nodes is known; one of them may have none.
func (m *Machine) MemoryKnown() bool { return m.AllMemory > 0 }

// ForVMs returns the memory, in bytes, that VMs can use of the host: all but minFree (C-23).
func (m *Machine) ForVMs() int64 { return m.AllMemory - int64(m.Reserve(false).MinFree) }

// NodesFor returns the fewest nodes that hold so many bytes of memory in use, at most those
// of the host; 1 when the memory of the nodes is unknown.
func (m *Machine) NodesFor(bytes int64) int {
	if !m.MemoryKnown() {
		return 1
	}
	r, keep := m.room(0), int64(m.Reserve(false).Home)
	for c := range r.homes {
		if bytes -= r.memory[r.home(c)] - keep; bytes <= 0 {
			return c + 1
		}
	}
	return r.homes
}

// Least returns the fewest nodes whose cores carry n vCPUs, at most those of the host.
func (m *Machine) Least(n int32) int32 { return min(ceilDiv(n, m.Cores), m.Nodes) }

// CPUs returns how many vCPUs of the guest a node, and the whole machine, run without sharing: one on each core, with preferHT one on each
// thread. Latency sensitivity High reserves whole cores even with preferHT (B-21).
func (m *Machine) CPUs(g *Guest) (node, all int32) {
	if g.Needs.Exclusive {
		return m.Cores * g.Threads(m), m.AllCores * g.Threads(m)
	}
	if (g.PreferHT || m.PreferHT) && m.Threads > m.Cores {
		return m.Threads, m.AllThreads
	}
	return m.Cores, m.AllCores
}

// LogicalCPUs returns the most vCPUs that a VM can have.
func (m *Machine) LogicalCPUs() int32 {
	if m.OneThread {
		return m.AllCores
	}
	return m.AllThreads
}

// Model returns the release of the rules that apply: its own, or the newest modelled one before it.
func (m *Machine) Model() numa.Release { return m.model }

// Shape returns the host's nodes in words: "2 nodes of 18 cores and 512 GB".
func (m *Machine) Shape() string {
	s := count(int(m.Nodes), "node") + " of " + count(int(m.Cores), "core")
	if m.AllCores > m.Nodes*m.Cores {
		s += " or more"
	}
	if m.MemoryKnown() {
		s += " and " + numa.Bytes(m.NodeMemory).String()
		if m.UnlikeMemory() {
			s += " or more"
		}
	}
	return s
}

// Repaired returns m with as much memory on each node with cores as the largest has. Unequal nodes mean a failed memory module or unequally
// populated slots.
func (m Machine) Repaired() Machine {
	if !m.UnlikeMemory() {
		return m
	}
	u := m.unlike.Value()
	before := m.AllMemory
	for _, i := range u.order[:u.cores] {
		m.AllMemory += m.MaxMemory - u.memory[i]
		u.memory[i] = m.MaxMemory
	}
	m.Reservable += m.AllMemory - before
	m.NodeMemory, m.unlike, m.assumes = m.MaxMemory, unique.Make(u), m.assumes&^AssumedNodeMemory
	return m
}

// Merged returns m as it would be with k nodes made into one: SNC off, NPS1.
func (m Machine) Merged(k int32) Machine {
	perCore := m.Threads / m.Cores
	m.Nodes /= k
	m.Cores = m.AllCores / m.Nodes // the nodes of a package may differ by a core
	m.Threads = m.Cores * perCore
	m.NodeMemory, m.MaxMemory = m.NodeMemory*int64(k), m.MaxMemory*int64(k)
	m.with, m.unlike = 0, unique.Handle[unlike]{}
	return m
}

// Divided returns m, of one node, as it would be with k: node interleaving off.
func (m Machine) Divided(k int32) Machine {
	perCore := m.Threads / m.Cores
	m.Nodes, m.Hidden = k, 0
	m.Cores = max(1, m.AllCores/k)
	m.Threads = m.Cores * perCore
	m.NodeMemory, m.MaxMemory = m.NodeMemory/int64(k), m.MaxMemory/int64(k)
	m.with, m.unlike = 0, unique.Handle[unlike]{}
	return m
}

// schedule finds whether the NUMA scheduler of the host places VMs.
func (m *Machine) schedule(h *numa.Host) {
	enabled, set := h.Options.Value.Lookup("Numa.RebalanceEnable")
	m.Unscheduled = set && strings.TrimSpace(enabled) == "0"
	m.leastCores = unmet(h.Options.Value, "Numa.RebalanceCoresTotal", 4, m.AllCores)
	m.leastNode = unmet(h.Options.Value, "Numa.RebalanceCoresNode", 2, m.Cores)
}

// unmet returns the minimum that an option sets for cores when the host has fewer; 0 when it has enough.
func unmet(options numa.Settings, key string, standard, has int32) int32 {
	set, _ := options.Lookup(key)
	if n, err := strconv.ParseInt(set, 10, 32); err == nil {
		standard = int32(n)
	}
	if standard <= has {
		return 0
	}
	return standard
}

// FewCores reports whether a host of several nodes has fewer cores than its NUMA scheduler requires, and whether a node has.
func (m *Machine) FewCores() (host, node bool) {
	return m.Nodes > 1 && m.AllCores < m.leastCores, m.Nodes > 1 && m.Cores < m.leastNode
}

// Schedules reports whether the NUMA scheduler of the host places VMs: without it they have no home nodes. On a single node there is
// nothing to place.
func (m *Machine) Schedules() bool {
	host, node := m.FewCores()
	return m.Nodes < 2 || !m.Unscheduled && !host && !node
}

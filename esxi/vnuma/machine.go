package vnuma

import (
	"fmt"
	"strconv"
	"strings"

	"homenode/esxi/memory"
	"homenode/numa"
)

// A Machine is what the model needs to know of a host, as plain numbers. Equal
// Machines give equal layouts, so == groups the hosts of a cluster by shape.
type Machine struct {
	Release    numa.Release // as reported
	model      numa.Release // whose rules apply
	Nodes      int32        // NUMA nodes with cores (M of the rule book)
	Cores      int32        // cores of the smallest node (C)
	Threads    int32        // threads of that node (T)
	AllCores   int32
	AllThreads int32
	NodeMemory int64 // bytes of the smallest node (Wn); 0 when unknown
	MaxMemory  int64 // bytes of the largest node; 0 when unknown
	AllMemory  int64 // bytes of all nodes; 0 when unknown
	Reservable int64 // bytes of memory that VMs can at most reserve, slower tiers among them; 0 when unknown
	CoreMHz    int32 // frequency of a core; 0 when unknown
	// MinFreePercent is Mem.MemMinFreePct; 0 for the scale of C-23.
	MinFreePercent int32
	Domains        int32 // Numa.MaxProximityDomains of 6.0; 0 for its default
	PreferHT       bool  // Numa.PreferHT
	AllowWide      bool  // Cpu.AllowWideVsmp: more vCPUs than logical CPUs power on
	// ThreadsKnown is false when it is not stated whether hyper-threading is active;
	// Threads are then the cores.
	ThreadsKnown bool
	OneThread    bool // the side-channel aware scheduler turned hyper-threading off (E-2)
	Follow       bool // Numa.FollowCoresPerSocket
	EPYC         bool // an AMD EPYC host (B-19)
	assumes      Assumptions
}

// NewMachine reads what the model needs from a host. The error says which fact
// is missing: a host without nodes or release is not predicted.
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
	m.CoreMHz = int32(h.Frequency().Value)
	m.OneThread = numa.MitigationOf(h) == numa.SCAv1 && h.HasL1TF()
	m.MinFreePercent = int32(memory.MinFreePercent(h))
	m.EPYC = strings.Contains(h.CPUModel.Value, "EPYC")
	if !h.Options.Known() {
		m.assumes |= AssumedOptions
	}
	m.PreferHT = isTrue(h.Options.Value, "Numa.PreferHT")
	m.AllowWide = isTrue(h.Options.Value, "Cpu.AllowWideVsmp")
	m.ThreadsKnown = h.HyperThreading.Known() || m.AllThreads > m.AllCores
	m.Follow = isTrue(h.Options.Value, "Numa.FollowCoresPerSocket")
	if v, ok := h.Options.Value.Lookup("Numa.MaxProximityDomains"); ok {
		n, _ := strconv.Atoi(v) // 0 is unset
		m.Domains = int32(max(0, min(n, maxDomains)))
	}
	return m, nil
}

// Like reports whether VMs get the same on both: equal but for a frequency that is the same to
// 1 %, as cores of one model report it.
func (m Machine) Like(o Machine) bool {
	if d := m.CoreMHz - o.CoreMHz; m.CoreMHz > 0 && o.CoreMHz > 0 && max(d, -d)*100 <= o.CoreMHz {
		m.CoreMHz = o.CoreMHz
	}
	return m == o
}

// WithRelease returns m as it was when it ran r; false when no rules of r are known.
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

// addNodes takes the smallest node as the capacity of all (rule book );
// nodes without cores (memory only) place no client.
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
	if h.HyperThreading.Known() && !h.HyperThreading.Value {
		m.Threads, m.AllThreads = m.Cores, m.AllCores
	}
	if !memoryKnown {
		m.NodeMemory, m.MaxMemory, m.AllMemory = 0, 0, 0
	}
	// Nodes differ by what the kernel keeps (65423 and 65536 MB on one host,
	// A-5); only a difference that DIMMs make counts.
	if uneven || m.unevenMemory() {
		m.assumes |= AssumedNodeMemory
	}
	return nil
}

// UnevenShare is the part of a node's memory by which nodes may differ and still
// count as equal: 1/16. The kernel's own share makes up to 2.3 % of difference on
// published hosts; one DIMM of 16 in a socket makes 6.25 %.
const UnevenShare = 16

func (m *Machine) unevenMemory() bool { return m.NodeMemory < m.MaxMemory-m.MaxMemory/UnevenShare }

// Reserve returns what stays free on each node. fill is the alternative of F-23.
func (m *Machine) Reserve(fill bool) memory.Reserve {
	return memory.ReserveOf(numa.Bytes(m.AllMemory), int(m.Nodes), m.model, int(m.MinFreePercent), fill)
}

// Holds returns the most memory, in bytes, that new pages of clients on n nodes find there
// on an empty host; 0 when the memory of the nodes is unknown.
func (m *Machine) Holds(n int, fill bool) numa.Bytes {
	return numa.Bytes(max(1, n)) * max(0, numa.Bytes(m.NodeMemory)-m.Reserve(fill).New)
}

// ForVMs returns the memory, in bytes, that VMs can use of the host: all but minFree (C-23).
func (m *Machine) ForVMs() int64 { return m.AllMemory - int64(m.Reserve(false).MinFree) }

// NodesFor returns the fewest nodes that hold so many bytes of memory in use, at most those
// of the host; 1 when the memory of the nodes is unknown.
func (m *Machine) NodesFor(bytes int64) int {
	if m.NodeMemory == 0 {
		return 1
	}
	return int(min(nodesFor(bytes, max(1, m.NodeMemory-int64(m.Reserve(false).Home))), m.Nodes))
}

// Least returns the fewest nodes whose cores carry n vCPUs, at most those of the host.
func (m *Machine) Least(n int32) int32 { return min(ceilDiv(n, m.Cores), m.Nodes) }

// LogicalCPUs returns the most vCPUs that a VM can have.
func (m *Machine) LogicalCPUs() int32 {
	if m.OneThread {
		return m.AllCores
	}
	return m.AllThreads
}

// Model returns the release whose rules apply: its own, or the newest before it.
func (m *Machine) Model() numa.Release { return m.model }

// Shape returns the host's nodes in words: "2 nodes of 18 cores and 512 GB".
func (m *Machine) Shape() string {
	s := fmt.Sprintf("%d nodes of %d cores", m.Nodes, m.Cores)
	if m.Nodes == 1 {
		s = fmt.Sprintf("1 node of %d cores", m.Cores)
	}
	if m.AllCores > m.Nodes*m.Cores {
		s += " or more"
	}
	if m.NodeMemory > 0 {
		s += " and " + numa.Bytes(m.NodeMemory).String()
		if m.unevenMemory() {
			s += " or more"
		}
	}
	return s
}

// Merged returns m as it would be with k nodes made into one: SNC off, NPS1.
func (m Machine) Merged(k int32) Machine {
	perCore := m.Threads / m.Cores
	m.Nodes /= k
	m.Cores = m.AllCores / m.Nodes // the nodes of a package may differ by a core
	m.Threads = m.Cores * perCore
	m.NodeMemory, m.MaxMemory = m.NodeMemory*int64(k), m.MaxMemory*int64(k)
	return m
}

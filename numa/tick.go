package numa

import (
	"iter"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// A NodeSet is a set of NUMA nodes of one host, with IDs below MaxNodes. The zero value
// is empty; == compares.
type NodeSet uint64

// SetOf returns the set of these nodes.
func SetOf(nodes ...int) (s NodeSet) {
	for _, n := range nodes {
		s |= 1 << n
	}
	return s
}

// Has reports whether the node is in the set.
func (s NodeSet) Has(node int) bool { return s>>node&1 == 1 }

// Len returns the number of nodes in the set.
func (s NodeSet) Len() int { return bits.OnesCount64(uint64(s)) }

// All yields the nodes in ascending order.
func (s NodeSet) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for rest := uint64(s); rest != 0; rest &= rest - 1 {
			if !yield(bits.TrailingZeros64(rest)) {
				return
			}
		}
	}
}

// String returns the nodes as esxtop shows them in NHN: "0,1"; "-" for the empty set.
func (s NodeSet) String() string {
	if s == 0 {
		return "-"
	}
	var b strings.Builder
	for n := range s.All() {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(n))
	}
	return b.String()
}

// A Tick is one host at one moment, as esxtop shows it: counters over time (migrations, ready) cover the interval since the previous
// tick. Sources emit the ticks of a host in the order of time and reuse one Tick: clone it to keep it.
type Tick struct {
	Host string    // as named in the source
	Time time.Time // UTC
	Line int       // of the file, from 1; 0 when it has no lines
	// Since is the interval of rates and counters; 0 when it is unknown, as on the first tick of a file.
	Since time.Duration
	Has   Counters // of the host

	Free    Bytes       // HasFree
	MinFree Bytes       // HasMinFree
	State   MemoryState // HasState
	// Page sharing of the whole host, including the VMkernel: Shared - Common is saved.
	Memory Bytes // HasTotal: of the machine
	Shared Bytes // HasShared: memory with a common copy
	Common Bytes // HasCommon: the copies

	Nodes []NodeTick // by ID; empty on a host of one node
	VMs   []VMTick   // in the order of the source; running ones only
	// Still reports, by index in VMs, that this is the VM that the previous tick has at the index, and that nothing but Used and Run has
	// changed; neither tick has migrations of it, and both have rates. Nil when the source does not compare ticks.
	Still []bool
}

// A NodeTick is one NUMA node at one moment.
type NodeTick struct {
	ID    int
	Has   Counters
	Total Bytes // HasTotal
	Free  Bytes // HasFree
	// Averages over the PCPUs of the node, as shares: 1 means that every PCPU is busy all the time.
	Used float64 // HasUsed: % Processor Time; above 1 with turbo
	Util float64 // HasUtil: % Util Time, of PCPUs
	Core float64 // HasCore: % Core Util Time, of cores; only with hyper-threading
}

// Busy returns the share of the node's cores in use, from the available counter that counts cores rather than hyper-threads.
func (n *NodeTick) Busy() (share float64, ok bool) {
	switch {
	case n.Has&HasCore != 0:
		return n.Core, true
	case n.Has&HasUtil != 0:
		return n.Util, true
	case n.Has&HasUsed != 0:
		return n.Used, true
	}
	return 0, false
}

// A VMTick is one VM at one moment: a scheduler group with vCPUs.
type VMTick struct {
	GID  int64  // scheduler group, a new one for each power-on of a VM on a host; -1 if unknown
	Name string // as shown in the source; not unique
	Has  Counters
	// VCPUs is the number of vCPU worlds; 0 when unknown.
	VCPUs int

	Homes  NodeSet // HasHomes; empty for a VM outside of the NUMA scheduler
	Local  Bytes   // HasMemory: NLMEM
	Remote Bytes   // HasMemory: NRMEM
	// Percent is N%L as the source prints it, truncated: HasPercent. It is also 0 for a VM without NUMA client.
	Percent int
	// Moves counts NUMA migrations: HasMoves. The kinds need HasKinds.
	Moves Moves

	// In seconds per second, summed over all vCPUs: 1 is one vCPU all the time.
	Used   float64 // HasUsed: % Used
	Run    float64 // HasRun: % Run
	Ready  float64 // HasReady: % Ready
	CoStop float64 // HasCoStop: % CoStop

	Size     Bytes // HasSize: configured
	Granted  Bytes // HasGranted
	Consumed Bytes // HasConsumed
	Active   Bytes // HasActive: touched recently, estimated
	Shared   Bytes // HasShared: by page sharing
	Saved    Bytes // HasSaved: the part of Shared without its own memory
	Zero     Bytes // HasZero
	Hint     Bytes // HasHint: COWH, scanned for page sharing but not shared
	// Far is the memory that is not on the node of the client that uses it, even if N%L counts it as local (C-17): HasFar, set only by a
	// simulation.
	Far     Bytes
	Large   Bytes // HasLarge: backed by large pages
	Balloon Bytes // HasBalloon
	Swapped Bytes // HasSwapped
	// Compressed is the host memory with compressed pages of the guest, smaller than the pages were (CACHEUSD): HasCompressed.
	Compressed Bytes

	// OnNode is the memory on each node, by node: GST_NDx and OVD_NDx. Nil when it is missing.
	OnNode []MemoryOnNode
}

// Locality returns N%L as a share in [0, 1]. It returns false for a VM without memory on any node: a share of nothing is unknown, neither 0 nor 1.
func (v *VMTick) Locality() (share float64, ok bool) {
	if v.Has&HasMemory == 0 || v.Local+v.Remote <= 0 {
		return 0, false
	}
	return float64(v.Local) / float64(v.Local+v.Remote), true
}

// PercentAlone returns the N%L of a source without the underlying memory; 0 for none, and for a VM without memory on any node.
func (v *VMTick) PercentAlone() int {
	if v.Has&HasPercent == 0 || v.Has&HasMemory != 0 {
		return 0
	}
	return v.Percent
}

// PrivateOf returns the memory "granted to this VM from non-shared host memory", as the vSphere API defines it in
// VirtualMachineQuickStats.privateMemory, from the granted memory and its shared part.
func PrivateOf(granted, shared Bytes) Bytes { return max(0, granted-shared) } // they are not from one instant

// MemoryOnNode is a VM's memory on one node.
type MemoryOnNode struct {
	Node     int   `json:"node"`
	Guest    Bytes `json:"guest"`
	Overhead Bytes `json:"overhead"` // of the monitor; -1 when not stated
}

// Moves counts NUMA migrations (rule book C-10). All is their total; the other fields count those whose kind the source reports.
type Moves struct {
	All          int64 `json:"all"`
	Balance      int64 `json:"balance,omitempty"`  // moves for load
	LoadSwap     int64 `json:"loadSwap,omitempty"` // swaps for load
	Locality     int64 `json:"locality,omitempty"` // moves to the memory, or to a communication partner
	LocalitySwap int64 `json:"localitySwap,omitempty"`
	Fairness     int64 `json:"fairness,omitempty"` // long-term fairness
}

// Add adds other to m.
func (m *Moves) Add(other Moves) {
	m.All += other.All
	m.Balance += other.Balance
	m.LoadSwap += other.LoadSwap
	m.Locality += other.Locality
	m.LocalitySwap += other.LocalitySwap
	m.Fairness += other.Fairness
}

// Sub subtracts other from m.
func (m *Moves) Sub(other Moves) {
	m.All -= other.All
	m.Balance -= other.Balance
	m.LoadSwap -= other.LoadSwap
	m.Locality -= other.Locality
	m.LocalitySwap -= other.LocalitySwap
	m.Fairness -= other.Fairness
}

// Counters is the set of quantities that a tick contains: unknown is not zero.
type Counters uint32

// The quantities of a Tick, NodeTick and VMTick.
const (
	HasHomes Counters = 1 << iota
	HasMemory
	HasPercent
	HasMoves
	HasKinds
	HasUsed
	HasRun
	HasReady
	HasCoStop
	HasUtil
	HasCore
	HasTotal
	HasFree
	HasMinFree
	HasState
	HasSize
	HasGranted
	HasConsumed
	HasActive
	HasShared
	HasZero
	HasLarge
	HasBalloon
	HasSwapped
	HasCommon
	HasSaved
	HasHint
	HasFar
	HasCompressed
)

// A MemoryState is the memory pressure of a host (rule book C-23). States compare with < and >.
type MemoryState uint8

// The states. Releases before 6.0 have no clear.
const (
	High MemoryState = iota
	Clear
	Soft
	Hard
	Low
)

// String returns the state as esxtop writes it.
func (s MemoryState) String() string {
	return [...]string{"high", "clear", "soft", "hard", "low"}[min(s, Low)]
}

// MarshalText writes the state as String does.
func (s MemoryState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText parses the output of MarshalText.
func (s *MemoryState) UnmarshalText(text []byte) error {
	for *s = High; *s < Low; *s++ {
		if s.String() == string(text) {
			return nil
		}
	}
	if string(text) != Low.String() {
		return &strconv.NumError{Func: "MemoryState", Num: string(text), Err: strconv.ErrSyntax}
	}
	return nil
}

// Undated is the start of the warning about a file whose ticks have the file's own time: its recording has no times.
const Undated = "the time is when the file was last written"

// Package machine reads the machine that this program runs on, as its kernel reports it: logical processors, NUMA
// nodes, caches, distances, its maker, and how much of it this process may use. It changes nothing and needs no
// privileges; it lists the parts that it could not read.
package machine

import (
	"cmp"
	"context"
	"slices"

	"example.org/homenode/numa"
	"example.org/homenode/source/guest"
)

// A Machine is the result of one reading.
type Machine struct {
	Identity Identity  `json:"identity"`
	Topology Topology  `json:"topology"`
	Limits   Limits    `json:"limits"`
	Missing  []Missing `json:"missing,omitempty"` // unreadable parts
}

// A Missing is a part that could not be read.
type Missing struct {
	Part   string `json:"part"`             // such as "caches"
	Reason string `json:"reason"`           // why
	Remedy string `json:"remedy,omitempty"` // how to allow it; empty when impossible
}

// An Identity is the make of the machine. Missing facts are empty, 0 or unknown.
type Identity struct {
	OS           string `json:"os"` // "Debian GNU/Linux 12 (bookworm)"
	Kernel       string `json:"kernel,omitempty"`
	Architecture string `json:"architecture"` // Go's name: amd64, arm64

	CPU      string `json:"cpu,omitempty"`    // brand string of the processor
	Vendor   string `json:"vendor,omitempty"` // "GenuineIntel", "AuthenticAMD"; on arm64 the name of the implementer
	Family   int    `json:"family,omitempty"`
	Model    int    `json:"model,omitempty"` // on arm64 the part number
	Stepping int    `json:"stepping,omitempty"`

	Hypervisor  numa.Fact[string] `json:"hypervisor,omitzero"` // "VMware", "KVM", "Microsoft", …
	Virtualised numa.Fact[bool]   `json:"virtualised,omitzero"`
	Emulated    numa.Fact[bool]   `json:"emulated,omitzero"` // by software (QEMU's TCG): its latencies are meaningless
	// TSCKHz is the frequency of the time stamp counter reported by the hypervisor, in kHz.
	TSCKHz int `json:"tscKHz,omitempty"`
}

// A Topology is the processors, nodes and caches of a machine. Lists of processors are ascending numbers of the
// kernel; on Windows these are 64 × group + number in the group.
type Topology struct {
	From string `json:"from"` // source: "/sys/devices/system", "GetLogicalProcessorInformationEx"

	Processors []Processor `json:"processors"` // by number
	// Possible counts the logical processors that the kernel is prepared for. A higher number than that of the
	// processors hints at CPU hot add but proves nothing: some firmware always lists more.
	Possible int `json:"possible,omitempty"`
	// HotAddMemory is the size of the address ranges, in bytes, that the firmware's SRAT marks as hot-pluggable
	// memory: a hint at memory hot add, and more than may be added. 0 when it marks none or cannot be read.
	HotAddMemory numa.Bytes `json:"hotAddMemory,omitempty"`

	// Totals of the online processors; 0 when unknown.
	Sockets        int `json:"sockets,omitempty"`
	Cores          int `json:"cores,omitempty"`
	ThreadsPerCore int `json:"threadsPerCore,omitempty"` // of the core with the most

	Nodes  []Node  `json:"nodes"`  // by ID; empty when the kernel has no NUMA
	Caches []Cache `json:"caches"` // by level, type and processors
}

// A Processor is one logical processor. Unknown values are -1, including all values of an offline processor.
type Processor struct {
	Number  int   `json:"number"`
	Online  bool  `json:"online"`
	Allowed bool  `json:"allowed"` // to this process
	Node    int   `json:"node"`
	Socket  int   `json:"socket"` // package, by the kernel's number
	Die     int   `json:"die"`    // by number in the socket; on Windows counted across all sockets
	Core    int   `json:"core"`   // of the machine, from 0 in the order of the processors
	Threads []int `json:"threads,omitempty"`
}

// A Node is one online NUMA node.
type Node struct {
	ID         int                   `json:"id"`
	CPUs       []int                 `json:"cpus"` // online ones
	MemoryOnly bool                  `json:"memoryOnly,omitempty"`
	Size       numa.Fact[numa.Bytes] `json:"size,omitzero"` // memory that the kernel manages
	Free       numa.Fact[numa.Bytes] `json:"free,omitzero"`
	Distance   []int                 `json:"distance,omitempty"` // to each node of the topology, in their order: SLIT values, 10 is local
	Access     []Access              `json:"access,omitempty"`
}

// An Access is the HMAT data of the firmware about a node's memory, for access by its nearest initiators. Missing values are 0.
type Access struct {
	Class          int   `json:"class"`                    // 0: initiators of any kind; 1: processors only
	Initiators     []int `json:"initiators"`               // nodes
	ReadLatency    int   `json:"readLatency,omitempty"`    // ns
	WriteLatency   int   `json:"writeLatency,omitempty"`   // ns
	ReadBandwidth  int   `json:"readBandwidth,omitempty"`  // MB/s
	WriteBandwidth int   `json:"writeBandwidth,omitempty"` // MB/s
}

// A Cache is one cache. Unknown values are 0 or empty.
type Cache struct {
	Level int        `json:"level"`
	Type  string     `json:"type,omitempty"` // "data", "instruction", "unified", "trace"
	Size  numa.Bytes `json:"size,omitempty"`
	Line  int        `json:"line,omitempty"` // bytes
	CPUs  []int      `json:"cpus"`           // those sharing it
}

// Limits are the parts of the machine that this process may use.
type Limits struct {
	CPUs  []int `json:"cpus"`            // allowed logical processors: affinity, cpuset
	Nodes []int `json:"nodes,omitempty"` // nodes whose memory is allowed
	// Available is the memory that the machine could provide without swapping.
	Available numa.Fact[numa.Bytes] `json:"available,omitzero"`
	// The tightest limits of the control groups or the job of the process; unknown when there is none.
	CPUQuota    numa.Fact[float64]    `json:"cpuQuota,omitzero"` // processors' worth of time
	MemoryLimit numa.Fact[numa.Bytes] `json:"memoryLimit,omitzero"`
	MemoryLeft  numa.Fact[numa.Bytes] `json:"memoryLeft,omitzero"` // least of limit - use, excluding the page cache of files
	// Partial explains why measurements cover only a part of the machine; empty for all of it.
	Partial []string `json:"partial,omitempty"`
}

// Read reads the machine that this program runs on. An error means that not even its processors are known.
func Read(ctx context.Context) (*Machine, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return read()
}

// Observation converts the topology to an observation of the VM: [guest.View.Observation] documents the numbering.
func (t *Topology) Observation() numa.Observation {
	cpus := make([]guest.CPU, len(t.Processors))
	for i, p := range t.Processors {
		cpus[i] = guest.CPU{Number: p.Number, Node: p.Node, Socket: p.Socket, Core: p.Core, LLC: -1, Offline: !p.Online}
	}
	nodes := make([]guest.Node, len(t.Nodes))
	for i, n := range t.Nodes {
		nodes[i] = guest.Node{ID: n.ID, CPUs: n.CPUs, Size: n.Size, Free: n.Free}
	}
	return guest.Seen(t.From, cpus, nodes).Observation()
}

// count sets the numbers of sockets, cores and threads.
func (t *Topology) count() {
	sockets, cores := map[int]bool{}, map[int]bool{}
	for _, p := range t.Processors {
		if p.Socket >= 0 {
			sockets[p.Socket] = true
		}
		if p.Core >= 0 {
			cores[p.Core] = true
		}
		t.ThreadsPerCore = max(t.ThreadsPerCore, len(p.Threads))
	}
	t.Sockets, t.Cores = len(sockets), len(cores)
}

// processor returns the one with this number, nil for none.
func (t *Topology) processor(number int) *Processor {
	i, ok := slices.BinarySearchFunc(t.Processors, number, func(p Processor, n int) int { return p.Number - n })
	if !ok {
		return nil
	}
	return &t.Processors[i]
}

func (m *Machine) missing(part, reason, remedy string) {
	m.Missing = append(m.Missing, Missing{part, reason, remedy})
}

// sortCaches sorts caches by level, type and processors.
func sortCaches(list []Cache) {
	slices.SortStableFunc(list, func(a, b Cache) int {
		return cmp.Or(cmp.Compare(a.Level, b.Level), cmp.Compare(a.Type, b.Type), slices.Compare(a.CPUs, b.CPUs))
	})
}

// Package guest reads the processor and NUMA topology as the guest sees it: from lscpu (text,
// -J, -e, -p), numactl -H and Sysinternals Coreinfo, saved or pasted, one output or several
// after another.
package guest

import (
	"cmp"
	"slices"

	"example.org/homenode/numa"
	"example.org/homenode/source/fact"
	"example.org/homenode/source/text"
)

// The supported forms of output; View.Form is one of them.
const (
	Lscpu        = "lscpu"
	LscpuJSON    = "lscpu -J"
	LscpuColumns = "lscpu -e"
	LscpuParse   = "lscpu -p"
	LscpuRows    = "lscpu -e -J"
	Numactl      = "numactl -H"
	Coreinfo     = "Coreinfo"
	Measured     = "homenode measure" // no command output: see Seen
)

// Limits for a plausible guest. Values above them mean that the input is damaged.
const (
	maxCPU  = 1 << 16 // logical processors; Linux is built for 8192 at most
	maxNode = 1 << 10 // maximum ID of a NUMA node; Linux is built for at most 1024 nodes
	maxList = 1 << 20 // CPUs in all lists of a file: "0-8191" names many in few bytes
)

// A View is one output: the topology as one tool shows it in one guest. Data that the tool does
// not report is unknown, even if another output of the file reports it.
type View struct {
	Form  string // Lscpu, Numactl, …
	Line  int    // first line of the output, from 1
	Guest string // host name in the prompt; empty without one

	Hypervisor numa.Fact[string] // vendor, as in lscpu: "VMware"
	Model      numa.Fact[string] // brand string of the processor
	Arch       string            // of the processor, as in lscpu; "" if not stated

	CPUCount       numa.Fact[int] // logical processors, including offline ones
	Sockets        numa.Fact[int]
	CoresPerSocket numa.Fact[int]
	ThreadsPerCore numa.Fact[int]
	NodeCount      numa.Fact[int]

	CPUs  []CPU  // by number
	Nodes []Node // by ID
	// NoNUMA means that the kernel of the guest has no NUMA support, which is not a statement
	// about the virtual hardware.
	NoNUMA bool

	// Distance is the table of numactl, in the order of Nodes: SLIT values, where 10 is local.
	// It comes from the firmware; it is not a measured latency.
	Distance [][]int
	// Cost is the table of Coreinfo, in the order of Nodes: access times measured during the
	// run, relative to the fastest. The values are noisy: they are not symmetric, and 1.4
	// occurs on the diagonal.
	Cost [][]float64

	nodesAt, socketsAt string // places of the node and the socket of each CPU
	file               fact.File
	index              map[int]int // of CPUs, by number
	room               *int        // number of CPUs that further lists of the file may contain
}

// A CPU is one logical processor of the guest. Unknown fields are -1.
type CPU struct {
	Number  int
	Node    int // NUMA node, as numbered in the guest
	Socket  int
	Core    int // "physical processor" in Coreinfo
	LLC     int // last-level cache
	Offline bool
}

// A Node is one NUMA node of the guest. A node may have no CPU (memory only) or no
// memory (CPU only).
type Node struct {
	ID   int
	CPUs []int
	Size numa.Fact[numa.Bytes]
	Free numa.Fact[numa.Bytes]
}

// Seen returns the view that this program itself takes of the machine that it runs on; at is
// the source. cpus and nodes are sorted by number.
func Seen(at string, cpus []CPU, nodes []Node) *View {
	return &View{Form: Measured, CPUs: cpus, Nodes: nodes, nodesAt: at, socketsAt: at, file: fact.File{Name: at}}
}

// File returns the facts of the output.
func (v *View) File() *fact.File { return &v.file }

// Observation returns the view as an observed topology of the VM.
//
// The vectors have one entry for each logical processor, by ascending number. That is one for
// each vCPU; with virtual SMT (ESXi 8.0, virtual hardware 20) two logical processors share a
// virtual core and both are vCPUs. If some are offline, the tools do not report their place:
// then only the number of nodes is set.
//
// Nodes and sockets are numbered from 0 without gaps, in the order of the numbers in the guest,
// which may have gaps. Slices are the memory that the kernel manages, up to a few percent less
// than the memory of the VM in that node.
func (v *View) Observation() numa.Observation {
	o := numa.Observation{
		By:          v.observer(),
		At:          v.file.At(v.Line, 0),
		SocketCount: v.Sockets,
		VPDCount:    v.NodeCount,
	}
	if v.someOffline() {
		o.SocketCount = numa.Fact[int]{} // counts online sockets only
	}
	if nodes, ok := v.vector(func(c CPU) int { return c.Node }); ok {
		ids := make([]int, len(v.Nodes))
		for i, n := range v.Nodes {
			ids[i] = n.ID
		}
		o.VPDs = numa.ReadAt(ranks(nodes, ids), v.nodesAt)
	}
	if sockets, ok := v.vector(func(c CPU) int { return c.Socket }); ok {
		o.Sockets = numa.ReadAt(ranks(sockets, nil), v.socketsAt)
	}
	if !v.NodeCount.Known() && len(v.Nodes) > 0 {
		o.VPDCount = numa.ReadAt(len(v.Nodes), v.nodesAt)
	}
	if !o.SocketCount.Known() && o.Sockets.Known() {
		o.SocketCount = numa.ReadAt(slices.Max(o.Sockets.Value)+1, v.socketsAt)
	}
	o.Slices = v.slices()
	return o
}

func (v *View) observer() numa.Observer {
	switch v.Form {
	case Numactl:
		return numa.ByNumactl
	case Coreinfo:
		return numa.ByCoreinfo
	case Measured:
		return numa.ByMeasure
	}
	return numa.ByLscpu
}

// someOffline reports whether there are CPUs that are offline in the guest.
func (v *View) someOffline() bool {
	return v.CPUCount.Value > len(v.CPUs) && len(v.CPUs) > 0 || slices.ContainsFunc(v.CPUs, func(c CPU) bool { return c.Offline })
}

// vector returns the value of each CPU, if all are online and have one.
func (v *View) vector(of func(CPU) int) (values []int, ok bool) {
	if v.someOffline() {
		return nil, false
	}
	for _, c := range v.CPUs {
		if of(c) < 0 {
			return nil, false
		}
		values = append(values, of(c))
	}
	return values, len(values) > 0
}

// ranks replaces each value by its rank; further adds values to the ranking.
func ranks(values, further []int) []int {
	all := slices.Concat(values, further)
	slices.Sort(all)
	all = slices.Compact(all)
	out := make([]int, len(values))
	for i, v := range values {
		out[i], _ = slices.BinarySearch(all, v)
	}
	return out
}

func (v *View) slices() numa.Fact[[]numa.Bytes] {
	var sizes []numa.Bytes
	for _, n := range v.Nodes {
		if !n.Size.Known() {
			return numa.Fact[[]numa.Bytes]{}
		}
		sizes = append(sizes, n.Size.Value)
	}
	if len(sizes) == 0 {
		return numa.Fact[[]numa.Bytes]{}
	}
	return numa.ReadAt(sizes, v.Nodes[0].Size.Origin.Where)
}

// node returns the node with this ID, created if necessary.
func (v *View) node(id int) *Node {
	i, found := slices.BinarySearchFunc(v.Nodes, id, func(n Node, id int) int { return cmp.Compare(n.ID, id) })
	if !found {
		v.Nodes = slices.Insert(v.Nodes, i, Node{ID: id})
	}
	return &v.Nodes[i]
}

// cpu returns the logical processor with this number, created if necessary. They are in the
// order of the file until the output ends.
func (v *View) cpu(number int) *CPU {
	i, found := v.index[number]
	if !found {
		if v.index == nil {
			v.index = map[int]int{}
		}
		i = len(v.CPUs)
		v.index[number] = i
		v.CPUs = append(v.CPUs, CPU{Number: number, Node: -1, Socket: -1, Core: -1, LLC: -1})
	}
	return &v.CPUs[i]
}

// place assigns the CPUs of a list to a node. A CPU that is in two nodes stays in the first.
func (v *View) place(l text.Line, node int, cpus []int) {
	n := v.node(node)
	for _, number := range cpus {
		c := v.cpu(number)
		if c.Node >= 0 && c.Node != node {
			v.file.Warn(l.N, l.Col, "CPU %d is in node %d and in node %d", number, c.Node, node)
			continue
		}
		if c.Node < 0 {
			c.Node = node
			n.CPUs = append(n.CPUs, number)
		}
	}
	slices.Sort(n.CPUs)
	if v.nodesAt == "" {
		v.nodesAt = text.Where(l.N, 0)
	}
}

// Package pack plans the KVM host and the NUMA nodes for every VM of a fleet.
//
// ESXi's scheduler places clients when they start and moves them later; a KVM host does neither. So the placement that vSphere changed at
// run time is fixed here, once: each cell of a VM (its virtual NUMA node) gets a node of a host with enough cores and memory. For this
// reason esxi/placement, which models ESXi, is not used.
//
// # Constraints
//
//   - A cell never has more vCPUs than the node has cores for VMs: its vCPUs would wait for each
//     other. The cores of exclusive VMs are not available to other VMs.
//   - The cores of a node limit its vCPUs: an exclusive vCPU needs one core, any other one
//     1 ÷ overcommit of its class. Exclusive VMs whose guests see threads need one core for the
//     threads of a core. Cores count, not threads, unless the policy counts threads.
//   - Memory is never overcommitted. Cells with huge pages use free pages, and pages that are
//     reserved for them from the node's other memory, unless the policy forbids it.
//   - The cells of one VM are on different nodes; nearest nodes first.
//   - VMs of one group are on different hosts.
//   - Spare hosts, the largest, stay empty. The plan lists the used hosts whose VMs would not all
//     fit one of the hosts that are empty then.
//
// # Objectives
//
// First the most vCPUs placed, then near nodes, then evenly filled hosts. The search first minimises the number of hosts: this gives the
// bound, and the VMs that do not fit.
//
// # Method
//
// VMs that fit no empty host are set aside with the reason. The others are placed in the order exclusive first, then cells × dominant
// share, each on the used host that has least left afterwards, otherwise on a new one; this is repeated in other such orders, perturbed
// with a fixed seed. Then hosts are emptied and refilled, together with the VMs left over (ruin and recreate, Schrimpf et al. 2000), or,
// where all VMs fit, node after node with the VMs that leave least of it (minimum bin slack, Gupta and Ho 1999),
// until the budget of placements is used up or the lower bound is reached. Finally VMs move to hosts that are less full. The result does
// not depend on time: the same problem gives the same plan. The tests compare it with OR-Tools CP-SAT.
package pack

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"example.org/homenode/numa"
)

// A Problem consists of VMs and the hosts for them.
type Problem struct {
	VMs    []VM
	Hosts  []Host
	Policy Policy
	Search Search
}

// A VM lists the needs of a VM.
type VM struct {
	Name  string
	Cells []Cell // its NUMA nodes as the guest sees them
	// Exclusive: each vCPU has a core to itself.
	Exclusive bool
	// PerCore consecutive vCPUs of an exclusive VM get the CPUs of one core; 0 means 1. The number of CPUs of every core must be a
	// multiple of it.
	PerCore int
	// Page is the size of its huge pages; 0 for ordinary memory.
	Page   numa.Bytes
	Class  string     // key of Policy.Overcommit
	Groups []string   // VMs of one group never share a host
	Own    numa.Bytes // memory in addition to that of its guest, divided equally among its cells
	Most   int        // maximum number of vCPUs per node that its software uses; 0 for any
	Wave   int        // number of its migration wave, ascending
}

// A Cell is one NUMA node of a VM.
type Cell struct {
	VCPUs  int
	Memory numa.Bytes
}

// A Host describes the resources of a host.
type Host struct {
	Name   string
	Vendor string // of the processor, "AMD" or "Intel"; "" if unknown
	Nodes  []Node
	// Distance[i][j] is the distance of Nodes[i] and Nodes[j], 10 for local; nil if unknown: then all other nodes are equally far.
	Distance [][]int
}

// A Node is a NUMA node of a host.
type Node struct {
	ID      int // as numbered by the host
	Cores   int // physical cores; 0 for a node of memory only
	Threads int // logical CPUs of the cores
	// CPUs are the logical CPUs by core, in the order of assignment; nil if unknown: then no pins are planned.
	CPUs   [][]int
	Memory numa.Bytes
	// KeptCores, the first ones, and KeptMemory are reserved for the host.
	KeptCores  int
	KeptMemory numa.Bytes
	Pages      []numa.Pool // free huge pages; one entry for each size
}

// A Policy limits how full hosts may be. The zero value: one vCPU per core, no spare host.
type Policy struct {
	// Overcommit is vCPUs per core by class, in steps of a hundredth; a missing class has the value of "", or else 1. It does not apply
	// to exclusive VMs.
	Overcommit map[string]float64
	Threads    bool // threads count as cores
	Spare      int  // hosts that stay empty: the number that may fail
}

// A Search limits the duration of the search.
type Search struct {
	Seed uint64
	// Budget is the number of trial placements of a VM, in addition to MinStarts whole orders; 0 means the larger of DefaultBudget and
	// perVM times the number of VMs.
	Budget int
}

// DefaultBudget needs less than a second on one core; perVM preserves the quality of plans of large fleets.
const (
	DefaultBudget = 400_000
	perVM         = 40
)

// MinStarts is the number of orders that are always tried, regardless of the fleet's size.
const MinStarts = 3

// Check returns an error for the first invalid value of p.
func (p *Problem) Check() error {
	names := map[string]bool{}
	for i := range p.Hosts {
		h := &p.Hosts[i]
		if h.Name == "" || names[h.Name] {
			return fmt.Errorf("host %q: its name is empty or used twice", h.Name)
		}
		names[h.Name] = true
		if err := h.check(); err != nil {
			return fmt.Errorf("host %q: %w", h.Name, err)
		}
	}
	clear(names)
	for i := range p.VMs {
		v := &p.VMs[i]
		if v.Name == "" || names[v.Name] {
			return fmt.Errorf("VM %q: its name is empty or used twice", v.Name)
		}
		names[v.Name] = true
		if err := v.check(); err != nil {
			return fmt.Errorf("VM %q: %w", v.Name, err)
		}
		if v.PerCore > 1 && !Siblings(p.Hosts, v.PerCore) {
			return fmt.Errorf("VM %q: found cores that are not known to have whole groups of %d CPUs", v.Name, v.PerCore)
		}
	}
	if p.Policy.Spare < 0 {
		return fmt.Errorf("found %d spare hosts, want 0 or more", p.Policy.Spare)
	}
	_, err := p.Policy.core()
	return err
}

// Siblings reports whether the CPUs of every core of the hosts are known, and their number is a multiple of perCore.
func Siblings(hosts []Host, perCore int) bool {
	for i := range hosts {
		for _, n := range hosts[i].Nodes {
			if n.Cores != len(n.CPUs) || slices.ContainsFunc(n.CPUs, func(core []int) bool { return len(core)%perCore != 0 }) {
				return false
			}
		}
	}
	return true
}

func (h *Host) check() error {
	if len(h.Nodes) == 0 || len(h.Nodes) > numa.MaxNodes {
		return fmt.Errorf("found %d nodes, want 1 to %d", len(h.Nodes), numa.MaxNodes)
	}
	seen := map[int]bool{}
	for i := range h.Nodes {
		n := &h.Nodes[i]
		if n.ID < 0 || seen[n.ID] {
			return fmt.Errorf("node %d: its number is negative or used twice", n.ID)
		}
		seen[n.ID] = true
		if err := n.check(); err != nil {
			return fmt.Errorf("node %d: %w", n.ID, err)
		}
	}
	if h.Distance == nil {
		return nil
	}
	for _, row := range h.Distance {
		if len(row) != len(h.Nodes) {
			return fmt.Errorf("found a row of %d distances, want one for each of %d nodes", len(row), len(h.Nodes))
		}
	}
	if len(h.Distance) != len(h.Nodes) {
		return fmt.Errorf("found %d rows of distances, want one for each of %d nodes", len(h.Distance), len(h.Nodes))
	}
	return nil
}

func (n *Node) check() error {
	if n.Cores < 0 || n.Threads < n.Cores || n.Cores > numa.MaxCoresPerNode {
		return fmt.Errorf("found %d cores of %d threads, want as many threads or more, and at most %d cores", n.Cores, n.Threads, numa.MaxCoresPerNode)
	}
	if n.KeptCores < 0 || n.KeptMemory < 0 || n.Memory < 0 || n.Memory > maxMemory {
		return fmt.Errorf("found %v of memory, %v and %d cores of it kept, want none of them negative", n.Memory, n.KeptMemory, n.KeptCores)
	}
	if n.CPUs != nil && len(n.CPUs) != n.Cores {
		return fmt.Errorf("found the CPUs of %d cores, want those of %d", len(n.CPUs), n.Cores)
	}
	for _, c := range n.CPUs {
		if len(c) == 0 {
			return fmt.Errorf("found a core without CPUs")
		}
	}
	for i, g := range n.Pages {
		if g.Size <= 0 || g.Count < 0 || numa.Bytes(g.Count) > maxMemory/g.Size {
			return fmt.Errorf("found %d pages of %v", g.Count, g.Size)
		}
		for _, o := range n.Pages[:i] {
			if o.Size == g.Size {
				return fmt.Errorf("found pages of %v twice", g.Size)
			}
		}
	}
	return nil
}

// maxMemory of a node or cell limits sums to 64 bits.
const maxMemory = 1 << 50

func (v *VM) check() error {
	if len(v.Cells) == 0 || len(v.Cells) > numa.MaxNodes {
		return fmt.Errorf("found %d cells, want 1 to %d", len(v.Cells), numa.MaxNodes)
	}
	if v.Page < 0 || v.Page > maxMemory {
		return fmt.Errorf("found pages of %v", v.Page)
	}
	for i, c := range v.Cells {
		if c.VCPUs < 0 || c.VCPUs > numa.MaxVCPUs || c.Memory < 0 || c.Memory > maxMemory || c == (Cell{}) {
			return fmt.Errorf("cell %d: found %d vCPUs and %v", i, c.VCPUs, c.Memory)
		}
	}
	return nil
}

// hundredths returns the overcommit of a class, in hundredths.
func (p *Policy) hundredths(class string) int64 {
	r, ok := p.Overcommit[class]
	if !ok {
		r, ok = p.Overcommit[""]
	}
	if !ok {
		return 100
	}
	return int64(math.Round(r * 100))
}

// core returns the number of parts of a core for which every vCPU needs a whole number of parts.
func (p *Policy) core() (int64, error) {
	core := int64(1)
	for _, class := range slices.Sorted(maps.Keys(p.Overcommit)) {
		r, h := p.Overcommit[class], p.hundredths(class)
		if !(r >= 0.01 && r <= 100) || math.Abs(r*100-float64(h)) > 1e-6 {
			return 0, fmt.Errorf("overcommit of class %q: found %v, want 0.01 to 100 in steps of 0.01", class, r)
		}
		core = core / gcd(core, h) * h
		if core > 1<<40 {
			return 0, fmt.Errorf("the ratios of overcommit have no common measure: found %v, want fewer different ones", p.Overcommit)
		}
	}
	return core, nil
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

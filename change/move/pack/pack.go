// Package pack plans which KVM host, and which of its NUMA nodes, every VM of a fleet goes to.
//
// ESXi's scheduler places clients when they start and moves them later; a KVM host does
// neither. So what vSphere did while the VMs ran is fixed here, once: each cell of a VM (its
// virtual NUMA node) gets a node of a host that has the cores and the memory for it. That is
// why esxi/placement, which answers what ESXi would do, is not asked.
//
// # What fits
//
//   - A cell never has more vCPUs than the node has cores for VMs: its vCPUs would wait for each
//     other. Where a node has exclusive VMs, their cores are none of the others'.
//   - The cores of a node carry its vCPUs: an exclusive vCPU takes one core, another one
//     1 ÷ overcommit of its class; exclusive VMs whose guests see threads take a core for those of
//     one. Cores count, not threads, unless the policy says otherwise.
//   - Memory is never overcommitted. Cells with huge pages take pages that are free, and
//     pages that are reserved for them out of the node's other memory, unless the policy forbids
//     to reserve.
//   - The cells of one VM go to different nodes, unless it may share one, nearest nodes first.
//   - VMs of one group go to different hosts.
//   - Spare hosts, the largest, stay empty. The plan says which used hosts' VMs would not all
//     fit one of the hosts that are empty then.
//
// # What is wanted
//
// The most vCPUs placed, then near nodes, then hosts that are filled evenly. The fewest hosts are searched for first: they are the bound,
// and say which VMs find no room.
//
// # How
//
// What fits no empty host is set aside with its reason. The others are placed in the order of
// exclusive first, then cells × dominant share, on the used host that they leave least of,
// else on a new one; again in other orders of the same, perturbed with a fixed seed. Then hosts are
// emptied and filled anew, together with what is left over (ruin and recreate, Schrimpf et al.
// 2000), as long as the budget of placements lasts or until the lower bound is reached. At last VMs move to hosts that are less full.
// There is no clock in it: the same problem has the same plan. The tests compare it with
// OR-Tools CP-SAT.
package pack

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"homenode/numa"
)

// A Problem is VMs, and the hosts that they go to.
type Problem struct {
	VMs    []VM
	Hosts  []Host
	Policy Policy
	Search Search
}

// A VM is what a VM needs.
type VM struct {
	Name  string
	Cells []Cell // its NUMA nodes as the guest sees them
	// Exclusive: each vCPU has a core that no other VM runs on.
	Exclusive bool
	// PerCore vCPUs of an exclusive VM, consecutive ones, have the CPUs of one core; 0 means 1. Every core must have whole
	// groups of so many.
	PerCore int
	// Page is the size of its huge pages; 0 for ordinary memory.
	Page   numa.Bytes
	Class  string     // of Policy.Overcommit
	Groups []string   // VMs of one group never share a host
	Share  bool       // several of its cells may go to one node
	Own    numa.Bytes // that it takes beside the memory of its guest, in equal parts where its cells are
	Most   int        // vCPUs that its software takes of a node; 0 for any
	Wave   int        // in which it moves, ascending
}

// A Cell is one NUMA node of a VM.
type Cell struct {
	VCPUs  int
	Memory numa.Bytes
}

// A Host is what a host offers.
type Host struct {
	Name   string
	Vendor string // of the processor, "AMD" or "Intel"; "" when unknown
	Nodes  []Node
	// Distance[i][j] is that of Nodes[i] and Nodes[j], 10 being local; nil when unknown: then
	// all others are equally far.
	Distance [][]int
}

// A Node is a NUMA node of a host.
type Node struct {
	ID      int // as the host numbers it
	Cores   int // physical cores; 0 for a node of memory only
	Threads int // logical CPUs of the cores
	// CPUs are the logical CPUs, those of one core together, in the order in which cores are
	// given away; nil when unknown: then no pins are planned.
	CPUs   [][]int
	Memory numa.Bytes
	// KeptCores, the first, and KeptMemory are the host's own.
	KeptCores  int
	KeptMemory numa.Bytes
	Pages      []numa.Pool // free huge pages; one entry for each size
}

// A Policy says how full hosts may be. The zero value: one vCPU a core, no spare host.
type Policy struct {
	// Overcommit is vCPUs per core by class, in steps of a hundredth; a class that it lacks has
	// that of "", and without it 1. It does not count for exclusive VMs.
	Overcommit map[string]float64
	Threads    bool // threads count as cores do
	Spare      int  // hosts that stay empty: as many may fail
	// FreePagesOnly: huge pages are those that are free; none are reserved for the move.
	FreePagesOnly bool
}

// A Search says how long to search.
type Search struct {
	Seed uint64
	// Budget is how many times a VM is placed for a try, beside MinStarts whole orders; 0 means the larger of
	// DefaultBudget and perVM times the VMs.
	Budget int
}

// DefaultBudget takes less than a second on one core; perVM keeps plans of large fleets as good.
const (
	DefaultBudget = 400_000
	perVM         = 40
)

// MinStarts are the orders that are tried however large the fleet is.
const MinStarts = 3

// Check reports the first thing of p that cannot be.
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

// Siblings reports whether the CPUs of every core of the hosts are known, and are whole groups of so many.
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

// maxMemory of a node or cell keeps sums within 64 bits.
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

// core returns into how many parts a core is cut so that every vCPU takes a whole number.
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

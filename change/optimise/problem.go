// Package optimise searches for a better distribution of the VMs of a cluster: the host of each
// VM and, if that helps more than it costs, its shape (cores per socket, vCPUs per virtual
// node, no CPU hot add).
//
// # Decisions
//
// Each VM gets a host, of those that accept it, and a shape from a short list; the first shape
// is the present one. Nothing is decided inside a host: there ESXi assigns home nodes to the
// NUMA clients itself, and package placement predicts this (rule book C-4, C-5, C-15), VM after
// VM in the order of their IDs, because the order of their power-ons is unknown.
// numa.nodeAffinity is not proposed: the setting stays when its reason is gone (C-12).
//
// # Objective
//
// The minimum of a weighted sum of integers:
//
//	remote  MiB of client memory outside the client's home node; all of a VM's memory
//	        counts as touched. Allocation on other nodes before a node is full (C-15)
//	        is included only with Constraints.Reserve
//	far     MiB on other nodes than the vCPUs because one virtual node has several
//	        clients, or no home node: (1 − 1/k) of it (C-12, C-13). N%L does not show it
//	ready   demanded CPU beyond the cores of a node, summed over the nodes, in hundredths
//	        of a percent of a core: a node of 10 cores whose clients demand 12 has 20000 (C-14)
//	moves   VMs that change their host (vMotion)
//	cycles  VMs that change their shape (power cycle)
//
// The weights define the price of a move; they are estimates, not measurements, and are fields
// of the Problem. If a Problem begins with broken constraints, a result that breaks them less
// is better at any cost.
//
// # Constraints
//
// Hosts that accept the VM (cluster, hardware version, logical CPUs, processor vendor); memory
// of a host; CPU that its VMs reserve; vCPUs per core; VMs that stay; VMs apart; VMs together; N+1: after the failure of
// any one host each of its VMs fits one of the others, without another move. N+1 is checked by
// placing the VMs of the failed host, the largest first, on the host with the most free memory:
// a positive result is safe, a few distributions that would just fit are rejected. No step
// breaks a constraint. The search repairs broken constraints if it can, except N+1: a failure
// that is survived at the beginning is survived after each step; the other failures are only
// reported.
//
// # Quality of the result
//
// The search is a heuristic: descent by single moves, swaps and reshapes, then removal and
// reinsertion of small groups of VMs, from several starts. A host is placed only where a bound from
// the sums of its VMs says that it can pay; its cost is remembered. Solve reports the maximum distance
// from the optimum (Bound): a true lower bound, computed without a solver, and often a loose
// one. The tests compare with all distributions of small clusters, and with OR-Tools CP-SAT, which
// also chooses the home nodes freely: no placement, by ESXi or by hand, is better than that.
package optimise

import (
	"encoding/json"
	"fmt"
	"slices"

	"example.org/homenode/esxi/plan"
	"example.org/homenode/numa"
)

// A Problem is the cluster to be optimised. Indexes refer to its slices.
type Problem struct {
	Hosts    []Host
	VMs      []VM
	Apart    [][]int // groups of VMs that must be on different hosts
	Together [][]int // groups of VMs that must share one host
	NPlus1   bool    // the VMs of any one host must fit the others
	Weights  Weights // the zero value means DefaultWeights
}

// A Host describes the resources of a host.
type Host struct {
	ID, Name string
	Nodes    []Node // by ascending ID
	Memory   int64  // limit for its VMs, in MiB
	VCPUs    int64  // limit for its VMs; 0 means none
	MHz      int64  // that its VMs can reserve; 0 if unknown
	Closed   bool   // in maintenance or not connected: VMs cannot move to it
	Kind     int    // hosts of one kind give a VM the same layout: index in Shape.Fits
	Release  numa.Release
	Distance [][]int // of nodes, as in numa.Host; nil if unknown
}

// A Node is a NUMA node.
type Node struct {
	ID      int
	Package int
	Cores   int
	Memory  int64 // MiB
}

// A VM is a running VM.
type VM struct {
	ID, Name string
	Host     int         // the host that it runs on
	Memory   int64       // MiB, configured
	VCPUs    int         //
	MHz      int64       // reserved
	Demand   int64       // of each vCPU, in hundredths of a percent of a core
	Origin   numa.Origin // of Demand
	Allowed  []int       // hosts it may run on, ascending, including its own
	Shapes   []Shape     // the first is as configured
}

// A Shape is a way to configure a VM.
type Shape struct {
	Edit  plan.Edit    // requires a power cycle
	Nodes numa.NodeSet // numa.nodeAffinity of the VM: IDs; empty means all
	Fits  []Fit        // by kind of host
}

// A Fit is the layout of a VM with some shape on a kind of host.
type Fit struct {
	OK      bool    // it powers on there
	Managed bool    // the NUMA scheduler places its clients
	Clients []int   // vCPUs of each NUMA client
	Memory  []int64 // MiB of each client; nil in proportion to its vCPUs
	Far     int64   // MiB, see the package comment
}

// slices returns the memory of each client of the VM.
func (f *Fit) slices(v *VM) (out []int64) {
	if f.Memory != nil {
		return f.Memory
	}
	first, all := int64(0), int64(v.VCPUs)
	for _, c := range f.Clients {
		vcpus := int64(c)
		out = append(out, v.Memory*(first+vcpus)/all-v.Memory*first/all)
		first += vcpus
	}
	return out
}

// Weights are the costs of one unit of each part of a Score.
type Weights struct {
	Remote, Far int64 // of a MiB
	Ready       int64 // of a hundredth of a percent of a core
	Move, Cycle int64 // of a VM
}

// DefaultWeights: a missing core counts as 20000 MiB remote, a vMotion as 256 MiB, which is two
// seconds of a 1 GB/s link, and a power cycle as 4 GiB, because somebody has to approve it.
// These are estimates; nothing published compares them.
var DefaultWeights = Weights{Remote: 1, Far: 1, Ready: 2, Move: 256, Cycle: 4096}

// broken is the cost of a broken unit in the search: as much as 64 TB remote.
const broken = 1 << 26

// A Score is the cost of a distribution; see the package comment for the units.
type Score struct {
	Remote int64 `json:"remoteMiB"`
	Far    int64 `json:"farMiB"`
	Ready  int64 `json:"-"` // coresShort in JSON
	Moves  int64 `json:"moves"`
	Cycles int64 `json:"powerCycles"`
	// Broken is the amount by which constraints are broken: MiB, vCPUs and reserved MHz over a host's limit,
	// pairs not apart, hosts of a group that is not together.
	Broken int64 `json:"broken"`
	Total  int64 `json:"total"` // weighted, without Broken
}

// CoresShort returns Ready in cores.
func (s *Score) CoresShort() float64 { return float64(s.Ready) / wholeCore }

// MarshalJSON writes the score with its cores short.
func (s Score) MarshalJSON() ([]byte, error) {
	type plain Score
	return json.Marshal(struct {
		plain
		CoresShort float64 `json:"coresShort"`
	}{plain(s), s.CoresShort()})
}

func (s *Score) weigh(w *Weights) {
	s.Total = s.Remote*w.Remote + s.Far*w.Far + s.Ready*w.Ready + s.Moves*w.Move + s.Cycles*w.Cycle
}

// Check returns an error for the first invalid value of p.
func (p *Problem) Check() error {
	ids := map[string]bool{}
	for i := range p.Hosts {
		h := &p.Hosts[i]
		if h.ID == "" || ids["host "+h.ID] {
			return fmt.Errorf("host %q: its id %q is empty or used twice", h.Name, h.ID)
		}
		ids["host "+h.ID] = true
		if len(h.Nodes) == 0 || len(h.Nodes) > numa.MaxNodes || !slices.ContainsFunc(h.Nodes, func(n Node) bool { return n.Cores > 0 }) {
			return fmt.Errorf("host %q: found %d nodes, want 1 to %d, one with cores", h.Name, len(h.Nodes), numa.MaxNodes)
		}
	}
	for i := range p.VMs {
		v := &p.VMs[i]
		if v.ID == "" || ids["vm "+v.ID] {
			return fmt.Errorf("VM %q: its id %q is empty or used twice", v.Name, v.ID)
		}
		ids["vm "+v.ID] = true
		if err := p.checkVM(v); err != nil {
			return fmt.Errorf("VM %q: %w", v.Name, err)
		}
	}
	return p.checkGroups()
}

func (p *Problem) checkVM(v *VM) error {
	if !slices.IsSorted(v.Allowed) || !slices.Contains(v.Allowed, v.Host) || v.Allowed[0] < 0 || v.Allowed[len(v.Allowed)-1] >= len(p.Hosts) {
		return fmt.Errorf("found hosts %v, want indexes of hosts, ascending, its own %d among them", v.Allowed, v.Host)
	}
	if v.Memory < 0 || v.VCPUs < 1 || v.Demand < 0 || len(v.Shapes) == 0 {
		return fmt.Errorf("found %d MB, %d vCPUs, a demand of %d and %d shapes", v.Memory, v.VCPUs, v.Demand, len(v.Shapes))
	}
	for _, h := range v.Allowed {
		for s := range v.Shapes {
			if k := p.Hosts[h].Kind; k < 0 || k >= len(v.Shapes[s].Fits) {
				return fmt.Errorf("shape %d has no fit for host %s", s, p.Hosts[h].Name)
			}
			f := &v.Shapes[s].Fits[p.Hosts[h].Kind]
			sum := 0
			for _, c := range f.Clients {
				sum += c
			}
			if f.OK && sum != v.VCPUs {
				return fmt.Errorf("shape %d has clients of %d vCPUs, want %d", s, sum, v.VCPUs)
			}
		}
	}
	if !v.Shapes[0].Fits[p.Hosts[v.Host].Kind].OK {
		return fmt.Errorf("it does not fit host %s, where it runs", p.Hosts[v.Host].Name)
	}
	return nil
}

func (p *Problem) checkGroups() error {
	in := map[int]int{} // group of Together by VM
	for g, group := range p.Together {
		for _, v := range group {
			if v < 0 || v >= len(p.VMs) {
				return fmt.Errorf("found VM %d in a group, want one of %d", v, len(p.VMs))
			}
			if other, ok := in[v]; ok && other != g {
				return fmt.Errorf("VM %q: found in two groups that stay together, want one", p.VMs[v].Name)
			}
			in[v] = g
		}
	}
	for _, group := range p.Apart {
		seen := map[int]int{}
		for _, v := range group {
			if v < 0 || v >= len(p.VMs) {
				return fmt.Errorf("found VM %d in a group, want one of %d", v, len(p.VMs))
			}
			g, together := in[v]
			if other, ok := seen[g]; together && ok && other != v {
				return fmt.Errorf("VMs %q and %q are to stay together and apart", p.VMs[other].Name, p.VMs[v].Name)
			}
			if together {
				seen[g] = v
			}
		}
	}
	return nil
}

// Package optimise searches a better distribution of the VMs of a cluster: on which
// host each runs and, where that helps more than it costs, with which shape (cores per
// socket, vCPUs per virtual node, no CPU hot add).
//
// # What is decided
//
// For each VM its host, among those that take it, and its shape, from a short list; the
// first shape is the one it has. Nothing is decided inside a host: there ESXi gives the
// NUMA clients their home nodes itself, and package placement predicts what it does
// (rule book C-4, C-5, C-15), VM after VM in the order of their IDs, because the
// order of their power-ons is not stated. With Constraints.NodeAffinity shapes with
// numa.nodeAffinity are candidates too; they are off by default because an affinity
// outlives its reason (C-12).
//
// # What is minimised
//
// A weighted sum of integers, the smaller the better:
//
//	remote  MiB of client memory outside the client's home node; all of a VM's memory is
//	        counted as touched. That a node gives memory away before it is full (C-15) is
//	        counted only with Constraints.Reserve
//	far     MiB that one virtual node carried by several clients, or no home node at
//	        all, puts beside other vCPUs: (1 − 1/k) of it (C-12, C-13). N%L does not show it
//	ready   demanded CPU beyond the cores of a node, summed over the nodes, in hundredths
//	        of a percent of a core: a node of 10 cores whose clients demand 12 has 20000 (C-14)
//	moves   VMs that change their host (vMotion)
//	cycles  VMs that change their shape (power cycle)
//
// The weights say what is worth a move; they are judgement, not measurement, and are
// fields of the Problem. A Problem may begin with broken constraints: then what is
// broken less is better, whatever it costs.
//
// # Under what constraints
//
// Hosts that take the VM (cluster, hardware version, logical CPUs, processor vendor);
// memory of a host; vCPUs per core; VMs that stay; VMs apart; VMs together; N+1: after
// the loss of any one host each of its VMs finds room on the others, without another
// move. N+1 is judged by filling the VMs of the lost host, the largest first, into the
// host with the most free memory: what passes is safe, a few that would just fit are
// refused. No step breaks a constraint. Of what is broken at the beginning the search
// mends what it can, but for N+1: the loss of a host that is survived at the beginning is
// survived after each step, and what becomes of the others is only reported.
//
// # How good the result is
//
// The search is a heuristic: descent by single moves, swaps and reshapes, then small
// groups of VMs taken out and put back elsewhere, from several starts. Solve says how far
// from the optimum the result can be at most (Bound): a true lower bound, computed
// without a solver, and often a loose one. The tests compare with OR-Tools CP-SAT, which
// also chooses the home nodes freely: no placement, by ESXi or by hand, beats that.
package optimise

import (
	"encoding/json"
	"fmt"
	"slices"

	"homenode/esxi/plan"
	"homenode/numa"
)

// A Problem is the cluster to be optimised. Indexes refer to its slices.
type Problem struct {
	Hosts    []Host
	VMs      []VM
	Apart    [][]int // groups of VMs of which no two share a host
	Together [][]int // groups of VMs that share one host
	NPlus1   bool    // the VMs of any one host find room on the others
	Weights  Weights // the zero value stands for DefaultWeights
}

// A Host is what a host offers.
type Host struct {
	ID, Name string
	Nodes    []Node // by ascending ID
	Memory   int64  // MiB that its VMs may have together
	VCPUs    int64  // that its VMs may have together; 0 means no limit
	Closed   bool   // in maintenance or not connected: it takes no VM
	Kind     int    // hosts of one kind give a VM the same layout: index in Shape.Fits
	Release  numa.Release
	Distance [][]int // of nodes, as numa.Host has it; nil when unknown
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
	Host     int         // it runs on
	Memory   int64       // MiB, configured
	VCPUs    int         //
	Demand   int64       // of each vCPU, in hundredths of a percent of a core
	Origin   numa.Origin // of Demand
	Allowed  []int       // hosts it may run on, ascending, its own among them
	Shapes   []Shape     // the first is as configured
}

// A Shape is a way to configure a VM.
type Shape struct {
	Edit  plan.Edit    // to be made with a power cycle
	Nodes numa.NodeSet // numa.nodeAffinity: IDs; empty means all
	Fits  []Fit        // by kind of host
}

// A Fit is what a VM of some shape is on a kind of host.
type Fit struct {
	OK      bool  // it powers on there
	Managed bool  // the NUMA scheduler places its clients
	Clients []int // vCPUs of each NUMA client
	Far     int64 // MiB, see the package comment
}

// Weights say what one unit of each part of a Score counts.
type Weights struct {
	Remote, Far int64 // of a MiB
	Ready       int64 // of a hundredth of a percent of a core
	Move, Cycle int64 // of a VM
}

// DefaultWeights: a core that is missing counts as 20000 MiB remote, a vMotion as
// 256 MiB, which is two seconds of a 1 GB/s link, and a power cycle as 4 GiB, because
// somebody has to agree to it. Judgement; nothing published compares these.
var DefaultWeights = Weights{Remote: 1, Far: 1, Ready: 2, Move: 256, Cycle: 4096}

// broken is what a broken unit counts in the search: as much as 64 TB remote.
const broken = 1 << 26

// A Score is what a distribution costs; see the package comment for the units.
type Score struct {
	Remote int64 `json:"remoteMiB"`
	Far    int64 `json:"farMiB"`
	Ready  int64 `json:"-"` // JSON has it as coresShort
	Moves  int64 `json:"moves"`
	Cycles int64 `json:"powerCycles"`
	// Broken says by how much constraints are broken: MiB and vCPUs beyond a host's,
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

// Check reports the first thing of p that cannot be.
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

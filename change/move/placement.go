package move

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/rules/shape"
)

// A Placement is the host of a VM, and its nodes for the cells.
type Placement struct {
	Host  string `json:"host"`
	Nodes []int  `json:"nodes"` // the host node of each cell
	// CPUs are the logical CPUs of each of these nodes that the VM may use: all of the node, or for a VM with CPUs of its own only those,
	// one for each vCPU in the order of the vCPUs. nil if the CPU numbers of the host are unknown.
	CPUs map[int][]int `json:"cpus,omitempty"`
	// PerCore is the number of consecutive vCPUs of a VM with CPUs of its own that run on the threads of one core; 0 if each has another
	// core.
	PerCore int `json:"perCore,omitempty"`
	// Helpers are the host CPUs for QEMU's other threads, for a VM with CPUs of its own; nil if no core is left for them.
	Helpers []int `json:"helpers,omitempty"`
	// Vendor of the host's processor, "AMD" or "Intel"; "" if unknown.
	Vendor string `json:"vendor,omitempty"`
}

// String returns the nodes and the host: "nodes 0, 1 of kvm01".
func (p *Placement) String() string {
	list := words.Texts(p.Nodes, strconv.Itoa)
	noun := "node"
	if len(list) > 1 {
		noun = "nodes"
	}
	return fmt.Sprintf("%s %s of %s", noun, strings.Join(list, ", "), p.Host)
}

// Numbered reports whether the numbers of the host's CPUs are known.
func (p *Placement) Numbered() bool { return p.CPUs != nil }

// HostCPUs returns the logical CPUs that the vCPUs of a cell may run on.
func (p *Placement) HostCPUs(cell int) []int { return p.CPUs[p.Nodes[cell]] }

// Binding returns the placement to which memory and vCPUs are bound; nil if they are not. Memory is never bound without its vCPUs: when
// Linux moves threads, it moves their memory only if nothing binds it, so vCPUs without pins would stay away from bound memory (G-10).
func (m *Move) Binding() *Placement {
	if m.At == nil || !m.At.Numbered() {
		return nil
	}
	return m.At
}

// All returns the logical CPUs of all cells, and the nodes without duplicates.
func (p *Placement) All() (cpus, nodes []int) {
	nodes = slices.Clone(p.Nodes)
	slices.Sort(nodes)
	nodes = slices.Compact(nodes)
	for _, n := range nodes {
		cpus = append(cpus, p.CPUs[n]...)
	}
	slices.Sort(cpus)
	return slices.Compact(cpus), nodes
}

// Pins returns the logical CPU of each vCPU, for a VM with CPUs of its own: cells on one node use its CPUs in their order.
func (p *Placement) Pins(s *Shape) []int {
	out := make([]int, s.Most())
	taken := map[int]int{}
	for i, c := range s.Cells {
		node := p.Nodes[i]
		for _, v := range c.CPUs {
			out[v] = p.CPUs[node][taken[node]]
			taken[node]++
		}
	}
	return out
}

func (p *Placement) check(s *Shape, fault faulter) {
	if len(p.Nodes) != len(s.Cells) {
		fault(shape.Host, "%d nodes of %s for %d cells", len(p.Nodes), p.Host, len(s.Cells))
		return
	}
	for i, n := range p.Nodes {
		if p.Numbered() && len(p.CPUs[n]) == 0 && len(s.Cells[i].CPUs) > 0 {
			fault(shape.Host, "cell %d is on node %d of %s, which has no CPU", i, n, p.Host)
		}
	}
	for a, cpus := range p.CPUs {
		for b, others := range p.CPUs {
			if both := slices.DeleteFunc(slices.Clone(cpus), func(c int) bool { return !slices.Contains(others, c) }); a < b && both != nil && len(both) > 0 {
				fault(shape.Host, "CPUs %s of %s are of nodes %d and %d", words.Ranges(both), p.Host, a, b)
			}
		}
	}
}

// holds reports whether there is a CPU of its own for each vCPU.
func (p *Placement) holds(s *Shape) bool {
	need := map[int]int{}
	for i, c := range s.Cells {
		need[p.Nodes[i]] += len(c.CPUs)
	}
	for n, want := range need {
		if len(p.CPUs[n]) < want {
			return false
		}
	}
	return true
}

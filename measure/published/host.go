package published

import (
	"fmt"
	"math"

	"example.org/homenode/numa"
)

// Possible values of unstated facts of a host. They span the hosts of the published cases, so a
// prediction that is constant over them does not depend on the fact.
var (
	openSockets = []int{1, 2, 4}
	openCores   = []int{4, 6, 8, 10, 16, 28, 64} // per node
	openThreads = []int{1, 2}                    // per core
)

// nodes returns the NUMA nodes of the host; 0 if neither they nor sockets are stated.
func (h *Host) nodes() int {
	if h.Nodes > 0 {
		return h.Nodes
	}
	return h.Sockets * max(1, h.NodesPerSocket)
}

// hosts returns the complete hosts that h may describe.
func (h *Host) hosts() (out []numa.Host) {
	if h.nodes() == 0 {
		for _, sockets := range openSockets {
			one := *h
			one.Sockets = sockets
			out = append(out, one.hosts()...)
		}
		return out
	}
	nodes, packages := h.nodes(), h.Sockets
	if packages == 0 {
		packages = max(1, nodes/max(1, h.NodesPerSocket))
	}
	allCores, allThreads := openCores, openThreads
	switch {
	case h.CoresPerNode > 0:
		allCores = []int{h.CoresPerNode}
	case h.CoresPerSocket > 0:
		allCores = []int{max(1, h.CoresPerSocket*packages/nodes)}
	case h.Cores > 0:
		allCores = []int{max(1, h.Cores/nodes)}
	}
	if h.ThreadsPerCore > 0 {
		allThreads = []int{h.ThreadsPerCore}
	}
	for _, cores := range allCores {
		for _, threads := range allThreads {
			one := numa.Host{ID: "host", Name: "host", Packages: numa.ReadAt(packages, where), CPUModel: numa.ReadAt(h.CPUModel, where), Options: numa.ReadAt(numa.Settings(nil), where)}
			list := make([]numa.Node, nodes)
			for i := range list {
				list[i] = numa.Node{ID: i, Package: i * packages / nodes, Cores: cores, Threads: cores * threads}
				if memory := h.nodeMemory(nodes); memory > 0 {
					list[i].Memory = numa.ReadAt(memory, where)
				}
			}
			one.Nodes = numa.ReadAt(list, where)
			out = append(out, one)
		}
	}
	return out
}

// nodeMemory returns the memory of one node; 0 if the case does not state it.
func (h *Host) nodeMemory(nodes int) numa.Bytes {
	if h.NodeGB > 0 {
		return numa.Bytes(h.NodeGB * float64(numa.GiB))
	}
	return numa.Bytes(h.GB*float64(numa.GiB)) / numa.Bytes(nodes)
}

// hostFields are the fields about the host itself (rule book ).
var hostFields = map[string]predictor{
	"host_numa_nodes":                     ofHost(dividedNodes, 0),
	"host_numa_nodes_without_cod":         ofHost(wholeNodes, 0),
	"host_packages":                       ofHost(wholeNodes, 0),
	"memory_per_host_node_gb":             ofHost(dividedNodes, 1),
	"memory_per_host_node_mb_without_cod": ofHost(wholeNodes, 1<<10),
}

// The NUMA nodes of a host by its sockets, divided as in the case or whole; 0 if they are not stated.
func dividedNodes(h *Host) int { return h.Sockets * max(1, h.NodesPerSocket) }
func wholeNodes(h *Host) int   { return h.Sockets }

// ofHost predicts the number of nodes of a host; with a unit, as parts of a GB, the memory of each.
func ofHost(count func(*Host) int, perGB float64) predictor {
	return func(c *Case, _ *variant, observed any) (string, bool, error) {
		n, memory := count(&c.Host), perGB > 0
		want, ok := number(observed)
		switch {
		case memory && (n == 0 || c.Host.GB == 0):
			return "", false, fmt.Errorf("sockets or memory of the host are not stated")
		case n == 0:
			return "", false, fmt.Errorf("the sockets of the host are not stated")
		case !ok:
			return "", false, unlike(observed, "a number")
		case !memory:
			return show(n), float64(n) == want, nil
		}
		got := c.Host.GB * perGB / float64(n)
		return show(got), math.Abs(want-got) <= got*nodeTolerance, nil
	}
}

func total(numbers []float64) float64 {
	sum := 0.0
	for _, n := range numbers {
		sum += n
	}
	return sum
}

package published

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"homenode/numa"
)

// What an open fact of a host may be. The values span the hosts of the published
// cases, so that a prediction which does not change over them does not depend on
// the fact.
var (
	openSockets = []int{1, 2, 4}
	openCores   = []int{4, 6, 8, 10, 16, 28, 64} // per node
	openThreads = []int{1, 2}                    // per core
)

// A shape is a host with nothing left open.
type shape struct {
	packages, nodes, cores, threads int // cores and threads of a node
	nodeMemory                      numa.Bytes
}

// shapeForm is a host in words: "2x20", "4 x 14".
var shapeForm = regexp.MustCompile(`(\d{1,4})\s*[x×*]\s*(\d{1,4})`)

// inWords returns the host that words describe as sockets × cores.
func inWords(words string) (host map[string]any, ok bool) {
	m := shapeForm.FindStringSubmatch(words)
	if m == nil {
		return nil, false
	}
	return map[string]any{"sockets": m[1], "cores_per_socket": m[2]}, true
}

// shapes returns the hosts that f may describe.
func (f facts) shapes() []shape {
	var out []shape
	threads := openThreads
	if on, stated := f.truth("hyperthreading", "hyper_threading", "ht"); stated && !on {
		threads = []int{1}
	}
	if n := f.whole(8, "threads_per_core"); n > 0 {
		threads = []int{n}
	}
	for _, s := range f.sockets() {
		packages, nodes := s[0], s[1]
		for _, cores := range f.cores(packages, nodes) {
			memory := f.nodeMemory(nodes)
			for _, t := range threads {
				out = append(out, shape{packages, nodes, cores, cores * t, memory})
			}
		}
	}
	return out
}

// sockets returns the pairs of packages and nodes that the host may have.
func (f facts) sockets() [][2]int {
	perSocket := f.whole(numa.MaxNodes, "numa_nodes_per_socket", "nodes_per_socket")
	nodes := f.whole(numa.MaxNodes, "numa_nodes")
	sockets := f.whole(numa.MaxNodes, "sockets", "packages")
	switch {
	case sockets == 0 && nodes > 0:
		sockets = max(1, nodes/max(1, perSocket))
	case sockets == 0:
		var out [][2]int
		for _, s := range openSockets {
			out = append(out, [2]int{s, s * max(1, perSocket)})
		}
		return out
	}
	switch {
	case nodes == 0:
		nodes = sockets * max(1, perSocket)
	case perSocket > 0 && nodes != sockets*perSocket:
		f.fail("numa_nodes", fmt.Sprintf("%d sockets × %d", sockets, perSocket))
	}
	if nodes > numa.MaxNodes {
		f.fail("sockets", fmt.Sprintf("at most %d NUMA nodes", numa.MaxNodes))
		return nil
	}
	return [][2]int{{sockets, nodes}}
}

// cores returns what a node of the host may have.
func (f facts) cores(packages, nodes int) []int {
	if n := f.whole(numa.MaxCoresPerNode, "cores_per_node"); n > 0 {
		return []int{n}
	}
	of := func(key string, all int) []int {
		if all%nodes != 0 {
			f.fail(key, fmt.Sprintf("a multiple of the %d NUMA nodes", nodes))
		}
		return []int{max(1, all/nodes)}
	}
	if n := f.whole(numa.MaxCoresPerNode, "cores_per_socket"); n > 0 {
		return of("cores_per_socket", n*packages)
	}
	if n := f.whole(numa.MaxNodes*numa.MaxCoresPerNode, "total_cores", "cores"); n > 0 {
		return of("total_cores", n)
	}
	return openCores
}

// nodeMemory returns the memory of one node; 0 when the case does not state it.
func (f facts) nodeMemory(nodes int) numa.Bytes {
	const most = float64(numa.MaxHostMemory)
	for _, u := range []struct {
		key  string
		unit numa.Bytes
	}{{"mem_per_node_gb", numa.GiB}, {"mem_per_node_mb", numa.MiB}, {"mem_per_node_kb", numa.KiB}} {
		if b := f.amount(u.key, float64(u.unit), most); b > 0 {
			return numa.Bytes(b)
		}
	}
	if v := f.m["node_total_kb"]; v != nil {
		kb, ok := numbers(v)
		if !ok || slices.Min(kb) <= 0 || slices.Max(kb)*float64(numa.KiB) > most {
			f.fail("node_total_kb", "the kB of each node")
			return 0
		}
		return numa.Bytes(slices.Min(kb) * float64(numa.KiB))
	}
	return numa.Bytes(f.amount("mem_gb", float64(numa.GiB), most)) / numa.Bytes(nodes)
}

// host returns the host of the shape with release r.
func (s shape) host(r numa.Release, cpu string) numa.Host {
	h := numa.Host{
		ID: "host", Name: "host",
		Release:  numa.ReadAt(r, where),
		Packages: numa.ReadAt(s.packages, where),
		CPUModel: numa.ReadAt(cpu, where),
		Options:  numa.ReadAt(numa.Settings(nil), where),
	}
	var nodes []numa.Node
	for i := range s.nodes {
		n := numa.Node{ID: i, Package: i * s.packages / s.nodes, Cores: s.cores, Threads: s.threads}
		if s.nodeMemory > 0 {
			n.Memory = numa.ReadAt(s.nodeMemory, where)
		}
		nodes = append(nodes, n)
	}
	h.Nodes = numa.ReadAt(nodes, where)
	return h
}

// cookieOf returns the oldest cookie that records n vCPUs (rule book B-9).
func cookieOf(n int) string { return strconv.Itoa(n*10000 + 1) }

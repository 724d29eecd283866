package numa

import (
	"fmt"
	"path"
)

// SetNodesPerSocket divides the packages of the hosts whose name matches the
// pattern (path.Match) into k NUMA nodes each. It is for sources that know no
// nodes: a host whose nodes were read is an error, because reading beats saying.
// What was said before is replaced: '*=1' and then 'esx07=2'. where names the
// user's statement, from which nodes and their memory are derived: nobody read
// the cores and the memory of a node.
func (f *Fleet) SetNodesPerSocket(pattern string, k int, where string) error {
	matched := 0
	for i := range f.Hosts {
		h := &f.Hosts[i]
		ok, err := path.Match(pattern, h.Name)
		if err != nil {
			return fmt.Errorf("%s: found pattern %q: %w", where, pattern, err)
		}
		if !ok {
			continue
		}
		matched++
		if err := h.setNodesPerSocket(k, where); err != nil {
			return fmt.Errorf("%s: host %s: %w", where, h.Name, err)
		}
	}
	if matched == 0 {
		return fmt.Errorf("%s: no host is named %q", where, pattern)
	}
	return nil
}

func (h *Host) setNodesPerSocket(k int, where string) error {
	if h.Nodes.Origin.Kind == Read {
		return fmt.Errorf("its %d NUMA nodes were read from the source and stay", len(h.Nodes.Value))
	}
	packages, cores := h.Packages.Value, h.Cores.Value
	if !h.Packages.Known() || !h.Cores.Known() {
		return fmt.Errorf("its packages and cores are unknown")
	}
	n := packages * k
	if k < 1 || n > MaxNodes || cores%n != 0 {
		return fmt.Errorf("%d cores on %d packages do not divide into %d nodes a package", cores, packages, k)
	}
	nodes := make([]Node, n)
	for i := range nodes {
		nodes[i] = Node{ID: i, Package: i / k, Cores: cores / n, Threads: h.Threads.Or(cores) / n}
		if h.Memory.Known() {
			nodes[i].Memory = DerivedFrom(h.Memory.Value/Bytes(n), where)
		}
	}
	h.Nodes = DerivedFrom(nodes, where)
	return nil
}

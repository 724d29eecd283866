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

// AssumeHost gives f what no source said of hosts: every host takes the facts of h
// that are unknown of it, and VMs for which no host is known run on a copy of h.
// The name and the origins of h say that the user states it. It reports how many
// hosts and VMs that changed.
func (f *Fleet) AssumeHost(h Host) (hosts, vms int) {
	known := map[string]bool{} // clusters that have hosts
	for i := range f.Hosts {
		o := &f.Hosts[i]
		if o.Cluster != "" {
			known[o.Cluster] = true
		}
		if o.Complete(&h) {
			hosts++
		}
	}
	for i := range f.VMs {
		v := &f.VMs[i]
		if v.Host == "" && !known[v.Cluster] {
			v.Host, v.Cluster = h.ID, ""
			vms++
		}
	}
	if vms > 0 {
		f.Hosts = append(f.Hosts, h)
	}
	return hosts, vms
}

// Complete takes from o the facts that are unknown of h, or were assumed; the nodes
// and what belongs to them only together. It reports whether it took any.
func (h *Host) Complete(o *Host) bool {
	changed := fill(&h.Release, o.Release)
	if o.Nodes.Known() && (!h.Nodes.Known() || h.Nodes.Origin.Kind == Assumed) {
		h.Nodes, h.Packages, h.Cores, h.Threads, h.HyperThreading = o.Nodes, o.Packages, o.Cores, o.Threads, o.HyperThreading
		changed = true
	}
	changed = fill(&h.Memory, o.Memory) || changed
	changed = fill(&h.CPUModel, o.CPUModel) || changed
	return fill(&h.Options, o.Options) || changed
}

func fill[T any](f *Fact[T], from Fact[T]) bool {
	if f.Known() || !from.Known() {
		return false
	}
	*f = from
	return true
}

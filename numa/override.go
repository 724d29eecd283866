package numa

import (
	"fmt"
	"slices"
	"strings"
)

// SetNodesPerSocket divides the packages of a host into k NUMA nodes each. It is for sources without nodes: a host whose nodes were read is an error,
// because a source takes precedence over a flag. A later call replaces an earlier one. where names the user's statement, from which nodes and their
// memory are derived: the cores and the memory of a node were not read.
func (h *Host) SetNodesPerSocket(k int, where string) error {
	if h.Nodes.Origin.Kind == Read {
		return fmt.Errorf("its %d NUMA nodes were read from the source and stay", len(h.Nodes.Value))
	}
	packages, cores := h.Packages.Value, h.Cores.Value
	switch {
	case !h.Packages.Known() && !h.Cores.Known():
		return fmt.Errorf("its packages and cores are unknown")
	case !h.Packages.Known():
		return fmt.Errorf("its packages are unknown, and its %d cores are not: --assume-host can say its nodes", cores)
	case !h.Cores.Known():
		return fmt.Errorf("its cores are unknown")
	}
	n := packages * k
	if n > MaxNodes || cores%packages != 0 || !Divides(cores/packages, k) {
		return fmt.Errorf("%d cores on %d packages do not divide into %d nodes a package", cores, packages, k)
	}
	nodes := make([]Node, n)
	for i := range nodes {
		part := Share(cores/packages, k, i%k)
		nodes[i] = Node{ID: i, Package: i / k, Cores: part, Threads: part * h.Threads.Or(cores) / cores}
		if h.Memory.Known() {
			nodes[i].Memory = DerivedFrom(h.Memory.Value/Bytes(n), where)
		}
	}
	h.Nodes = DerivedFrom(nodes, where)
	return nil
}

// SetNodeCount sets n nodes with equal shares of the cores and memory of the host. where is the origin of their number.
func (h *Host) SetNodeCount(n int, where string) error {
	packages, cores := h.Packages.Value, h.Cores.Value
	if n%packages == 0 {
		return h.SetNodesPerSocket(n/packages, where)
	}
	if packages%n != 0 || cores%n != 0 {
		return fmt.Errorf("%d cores on %d packages do not divide into %d nodes", cores, packages, n)
	}
	nodes := make([]Node, n)
	for i := range nodes {
		nodes[i] = Node{ID: i, Package: -1, Cores: cores / n, Threads: h.Threads.Or(cores) / n}
		if h.Memory.Known() {
			nodes[i].Memory = DerivedFrom(h.Memory.Value/Bytes(n), where)
		}
	}
	h.Nodes = DerivedFrom(nodes, where)
	return nil
}

// AssumeHost adds facts of hosts that no source states: every host gets the facts of h that it lacks, and VMs without a known host run on a copy of
// h. The name and the origins of h mark it as the user's statement. A host that contradicts h is unchanged, with a note. AssumeHost returns the
// numbers of changed hosts and VMs.
func (f *Fleet) AssumeHost(h Host) (hosts, vms int) {
	known := map[string]bool{} // clusters with hosts
	for i := range f.Hosts {
		o := &f.Hosts[i]
		if o.Cluster != "" {
			known[o.Cluster] = true
		}
		changed, err := o.Complete(&h)
		if changed {
			hosts++
		}
		if err != nil {
			f.Notes = append(f.Notes, Note{At: o.At, Text: fmt.Sprintf("host %s: nothing is taken from %s: %v", o.Name, h.At, err)})
		}
	}
	for i := range f.VMs {
		v := &f.VMs[i]
		if v.Host == "" && !known[v.Cluster] && h.Nodes.Known() {
			v.Host, v.Cluster = h.ID, ""
			vms++
		}
	}
	if vms > 0 {
		f.Hosts = append(f.Hosts, h)
	}
	return hosts, vms
}

// Complete copies from o the facts that h lacks, and nodes if those of h were assumed. It reports whether it copied any. The error names a fact of h
// that contradicts o: then it is another machine, and nothing is copied.
func (h *Host) Complete(o *Host) (changed bool, err error) {
	lacksNodes := o.Nodes.Known() && !h.Nodes.stated()
	if lacksNodes {
		if err := h.contradicts(o); err != nil {
			return false, err
		}
	}
	changed = fill(&h.Release, o.Release, o.At)
	if lacksNodes {
		h.takeNodes(o)
		changed = true
	}
	changed = fill(&h.Memory, o.Memory, o.At) || changed
	changed = fill(&h.CPUModel, o.CPUModel, o.At) || changed
	return fill(&h.Options, o.Options, o.At) || changed, nil
}

// EqualShare returns the memory of one of n nodes where only that of the host is known.
func EqualShare(memory Bytes, n int) Fact[Bytes] {
	return AssumedFor(memory/Bytes(n), "an equal share of the host's memory")
}

// PackageNodes returns the nodes of h, for this number of cores per package, by the name of its processor: one for each package, or for each die, or
// a single one with a front-side bus or in a small VM. why explains that no source states them. The result is wrong if the BIOS splits packages (SNC,
// cluster-on-die, NPS) or interleaves memory. Unknown threads count as one per core; nodes share the memory of the host equally.
func (h *Host) PackageNodes(cores int, why string) Fact[[]Node] {
	packages := h.Packages.Value
	n, form := packages, "one node per package"
	switch k := h.Dies(); {
	case h.Nested() && cores*packages <= 8: // such a VM shows no nodes by default (B-3)
		n, form = 1, "one node, since the host is itself a VM of at most 8 vCPUs"
	case h.Nested(): // depends on its virtual hardware, which no source states
		form = "one node per package as a guess, since the host is itself a VM"
	case h.Chassis() > 1 && packages%h.Chassis() == 0:
		n, form = h.Chassis(), "one node for each chassis, which has up to 4 packages"
	case h.FrontSideBus():
		n, form = 1, "one node, since the processors share a front-side bus"
	case k > 1 && cores%k == 0 && packages*k <= MaxNodes:
		n, form = packages*k, "one node for each die of a package"
	}
	nodes := make([]Node, n)
	for i := range nodes {
		nodes[i] = Node{ID: i, Package: i * packages / n, Cores: cores * packages / n}
		nodes[i].Threads = max(h.Threads.Value/n, nodes[i].Cores)
		if n < packages {
			nodes[i].Package = -1
		}
		if h.Memory.Known() {
			nodes[i].Memory = EqualShare(h.Memory.Value, n)
		}
	}
	why += ": " + form
	if !h.Threads.Known() {
		why += "; whether hyper-threading is on is unknown: one thread per core"
	}
	return AssumedFor(nodes, why)
}

// stated reports whether the value was read or derived from read facts.
func (f Fact[T]) stated() bool { return f.Known() && f.Origin.Kind != Assumed }

// contradicts returns an error if the nodes of o cannot be those of h.
func (h *Host) contradicts(o *Host) error {
	cores := 0
	memory, known := Bytes(0), true
	for _, n := range o.Nodes.Value {
		cores += n.Cores
		memory += n.Memory.Value
		known = known && n.Memory.Known()
	}
	if h.Cores.stated() && h.Cores.Value != cores {
		return fmt.Errorf("it has %d cores, not %d", h.Cores.Value, cores)
	}
	// The kernel keeps some of the memory.
	if all := h.Memory.Value; h.Memory.stated() && known && max(all, memory)-min(all, memory) > all/16 {
		return fmt.Errorf("it has %s of memory, not %s", all, memory)
	}
	return nil
}

// takeNodes copies the nodes of o and unknown facts of the processors. Known packages and threads of h also apply to the nodes.
func (h *Host) takeNodes(o *Host) {
	where := placed(o.Nodes.Origin, o.At)
	nodes := slices.Clone(o.Nodes.Value)
	for i := range nodes {
		n := &nodes[i]
		if p := h.Packages; p.stated() && p.Value > 0 && len(nodes)%p.Value == 0 {
			n.Package = i * p.Value / len(nodes)
		}
		if t := h.Threads; t.stated() && h.Cores.stated() && t.Value*n.Cores%h.Cores.Value == 0 {
			n.Threads = t.Value * n.Cores / h.Cores.Value
		}
		n.Memory.Origin = placed(n.Memory.Origin, o.At)
		if !n.Memory.Known() && h.Memory.stated() {
			n.Memory = DerivedFrom(h.Memory.Value/Bytes(len(nodes)), "memory, an equal share of each node")
		}
	}
	h.Nodes = Fact[[]Node]{nodes, where}
	replace(&h.Packages, o.Packages, o.At)
	replace(&h.Cores, o.Cores, o.At)
	replace(&h.Threads, o.Threads, o.At)
	replace(&h.HyperThreading, o.HyperThreading, o.At)
}

// replace copies a fact over one that was not stated.
func replace[T any](f *Fact[T], from Fact[T], at string) {
	if !f.stated() && from.Known() {
		*f = Fact[T]{from.Value, placed(from.Origin, at)}
	}
}

func fill[T any](f *Fact[T], from Fact[T], at string) bool {
	if f.Known() || !from.Known() {
		return false
	}
	*f = Fact[T]{from.Value, placed(from.Origin, at)}
	return true
}

// placed returns the origin of a fact copied to another object: at is added because the place no longer follows from the object.
func placed(o Origin, at string) Origin {
	file, _, _ := strings.Cut(at, ":")
	if o.Kind != Unknown && !strings.Contains(o.Where, file) {
		o.Where = at + ", " + o.Where
	}
	return o
}

// Assume makes every known fact of h an assumption with the origin where.
func (h *Host) Assume(where string) {
	for i := range HostFacts {
		assume(HostFacts[i].Fact(h), where)
	}
	for i := range h.Nodes.Value {
		assume(&h.Nodes.Value[i].Memory, where)
	}
	assume(&h.Options, where)
}

func assume(f AnyFact, where string) {
	if f.Known() {
		f.Take(f, Origin{Assumed, where})
	}
}

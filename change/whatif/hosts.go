package whatif

import (
	"fmt"
	"slices"

	"example.org/homenode/numa"
	"example.org/homenode/source/word"
)

// described contains the words of a change about the nodes of a host.
type described struct {
	nodes     word.Nodes
	perSocket int             // nodesPerSocket; 0 if not given
	said      map[string]bool // the given words
	dropped   string          // reason why the host does not get the release; "" if it does
}

// describe sets the values of the change for a host, except its nodes.
func (c *Change) describe(h *numa.Host) (d described, err error) {
	d.said = map[string]bool{}
	was, build := h.Release, h.Build
	for _, w := range c.hostWords {
		d.said[w.Key] = true
		known := w.Key == "nodesPerSocket"
		if known {
			d.perSocket, err = w.Number(1, numa.MaxNodes)
		} else if known, err = d.nodes.Take(w, c.Text); !known {
			err = c.hostWord(h, w)
		}
		if err != nil {
			return d, err
		}
	}
	if c.hosts == nil && was.Known() && h.Release.Known() && olderRelease(h.Release.Value, was.Value) {
		h.Release, h.Build = was, build // an upgrade of all does not downgrade hosts
		return d, nil
	}
	c.release(h, was, d.said)
	if d.dropped = h.Dropped(h.Release.Value); !was.Known() || h.Release.Value == was.Value {
		d.dropped = ""
	} else if d.dropped != "" {
		h.Release, h.Build = was, build
	}
	return d, nil
}

// olderRelease reports whether a is older than b. A release without its update, such as 8.0, matches its family.
func olderRelease(a, b numa.Release) bool {
	return a.Base() < b.Base() || a.Base() == b.Base() && a.Update() > 0 && a < b
}

// hostSettings sets the values of the change for a host. changed reports whether it has other nodes now, and dropped
// is the reason why it keeps its release if the requested one does not support its processors.
func (c *Change) hostSettings(h *numa.Host) (changed bool, dropped string, err error) {
	d, err := c.describe(h)
	if err != nil {
		return false, "", err
	}
	old := h.Nodes
	if err := c.layOut(h, &d.nodes, d.said); err != nil {
		return false, "", err
	}
	if d.perSocket > 0 {
		if err := c.divide(h, d.perSocket); err != nil {
			return false, "", err
		}
	}
	if sameNodes(old, h.Nodes) {
		h.Nodes = old
		return false, d.dropped, nil
	}
	if len(old.Value) != len(h.Nodes.Value) {
		h.Distance = numa.Fact[[][]int]{} // measured between the previous nodes
	}
	return true, d.dropped, nil
}

func (c *Change) hostWord(h *numa.Host, w word.Word) error {
	if !numa.KeepOption(w.Key) {
		return word.Host(h, w, c.Text)
	}
	h.Options.Origin = also(h.Options.Origin, c.Text)
	if w.Value == "" {
		h.Options.Value = h.Options.Value.Without(w.Key)
		return nil
	}
	return word.Host(h, w, c.Text)
}

// release sets the release and build. A release without its update, such as 8.0, does not change hosts of that family.
// The build was that of the old release.
func (c *Change) release(h *numa.Host, was numa.Fact[numa.Release], said map[string]bool) {
	if said["release"] && h.Release.Known() && h.Release.Value.Update() == 0 && was.Value.Base() == h.Release.Value {
		h.Release = was
	}
	switch {
	case said["build"]:
		h.Release.Value = h.Release.Value.WithBuild(h.Build.Value)
	case h.Release.Value != was.Value:
		h.Build = numa.Fact[int]{}
	}
}

// layOut sets the nodes of the host from the given words; other properties do not change. nodes=4 alone gives four
// nodes of the present size.
func (c *Change) layOut(h *numa.Host, line *word.Nodes, said map[string]bool) error {
	if !slices.ContainsFunc(word.NodeKeys, func(key string) bool { return said[key] }) {
		return nil
	}
	if line.Unknown {
		h.Nodes = numa.Fact[[]numa.Node]{}
		return nil
	}
	nodes := slices.Clone(h.Nodes.Value)
	if len(nodes) == 0 {
		nodes = []numa.Node{{}}
	}
	if line.Nodes > 0 && line.Nodes != len(nodes) {
		perPackage := max(1, len(nodes)/max(1, h.Packages.Value))
		one := nodes[0]
		nodes = make([]numa.Node, line.Nodes)
		for i := range nodes {
			nodes[i] = one
			nodes[i].ID, nodes[i].Package = i, i/perPackage
		}
		h.Packages = numa.ReadAt((line.Nodes+perPackage-1)/perPackage, c.Text)
		if h.Memory.Known() && one.Memory.Known() {
			h.Memory = numa.DerivedFrom(one.Memory.Value*numa.Bytes(line.Nodes), c.Text)
		}
	}
	if line.Packages > 0 {
		h.Packages = numa.ReadAt(line.Packages, c.Text)
		for i := range nodes {
			nodes[i].Package = i * line.Packages / len(nodes)
		}
	}
	if err := c.cores(h, nodes, line); err != nil {
		return err
	}
	return c.memory(h, nodes, line)
}

// cores sets cores and threads of the nodes.
func (c *Change) cores(h *numa.Host, nodes []numa.Node, line *word.Nodes) error {
	cores, threads := 0, 0
	for i := range nodes {
		n := &nodes[i]
		perCore := 1
		if n.Cores > 0 {
			perCore = max(1, n.Threads/n.Cores)
		} else if h.HyperThreading.Or(true) {
			perCore = 2
		}
		if line.Cores > 0 {
			n.Cores = line.Each[i%len(line.Each)]
		}
		if line.HyperThreading.Known() {
			perCore = 1
			if line.HyperThreading.Value {
				perCore = 2
			}
		}
		n.Threads = n.Cores * perCore
		if line.Threads > 0 {
			n.Threads = line.Threads
		}
		if n.Threads < n.Cores {
			return word.Errorf(c.hostWords[0].Col, "host %s: found %d threads on %d cores of a node", h.Name, n.Threads, n.Cores)
		}
		cores, threads = cores+n.Cores, threads+n.Threads
	}
	if cores == 0 {
		return word.Errorf(c.hostWords[0].Col, "host %s: its cores are unknown: say cores=", h.Name)
	}
	if h.Cores.Value != cores {
		h.Cores = numa.DerivedFrom(cores, c.Text)
	}
	if h.Threads.Value != threads {
		h.Threads = numa.DerivedFrom(threads, c.Text)
	}
	if ht := threads > cores; h.HyperThreading.Value != ht || !h.HyperThreading.Known() {
		h.HyperThreading = numa.DerivedFrom(ht, c.Text)
	}
	return nil
}

// memory sets the memory of the nodes, and the nodes.
func (c *Change) memory(h *numa.Host, nodes []numa.Node, line *word.Nodes) error {
	if n := len(line.NodeMemory); n > 1 && n != len(nodes) {
		return word.Errorf(c.hostWords[0].Col, "host %s: found the memory of %d nodes, want %d or one for all", h.Name, n, len(nodes))
	}
	total := numa.Bytes(0)
	for i := range nodes {
		n := &nodes[i]
		switch {
		case line.NodeMemory != nil:
			n.Memory = numa.ReadAt(line.NodeMemory[min(i, len(line.NodeMemory)-1)], c.Text)
		case line.Memory > 0 && line.Memory != h.Memory.Value:
			n.Memory = numa.DerivedFrom(line.Memory/numa.Bytes(len(nodes)), c.Text)
		}
		total += n.Memory.Value
	}
	switch {
	case line.Memory > 0:
		h.Memory = numa.ReadAt(line.Memory, c.Text)
	case line.NodeMemory != nil:
		h.Memory = numa.DerivedFrom(total, c.Text)
	}
	h.Nodes = numa.ReadAt(nodes, c.Text)
	if line.Assumed {
		h.Nodes = numa.AssumedFor(nodes, c.Text)
	}
	return nil
}

// divide divides every package into k nodes: sub-NUMA clustering or NPS switched in the firmware (rule book A-2). It
// also divides or merges nodes that were read, because a what-if is hypothetical.
func (c *Change) divide(h *numa.Host, k int) error {
	fail := func(format string, args ...any) error {
		return word.Errorf(c.hostWords[0].Col, "host %s: %s", h.Name, fmt.Sprintf(format, args...))
	}
	packages, bare, err := packagesOf(h)
	if err != nil {
		return fail("%v", err)
	}
	if len(packages)*k+len(bare) > numa.MaxNodes {
		return fail("%d packages of %d nodes are more than %d nodes", len(packages), k, numa.MaxNodes)
	}
	var nodes []numa.Node
	for i, p := range packages {
		if !numa.Divides(p.Cores, k) {
			return fail("%d cores of a package do not divide into %d nodes", p.Cores, k)
		}
		for j := range k {
			cores := numa.Share(p.Cores, k, j)
			n := numa.Node{ID: len(nodes), Package: i, Cores: cores, Threads: cores * p.Threads / p.Cores}
			if p.Memory.Known() {
				n.Memory = numa.DerivedFrom(p.Memory.Value/numa.Bytes(k), c.Text)
			}
			nodes = append(nodes, n)
		}
	}
	for _, n := range bare {
		n.ID = len(nodes)
		nodes = append(nodes, n)
	}
	h.Nodes = numa.ReadAt(nodes, c.Text)
	return nil
}

// packagesOf returns each package of the host as one node, and the nodes without cores, which belong to no package. A
// host with nodes of unknown packages, or nodes that span packages (node interleaving), is divided evenly.
func packagesOf(h *numa.Host) (packages, bare []numa.Node, err error) {
	var with []numa.Node
	for _, n := range h.Nodes.Value {
		if n.Cores == 0 {
			bare = append(bare, n)
		} else {
			with = append(with, n)
		}
	}
	told := len(with) > 0
	for _, n := range with {
		i := slices.IndexFunc(packages, func(p numa.Node) bool { return p.Package == n.Package })
		if told = told && n.Package >= 0; i < 0 {
			packages = append(packages, n)
			continue
		}
		p := &packages[i]
		p.Cores, p.Threads = p.Cores+n.Cores, p.Threads+n.Threads
		if !n.Memory.Known() {
			p.Memory = n.Memory
		}
		p.Memory.Value += n.Memory.Value
	}
	if told && (!h.Packages.Known() || len(packages) == h.Packages.Value) {
		return packages, bare, nil
	}
	if !h.Packages.Known() || !h.Cores.Known() {
		return nil, nil, fmt.Errorf("its packages and cores are unknown")
	}
	n, cores, threads := h.Packages.Value, h.Cores.Value, h.Threads.Or(h.Cores.Value)
	if cores%n != 0 || threads%n != 0 {
		return nil, nil, fmt.Errorf("%d cores do not divide over %d packages", cores, n)
	}
	packages = slices.Repeat([]numa.Node{{Cores: cores / n, Threads: threads / n}}, n)
	if h.Memory.Known() {
		for i := range packages {
			packages[i].Memory = numa.DerivedFrom(h.Memory.Value/numa.Bytes(n), "")
		}
	}
	return packages, bare, nil
}

// sameNodes reports whether both have the same nodes, regardless of their origin.
func sameNodes(a, b numa.Fact[[]numa.Node]) bool {
	return a.Known() == b.Known() && slices.EqualFunc(a.Value, b.Value, func(x, y numa.Node) bool {
		x.Memory.Origin, y.Memory.Origin = numa.Origin{}, numa.Origin{}
		return x == y
	})
}

package scenario

import (
	"cmp"
	"slices"

	"example.org/homenode/numa"
	"example.org/homenode/source/word"
)

// host returns the host described by a line, without its name.
func (p *parser) host(ws []word.Word) (*numa.Host, error) {
	h := &numa.Host{Cluster: p.cluster, At: p.at()}
	h.Connection = numa.DerivedFrom("connected", byDefault)
	h.Maintenance = numa.DerivedFrom(false, byDefault)
	h.Options = numa.ReadAt(numa.Settings(nil), "options of the line")
	if p.release != 0 {
		h.Release = numa.ReadAt(p.release, "release")
	}
	var line word.Nodes
	for _, w := range ws {
		if w.Key == "cluster" {
			h.Cluster = p.clusterNamed(w.Value)
			continue
		}
		known, err := line.Take(w, w.Key)
		if !known {
			err = word.Host(h, w, w.Key)
		}
		if err != nil {
			return nil, err
		}
	}
	h.Release.Value = h.Release.Value.WithBuild(h.Build.Value)
	if line.Memory > 0 {
		h.Memory = numa.ReadAt(line.Memory, "memory")
	}
	if tier := h.TierMemory.Value; tier > 0 && line.Memory > 0 { // ESXi reports both together
		if tier >= line.Memory {
			return nil, p.errorf(ws[0].Col, "found tierMemory=%s of memory=%s, want less: the memory of a host includes its slower tiers", tier, line.Memory)
		}
		line.Memory -= tier
		h.Memory = numa.DerivedFrom(line.Memory, "memory, tierMemory")
	}
	if line.Cores == 0 {
		return h, nil
	}
	return h, p.layOut(h, &line, ws)
}

// layOut builds the nodes of the host.
func (p *parser) layOut(h *numa.Host, line *word.Nodes, ws []word.Word) error {
	col := func(key string) int {
		return ws[slices.IndexFunc(ws, func(w word.Word) bool { return w.Key == key })].Col
	}
	count := cmp.Or(line.Nodes, 1)
	if count%len(line.Each) != 0 {
		return p.errorf(col("cores"), "found the cores of %d nodes, want as many as a package has: %d nodes do not divide into them", len(line.Each), count)
	}
	if line.Threads > 0 && line.Threads < line.Cores {
		return p.errorf(col("threads"), "found %d threads on %d cores of a node", line.Threads, line.Cores)
	}
	if n := len(line.NodeMemory); n > 1 && n != count {
		return p.errorf(col("nodeMemory"), "found the memory of %d nodes, want %d or one for all", n, count)
	}
	packages := cmp.Or(line.Packages, count)
	nodes := make([]numa.Node, count)
	total := numa.Bytes(0)
	cores, threads := 0, 0
	for i := range nodes {
		n := numa.Node{ID: i, Package: i * packages / count, Cores: line.Each[i%len(line.Each)], Threads: line.Threads}
		if n.Threads == 0 {
			n.Threads = n.Cores
			if line.HyperThreading.Or(true) && !line.NoThreads {
				n.Threads *= 2
			}
		}
		cores, threads = cores+n.Cores, threads+n.Threads
		switch {
		case line.NodeMemory != nil:
			b := line.NodeMemory[min(i, len(line.NodeMemory)-1)]
			n.Memory, total = numa.ReadAt(b, "nodeMemory"), total+b
		case line.Memory > 0:
			n.Memory = numa.DerivedFrom(line.Memory/numa.Bytes(count), "memory, nodes")
		}
		nodes[i] = n
	}
	h.Packages = numa.ReadAt(packages, "packages")
	h.Cores = numa.DerivedFrom(cores, "nodes, cores")
	if !line.NoThreads {
		h.Threads = numa.DerivedFrom(threads, "nodes, cores, ht")
		h.HyperThreading = numa.ReadAt(threads > cores, "ht")
	}
	if !h.Memory.Known() && total > 0 {
		h.Memory = numa.DerivedFrom(total, "nodeMemory")
	}
	switch {
	case line.Unknown:
	case line.Assumed:
		h.Nodes = numa.AssumedFor(nodes, "assumed=on")
	default:
		h.Nodes = numa.ReadAt(nodes, "nodes, cores")
	}
	return nil
}

package scenario

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"homenode/numa"
)

// hostLine is what a host line states before the nodes are laid out.
type hostLine struct {
	nodes, cores, threads, packages int
	hyperThreading                  bool
	memory                          numa.Bytes   // of the host
	nodeMemory                      []numa.Bytes // of each node, or of all alike
	unknownNodes, assumed           bool
}

// host returns the host that a line describes, without its name.
func (p *parser) host(ws []word) (*numa.Host, error) {
	h := &numa.Host{Cluster: p.cluster, At: p.at()}
	h.Connection = numa.DerivedFrom("connected", byDefault)
	h.Maintenance = numa.DerivedFrom(false, byDefault)
	h.Options = numa.ReadAt(numa.Settings(nil), "option: of the line")
	if p.release != 0 {
		h.Release = numa.ReadAt(p.release, "release")
	}
	line := hostLine{nodes: 1, hyperThreading: true}
	for _, w := range ws {
		if err := p.hostWord(h, &line, w); err != nil {
			return nil, err
		}
	}
	h.Release.Value = h.Release.Value.WithBuild(h.Build.Value)
	slices.SortFunc(h.Options.Value, func(a, b numa.Setting) int { return cmp.Compare(a.Key, b.Key) })
	if line.memory > 0 {
		h.Memory = numa.ReadAt(line.memory, "memory")
	}
	if line.cores == 0 {
		return h, nil
	}
	return h, p.layOut(h, &line, ws)
}

func (p *parser) hostWord(h *numa.Host, line *hostLine, w word) (err error) {
	if key, ok := strings.CutPrefix(w.key, "option:"); ok && w.hasValue {
		if !numa.KeepOption(key) {
			return p.errorf(w.col, "found option %q, want one of Numa.*, LPage.*, Mem.* or a mitigation option", key)
		}
		h.Options.Value = append(h.Options.Value, numa.Setting{Key: key, Value: w.value})
		return nil
	}
	switch w.key {
	case "cluster":
		h.Cluster = p.clusterNamed(w.value)
	case "nodes":
		line.unknownNodes = w.value == unknown
		if !line.unknownNodes {
			line.nodes, err = p.number(w, 1, numa.MaxNodes)
		}
	case "cores":
		line.cores, err = p.number(w, 1, numa.MaxCoresPerNode)
	case "threads":
		line.threads, err = p.number(w, 1, 8*numa.MaxCoresPerNode)
	case "packages":
		line.packages, err = p.number(w, 1, numa.MaxNodes)
	case "memory":
		if w.value != unknown {
			line.memory, err = p.bytes(w, w.value, numa.MaxHostMemory)
		}
	case "nodeMemory":
		for _, part := range strings.Split(w.value, ",") {
			b, err := p.bytes(w, part, numa.MaxHostMemory)
			if err != nil {
				return err
			}
			line.nodeMemory = append(line.nodeMemory, b)
		}
	case "ht":
		line.hyperThreading, err = p.truth(w)
	case "assumed":
		line.assumed, err = p.truth(w)
	case "release":
		h.Release, err = fact(p, w, func() (numa.Release, error) { return p.releaseIn(w.col, w.value) })
	case "build":
		h.Build, err = fact(p, w, func() (int, error) { return p.number(w, 1, math.MaxInt32) })
	case "cpu":
		h.CPUModel = words(w)
	case "vendor":
		h.Vendor = words(w)
	case "model":
		h.Model = words(w)
	case "power":
		h.PowerPolicy = words(w)
	case "connection":
		h.Connection, err = fact(p, w, func() (string, error) { return p.oneOf(w, "connected", "disconnected", "notResponding") })
	case "maintenance":
		h.Maintenance, err = fact(p, w, func() (bool, error) { return p.truth(w) })
	case "llcCores":
		h.LLCCores, err = fact(p, w, func() (int, error) { return p.number(w, 1, numa.MaxCoresPerNode) })
	case "llcSize":
		h.LLCSize, err = fact(p, w, func() (numa.Bytes, error) { return p.bytes(w, w.value, numa.TiB) })
	default:
		return p.errorf(w.col, "found %q, which no host line knows", w.key)
	}
	return err
}

// layOut gives the host its nodes.
func (p *parser) layOut(h *numa.Host, line *hostLine, ws []word) error {
	col := func(key string) int {
		return ws[slices.IndexFunc(ws, func(w word) bool { return w.key == key })].col
	}
	threads := line.cores
	if line.hyperThreading {
		threads = 2 * line.cores
	}
	if line.threads > 0 {
		if threads = line.threads; threads < line.cores {
			return p.errorf(col("threads"), "found %d threads on %d cores of a node", threads, line.cores)
		}
	}
	if n := len(line.nodeMemory); n > 1 && n != line.nodes {
		return p.errorf(col("nodeMemory"), "found the memory of %d nodes, want %d or one for all", n, line.nodes)
	}
	packages := cmp.Or(line.packages, line.nodes)
	nodes := make([]numa.Node, line.nodes)
	total := numa.Bytes(0)
	for i := range nodes {
		n := numa.Node{ID: i, Package: i * packages / line.nodes, Cores: line.cores, Threads: threads}
		switch {
		case line.nodeMemory != nil:
			b := line.nodeMemory[min(i, len(line.nodeMemory)-1)]
			n.Memory, total = numa.ReadAt(b, "nodeMemory"), total+b
		case line.memory > 0:
			n.Memory = numa.DerivedFrom(line.memory/numa.Bytes(line.nodes), "memory, nodes")
		}
		nodes[i] = n
	}
	h.Packages = numa.ReadAt(packages, "packages")
	h.Cores = numa.DerivedFrom(line.cores*line.nodes, "nodes, cores")
	h.Threads = numa.DerivedFrom(threads*line.nodes, "nodes, cores, ht")
	h.HyperThreading = numa.ReadAt(threads > line.cores, "ht")
	if !h.Memory.Known() && total > 0 {
		h.Memory = numa.DerivedFrom(total, "nodeMemory")
	}
	switch {
	case line.unknownNodes:
	case line.assumed:
		h.Nodes = numa.AssumedFor(nodes, "assumed=on")
	default:
		h.Nodes = numa.ReadAt(nodes, "nodes, cores")
	}
	return nil
}

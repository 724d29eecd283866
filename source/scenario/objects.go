package scenario

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"homenode/numa"
)

// unknown is the value that makes a fact unknown.
const unknown = "?"

// hostLine is what a host line states before the nodes are laid out.
type hostLine struct {
	nodes, cores, threads, packages int
	hyperThreading                  bool
	memory                          numa.Bytes   // of the host
	nodeMemory                      []numa.Bytes // of each node, when they are stated
	unknownNodes, assumed           bool
}

func (p *parser) addHost(name string, ws []word) error {
	h := numa.Host{ID: name, Name: name, Cluster: p.cluster, At: p.at()}
	h.Connection = numa.DerivedFrom("connected", byDefault)
	h.Maintenance = numa.DerivedFrom(false, byDefault)
	h.Options = numa.ReadAt(numa.Settings(nil), "option: of the line")
	if p.release != 0 {
		h.Release = numa.ReadAt(p.release, "release")
	}
	line := hostLine{nodes: 1, hyperThreading: true}
	for _, w := range ws {
		if err := p.hostWord(&h, &line, w); err != nil {
			return err
		}
	}
	slices.SortFunc(h.Options.Value, func(a, b numa.Setting) int { return cmp.Compare(a.Key, b.Key) })
	if line.cores > 0 {
		p.layOut(&h, &line)
	}
	p.fleet.Hosts = append(p.fleet.Hosts, h)
	return nil
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
	case "cluster": // none makes it a standalone host
		h.Cluster = ""
		if w.value != "none" {
			h.Cluster = w.value
			p.addCluster(w.value)
		}
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
		line.memory, err = p.bytes(w, w.value, numa.MaxHostMemory)
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
		var r numa.Release
		if r, err = numa.ParseRelease(w.value); err != nil {
			return p.errorf(w.col, "%v", err)
		}
		h.Release = numa.ReadAt(r, w.key)
	case "build":
		h.Build, err = fact(p, w, func() (int, error) { return p.number(w, 1, math.MaxInt32) })
		h.Release.Value = h.Release.Value.WithBuild(h.Build.Value)
	case "cpu":
		h.CPUModel = numa.ReadAt(w.value, w.key)
	case "vendor":
		h.Vendor = numa.ReadAt(w.value, w.key)
	case "model":
		h.Model = numa.ReadAt(w.value, w.key)
	case "power":
		h.PowerPolicy = numa.ReadAt(w.value, w.key)
	case "connection":
		h.Connection = numa.ReadAt(w.value, w.key)
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
func (p *parser) layOut(h *numa.Host, line *hostLine) {
	threads := line.cores
	if line.hyperThreading {
		threads = 2 * line.cores
	}
	if line.threads > 0 {
		threads = max(line.cores, line.threads)
	}
	packages := cmp.Or(line.packages, line.nodes)
	nodes := make([]numa.Node, line.nodes)
	total := line.memory
	if line.nodeMemory != nil {
		total = 0
	}
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
	if total > 0 {
		h.Memory = numa.ReadAt(total, "memory")
	}
	switch {
	case line.unknownNodes:
	case line.assumed:
		h.Nodes = numa.AssumedFor(nodes, "assumed=on")
	default:
		h.Nodes = numa.ReadAt(nodes, "nodes, cores")
	}
}

func (p *parser) addVM(name string, ws []word) error {
	v := numa.VM{ID: name, Name: name, Cluster: p.cluster, At: p.at()}
	u := unset{host: true, hardware: true, coresPerSocket: true, line: p.line}
	v.Template = numa.DerivedFrom(false, byDefault)
	v.Power = numa.DerivedFrom(numa.PoweredOn, byDefault)
	v.CPUHotAdd = numa.DerivedFrom(false, byDefault)
	v.MemoryHotAdd = numa.DerivedFrom(false, byDefault)
	v.CPUAffinity = numa.DerivedFrom[[]int](nil, byDefault)
	v.MemoryAffinity = numa.DerivedFrom[[]int](nil, byDefault)
	v.LatencySensitivity = numa.DerivedFrom("normal", byDefault)
	v.CPUReservation = numa.DerivedFrom(0, byDefault)
	v.CPULimit = numa.DerivedFrom(-1, byDefault)
	v.MemoryReservation = numa.DerivedFrom(numa.Bytes(0), byDefault)
	v.MemoryReservationLocked = numa.DerivedFrom(false, byDefault)
	v.Settings = numa.ReadAt(numa.Settings(nil), "set: of the line")
	for _, w := range ws {
		if err := p.vmWord(&v, &u, w); err != nil {
			return err
		}
	}
	if u.stored > 0 && !v.VCPUs.Known() {
		return p.errorf(1, "vm %s: stored= needs vcpus=", name)
	}
	p.fleet.VMs = append(p.fleet.VMs, v)
	p.unset = append(p.unset, u)
	return nil
}

func (p *parser) vmWord(v *numa.VM, u *unset, w word) (err error) {
	if key, ok := strings.CutPrefix(w.key, "set:"); ok && w.hasValue {
		if !numa.KeepSetting(key) {
			return p.errorf(w.col, "found setting %q, want one of numa.*, cpuid.*, sched.* …", key)
		}
		v.Settings.Value = append(v.Settings.Value, numa.Setting{Key: key, Value: w.value})
		return nil
	}
	truth := func() (bool, error) { return p.truth(w) }
	vcpus := func() (int, error) { return p.number(w, 1, numa.MaxVCPUs) }
	switch w.key {
	case "host":
		v.Host, u.host = w.value, false
	case "cluster":
		v.Cluster = w.value
		p.addCluster(w.value)
	case "vcpus":
		v.VCPUs, err = fact(p, w, vcpus)
	case "coresPerSocket":
		u.coresPerSocket = false
		if w.value == "auto" {
			v.CoresPerSocket, v.AutoCoresPerSocket = numa.ReadAt(1, w.key), numa.ReadAt(true, w.key)
			return nil
		}
		v.CoresPerSocket, err = fact(p, w, vcpus)
		v.AutoCoresPerSocket = numa.ReadAt(false, w.key)
	case "memory":
		v.Memory, err = fact(p, w, func() (numa.Bytes, error) { return p.bytes(w, w.value, numa.MaxVMMemory) })
	case "hotAdd":
		v.CPUHotAdd, err = fact(p, w, truth)
	case "memoryHotAdd":
		v.MemoryHotAdd, err = fact(p, w, truth)
	case "vnumaHotAdd":
		v.VNUMAHotAdd, err = fact(p, w, truth)
	case "hw":
		u.hardware = false
		v.Hardware, err = fact(p, w, func() (int, error) { return p.number(w, 3, 99) })
	case "guest":
		v.GuestOS = numa.ReadAt(w.value, w.key)
	case "power":
		if !slices.Contains([]string{"on", "off", "suspended"}, w.value) {
			return p.errorf(w.col, "found power=%q, want on, off or suspended", w.value)
		}
		v.Power = numa.ReadAt(numa.PowerState(w.value), w.key)
	case "template":
		v.Template, err = fact(p, w, truth)
	case "latency":
		v.LatencySensitivity = numa.ReadAt(w.value, w.key)
	case "cpuAffinity":
		v.CPUAffinity, err = fact(p, w, func() ([]int, error) { return p.list(w) })
	case "memoryAffinity":
		v.MemoryAffinity, err = fact(p, w, func() ([]int, error) { return p.list(w) })
	case "cpuReservation":
		v.CPUReservation, err = fact(p, w, func() (int, error) { return p.number(w, 0, math.MaxInt32) })
	case "memoryReservation":
		v.MemoryReservation, err = fact(p, w, func() (numa.Bytes, error) { return p.bytes(w, w.value, numa.MaxVMMemory) })
	case "reserveAll":
		v.MemoryReservationLocked, err = fact(p, w, truth)
	case "folder":
		v.Folder = w.value
	case "tags":
		v.Tags = strings.Split(w.value, ",")
	case "stored":
		u.stored, err = p.number(w, 1, numa.MaxVCPUs)
	case "settings":
		if w.value != unknown {
			return p.errorf(w.col, "found settings=%q, want settings=? or set:KEY=VALUE", w.value)
		}
		v.Settings = numa.Fact[numa.Settings]{}
	default:
		return p.errorf(w.col, "found %q, which no vm line knows", w.key)
	}
	return err
}

// fact returns the value as read at the word's key, or an unknown fact for "?".
func fact[T any](p *parser, w word, read func() (T, error)) (numa.Fact[T], error) {
	if w.value == unknown {
		return numa.Fact[T]{}, nil
	}
	v, err := read()
	if err != nil {
		return numa.Fact[T]{}, err
	}
	return numa.ReadAt(v, w.key), nil
}

func (p *parser) number(w word, least, most int) (int, error) {
	n, err := strconv.Atoi(w.value)
	if err != nil || n < least || n > most {
		return 0, p.errorf(w.col, "found %s=%q, want a number from %d to %d", w.key, w.value, least, most)
	}
	return n, nil
}

func (p *parser) truth(w word) (bool, error) {
	switch w.value {
	case "on", "true", "yes":
		return true, nil
	case "off", "false", "no":
		return false, nil
	}
	return false, p.errorf(w.col, "found %s=%q, want on or off", w.key, w.value)
}

// bytes reads "1024GB", "65423MB" or "2TB"; units are binary, as vSphere has them.
func (p *parser) bytes(w word, s string, most numa.Bytes) (numa.Bytes, error) {
	for _, u := range []struct {
		name string
		size numa.Bytes
	}{{"KB", numa.KiB}, {"MB", numa.MiB}, {"GB", numa.GiB}, {"TB", numa.TiB}} {
		digits, ok := strings.CutSuffix(s, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err == nil && n > 0 && numa.Bytes(n) <= most/u.size {
			return numa.Bytes(n) * u.size, nil
		}
	}
	return 0, p.errorf(w.col, "found %s=%q, want memory such as 512GB, at most %v", w.key, s, most)
}

// list reads "0-3,8".
func (p *parser) list(w word) ([]int, error) {
	var out []int
	for _, part := range strings.Split(w.value, ",") {
		lo, hi, isRange := strings.Cut(part, "-")
		from, err1 := strconv.Atoi(lo)
		to, err2 := from, error(nil)
		if isRange {
			to, err2 = strconv.Atoi(hi)
		}
		if err1 != nil || err2 != nil || from < 0 || to < from || to > numa.MaxNodes*numa.MaxCoresPerNode {
			return nil, p.errorf(w.col, "found %s=%q, want a list such as 0-3,8", w.key, w.value)
		}
		for i := from; i <= to; i++ {
			out = append(out, i)
		}
	}
	return out, nil
}

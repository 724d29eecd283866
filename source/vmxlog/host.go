package vmxlog

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa"
)

// hostFacts are the facts about the host in a run.
type hostFacts struct {
	name     string
	line     int // line of the first fact; 0 for none
	release  numa.Fact[numa.Release]
	build    numa.Fact[int]
	cpu      numa.Fact[string]
	packages numa.Fact[int]
	cores    numa.Fact[int]
	threads  numa.Fact[int]
	nodes    []numa.Node // of hosted products
	where    string      // of the first node
}

// logFor parses "ESX pid=2101 version=8.0.0 build=build-20513097 option=Release". The versions
// of Workstation, Player and Fusion are no releases of ESXi.
func (d *reader) logFor(rest []byte, p place) {
	h := &d.run.host
	product, rest, ok := bytes.Cut(rest, []byte(" pid="))
	if !ok {
		d.warn(p.line, p.before+1, "Log for VMware: found %s, want a product and pid=", clip(product))
		return
	}
	where := "line " + strconv.Itoa(p.line)
	host := hostSubject(h)
	d.add(p, host, "product", string(product), "")
	esx := string(product) == "ESX" || string(product) == "ESXi"
	for word := range bytes.FieldsSeq(rest) {
		key, value, _ := strings.Cut(string(word), "=")
		switch key {
		case "version":
			d.add(p, host, "version", value, "")
			release, err := numa.ParseRelease(value)
			if esx && err != nil {
				d.warn(p.line, 0, "version: %v", err)
			} else if esx {
				h.release, h.line = numa.ReadAt(release, where), p.line
			}
		case "build":
			n, err := strconv.Atoi(strings.TrimPrefix(value, "build-"))
			if err != nil || n <= 0 {
				d.warn(p.line, 0, "found the build %q, want a number", value)
				continue
			}
			d.add(p, host, "build", n, "")
			if esx {
				h.build = numa.ReadAt(n, where)
			}
		}
	}
	if h.release.Known() {
		h.release.Value = h.release.Value.WithBuild(h.build.Value)
	}
}

func hostSubject(h *hostFacts) string {
	if h.name != "" {
		return "host " + h.name
	}
	return "host"
}

// hostLine parses a line about the host; rest follows the prefix of its kind.
func (d *reader) hostLine(k kind, rest []byte, p place) {
	h := &d.run.host
	where := "line " + strconv.Itoa(p.line)
	h.line = cmp.Or(h.line, p.line)
	switch k {
	case hostname:
		h.name = strings.TrimSpace(strings.ToValidUTF8(string(rest), "\uFFFD"))
		d.add(p, hostSubject(h), "name", h.name, "")
	case hostCPUID:
		if name := strings.TrimSpace(strings.ToValidUTF8(string(rest), "\uFFFD")); name != "" {
			h.cpu = numa.ReadAt(name, where)
			d.add(p, hostSubject(h), "processor", name, "")
		}
	case hostInfo:
		var packages, cores, threads int
		if !at(rest).num(&packages).lit(" physical CPUS, ").num(&cores).lit(" total cores, and ").num(&threads).lit(" logical CPUs").opt(".").end() ||
			packages == 0 || cores < packages || threads < cores {
			d.warn(p.line, p.before+1, "HOSTINFO: not understood: %s", clip(rest))
			return
		}
		h.packages, h.cores, h.threads = numa.ReadAt(packages, where), numa.ReadAt(cores, where), numa.ReadAt(threads, where)
		d.add(p, hostSubject(h), "packages", packages, "")
		d.add(p, hostSubject(h), "cores", cores, "")
		d.add(p, hostSubject(h), "PCPUs", threads, "")
	case hostNode:
		d.nodeLine(rest, p)
	case winNode:
		var id int
		var mask uint64
		if !at(rest).num(&id).lit(", CPU mask 0x").hex(&mask).end() || id >= numa.MaxNodes {
			d.warn(p.line, p.before+1, "not understood: %s", clip(rest))
			return
		}
		d.node(id, bits.OnesCount64(mask), numa.Fact[numa.Bytes]{}, p)
	}
}

// nodeLine parses "0: 15335MB, cpus 0x00000fff 0x00000000 …": masks of 32 PCPUs.
func (d *reader) nodeLine(rest []byte, p place) {
	var id, mb int
	c := at(rest).num(&id).lit(":").num(&mb).lit("MB, cpus")
	pcpus := 0
	for c.ok && len(bytes.TrimSpace(c.b)) > 0 {
		var mask uint64
		c.lit(" 0x").hex(&mask)
		pcpus += bits.OnesCount64(mask)
	}
	if !c.ok || id >= numa.MaxNodes {
		d.warn(p.line, p.before+1, "NUMA node: not understood: %s", clip(rest))
		return
	}
	d.node(id, pcpus, numa.ReadAt(numa.Bytes(mb)*numa.MiB, "line "+strconv.Itoa(p.line)), p)
}

func (d *reader) node(id, pcpus int, memory numa.Fact[numa.Bytes], p place) {
	h := &d.run.host
	subject := "node " + strconv.Itoa(id)
	d.add(p, subject, "PCPUs", pcpus, "")
	if memory.Known() {
		d.add(p, subject, "memory", int64(memory.Value/numa.MiB), "MiB")
	}
	if slices.ContainsFunc(h.nodes, func(n numa.Node) bool { return n.ID == id }) {
		return // Windows prints a node once per processor group
	}
	if h.nodes == nil {
		h.where = "lines from " + strconv.Itoa(p.line) + " on, and threads per core"
	}
	h.nodes = append(h.nodes, numa.Node{ID: id, Package: -1, Threads: pcpus, Memory: memory})
}

// addHost merges the host of a run into the hosts of the log: by name; a run without a host
// name belongs to the last host without one.
func (d *reader) addHost(run *run) {
	h := &run.host
	if h.line == 0 {
		return
	}
	list := &d.log.Hosts
	i := slices.IndexFunc(*list, func(o numa.Host) bool { return o.Name == h.name })
	if i < 0 {
		if len(*list) >= maxRuns {
			return
		}
		i = len(*list)
		*list = append(*list, numa.Host{ID: h.name, Name: h.name, At: d.file.At(h.line, 0)})
	}
	o := &(*list)[i]
	newer(&o.Release, h.release)
	newer(&o.Build, h.build)
	newer(&o.CPUModel, h.cpu)
	newer(&o.Packages, h.packages)
	newer(&o.Cores, h.cores)
	newer(&o.Threads, h.threads)
	// The masks count PCPUs. If the threads per core are unknown, so are the cores of a node,
	// and a node needs cores.
	if len(h.nodes) == 0 || h.threads.Value == 0 {
		return
	}
	slices.SortFunc(h.nodes, func(a, b numa.Node) int { return a.ID - b.ID })
	for i := range h.nodes {
		h.nodes[i].Cores = h.nodes[i].Threads * h.cores.Value / h.threads.Value
	}
	o.Nodes = numa.DerivedFrom(h.nodes, h.where)
}

// newer replaces a fact by the one from a later power-on.
func newer[T any](to *numa.Fact[T], from numa.Fact[T]) {
	if from.Known() {
		*to = from
	}
}

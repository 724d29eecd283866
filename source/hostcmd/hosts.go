package hostcmd

import (
	"cmp"
	"fmt"
	"slices"

	"example.org/homenode/numa"
)

// Hosts returns the hosts of the outputs, in their order, each with the joined data of its outputs.
// Outputs without a name belong to the only host that has one. IDs are the names; a host without a
// name has neither.
//
// Nodes are derived: no command lists the cores of a node, so each gets an equal share of the
// cores. Their memory is read where it is stated; where no node's is, each is assumed to have an equal share. They are unknown when the number of cores or
// of nodes is.
func Hosts(outputs []*Output) []numa.Host {
	var joins []*join
	for _, o := range outputs {
		if o.Host.Name == "" {
			continue
		}
		j := find(joins, o.Host.Name)
		if j == nil {
			j = &join{}
			joins = append(joins, j)
		}
		if len(o.Host.Name) > len(j.host.Name) {
			j.host.Name = o.Host.Name // the longest of esx03 and esx03.example.com
		}
		j.outputs = append(j.outputs, o)
	}
	var rest join
	for _, o := range outputs {
		if o.Host.Name == "" && o.Format != Date {
			rest.outputs = append(rest.outputs, o)
		}
	}
	switch {
	case len(rest.outputs) == 0:
	case len(joins) == 1:
		joins[0].outputs = append(joins[0].outputs, rest.outputs...)
	default:
		joins = append(joins, &rest)
	}
	hosts := make([]numa.Host, 0, len(joins))
	for _, j := range joins {
		hosts = append(hosts, j.join())
	}
	return hosts
}

// A join collects the outputs of one host.
type join struct {
	outputs []*Output
	host    numa.Host
	nodeNum numa.Fact[int]
	nodes   map[int]*nodeFacts
}

func find(joins []*join, name string) *join {
	for _, j := range joins {
		if numa.SameHost(j.host.Name, name) {
			return j
		}
	}
	return nil
}

// take keeps the first value that was read; a derived one is replaced.
func take[T any](to *numa.Fact[T], from numa.Fact[T], o *Output) {
	if from.Known() && (!to.Known() || to.Origin.Kind != numa.Read && from.Origin.Kind == numa.Read) {
		*to = numa.Fact[T]{Value: from.Value, Origin: numa.Origin{Kind: from.Origin.Kind, Where: o.file.Name + " " + from.Origin.Where}}
	}
}

func (j *join) join() numa.Host {
	h := &j.host
	j.nodes = map[int]*nodeFacts{}
	for _, o := range j.outputs {
		if h.At == "" {
			h.At = o.file.Name
		}
		from := &o.Host
		take(&h.Vendor, from.Vendor, o)
		take(&h.Model, from.Model, o)
		take(&h.Packages, from.Packages, o)
		take(&h.Cores, from.Cores, o)
		take(&h.Threads, from.Threads, o)
		take(&h.HyperThreading, from.HyperThreading, o)
		take(&h.Memory, from.Memory, o)
		take(&h.Build, from.Build, o)
		if from.Release.Known() && from.Release.Value > h.Release.Value { // the one with the update
			h.Release = numa.Fact[numa.Release]{}
			take(&h.Release, from.Release, o)
		}
		j.options(o)
		take(&j.nodeNum, o.nodeNum, o)
		for _, n := range o.nodes {
			if j.nodes[n.id] == nil {
				j.nodes[n.id] = &nodeFacts{id: n.id}
			}
			take(&j.nodes[n.id].memory, n.memory, o)
			take(&j.nodes[n.id].threads, n.threads, o)
		}
	}
	h.ID = h.Name
	if h.Release.Known() && h.Build.Known() {
		h.Release.Value = h.Release.Value.WithBuild(h.Build.Value)
	}
	if !h.HyperThreading.Known() && h.Cores.Known() && h.Threads.Known() {
		h.HyperThreading = numa.DerivedFrom(h.Threads.Value > h.Cores.Value, "the numbers of cores and PCPUs")
	}
	j.makeNodes()
	return *h
}

// options joins the advanced and the boot settings.
func (j *join) options(o *Output) {
	from := o.Host.Options
	if !from.Known() {
		return
	}
	take(&j.host.Options, from, o)
	to := slices.Clone(j.host.Options.Value)
	for _, s := range from.Value {
		if _, known := to.Lookup(s.Key); !known {
			to = append(to, s)
		}
	}
	slices.SortFunc(to, func(a, b numa.Setting) int { return cmp.Compare(a.Key, b.Key) })
	j.host.Options.Value = to
}

func (j *join) makeNodes() {
	h, n := &j.host, j.nodeNum.Value
	if n < 1 || n > numa.MaxNodes || !h.Cores.Known() {
		return
	}
	packages := 1
	if p := h.Packages.Value; p > 0 && n%p == 0 && h.Cores.Value%p == 0 {
		packages = p
	}
	if h.Cores.Value%n != 0 && (!h.Packages.Known() || !numa.Divides(h.Cores.Value/packages, n/packages)) {
		return
	}
	ids, stated := make([]int, 0, n), false
	for id, facts := range j.nodes {
		ids = append(ids, id)
		stated = stated || facts.memory.Known()
	}
	slices.Sort(ids)
	if len(ids) != n {
		ids = ids[:0]
		for i := range n {
			ids = append(ids, i)
		}
	}
	nodes := make([]numa.Node, n)
	for i, id := range ids {
		cores := numa.Share(h.Cores.Value/packages, n/packages, i%(n/packages))
		nodes[i] = numa.Node{ID: id, Package: -1, Cores: cores, Threads: max(h.Threads.Value*cores/h.Cores.Value, cores)}
		if h.Packages.Known() && n%h.Packages.Value == 0 {
			nodes[i].Package = i / (n / h.Packages.Value)
		}
		if !stated && h.Memory.Known() {
			nodes[i].Memory = numa.EqualShare(h.Memory.Value, n)
		}
		if facts := j.nodes[id]; facts != nil {
			nodes[i].Memory = cmp.Or(facts.memory, nodes[i].Memory)
			if facts.threads.Known() {
				nodes[i].Threads = max(facts.threads.Value, cores)
			}
		}
	}
	where := fmt.Sprintf("%d cores in equal parts on %d nodes (%s)", h.Cores.Value, n, j.nodeNum.Origin.Where)
	h.Nodes = numa.DerivedFrom(nodes, where)
}

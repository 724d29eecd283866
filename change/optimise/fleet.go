package optimise

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"example.org/homenode/internal/words"

	"example.org/homenode/esxi/memory"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/alike"
	"example.org/homenode/numa"
)

// Constraints limit a proposal. The zero value allows every VM on every host that accepts it,
// up to its memory, and every shape.
type Constraints struct {
	Apart    [][]string // groups of VMs that must be on different hosts: names or IDs
	Together [][]string // groups of VMs that must share one host
	Stay     []string   // VMs that must not move
	NPlus1   bool       // the VMs of any one host must fit the others

	MemoryPercent int     // limit of the VMs' share of a host's memory; 0 means 100
	VCPUsPerCore  float64 // limit of the vCPUs of a host's VMs per core; 0 means none

	// Reserve is the free memory of each node as a multiple of the soft reserve of the host
	// (C-15, C-23): 1 is the limit of rule H007. A node with less was observed to allocate new
	// memory elsewhere. Memory in the reserve counts as remote.
	Reserve float64

	KeepShapes bool // propose no other shapes
	Choices    vnuma.Choices
}

// Demand returns the CPU demand of a VM's vCPUs, as a share of a core each, and its origin.
type Demand func(*numa.VM) (share float64, origin numa.Origin)

// Peak is the default demand if nothing else is known: every vCPU needs a core. Demand beyond
// the cores of a node cannot be served at the same time.
func Peak(*numa.VM) (float64, numa.Origin) {
	return 1, numa.Origin{Kind: numa.Assumed, Where: "every vCPU is busy"}
}

// FromFleet creates the problem for a cluster, given by name or ID, or for a standalone host.
// "" is the only cluster of the fleet. demand nil means Peak. The notes list the objects that
// are left out because facts are missing. It returns an error if there is no such cluster, a
// constraint names no VM, nothing is left, or the context ended.
func FromFleet(ctx context.Context, f *numa.Fleet, cluster string, demand Demand, c Constraints) (*Problem, []numa.Note, error) {
	if demand == nil {
		demand = Peak
	}
	if c.MemoryPercent < 0 || !(c.VCPUsPerCore >= 0) || !(c.Reserve >= 0) {
		return nil, nil, fmt.Errorf("found %d %% of memory, %g vCPUs per core and %g reserves, want no negative number", c.MemoryPercent, c.VCPUsPerCore, c.Reserve)
	}
	b := &builder{fleet: f, c: &c, p: &Problem{NPlus1: c.NPlus1}, hostOf: map[string]int{}, vmOf: map[string]int{}, stay: map[string]bool{}, shapes: map[shapeKey][]Shape{}}
	in, err := b.hostsOf(cluster)
	if err != nil {
		return nil, nil, err
	}
	for _, h := range in {
		b.addHost(h)
	}
	b.assumed(in)
	for _, name := range c.Stay {
		ids, err := b.find(name)
		if err != nil {
			return nil, nil, err
		}
		for _, id := range ids {
			b.stay[id] = true
		}
	}
	for i := range f.VMs {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if v := &f.VMs[i]; v.MayRun() {
			b.addVM(v, demand)
		}
	}
	if text := f.LoadUnknownIn(b.cluster); text != "" {
		return nil, b.notes, fmt.Errorf("%s; read the whole export", text)
	}
	if len(b.p.VMs) == 0 {
		return nil, b.notes, fmt.Errorf("%s: no running VM of a predicted host", cmp.Or(cluster, "the fleet"))
	}
	if b.p.Apart, err = b.groups(c.Apart); err != nil {
		return nil, nil, err
	}
	for i := range f.Clusters {
		if f.Clusters[i].ID == b.cluster {
			b.p.Apart = append(b.p.Apart, b.kept(f.Clusters[i].Apart)...)
		}
	}
	if b.p.Together, err = b.groups(c.Together); err != nil {
		return nil, nil, err
	}
	if err := b.p.Check(); err != nil {
		return nil, nil, err
	}
	b.notes = append(b.notes, numa.Note{Text: b.unseen()})
	return b.p, b.notes, nil
}

// assumed says once how many hosts have assumed nodes, by the reason.
func (b *builder) assumed(hosts []*numa.Host) {
	why := map[string]int{}
	for _, h := range hosts {
		if h.Nodes.Origin.Kind == numa.Assumed {
			why[h.Nodes.Origin.Where]++
		}
	}
	for _, where := range slices.Sorted(maps.Keys(why)) {
		b.note("", "the NUMA nodes of %s are assumed: %s", words.Plural(why[where], "host"), where)
	}
}

// unseen lists the possible obstacles to a vMotion that are not checked. Hosts of one EVC mode
// have the same processor generation for VMs.
func (b *builder) unseen() string {
	var modes []string
	for i := range b.fleet.Hosts {
		if h := &b.fleet.Hosts[i]; h.Cluster == b.cluster && b.cluster != "" {
			modes = append(modes, h.EVC.Or("unknown"))
		}
	}
	slices.Sort(modes)
	generations := ", processor generations (EVC)"
	if modes = slices.Compact(modes); len(modes) == 1 && modes[0] != "unknown" && modes[0] != "none" {
		generations = ""
	} else if len(modes) > 1 {
		generations = fmt.Sprintf(", processor generations (EVC modes: %s)", strings.Join(modes, ", "))
	}
	return "datastores, networks" + generations + " and devices are not looked at: vCenter refuses a vMotion that they forbid"
}

// A builder converts a fleet to a Problem.
type builder struct {
	fleet    *numa.Fleet
	c        *Constraints
	cluster  string // ID; empty for a standalone host
	p        *Problem
	notes    []numa.Note
	machines []vnuma.Machine // by kind
	hidden   []int           // by kind: packages behind the only node; 1 if none are hidden
	hostOf   map[string]int  // index in the problem, by ID
	hosts    []*numa.Host    // as in the problem
	vmOf     map[string]int
	stay     map[string]bool // by ID of the VM
	shapes   map[shapeKey][]Shape
}

func (b *builder) note(at, format string, args ...any) {
	b.notes = append(b.notes, numa.Note{At: at, Text: fmt.Sprintf(format, args...)})
}

// hostsOf returns the hosts of the cluster.
func (b *builder) hostsOf(cluster string) (in []*numa.Host, err error) {
	f := b.fleet
	var names []string
	id := ""
	for i := range f.Clusters {
		c := &f.Clusters[i]
		names = append(names, c.Name)
		if c.ID == cluster || strings.EqualFold(c.Name, cluster) || cluster == "" && len(f.Clusters) == 1 {
			id = c.ID
		}
	}
	b.cluster = id
	for i := range f.Hosts {
		if h := &f.Hosts[i]; id != "" && h.Cluster == id {
			in = append(in, h)
		}
	}
	if id == "" && cluster != "" {
		in = slices.DeleteFunc(f.FindHosts(cluster), func(h *numa.Host) bool { return h.Cluster != "" })
	}
	switch {
	case len(in) > 0:
		return in, nil
	case id != "":
		return nil, fmt.Errorf("cluster %s has no hosts", f.ClusterName(id))
	case cluster == "":
		return nil, fmt.Errorf("found %d clusters, want the name of one: %s", len(names), strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("no cluster and no standalone host %q%s", cluster, alike.After(cluster, names))
}

// addHost adds a host whose layouts can be predicted.
func (b *builder) addHost(h *numa.Host) {
	m, err := vnuma.NewMachine(h)
	if err == nil && m.AllMemory == 0 {
		err = fmt.Errorf("host %s: the memory of its NUMA nodes is unknown", h.Name)
	}
	if err != nil {
		b.note(h.At, "%v: it is left out with its VMs", err)
		return
	}
	kind, hidden := 0, max(1, h.Hidden())
	for kind < len(b.machines) && (!b.machines[kind].Like(m) || b.hidden[kind] != hidden) {
		kind++
	}
	if kind == len(b.machines) {
		b.machines, b.hidden = append(b.machines, m), append(b.hidden, hidden)
	}
	out := Host{ID: h.ID, Name: h.Name, Kind: kind, Release: h.Release.Value, Distance: h.Distance.Value, Closed: !h.Ready()}
	cores := 0
	keeps := memory.Of(h, b.c.Choices.FillToMinFree)
	reserve := max(keeps.Home, numa.Bytes(b.c.Reserve*float64(keeps.New))) // Home: memory that the guests use is allocated at home until then
	for _, n := range h.Nodes.Value {
		out.Nodes = append(out.Nodes, Node{ID: n.ID, Package: n.Package, Cores: n.Cores, Memory: int64(max(0, n.Memory.Value-reserve) / numa.MiB)})
		cores += n.Cores
	}
	out.Memory = m.ForVMs() / int64(numa.MiB) * int64(cmp.Or(b.c.MemoryPercent, 100)) / 100
	out.MHz = m.MostMHz()
	if b.c.VCPUsPerCore > 0 {
		out.VCPUs = max(1, int64(b.c.VCPUsPerCore*float64(cores)))
	}
	b.hostOf[h.ID] = len(b.p.Hosts)
	b.p.Hosts = append(b.p.Hosts, out)
	b.hosts = append(b.hosts, h)
}

// addVM adds a VM that runs on a host of the problem.
func (b *builder) addVM(v *numa.VM, demand Demand) {
	home, ok := b.hostOf[v.Host]
	if !ok {
		if v.Host == "" && v.Cluster == b.cluster && b.cluster != "" {
			b.note(v.At, "VM %s: its host is unknown: it is left out, and what it takes is not counted", v.Name)
		}
		return
	}
	g, _, err := vnuma.NewGuest(v)
	if err == nil && !v.Memory.Known() {
		err = fmt.Errorf("VM %s: its memory is unknown", v.Name)
	}
	if err != nil {
		b.note(v.At, "%v: it is left out, and what it takes is not counted", err)
		return
	}
	share, origin := demand(v)
	if math.IsNaN(share) || share < 0 || share > 1 {
		b.note(v.At, "VM %s: found a demand of %g, want a share from 0 to 1: every vCPU is taken as busy", v.Name, share)
		share, origin = Peak(v)
	}
	out := VM{ID: v.ID, Name: v.Name, Host: home, Memory: int64((v.Resident() + numa.MiB - 1) / numa.MiB), VCPUs: int(g.VCPUs), MHz: int64(g.Needs.MHz),
		Demand: int64(math.Round(share * wholeCore)), Origin: origin}
	// DRS does not move VMs with an affinity (D-4), and a device of the host ties a VM to it
	// (D-5). vSphere changes no settings under Fault Tolerance, and a secondary is on a separate
	// host (vSphere Availability 8.0, GUID-F8224B5D): whose it is, is not known.
	stays := b.stay[v.ID] || g.Affinity || v.Tied() != nil || v.FaultTolerant()
	out.Shapes = b.shapesOf(&g, b.p.Hosts[home].Kind, numa.SetOf(vnuma.NodeAffinity(v)...), b.c.KeepShapes || g.Affinity || v.FaultTolerant())
	for h := range b.p.Hosts {
		if h == home || !stays && b.mayRun(&out, home, h) {
			out.Allowed = append(out.Allowed, h)
		}
	}
	b.vmOf[v.ID] = len(b.p.VMs)
	b.p.VMs = append(b.p.VMs, out)
}

// mayRun reports whether vMotion could move the VM from its home to host h, according to the
// known facts.
func (b *builder) mayRun(v *VM, home, h int) bool {
	return !b.p.Hosts[h].Closed && v.Shapes[0].Fits[b.p.Hosts[h].Kind].OK && numa.NotRunning(b.hosts[home], b.hosts[h]) == ""
}

// find returns the IDs of the VMs with this name.
func (b *builder) find(name string) (ids []string, err error) {
	found := b.fleet.FindVMs(name)
	for _, v := range found {
		ids = append(ids, v.ID)
	}
	if found == nil {
		names := words.Texts(b.fleet.VMs, func(one numa.VM) string { return one.Name })
		return nil, fmt.Errorf("no VM %q%s", name, alike.After(name, names))
	}
	return ids, nil
}

// kept returns the indexes of the VMs in each group that DRS keeps apart. VMs that are not in
// the problem are left out.
func (b *builder) kept(apart []numa.Group) (out [][]int) {
	for _, g := range apart {
		var vms []int
		for _, id := range g.VMs {
			if v, ok := b.vmOf[id]; ok {
				vms = append(vms, v)
			}
		}
		if len(vms) > 1 {
			out = append(out, vms)
		}
	}
	return out
}

// groups finds the VMs of groups of names.
func (b *builder) groups(names [][]string) (out [][]int, err error) {
	for _, group := range names {
		var vms []int
		for _, name := range group {
			ids, err := b.find(name)
			if err != nil {
				return nil, err
			}
			for _, id := range ids {
				if v, ok := b.vmOf[id]; ok && !slices.Contains(vms, v) {
					vms = append(vms, v)
				}
			}
		}
		if len(vms) > 1 {
			out = append(out, vms)
		}
	}
	return out, nil
}

package fit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/alike"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
)

// A Cluster is the selected part of a fleet.
type Cluster struct {
	Name  string
	Hosts []*numa.Host  // with all needed facts
	VMs   []*numa.VM    // running, with known sizes: those that do not power on are left out
	Off   []*numa.VM    // powered off, with known sizes: not counted
	Away  int           // of VMs: they run on hosts that the source does not describe, or not with all needed facts
	Apart int           // clusters that are counted together
	Alone int           // standalone hosts that are counted with them
	Part  *numa.Running // as of numa.Fleet: the hosts run more VMs than are listed
	// Running is Part if it is that of exactly these hosts, and states vCPUs.
	Running *numa.Running
	Notes   []string // on excluded hosts and VMs

	unsure bool // VMs may run on one of Hosts or not
	vcpus  int  // that run on Hosts
}

// All is the name of all clusters and hosts together.
const All = "all"

// Find returns the clusters, or standalone hosts, with these names or IDs; none selects the only one. The source need not describe their hosts.
func Find(f *numa.Fleet, names ...string) (*Cluster, error) {
	if len(names) == 0 {
		names = []string{""}
	}
	c := &Cluster{}
	s := scope{hosts: map[string]*numa.Host{}, clusters: map[string]bool{}, poor: map[string]bool{}}
	var labels []string
	for _, name := range names {
		in, id, label, err := choose(f, name)
		if err != nil {
			return nil, err
		}
		labels = append(labels, label)
		switch s.all = s.all || label == allHosts; {
		case label == allHosts:
			c.Part = f.Part
			c.Running = f.Part.Sums()
		case id != "":
			s.clusters[id] = true
			c.Part = cmp.Or(c.Part, f.PartIn(id))
			if len(names) == 1 {
				c.Running = c.Part.Sums()
			}
		}
		for _, h := range in {
			c.addHost(&s, h)
			if id == "" {
				c.Part = cmp.Or(c.Part, f.PartIn(h.Cluster))
			}
		}
	}
	c.Name = strings.Join(labels, ", ")
	if err := s.predict(f); err != nil {
		return nil, err
	}
	for i := range f.VMs {
		c.addVM(&s, &f.VMs[i])
	}
	delete(s.clusters, "")
	c.Apart = len(s.clusters)
	if len(c.VMs) == 0 {
		return nil, fmt.Errorf("%s: found no running VM of known size", c.Name)
	}
	return c, nil
}

// A scope selects a Cluster.
type scope struct {
	all      bool
	hosts    map[string]*numa.Host // by ID; nil for one that lacks facts
	clusters map[string]bool       // by ID; true if VMs without a host are included
	poor     map[string]bool       // clusters of which a host lacks facts
	idle     map[string]string     // by ID, why a VM does not power on
}

// predict finds the VMs that do not power on, as assess does.
func (s *scope) predict(f *numa.Fleet) error {
	r, err := rules.Within(context.Background(), f, rules.Options{}, map[string]bool{}) // predicted, not judged
	if err != nil {
		return err
	}
	s.idle = map[string]string{}
	for v := range r.Idle() {
		s.idle[v.ID] = r.ClusterOf(v).Again(v).String()
	}
	return nil
}

// addHost adds a host, unless it lacks facts.
func (c *Cluster) addHost(s *scope, h *numa.Host) {
	if _, ok := s.hosts[h.ID]; ok {
		return
	}
	s.hosts[h.ID] = nil
	if h.Cluster == "" {
		c.Alone++
	} else if s.all {
		s.clusters[h.Cluster] = true
	}
	if _, err := newRoom(h, &Options{PerCore: 1}); err != nil {
		c.Notes = append(c.Notes, err.Error()+": left out")
		s.poor[h.Cluster] = true
		return
	}
	s.hosts[h.ID] = h
	c.Hosts = append(c.Hosts, h)
}

// addVM adds a VM of the scope.
func (c *Cluster) addVM(s *scope, v *numa.VM) {
	h, known := s.hosts[v.Host]
	if v.Template.Or(false) || !known && !s.all && (v.Host != "" || !s.clusters[v.Cluster]) {
		return
	}
	switch {
	case !v.VCPUs.Known() || !v.Memory.Known():
		c.Notes = append(c.Notes, fmt.Sprintf("VM %s: its vCPUs or memory are unknown: not counted", v.Name))
		return
	case !v.MayRun():
		c.Off = append(c.Off, v)
		return
	case s.idle[v.ID] != "":
		c.Notes = append(c.Notes, fmt.Sprintf("VM %s is left out: %s: it does not power on", v.Name, s.idle[v.ID]))
		return
	}
	c.VMs = append(c.VMs, v)
	some := v.Host == "" && slices.ContainsFunc(c.Hosts, func(h *numa.Host) bool { return h.Cluster == v.Cluster && h.Cluster != "" })
	switch {
	case h != nil || some && !s.poor[v.Cluster]:
		c.vcpus += v.VCPUs.Value
	case some:
		c.unsure = true
	default:
		c.Away++
		if s.all {
			s.clusters[v.Cluster] = true
		}
	}
}

// allHosts is the label of All.
const allHosts = "all hosts"

// HostsOf returns the hosts of a cluster, one standalone host, or all.
func HostsOf(f *numa.Fleet, name string) (in []*numa.Host, label string, err error) {
	in, _, label, err = choose(f, name)
	if err == nil && len(in) == 0 {
		err = fmt.Errorf("found no host of %s: name a source that has its hosts, or say them with --assume-host", label)
	}
	return in, label, err
}

// choose returns the described hosts of a cluster with its ID, one standalone host, or all.
func choose(f *numa.Fleet, name string) (in []*numa.Host, id, label string, err error) {
	var names []string
	for i := range f.Clusters {
		c := &f.Clusters[i]
		names = append(names, c.Name)
		if c.ID == name || strings.EqualFold(c.Name, name) || name == "" && len(f.Clusters) == 1 {
			id, label = c.ID, c.Name
		}
	}
	all := strings.EqualFold(name, All) || name == "" && len(f.Clusters) == 0
	for i := range f.Hosts {
		if h := &f.Hosts[i]; all || id != "" && h.Cluster == id {
			in = append(in, h)
		}
	}
	switch {
	case all:
		return in, "", allHosts, nil
	case id != "":
		return in, id, label, nil
	case name == "":
		return nil, "", "", fmt.Errorf("found %d clusters, want --cluster all, or one of: %s", len(names), strings.Join(names, ", "))
	}
	if in = f.FindHosts(name); len(in) > 0 {
		return in, "", name, nil
	}
	return nil, "", "", fmt.Errorf("found no cluster and no host %q%s", name, alike.After(name, append(names, All)))
}

// Shapes returns the VMs of the cluster by shape, those with most memory first.
func (c *Cluster) Shapes() []Shape {
	type key struct {
		guest  vnuma.Guest
		memory numa.Bytes
	}
	at := map[key]int{}
	var out []Shape
	for _, v := range c.VMs {
		g, _, err := vnuma.NewGuest(v)
		if err != nil {
			continue // Find included only VMs with known vCPUs
		}
		// On another host PCPU and node numbers mean nothing: ignored.
		g.Affinity, g.AllowedNodes = false, 0
		k := key{g, v.Memory.Value}
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k] = i
			s := NewShape(v.VCPUs.Value, v.Memory.Value)
			s.Guest = g
			out = append(out, s)
		}
		out[i].Count++
		out[i].VMs = append(out[i].VMs, v.Name)
	}
	slices.SortStableFunc(out, func(a, b Shape) int {
		return cmp.Or(cmp.Compare(b.Memory, a.Memory), cmp.Compare(b.VCPUs, a.VCPUs), strings.Compare(a.VMs[0], b.VMs[0]))
	})
	return out
}

// Bound returns how many VMs of the cluster are bound to CPUs or nodes: they are counted as if they were not.
func (c *Cluster) Bound() (n int) {
	for _, v := range c.VMs {
		if g, _, err := vnuma.NewGuest(v); err == nil && (g.Affinity || g.AllowedNodes > 0) {
			n++
		}
	}
	return n
}

// PerCore returns the vCPUs per core of Hosts, of the VMs that run there, and those after the failure of the largest of several hosts. Hosts in
// maintenance count, since they come back, and empty ones that are not connected do not. It is false when no host has all needed facts, or when VMs may run there or not.
func (c *Cluster) PerCore() (today, failed float64, ok bool) {
	hosts, all, largest := 0, 0, 0
	for _, h := range c.Hosts {
		if !h.Connected() && !slices.ContainsFunc(c.VMs, func(v *numa.VM) bool { return v.Host == h.ID }) {
			continue
		}
		n := 0
		for _, node := range h.Nodes.Value {
			n += node.Cores
		}
		hosts, all, largest = hosts+1, all+n, max(largest, n)
	}
	today = float64(c.vcpus) / float64(max(1, all))
	if failed = today; hosts > 1 {
		failed = float64(c.vcpus) / float64(all-largest)
	}
	return today, failed, all > 0 && !c.unsure
}

// Types returns the kinds of hosts of the cluster, the most frequent first. Hosts of one kind differ only in the
// memory that the kernel keeps of a node (rule book A-5) and in their release; the smallest represents all, with the newest release.
func (c *Cluster) Types() []Type {
	var out []Type
	for _, h := range c.Hosts {
		k := slices.IndexFunc(out, func(t Type) bool { return equal(&t.Host, h) })
		if k < 0 {
			k, out = len(out), append(out, Type{Name: typeName(h), Host: *h})
		}
		t := &out[k]
		t.Hosts++
		t.Releases = append(t.Releases, h.Release.Value)
		if h.Memory.Value < t.Host.Memory.Value {
			t.Host = *h
		}
	}
	slices.SortStableFunc(out, func(a, b Type) int { return cmp.Compare(b.Hosts, a.Hosts) })
	// Kinds with equal names differ in facts that the name lacks.
	for i := range out {
		slices.Sort(out[i].Releases)
		out[i].Releases = slices.Compact(out[i].Releases)
		out[i].Host.Release.Value = slices.Max(out[i].Releases)
		for n, j := 1, i+1; j < len(out); j++ {
			if out[j].Name == out[i].Name {
				n++
				out[j].Name = fmt.Sprintf("%s (%d)", out[j].Name, n)
			}
		}
	}
	return out
}

// Beside returns the kinds of hosts of a cluster together with the described ones. A kind of the cluster with the
// name of a described one sets its number of hosts.
func Beside(own, described []Type) []Type {
	out := append(slices.Clone(own), described...)
	for i := range own {
		if slices.ContainsFunc(described, func(t Type) bool { return t.Name == own[i].Name }) {
			out[i].Name = fmt.Sprintf("%s (has %d)", own[i].Name, own[i].Hosts)
		}
	}
	return out
}

// equal reports whether hosts are of one kind: equal except for their release and the memory that firmware and kernel keep of their nodes.
func equal(a, b *numa.Host) bool {
	if !slices.EqualFunc(a.Nodes.Value, b.Nodes.Value, func(m, n numa.Node) bool {
		least, most := min(m.Memory.Value, n.Memory.Value), max(m.Memory.Value, n.Memory.Value)
		return m.Cores == n.Cores && m.Threads == n.Threads && !vnuma.Unlike(int64(least), int64(most))
	}) {
		return false
	}
	same := *b
	same.Nodes, same.Memory, same.Release = a.Nodes, a.Memory, a.Release
	x, errX := vnuma.NewMachine(a)
	y, errY := vnuma.NewMachine(&same)
	return errX == nil && errY == nil && x.Like(y)
}

// typeName formats a host as a host type: 2x18c/1TB.
func typeName(h *numa.Host) string {
	nodes, memory := 0, numa.Bytes(0)
	cores := map[int]bool{}
	most, least := numa.Bytes(0), numa.Bytes(numa.MaxHostMemory)
	all := 0
	for _, n := range h.Nodes.Value {
		memory += n.Memory.Value
		if n.Cores > 0 {
			nodes, all = nodes+1, all+n.Cores
			cores[n.Cores] = true
			most, least = max(most, n.Memory.Value), min(least, n.Memory.Value)
		}
	}
	memory = h.Memory.Or(memory)
	// Without the kernel's share: purchased memory is whole GB.
	memory = (memory + numa.GiB - 1) / numa.GiB * numa.GiB
	sockets := h.Packages.Or(nodes)
	name := fmt.Sprintf("%dx%dc/%s", sockets, all/max(1, sockets), compact(memory))
	if all%max(1, sockets) != 0 {
		name = fmt.Sprintf("%dc/%s", all, compact(memory))
	}
	divided := "snc"
	if strings.Contains(h.CPUModel.Value, "EPYC") {
		divided = "nps"
	}
	switch {
	case nodes > sockets && nodes%sockets == 0:
		name += fmt.Sprintf("/%s%d", divided, nodes/sockets)
	case nodes == 1 && sockets > 1:
		name += "/interleaved" // one node of several packages (rule book A-2)
	case nodes != sockets:
		name += fmt.Sprintf("/%d nodes", nodes)
	}
	if h.HyperThreading.Known() && !h.HyperThreading.Value {
		name += "/noht"
	}
	if len(cores) > 1 || least < most-most/vnuma.UnevenShare {
		name += " uneven"
	}
	return name
}

package fit

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"homenode/esxi/vnuma"
	"homenode/internal/alike"
	"homenode/numa"
)

// A Cluster is the selected part of a fleet.
type Cluster struct {
	Name  string
	Hosts []*numa.Host // with all needed facts
	VMs   []*numa.VM   // running, with known sizes
	Off   []*numa.VM   // powered off, with known sizes: not counted
	Apart int          // clusters that are counted together
	Notes []string     // on excluded hosts and VMs
}

// All is the name of all clusters and hosts together.
const All = "all"

// Find returns the cluster, or standalone host, with this name or ID; "" selects the only one.
func Find(f *numa.Fleet, name string) (*Cluster, error) {
	in, label, err := HostsOf(f, name)
	if err != nil {
		return nil, err
	}
	c := &Cluster{Name: label}
	known := map[string]bool{}
	clusters := map[string]bool{}
	for _, h := range in {
		known[h.ID] = true
		if h.Cluster != "" {
			clusters[h.Cluster] = true
		}
		if _, err := newRoom(h, &Options{PerCore: 1}); err != nil {
			c.Notes = append(c.Notes, err.Error()+": left out")
			continue
		}
		c.Hosts = append(c.Hosts, h)
	}
	for i := range f.VMs {
		v := &f.VMs[i]
		if v.Template.Or(false) || !known[v.Host] && (v.Host != "" || !clusters[v.Cluster]) {
			continue
		}
		if !v.VCPUs.Known() || !v.Memory.Known() {
			c.Notes = append(c.Notes, fmt.Sprintf("VM %s: its vCPUs or memory are unknown: not counted", v.Name))
			continue
		}
		if v.Power.Or(numa.PoweredOn) != numa.PoweredOn {
			c.Off = append(c.Off, v)
			continue
		}
		c.VMs = append(c.VMs, v)
	}
	c.Apart = len(clusters)
	if len(c.VMs) == 0 {
		return nil, fmt.Errorf("%s: found no running VM of known size", label)
	}
	return c, nil
}

// HostsOf returns the hosts of a cluster, one standalone host, or all.
func HostsOf(f *numa.Fleet, name string) (in []*numa.Host, label string, err error) {
	var names []string
	id := ""
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
	if in == nil && name != "" {
		in = f.FindHosts(name)
		label = name
	}
	switch {
	case all:
		label = "all hosts"
	case len(in) == 0 && name == "":
		return nil, "", fmt.Errorf("found %d clusters, want --cluster all, or one of: %s", len(names), strings.Join(names, ", "))
	}
	if len(f.Hosts) == 0 {
		return nil, "", errors.New("found no host in the fleet: name a source that has hosts, or say them with --assume-host")
	}
	if near := alike.Names(name, names); len(in) == 0 && near != nil {
		return nil, "", fmt.Errorf("found no cluster and no host %q; alike: %s", name, strings.Join(near, ", "))
	}
	if len(in) == 0 {
		return nil, "", fmt.Errorf("found no cluster and no host %q, want all, or one of: %s", name, strings.Join(names, ", "))
	}
	return in, label, nil
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

// VCPUs returns the vCPUs of the running VMs.
func (c *Cluster) VCPUs() (n int) {
	for _, v := range c.VMs {
		n += v.VCPUs.Value
	}
	return n
}

// PerCore returns the vCPUs per core of the cluster after the failure of its largest hosts, at most all but one. It is false when no host has all
// needed facts.
func (c *Cluster) PerCore(failed int) (ratio float64, ok bool) {
	var cores []int
	for _, h := range c.Hosts {
		n := 0
		for _, node := range h.Nodes.Value {
			n += node.Cores
		}
		cores = append(cores, n)
	}
	slices.Sort(cores)
	left := 0
	for _, n := range cores[:max(min(1, len(cores)), len(cores)-failed)] {
		left += n
	}
	return float64(c.VCPUs()) / float64(max(1, left)), left > 0
}

// Types returns the kinds of hosts of the cluster, the most frequent first. Hosts of one kind differ only in the
// memory that the kernel keeps of a node (rule book A-5); the smallest represents all.
func (c *Cluster) Types() []Type {
	var out []Type
	for _, h := range c.Hosts {
		k := slices.IndexFunc(out, func(t Type) bool { return equal(&t.Host, h) })
		if k < 0 {
			out = append(out, Type{Name: typeName(h), Host: *h, Hosts: 1})
			continue
		}
		out[k].Hosts++
		if h.Memory.Value < out[k].Host.Memory.Value {
			out[k].Host = *h
		}
	}
	slices.SortStableFunc(out, func(a, b Type) int { return cmp.Compare(b.Hosts, a.Hosts) })
	// Kinds with equal names differ in facts that the name lacks.
	for i := range out {
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

// equal reports whether hosts are of one kind: equal except for the memory that firmware and kernel keep of their nodes.
func equal(a, b *numa.Host) bool {
	if !slices.EqualFunc(a.Nodes.Value, b.Nodes.Value, func(m, n numa.Node) bool {
		least, most := min(m.Memory.Value, n.Memory.Value), max(m.Memory.Value, n.Memory.Value)
		return m.Cores == n.Cores && m.Threads == n.Threads && !vnuma.Unlike(int64(least), int64(most))
	}) {
		return false
	}
	same := *b
	same.Nodes, same.Memory = a.Nodes, a.Memory
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

package hostcmd

import (
	"slices"

	"example.org/homenode/numa"
	"example.org/homenode/source/text"
)

// A Group is the data of an output about one VM: the scheduler's group.
type Group struct {
	Name string // vm.<cartel id>; empty on the esxtop screen
	ID   int64  // of the scheduler group, which esxtop calls GID; -1 when not shown
	VM   string // the VM's name, cut to the column of the esxtop screen; else empty
	Host string // from the prompt; may be empty

	Homes         []int      // home nodes, each once
	Local, Remote numa.Bytes // -1 when not stated
	// OnNode is the memory of the group on each node, by node; nil when not stated.
	OnNode []numa.MemoryOnNode

	// Observation is the group in the model's types. An esxtop screen does not list single clients:
	// there it has neither Clients nor PPDCount.
	Observation numa.Observation
}

// Groups returns the VMs of numa-clients, numa-cnode and the esxtop screen, in the
// order of the output.
func (o *Output) Groups() []Group {
	var groups []Group
	switch r := o.Result.(type) {
	case Clients:
		groups = o.clientGroups(r)
	case ClientMemory:
		groups = o.memoryGroups(r)
	case *Screen:
		groups = o.screenGroups(r)
	}
	for i := range groups {
		if g := &groups[i]; g.Local >= 0 && g.Remote >= 0 {
			g.Observation.Local, g.Observation.Remote = numa.ReadAt(g.Local, ""), numa.ReadAt(g.Remote, "")
		}
	}
	return groups
}

// A grouper finds the group of a row.
type grouper struct {
	o      *Output
	groups []Group
	index  map[groupKey]int
}

type groupKey struct {
	name string
	id   int64
}

// of returns the group with this name and ID; a new one is added.
func (s *grouper) of(name string, id int64, line int) *Group {
	i, found := s.index[groupKey{name, id}]
	if !found {
		if s.index == nil {
			s.index = map[groupKey]int{}
		}
		i = len(s.groups)
		s.index[groupKey{name, id}] = i
		s.groups = append(s.groups, Group{Name: name, ID: id, Host: s.o.Host.Name, Local: -1, Remote: -1, Observation: numa.Observation{
			By: numa.BySchedStats, At: s.o.at(line, 0), Host: s.o.Host.Name,
		}})
	}
	return &s.groups[i]
}

func (o *Output) clientGroups(clients Clients) []Group {
	s := grouper{o: o}
	unknown := map[groupKey]bool{} // a client of it has lost its memory at the right edge
	for _, c := range clients {
		g := s.of(c.Group, c.GroupID, c.Line)
		where := text.Where(c.Line, 0)
		if g.Observation.Clients.Known() {
			where = g.Observation.Clients.Origin.Where
		}
		g.home(c.Home)
		if c.Local < 0 {
			unknown[g.key()] = true
		} else {
			g.Local, g.Remote = max(g.Local, 0)+c.Local, max(g.Remote, 0)+c.Remote
		}
		seen := append(g.Observation.Clients.Value, numa.ClientSeen{ID: c.ID, Home: c.Home, VCPUs: c.VCPUs, Local: max(c.Local, 0), Remote: max(c.Remote, 0)})
		g.Observation.Clients = numa.ReadAt(seen, where)
		g.Observation.PPDCount = numa.ReadAt(len(seen), where)
		if g.Homes != nil {
			g.Observation.Homes = numa.ReadAt(g.Homes, where)
		}
	}
	for i := range s.groups {
		g := &s.groups[i]
		if unknown[g.key()] {
			g.Local, g.Remote = -1, -1
		}
		if g.Homes == nil {
			g.Observation.Homes = numa.ReadAt([]int{}, g.Observation.Clients.Origin.Where)
		}
	}
	return s.groups
}

func (g *Group) key() groupKey { return groupKey{g.Name, g.ID} }

func (g *Group) home(node int) {
	if node >= 0 && !slices.Contains(g.Homes, node) {
		g.Homes = append(g.Homes, node)
	}
}

func (o *Output) memoryGroups(rows ClientMemory) []Group {
	type client struct {
		group groupKey
		id    int
	}
	s := grouper{o: o}
	seen := map[client]bool{}
	unknown := map[groupKey]bool{} // the memory on a node of it
	sums := map[client]numa.Bytes{}
	for _, r := range rows {
		sums[client{groupKey{r.Group, r.GroupID}, r.Client}] += max(r.Memory, 0)
	}
	for _, r := range rows {
		c := client{groupKey{r.Group, r.GroupID}, r.Client}
		// A share that contradicts the rows means that some rows are missing.
		if share := truncated(r.Memory, sums[c]); r.MemoryPct >= 0 && max(share-r.MemoryPct, r.MemoryPct-share) > 1 {
			unknown[c.group] = true
		}
		g := s.of(r.Group, r.GroupID, r.Line)
		if r.Memory < 0 {
			unknown[g.key()] = true
		} else {
			i := slices.IndexFunc(g.OnNode, func(n numa.MemoryOnNode) bool { return n.Node == r.Node })
			if i < 0 {
				i = len(g.OnNode)
				g.OnNode = append(g.OnNode, numa.MemoryOnNode{Node: r.Node, Overhead: -1})
			}
			g.OnNode[i].Guest += r.Memory
		}
		if !seen[c] {
			seen[c] = true
			g.Observation.PPDCount = numa.ReadAt(g.Observation.PPDCount.Value+1, text.Where(o.Line, 0))
		}
	}
	for i := range s.groups {
		if g := &s.groups[i]; unknown[g.key()] { // the other nodes alone would seem to have everything
			g.OnNode = nil
		}
	}
	return s.groups
}

func (o *Output) screenGroups(s *Screen) []Group {
	var groups []Group
	var free []numa.Bytes
	for _, n := range s.Nodes {
		free = append(free, n.Free)
	}
	for _, v := range slices.Concat(s.VMs, s.Others) {
		g := Group{ID: v.GID, VM: v.Name, Host: o.Host.Name, Local: v.Local, Remote: v.Remote, OnNode: v.OnNode}
		for _, n := range v.Homes {
			g.home(n)
		}
		g.Observation = numa.Observation{By: numa.ByEsxtop, At: o.at(v.Line, 0), Host: o.Host.Name}
		if g.Homes != nil || len(s.Nodes) > 1 {
			g.Observation.Homes = numa.ReadAt(slices.Concat([]int{}, g.Homes), text.Where(v.Line, 0))
		}
		if free != nil {
			g.Observation.Free = numa.ReadAt(free, "NUMA /MB")
		}
		groups = append(groups, g)
	}
	return groups
}

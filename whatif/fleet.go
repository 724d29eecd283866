package whatif

import (
	"slices"

	"homenode/numa"
	"homenode/source/word"
	"homenode/vnuma"
)

// lose removes hosts. vSphere HA powers their VMs on again on any host of the cluster
// that takes VMs: each is put on the one where its layout is worst, so that none comes
// out worse than shown. A VM that no host takes stays without one.
func (c *Change) lose(f *numa.Fleet, e *Effect, choices vnuma.Choices) error {
	names := hostNames(f)
	found := c.hosts.match(names)
	if found == nil {
		return c.hosts.none("host", names)
	}
	lost := map[string]bool{}
	for _, i := range found {
		lost[f.Hosts[i].ID] = true
	}
	f.Hosts = slices.DeleteFunc(f.Hosts, func(h numa.Host) bool { return lost[h.ID] })
	places := placesOf(f)
	for i := range f.VMs {
		v := &f.VMs[i]
		if !lost[v.Host] {
			continue
		}
		v.Host = worstPlace(v, places[v.Cluster], choices)
		e.VMs++
	}
	e.Hosts, e.Changed = len(found), len(found)+e.VMs
	return nil
}

// A place is a host that takes VMs.
type place struct {
	id      string
	machine vnuma.Machine
}

// placesOf returns the hosts that take VMs by cluster, the first of each shape.
func placesOf(f *numa.Fleet) map[string][]place {
	out := map[string][]place{}
	for i := range f.Hosts {
		h := &f.Hosts[i]
		if h.Cluster == "" || !takesVMs(h) {
			continue
		}
		m, err := vnuma.NewMachine(h)
		if err != nil || slices.ContainsFunc(out[h.Cluster], func(p place) bool { return p.machine == m }) {
			continue // a host that is not predicted has a note in the judgement
		}
		out[h.Cluster] = append(out[h.Cluster], place{h.ID, m})
	}
	return out
}

func takesVMs(h *numa.Host) bool {
	return !h.Maintenance.Or(false) && h.Connection.Or("connected") == "connected"
}

// worstPlace returns the ID of the host where the VM's layout is worst; "" when none
// takes it.
func worstPlace(v *numa.VM, places []place, choices vnuma.Choices) string {
	g, _, err := vnuma.NewGuest(v)
	if err != nil {
		return ""
	}
	var ids []string
	var layouts []vnuma.Layout
	for i := range places {
		if m := &places[i].machine; int(g.Hardware) <= m.Release.Hardware() {
			ids = append(ids, places[i].id)
			layouts = append(layouts, vnuma.Predict(&g, m, &vnuma.Case{Choices: choices}))
		}
	}
	if ids == nil {
		return ""
	}
	return ids[vnuma.Worst(len(ids), func(i int) *vnuma.Layout { return &layouts[i] })]
}

// add adds hosts like another. No VM runs on them yet.
func (c *Change) add(f *numa.Fleet, e *Effect) error {
	like, err := c.hosts.oneHost(f)
	if err != nil {
		return err
	}
	h := *like
	h.At = c.Text
	if c.cluster != "" {
		p := pattern{text: c.cluster, col: 1, items: []string{c.cluster}}
		ids, err := p.clusterIDs(f)
		if err != nil {
			return err
		}
		if len(ids) > 1 {
			return word.Errorf(1, "found %d clusters %q, want one", len(ids), c.cluster)
		}
		for id := range ids {
			h.Cluster = id
		}
	}
	for _, name := range c.names {
		if len(f.FindHosts(name)) > 0 {
			return word.Errorf(1, "found a host %s already: say name=", name)
		}
		h.ID, h.Name = "added "+name, name
		f.Hosts = append(f.Hosts, h)
	}
	e.Hosts, e.Changed = len(c.names), len(c.names)
	return nil
}

package sweep

import (
	"fmt"
	"reflect"
	"slices"

	"example.org/homenode/numa"
)

// changed is a story with a changed fleet, and the previous state.
type changed struct {
	*numa.Story
	was, now fleetByID
}

type fleetByID struct {
	hosts map[string]*numa.Host
	vms   map[string]*numa.VM
}

func byID(f *numa.Fleet) fleetByID { return fleetByID{f.HostsByID(), f.VMsByID()} }

// settle removes from the story everything about removed hosts, and observations of VMs and
// hosts that have changed. An event that can no longer happen is an error.
func (c *changed) settle() error {
	gone := func(host string) bool { return host != "" && c.now.hosts[host] == nil }
	c.Used = c.used()
	c.Seen = slices.DeleteFunc(c.Seen, func(v numa.SeenVM) bool {
		return gone(v.Host) || !reflect.DeepEqual(c.was.hosts[v.Host], c.now.hosts[v.Host]) || !c.sameVM(v.VM)
	})
	for i := range c.Events {
		if gone(c.Events[i].Host) {
			untold(c.Events, &c.Events[i])
		}
	}
	// Events of removed hosts are dropped.
	c.Events = slices.DeleteFunc(c.Events, func(e numa.Event) bool { return gone(e.Host) && e.VM == "" })
	for i := range c.Events {
		e := &c.Events[i]
		if !gone(e.Host) {
			continue
		}
		if e.Kind == numa.VMotion {
			return fmt.Errorf("VM %s moves to host %s at %s, and that is lost", c.now.vms[e.VM].Name, c.was.hosts[e.Host].Name, e.At)
		}
		e.Host = "" // a power-on: on the host where the VM is registered
	}
	return c.reshape()
}

// sameVM reports whether the VM is unchanged, except for observations.
func (c *changed) sameVM(id string) bool {
	was := *c.was.vms[id]
	was.Observed = nil
	return reflect.DeepEqual(&was, c.now.vms[id])
}

// used returns the memory that no VM uses, by the present nodes. If SNC or NPS is switched, the
// memory of a node is divided among its parts, or summed up; on a host with entirely different
// nodes it is spread evenly.
func (c *changed) used() []numa.NodeUse {
	type place struct {
		host string
		node int
	}
	var out []numa.NodeUse
	at := map[place]int{}
	add := func(host string, node int, memory numa.Bytes) {
		p := place{host, node}
		i, ok := at[p]
		if !ok {
			i, at[p] = len(out), len(out)
			out = append(out, numa.NodeUse{Host: host, Node: node})
		}
		out[i].Memory += memory
	}
	for _, u := range c.Used {
		is := c.now.hosts[u.Host]
		if is == nil {
			continue
		}
		old, nodes := len(c.was.hosts[u.Host].Nodes.Value), len(is.Nodes.Value)
		switch {
		case old == nodes || old == 0 || nodes == 0:
			add(u.Host, u.Node, u.Memory)
		case nodes%old == 0:
			k := nodes / old
			split(u.Memory, k, func(i int, m numa.Bytes) { add(u.Host, u.Node*k+i, m) })
		case old%nodes == 0:
			add(u.Host, u.Node/(old/nodes), u.Memory)
		default:
			split(u.Memory, nodes, func(i int, m numa.Bytes) { add(u.Host, i, m) })
		}
	}
	return out
}

// split divides memory into k parts; the first one includes the remainder.
func split(memory numa.Bytes, k int, part func(int, numa.Bytes)) {
	each := memory / numa.Bytes(k)
	for i := range k {
		m := each
		if i == 0 {
			m = memory - each*numa.Bytes(k-1)
		}
		part(i, m)
	}
}

// reshape updates the sizes of VMs in events to those of the changed VMs, except for the fields
// that the events change.
func (c *changed) reshape() error {
	now := map[string]*numa.Config{} // of VMs with an earlier such event
	for i := range c.Events {
		e := &c.Events[i]
		if e.Config == nil || c.sameVM(e.VM) {
			continue
		}
		v := c.now.vms[e.VM]
		before := now[e.VM]
		if before == nil {
			before = &v.Config
		}
		e.Config = merged(&c.was.vms[e.VM].Config, e.Config, &v.Config)
		untold(c.Events, e)
		now[e.VM] = e.Config
		if e.Kind == numa.HotAdd {
			if err := hotter(v.Name, before, e.Config); err != nil {
				return fmt.Errorf("hot add at %s: %w", e.At, err)
			}
		}
	}
	return nil
}

// untold removes the text of an event, which describes the previous value, and of the other
// events of its line.
func untold(events []numa.Event, e *numa.Event) {
	at, line, text := e.At, e.Line, e.Text
	for i := range events {
		if o := &events[i]; o.At == at && o.Line == line && o.Text == text {
			o.Text = ""
		}
	}
}

// merged returns changed with the facts in which event differs from base.
func merged(base, event, changed *numa.Config) *numa.Config {
	out := *changed
	b, e, o := reflect.ValueOf(base).Elem(), reflect.ValueOf(event).Elem(), reflect.ValueOf(&out).Elem()
	for i := range b.NumField() {
		if !reflect.DeepEqual(b.Field(i).Interface(), e.Field(i).Interface()) {
			o.Field(i).Set(e.Field(i))
		}
	}
	return &out
}

// hotter returns the reason why a running VM cannot get this size.
func hotter(name string, before, after *numa.Config) error {
	cpu, memory := after.VCPUs.Value-before.VCPUs.Value, after.Memory.Value-before.Memory.Value
	switch {
	case cpu < 0 || memory < 0 || cpu == 0 && memory == 0:
		return fmt.Errorf("VM %s has %d vCPUs and %s by then, no less than the %d and %s it is to get", name, before.VCPUs.Value, before.Memory.Value, after.VCPUs.Value, after.Memory.Value)
	case cpu > 0 && before.CPUHotAdd.Known() && !before.CPUHotAdd.Value:
		return fmt.Errorf("CPU hot add of VM %s is off", name)
	case memory > 0 && before.MemoryHotAdd.Known() && !before.MemoryHotAdd.Value:
		return fmt.Errorf("memory hot add of VM %s is off", name)
	}
	return nil
}

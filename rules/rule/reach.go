package rule

import (
	"slices"
	"strings"

	"homenode/esxi/vnuma"
	"homenode/numa"
)

// Reach orders the kinds of hosts that the VM powers on on, the first of which is its own where that is known: those that advice is made
// for, then those that are too small, then those that take no VMs now.
func (v *VM) Reach() {
	for i := range v.On {
		o := &v.On[i]
		if m := &o.Kind.Machine; v.Home == nil || o.Kind != v.Home {
			_, crowded := v.Crowded(o.Kind)
			o.Small = crowded || m.MemoryKnown() && v.Guest.Memory > m.ForVMs()
			o.Closed = !slices.ContainsFunc(o.Kind.Hosts, (*numa.Host).Ready)
		}
	}
	rank := func(o On) (n int) {
		if o.Small {
			n++
		}
		if o.Closed {
			n += 2
		}
		return n
	}
	rest := v.On
	if v.Home != nil {
		rest = rest[1:]
	}
	slices.SortStableFunc(rest, func(a, b On) int { return rank(a) - rank(b) })
	v.On[0].Small, v.On[0].Closed = false, false // it is judged somewhere
}

// Open returns the kinds of On that the VM is on, or can come to now.
func (v *VM) Open() []On {
	n := slices.IndexFunc(v.On, func(o On) bool { return o.Closed })
	if n < 0 {
		n = len(v.On)
	}
	return v.On[:n]
}

// HostsOf returns the hosts of a kind of Open that count for the VM: its own, and those that take VMs now.
func (v *VM) HostsOf(k *Kind) []*numa.Host {
	out := slices.DeleteFunc(slices.Clone(k.Hosts), func(h *numa.Host) bool { return h != v.Host && !h.Ready() })
	if len(out) == 0 { // of a VM whose host is not known
		return k.Hosts
	}
	return out
}

// Machines returns the machines of the kinds that plans and advice are made for, in the order of On, and those of the others.
func (v *VM) Machines() (fit, others []vnuma.Machine) {
	for i := range v.On {
		if o := &v.On[i]; o.Small || o.Closed {
			others = append(others, o.Kind.Machine)
		} else {
			fit = append(fit, o.Kind.Machine)
		}
	}
	return fit, others
}

// RoomFor returns the other hosts of the kind that take the VM now and have the memory for it, beside those that run there.
func (c *Cluster) RoomFor(v *VM, on *On) []*numa.Host {
	m := &on.Kind.Machine
	return slices.DeleteFunc(slices.Clone(on.Kind.Hosts), func(h *numa.Host) bool {
		if h == v.Host || on.Layout.Refused.Any() || !h.Ready() || v.TiedTo() != nil || !m.MemoryKnown() {
			return true
		}
		reserved, taken := vnuma.Reserved{}, v.Memory.Value
		for _, o := range c.Running(h) {
			reserved.Add(&o.Guest.Needs)
			taken += o.Memory.Value
		}
		return taken > numa.Bytes(m.AllMemory) || vnuma.Beside(&v.Guest.Needs, reserved, m).Any()
	})
}

// Elsewhere returns the way that cures the fault that Worst found by the place of the VM alone: it is kept off the hosts where the fault is,
// and moved first where its own is one of them, to hosts that serve it no worse and have room. None where there is no such host.
func (p *Pass) Elsewhere() []numa.Way {
	if p.bad == nil || p.Weighing {
		return nil
	}
	if p.away || p.VM.Home == nil {
		return []numa.Way{KeepOff(p.bad)}
	}
	var hosts []*numa.Host
	for _, o := range p.good {
		if !o.Small && o.Layout.Compare(&p.VM.On[0].Layout) <= 0 {
			hosts = append(hosts, p.Cluster.RoomFor(p.VM, o)...)
		}
	}
	if hosts == nil {
		return nil
	}
	names := HostNames(hosts)
	if len(hosts) == 2 {
		names = strings.Replace(names, " and ", " or ", 1)
	}
	return []numa.Way{numa.ByHand("move the VM to " + names + " and keep it off " + HostNames(p.bad) + " with a DRS rule")}
}

package rule

import (
	"slices"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
)

// Reach orders the kinds of hosts that power the VM on. The first is its own, if known. Then come those for which advice is given, then
// those that are too small, then those that do not accept VMs now.
func (v *VM) Reach() {
	for i := range v.On {
		o := &v.On[i]
		if m := &o.Kind.Machine; v.Home == nil || o.Kind != v.Home {
			_, crowded := v.Crowded(o.Kind)
			o.Small = crowded || m.MemoryKnown() && v.Guest.Resident() > m.ForVMs()
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
	v.On[0].Small, v.On[0].Closed = false, false // it has to be assessed on some host
}

// Open returns the kinds of On that the VM is on, or can move to now.
func (v *VM) Open() []On {
	n := slices.IndexFunc(v.On, func(o On) bool { return o.Closed })
	if n < 0 {
		n = len(v.On)
	}
	return v.On[:n]
}

// HostsOf returns the relevant hosts for the VM of a kind of Open: its own, and those that accept VMs now. Callers do not change the list.
func (v *VM) HostsOf(k *Kind) []*numa.Host {
	if k.AllReady {
		return k.Hosts
	}
	out := slices.DeleteFunc(slices.Clone(k.Hosts), func(h *numa.Host) bool { return h != v.Host && !h.Ready() })
	if len(out) == 0 { // for a VM with an unknown host
		return k.Hosts
	}
	return out
}

// Machines returns the machines of the kinds for which plans and advice are made, in the order of On, and those of the others.
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

// RoomFor returns the other hosts of the kind that accept the VM now and are known to have enough memory for it, and its reservations, beside their running VMs.
func (c *Cluster) RoomFor(v *VM, on *On) []*numa.Host {
	m := &on.Kind.Machine
	return slices.DeleteFunc(slices.Clone(on.Kind.Hosts), func(h *numa.Host) bool {
		if c.Part || h == v.Host || on.Layout.Refused.Any() || !h.Ready() || v.TiedTo() != nil || !m.MemoryKnown() || v.Guest.Needs.Unclocked(m) {
			return true
		}
		reserved, taken := vnuma.Reserved{}, v.Resident()
		for _, o := range c.Running(h) {
			reserved.Add(&o.Guest.Needs)
			taken += o.Resident()
		}
		return taken > numa.Bytes(m.AllMemory) || vnuma.Beside(&v.Guest.Needs, reserved, m).Any()
	})
}

// Elsewhere returns the way to fix the fault found by Worst only by the placement of the VM: it is kept off the hosts with the fault, and
// moved first if its own is one of them, to hosts that have room and on which no rule finds more than here. Empty if there is no such host.
func (p *Pass) Elsewhere() []numa.Way {
	if p.bad == nil || p.Weighing {
		return nil
	}
	if p.away || p.VM.Home == nil {
		return []numa.Way{KeepOff(p.bad)}
	}
	var hosts []*numa.Host
	there := "" // what it takes to get the layout of a power-on
	for _, o := range p.good {
		if room := p.Cluster.RoomFor(p.VM, o); len(room) > 0 && !o.Small && o.Layout.Gains(&p.VM.On[0].Layout) && p.suits(room[0]) {
			hosts = append(hosts, room...)
			moved, fresh := p.VM.Moved(o.Kind, p.Choices), p.VM.Fresh(o.Kind, p.Choices)
			if fresh.Compare(&o.Layout) < 0 {
				there = ", remove " + numa.StoredKey + " and " + numa.CookieKey + " there while it is powered off,"
			} else if numa.NotRunning(p.VM.Host, room[0]) != "" {
				there = ", powered off,"
			} else if o.Layout.Compare(&moved) < 0 {
				there = ", power it off and on there,"
			}
		}
	}
	if hosts == nil {
		return nil
	}
	names := HostNames(hosts)
	if len(hosts) == 2 {
		names = strings.Replace(names, " and ", " or ", 1)
	}
	return []numa.Way{numa.ByHand("move the VM to " + names + there + " and keep it off " + HostNames(p.bad) + " " + ByDRS)}
}

// suits reports whether the rule of the pass finds nothing of medium or high severity on the VM's host if that is h, and all rules together
// nothing worse than on its present one.
func (p *Pass) suits(h *numa.Host) bool {
	if p.Cluster.Weigh == nil {
		return true
	}
	here := func(found []finding.Finding) []finding.Finding {
		return slices.DeleteFunc(slices.Clone(found), func(f finding.Finding) bool { return f.Elsewhere() })
	}
	moved := p.trial(nil)
	moved.Host = h.ID
	after := here(p.Cluster.Weigh(p.VM, moved))
	stays := func(f finding.Finding) bool { return f.Rule == p.Rule.ID && f.Severity >= finding.Medium }
	return !slices.ContainsFunc(after, stays) && WeightOf(after).Compare(WeightOf(here(p.now()))) <= 0
}

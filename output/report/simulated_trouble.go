package report

import (
	"fmt"

	"homenode/esxi/scheduler"
	"homenode/esxi/vnuma"
	"homenode/numa"
)

// What goes wrong in a story that is no matter of NUMA: a fleet that its hosts cannot carry
// must not read as if all was well.

// trouble says which VMs found no host, never ran, could not be powered on by ESXi, or
// missed memory.
func (s *simulated) trouble() (out []string) {
	say := func(vms []string, what string) {
		if len(vms) > 0 {
			out = append(out, fmt.Sprintf("%s %s: %s", plural(len(vms), "VM"), what, namesText(vms)))
		}
	}
	var homeless, idle []string
	for _, v := range s.vms {
		switch {
		case v.nowhere:
			homeless = append(homeless, v.Name)
		case v.out.Steps == 0 && v.Power.Value == numa.PoweredOn:
			idle = append(idle, v.Name)
		}
	}
	say(homeless, "found no host")
	say(idle, "should run and never did")
	say(s.tooWide(), "would be refused by ESXi at power-on")
	var missing []string
	var most *simulatedVM
	for _, v := range s.order {
		if v.missing() > 0 {
			missing = append(missing, v.Name)
			if most == nil || v.missing() > most.missing() {
				most = v
			}
		}
	}
	if most != nil {
		out = append(out, fmt.Sprintf("memory of %s was swapped or ballooned, most of all %s: %s", plural(len(missing), "VM"), most.Name, most.takenText()))
	}
	return out
}

// nowhere returns the VMs, by index, for which no host was found.
func (s *simulated) nowhere() map[int]bool {
	all := map[int]bool{}
	for i := range s.Outcome.Decisions {
		if d := &s.Outcome.Decisions[i]; d.Kind == scheduler.NoRoom {
			all[d.VM] = true
		}
	}
	return all
}

// tooWide names the VMs that ran on a host with fewer logical CPUs than they have vCPUs,
// which the simulation does not refuse.
func (s *simulated) tooWide() (out []string) {
	machines := map[string]*vnuma.Machine{} // by name of the host
	for i := range s.Story.Fleet.Hosts {
		h := &s.Story.Fleet.Hosts[i]
		if m, err := vnuma.NewMachine(h); err == nil && !m.AllowWide {
			machines[h.Name] = &m
		}
	}
	for _, v := range s.vms {
		for _, l := range v.lives {
			if m := machines[l.rec.Host]; m != nil && m.AllThreads > 0 && l.VCPUs > int(m.AllThreads) {
				out = append(out, fmt.Sprintf("%s with %d vCPUs on %s, which has %d logical CPUs", v.Name, l.VCPUs, l.rec.Host, m.AllThreads))
				break
			}
		}
	}
	return out
}

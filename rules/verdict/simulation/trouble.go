package simulation

import (
	"fmt"

	"homenode/esxi/scheduler"
	"homenode/esxi/vnuma"
	"homenode/internal/words"
	"homenode/numa"
)

// What goes wrong in a story that is no matter of NUMA: a fleet that its hosts cannot carry
// must not read as if all was well.

// trouble says which VMs found no host, never ran, could not be powered on by ESXi, or
// missed memory.
func (s *Judged) trouble() (out []string) {
	say := func(vms []string, what string) {
		if len(vms) > 0 {
			out = append(out, fmt.Sprintf("%s %s: %s", words.Plural(len(vms), "VM"), what, words.Few(vms)))
		}
	}
	var homeless, idle []string
	for _, v := range s.VMs {
		switch {
		case v.Nowhere:
			homeless = append(homeless, v.Name)
		case v.Out.Steps == 0 && v.Power.Value == numa.PoweredOn:
			idle = append(idle, v.Name)
		}
	}
	say(homeless, "found no host")
	say(idle, "should run and never did")
	say(s.tooWide(), "would be refused by ESXi at power-on")
	var missing []string
	var most *VM
	for _, v := range s.Order {
		if v.Missing() > 0 {
			missing = append(missing, v.Name)
			if most == nil || v.Missing() > most.Missing() {
				most = v
			}
		}
	}
	if most != nil {
		out = append(out, fmt.Sprintf("memory of %s was swapped or ballooned, most of all %s: %s", words.Plural(len(missing), "VM"), most.Name, most.TakenText()))
	}
	return out
}

// nowhere returns the VMs, by index, for which no host was found.
func (s *Judged) nowhere() map[int]bool {
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
func (s *Judged) tooWide() (out []string) {
	machines := map[string]*vnuma.Machine{} // by name of the host
	for i := range s.Story.Fleet.Hosts {
		h := &s.Story.Fleet.Hosts[i]
		if m, err := vnuma.NewMachine(h); err == nil && !m.AllowWide {
			machines[h.Name] = &m
		}
	}
	for _, v := range s.VMs {
		for _, l := range v.Lives {
			if m := machines[l.Rec.Host]; m != nil && m.AllThreads > 0 && l.VCPUs > int(m.AllThreads) {
				out = append(out, fmt.Sprintf("%s with %d vCPUs on %s, which has %d logical CPUs", v.Name, l.VCPUs, l.Rec.Host, m.AllThreads))
				break
			}
		}
	}
	return out
}

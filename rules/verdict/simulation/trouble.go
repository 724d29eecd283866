package simulation

import (
	"fmt"
	"slices"

	"example.org/homenode/esxi/scheduler"
	"example.org/homenode/internal/words"
	"example.org/homenode/rules/simulate"
)

// Problems in a story that are not caused by NUMA: an overloaded fleet must not appear as
// healthy.

// trouble lists the VMs that found no host, never ran, could not be powered on by ESXi, or
// missed memory.
func (s *Judged) trouble() (out []string) {
	say := func(vms []string, one, more string) {
		if len(vms) > 0 {
			out = append(out, fmt.Sprintf("%s: %s", words.Verb(len(vms), "VM "+one, "VMs "+more), words.Few(vms)))
		}
	}
	var homeless, idle, denied []string
	why := map[int]string{}
	for _, d := range s.Outcome.Denied {
		if why[d.VM] == "" && !d.Stays {
			why[d.VM] = d.Why
			denied = append(denied, fmt.Sprintf("%s (%s)", s.vmName(d.VM), d.Why))
		}
	}
	for i, v := range s.VMs {
		switch {
		case why[i] != "":
		case v.Nowhere:
			homeless = append(homeless, v.Name)
		case v.Out.Steps == 0 && v.Power.Known() && v.MayRun():
			idle = append(idle, v.Name)
		}
	}
	say(homeless, "found no host", "found no host")
	say(idle, "should run and never did", "should run and never did")
	say(denied, "does not power on", "do not power on")
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

// stayed says which VMs a vMotion of the story did not move, and why; "" for none.
func (s *Judged) stayed() string {
	var all []string
	for _, d := range s.Outcome.Denied {
		if d.Stays {
			all = append(all, fmt.Sprintf("%s to %s (%s)", s.vmName(d.VM), s.hostName(d.Host), d.Why))
		}
	}
	if all == nil {
		return ""
	}
	return fmt.Sprintf("%s refused: %s. ", words.Verb(len(all), "vMotion is", "vMotions are"), words.Few(all))
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

// Stranded reports whether a VM did not run where it should: no host was found for it, ESXi does not power it on, or no vMotion takes it there.
func Stranded(r *simulate.Result) bool {
	return len(r.Outcome.Denied) > 0 || slices.ContainsFunc(r.Outcome.Decisions, func(d scheduler.Decision) bool { return d.Kind == scheduler.NoRoom })
}

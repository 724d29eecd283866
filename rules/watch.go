package rules

import (
	"cmp"
	"slices"

	"homenode/capture"
	"homenode/finding"
	"homenode/numa"
	"homenode/policy"
	"homenode/rule"
)

// A Watched is a judged set of recordings.
type Watched struct {
	Recordings []*capture.Recording // one a host, by name
	Findings   []finding.Finding    // highest severity first, then by rule and subject
	// Fleet is the judged inventory; nil when none was given.
	Fleet *Result
	// Joined finds the VM of the inventory for a recorded one; VMs that the inventory
	// does not hold, or not for certain, are absent.
	Joined map[*capture.VM]*rule.VM
	Notes  []numa.Note // what could not be judged, or not for certain, and why

	Policy      *policy.Policy
	Suppressed  []policy.Suppressed
	Off         int
	PolicyNotes []numa.Note
}

// Watch applies every rule that judges recordings. fleet is the judged inventory, or
// nil; its findings are not repeated.
func Watch(recordings []*capture.Recording, fleet *Result, o Options) *Watched {
	w := &Watched{Recordings: recordings, Fleet: fleet, Joined: map[*capture.VM]*rule.VM{}, Policy: o.Policy}
	machines := w.join()
	for _, rec := range recordings {
		machine := machines[rec]
		for _, one := range All {
			if one.Watch == nil {
				continue
			}
			if !one.VMs || one.Hosts {
				w.watch(&rule.Watch{Rule: one, Host: rec, Machine: machine, Thresholds: o.thresholds()})
			}
			for i := range rec.VMs {
				if v := &rec.VMs[i]; one.VMs {
					w.watch(&rule.Watch{Rule: one, Host: rec, VM: v, Machine: machine, Predicted: w.Joined[v], Thresholds: o.thresholds()})
				}
			}
		}
	}
	w.apply(o)
	slices.SortStableFunc(w.Findings, func(a, b finding.Finding) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Host, b.Host), cmp.Compare(a.VM, b.VM))
	})
	return w
}

func (w *Watched) watch(one *rule.Watch) {
	one.Rule.Watch(one)
	w.Findings = append(w.Findings, one.Findings...)
}

// join finds the hosts and VMs of the recordings in the inventory.
func (w *Watched) join() map[*capture.Recording]*numa.Host {
	return nil
}

// apply takes out what the configuration suppresses or switches off.
func (w *Watched) apply(o Options) {
	if o.Policy == nil {
		return
	}
	fleet := &numa.Fleet{}
	if w.Fleet != nil {
		fleet = w.Fleet.Fleet
	}
	a := o.Policy.Apply(w.Findings, fleet, o.Today)
	w.Findings, w.Suppressed, w.Off, w.PolicyNotes = a.Findings, a.Suppressed, a.Off, a.Notes
}

// AtLeast counts the findings of severity s or more.
func (w *Watched) AtLeast(s finding.Severity) int {
	n := 0
	for i := range w.Findings {
		if w.Findings[i].Severity >= s {
			n++
		}
	}
	return n
}

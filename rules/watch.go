package rules

import (
	"cmp"
	"slices"
	"time"

	"homenode/capture"
	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/headroom"
	"homenode/rules/rule"
)

// A Watched is a judged set of recordings.
type Watched struct {
	Judgement
	Recordings []*capture.Recording // one a host, by name
	// Fleet is the judged inventory; nil when none was given.
	Fleet *Result
	// Joined finds the VM of the inventory for a recorded one; VMs that the inventory
	// does not hold, or not for certain, are absent.
	Joined map[*capture.VM]*rule.VM
	Notes  []numa.Note // what could not be judged, or not for certain, and why
	Unread int         // files of which nothing could be read
	Muted  []Muted     // findings that the configuration takes away, but for Suppressed
	Laxer  []string    // threschecks that may keep a rule silent which would speak by default
	Filter string      // what of the recordings is shown; "" for all of it
}

// Watch applies every rule that judges recordings. fleet is the judged inventory, or
// nil; its findings are not repeated.
func Watch(recordings []*capture.Recording, fleet *Result, o Options) *Watched {
	w := &Watched{Recordings: recordings, Fleet: fleet, Joined: map[*capture.VM]*rule.VM{}}
	machines := w.join()
	w.apply(machines, o)
	if o.Policy != nil {
		inventory := &numa.Fleet{}
		if fleet != nil {
			inventory = fleet.Fleet
		}
		w.Muted = append(mute(o.Policy, w.Findings), w.hidden(w.Findings, machines, o)...)
		w.take(o.Policy, o.Policy.ApplyRecorded(w.Findings, inventory, o.Today))
	}
	w.Laxer = w.laxer()
	slices.SortStableFunc(w.Findings, func(a, b finding.Finding) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Host, b.Host), cmp.Compare(a.VM, b.VM))
	})
	return w
}

// apply applies the rules to all hosts and VMs.
func (w *Watched) apply(machines map[*capture.Recording]*numa.Host, o Options) {
	for _, rec := range w.Recordings {
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
}

func (w *Watched) watch(one *rule.Watch) {
	one.Rule.Watch(one)
	w.Findings = append(w.Findings, one.Findings...)
}

// Foresee returns the findings about a host of the inventory, by its ID, that has no room for the load peaks to come.
func Foresee(r *Result, host string, peaks []headroom.Peak, now time.Time, o Options) []finding.Finding {
	for _, c := range r.Clusters {
		for _, h := range c.Hosts {
			if h.ID != host || len(peaks) == 0 {
				continue
			}
			p := rule.Pass{Rule: headroom.Rule, Cluster: c, Host: h, Choices: o.Choices, Thresholds: o.thresholds()}
			headroom.Foresee(&p, peaks, now)
			if o.Policy != nil {
				return o.Policy.Apply(p.Findings, r.Fleet, o.Today).Findings
			}
			return p.Findings
		}
	}
	return nil
}

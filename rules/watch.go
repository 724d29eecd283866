package rules

import (
	"cmp"
	"slices"
	"time"

	"example.org/homenode/capture"
	"example.org/homenode/numa"
	"example.org/homenode/rules/check/headroom"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

// A Watched is an assessed set of recordings.
type Watched struct {
	Judgement
	Recordings []*capture.Recording // one per host, by name
	// Fleet is the assessed inventory; nil if none was given.
	Fleet *Result
	// Joined maps a recorded VM to that of the inventory; VMs without a match, or without a certain one, are absent.
	Joined map[*capture.VM]*rule.VM
	Notes  []numa.Note // objects that could not be assessed, or not for certain, with the reason
	Unread int         // number of unreadable files
	Muted  []Muted     // findings that the configuration hides, except Suppressed
	Laxer  []string    // thresholds that may prevent a finding that the defaults would report
	Filter string      // describes the part of the recordings that is shown; "" for all of it
}

// Blind reports whether the recordings show hosts of several nodes, and nothing about NUMA of any VM on them.
func (w *Watched) Blind() bool {
	several, vms := false, 0
	for _, r := range w.Recordings {
		several = several || len(r.Nodes) > 1
		for i := range r.VMs {
			if v := &r.VMs[i]; v.HasMemory || v.HasHomes || v.HasMoves || v.Percents.Alone > 0 || len(v.LastNode) > 1 {
				return false
			}
			vms++
		}
	}
	return several && vms > 0 && len(w.Findings) == 0
}

// Watch applies every rule for recordings. fleet is the assessed inventory, or nil; its findings are not repeated.
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
	settings := map[string][]*finding.Finding{} // by the ID of the VM
	if w.Fleet != nil {
		for i := range w.Fleet.Findings {
			f := &w.Fleet.Findings[i]
			settings[f.VMID] = append(settings[f.VMID], f)
		}
	}
	from, to := w.moved()
	for _, rec := range w.Recordings {
		machine := machines[rec]
		for _, one := range All {
			if one.Watch == nil {
				continue
			}
			if !one.VMs || one.Hosts {
				w.watch(&rule.Watch{Rule: one, Host: rec, Machine: machine, Joined: w.Joined, Thresholds: o.thresholds()})
			}
			for i := range rec.VMs {
				if v := &rec.VMs[i]; one.VMs {
					at := &rule.Watch{Rule: one, Host: rec, VM: v, Machine: machine, Predicted: w.Joined[v], Thresholds: o.thresholds(), From: from[v], To: to[v]}
					if at.Predicted != nil {
						at.Settings = settings[at.Predicted.ID]
					}
					w.watch(at)
				}
			}
		}
	}
}

func (w *Watched) watch(one *rule.Watch) {
	one.Rule.Watch(one)
	w.Findings = append(w.Findings, one.Findings...)
}

// Foresee returns the findings about a host of the inventory, given by its ID, that has no room for the coming load
// peaks.
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

package rules

import (
	"fmt"
	"slices"

	"homenode/capture"
	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/policy"
)

// A Muted is a finding that counts for less, or not at all, by the configuration alone, or
// that is not shown: no verdict may deny it. Suppressed findings are kept apart.
type Muted struct {
	finding.Finding
	Why string
}

// The reasons of Muted.
const (
	MutedOff        = "off"
	MutedSeverity   = "severity"
	MutedThresholds = "thresholds"
	MutedFilter     = "filter" // of any severity; the others are medium or high
)

// mute returns the findings that severities and switched-off rules take away.
func mute(p *policy.Policy, all []finding.Finding) (out []Muted) {
	for _, f := range all {
		s, set := p.Severities[f.Rule]
		switch {
		case f.Severity < finding.Medium:
		case p.Off[f.Rule]:
			out = append(out, Muted{f, MutedOff})
		case set && s < finding.Medium:
			out = append(out, Muted{f, MutedSeverity})
		}
	}
	return out
}

// hidden returns the findings that there would be with the default thresholds of the
// rules that decide after the recording.
func (w *Watched) hidden(all []finding.Finding, machines map[*capture.Recording]*numa.Host, o Options) (out []Muted) {
	if len(o.thresholds()) == 0 {
		return nil
	}
	bare := &Watched{Recordings: w.Recordings, Joined: w.Joined}
	bare.apply(machines, Options{Choices: o.Choices})
	for _, f := range bare.Findings {
		same := func(g finding.Finding) bool {
			return f.Rule == g.Rule && f.Host == g.Host && f.VM == g.VM && f.GID == g.GID && f.Nth == g.Nth
		}
		if f.Severity >= finding.Medium && !slices.ContainsFunc(all, same) {
			out = append(out, Muted{f, MutedThresholds})
		}
	}
	return out
}

// laxer names the thresholds by which the recordings were counted and which are laxer than
// their defaults, with a value for which that made a difference: "M004.busy 150 %, not 80 %".
func (w *Watched) laxer() (out []string) {
	usual := CaptureOptions(nil)
	for _, one := range []struct {
		id, name string
		lax      func(o *capture.Options) bool
		matters  func(r *capture.Recording) bool
	}{
		{"M001", "locality", func(o *capture.Options) bool { return o.Locality < usual.Locality }, anyVM(func(v *capture.VM) bool {
			all := v.Least.Local + v.Least.Remote
			return all > 0 && float64(v.Least.Local) < usual.Locality*float64(all)
		})},
		{"M005", "remote", func(o *capture.Options) bool { return o.Remote > usual.Remote }, anyVM(func(v *capture.VM) bool { return v.Remote.Most >= usual.Remote })},
		{"M004", "busy", func(o *capture.Options) bool { return o.BusyNode > usual.BusyNode }, busyAt(usual.BusyNode)},
		{"M004", "idle", func(o *capture.Options) bool { return o.IdleNode < usual.IdleNode }, busyAt(usual.BusyNode)},
		{"M009", "ready", func(o *capture.Options) bool { return o.Ready > usual.Ready }, anyVM(func(v *capture.VM) bool {
			peak, ok := v.Ready.Peak()
			return ok && peak >= usual.Ready
		})},
		{"M008", "free", func(o *capture.Options) bool { return o.SpillFree > usual.SpillFree }, anyVM(func(v *capture.VM) bool { return v.Remote.Most >= usual.SpillStep })},
		{"M008", "step", func(o *capture.Options) bool { return o.SpillStep > usual.SpillStep }, anyVM(func(v *capture.VM) bool { return v.Remote.Most >= usual.SpillStep })},
		{"M010", "share", func(o *capture.Options) bool { return o.Lopsided > usual.Lopsided }, anyVM(func(v *capture.VM) bool { return len(v.LastNode) > 1 && v.LastHomes.Len() > 1 })},
	} {
		i := slices.IndexFunc(w.Recordings, func(r *capture.Recording) bool { return one.lax(&r.Options) && one.matters(r) })
		if i < 0 {
			continue
		}
		t := w.Rule(one.id).Named(one.name)
		out = append(out, fmt.Sprintf("%s.%s is %s, not %s", one.id, one.name, t.Write(counted(&w.Recordings[i].Options, one.id+"."+one.name)), t.Write(t.Default)))
	}
	return out
}

func anyVM(ok func(*capture.VM) bool) func(*capture.Recording) bool {
	return func(r *capture.Recording) bool {
		for i := range r.VMs {
			if ok(&r.VMs[i]) {
				return true
			}
		}
		return false
	}
}

func busyAt(share float64) func(*capture.Recording) bool {
	return func(r *capture.Recording) bool {
		return slices.ContainsFunc(r.Nodes, func(n capture.Node) bool {
			peak, ok := n.Busy.Peak()
			return ok && peak >= share
		})
	}
}

// counted returns the value that a recording was counted by, in the unit of the threshold.
func counted(o *capture.Options, name string) float64 {
	switch name {
	case "M001.locality":
		return o.Locality
	case "M005.remote":
		return float64(o.Remote) / float64(numa.GiB)
	case "M004.busy":
		return o.BusyNode
	case "M004.idle":
		return o.IdleNode
	case "M009.ready":
		return o.Ready
	case "M008.free":
		return float64(o.SpillFree) / float64(numa.GiB)
	case "M008.step":
		return float64(o.SpillStep) / float64(numa.GiB)
	}
	return o.Lopsided
}

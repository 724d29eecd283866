package rules

import (
	"fmt"
	"slices"

	"example.org/homenode/capture"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/policy"
)

// A Muted is a finding that counts less, or not at all, only because of the configuration, or
// that is not shown: no verdict may contradict it. Suppressed findings are listed separately.
type Muted struct {
	finding.Finding
	Why string
}

// The reasons of Muted.
const (
	MutedOff        = "off"
	MutedSeverity   = "severity"
	MutedThresholds = "thresholds"
	MutedFilter     = "filter" // of any severity; those with other reasons are medium or high
)

// mute returns the findings that are hidden by severities and switched-off rules.
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

// hidden returns the findings of medium or high severity that only the default thresholds give,
// of the rules that are evaluated after the recording.
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

// laxer lists the thresholds of the recordings that are laxer than their defaults, if a value
// is between the two: "M004.busy 150 %, not 80 %".
func (w *Watched) laxer() (out []string) {
	usual := CaptureOptions(nil)
	const above, below = 1, -1 // a threshold is laxer above or below its default
	gib := func(b numa.Bytes) float64 { return float64(b) / float64(numa.GiB) }
	for _, one := range []struct {
		id, name string
		laxer    float64
		value    func(o *capture.Options) float64 // in the unit of the threshold
		matters  func(r *capture.Recording) bool
	}{
		{"M001", "locality", below, func(o *capture.Options) float64 { return o.Locality }, anyVM(func(v *capture.VM) bool {
			all := v.Least.Local + v.Least.Remote
			return all > 0 && float64(v.Least.Local) < usual.Locality*float64(all)
		})},
		{"M005", "remote", above, func(o *capture.Options) float64 { return gib(o.Remote) }, anyVM(func(v *capture.VM) bool { return v.Remote.Most >= usual.Remote })},
		{"M004", "busy", above, func(o *capture.Options) float64 { return o.BusyNode }, busyAt(usual.BusyNode)},
		{"M004", "idle", below, func(o *capture.Options) float64 { return o.IdleNode }, busyAt(usual.BusyNode)},
		{"M009", "ready", above, func(o *capture.Options) float64 { return o.Ready }, anyVM(func(v *capture.VM) bool {
			peak, ok := v.Ready.Peak()
			return ok && peak >= usual.Ready
		})},
		{"M008", "free", above, func(o *capture.Options) float64 { return gib(o.SpillFree) }, anyVM(func(v *capture.VM) bool { return v.Remote.Most >= usual.SpillStep })},
		{"M008", "step", above, func(o *capture.Options) float64 { return gib(o.SpillStep) }, anyVM(func(v *capture.VM) bool { return v.Remote.Most >= usual.SpillStep })},
		{"M010", "share", above, func(o *capture.Options) float64 { return o.Lopsided }, anyVM(func(v *capture.VM) bool { return len(v.LastNode) > 1 && v.LastHomes.Len() > 1 })},
	} {
		i := slices.IndexFunc(w.Recordings, func(r *capture.Recording) bool {
			return one.laxer*(one.value(&r.Options)-one.value(&usual)) > 0 && one.matters(r)
		})
		if i < 0 {
			continue
		}
		t := w.Rule(one.id).Named(one.name)
		out = append(out, fmt.Sprintf("%s.%s is %s, not %s", one.id, one.name, t.Write(one.value(&w.Recordings[i].Options)), t.Write(t.Default)))
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

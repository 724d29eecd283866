package rule

import (
	"homenode/capture"
	"homenode/numa"
	"homenode/rules/finding"
)

// A Watch is one rule's look at one subject of a recording: at what a host and its VMs
// did, in contrast to a Pass, which looks at what their settings let expect.
type Watch struct {
	Rule *Rule
	Host *capture.Recording
	VM   *capture.VM // the subject of a rule with VMs; nil for a rule about the host

	// What the inventory says, when one was given and holds the subject.
	Predicted *VM        // of VM
	Machine   *numa.Host // of Host

	Thresholds map[string]float64 // as in Pass
	Findings   []finding.Finding
}

// Threshold returns the rule's threshold with this name, as Pass.Threshold does.
func (w *Watch) Threshold(name string) float64 { return w.Rule.threshold(name, w.Thresholds) }

// Report adds a finding about the subject. The rule and the names are filled in; the
// rule sets From and To, which drawings mark.
func (w *Watch) Report(f finding.Finding) {
	f.Rule, f.Title = w.Rule.ID, w.Rule.Title
	f.Host = w.Host.Host
	if w.Machine != nil {
		f.Host, f.HostID = w.Machine.Name, w.Machine.ID
	}
	if w.VM != nil {
		f.VM, f.GID, f.Nth = w.VM.Name, w.VM.GID, w.VM.Nth
	}
	if w.Predicted != nil {
		f.VMID = w.Predicted.ID
	}
	w.Predicted.stay(&f)
	w.rename(f.Evidence)
	w.Findings = append(w.Findings, f)
}

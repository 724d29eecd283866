package rule

import (
	"example.org/homenode/capture"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
)

// A Watch is the assessment of one subject of a recording by one rule: of the behaviour of a
// host and its VMs, whereas a Pass assesses the predictions from their settings.
type Watch struct {
	Rule *Rule
	Host *capture.Recording
	VM   *capture.VM // the subject of a rule with VMs; nil for a rule about the host

	// Facts of the inventory, if one was given and contains the subject.
	Predicted *VM        // of VM
	Machine   *numa.Host // of Host
	Joined    map[*capture.VM]*VM
	// Crowd are the VMs of a busy node, for a rule about the host; nil for one that the inventory does not contain.
	Crowd []*VM
	// Settings are the findings about VM in the inventory, the worst first.
	Settings []*finding.Finding
	// From and To are the hosts that the recorded VM came from and went to by vMotion; "" if it did not, or if the
	// recordings do not show it.
	From, To string

	Thresholds map[string]float64 // as in Pass
	Findings   []finding.Finding
}

// Threshold returns the rule's threshold with this name, like Pass.Threshold.
func (w *Watch) Threshold(name string) float64 { return w.Rule.threshold(name, w.Thresholds) }

// Report adds a finding about the subject. The rule and the names are set here; the rule sets
// From and To, which drawings mark.
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

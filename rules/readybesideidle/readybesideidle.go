// Package readybesideidle finds VMs that waited for cores while other nodes idled.
package readybesideidle

import (
	_ "embed"
	"fmt"

	"homenode/numa"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

//go:embed readybesideidle.md
var page string

// Rule is M009.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Watch: watch, Needs: []string{"% Ready", "Numa Home Nodes", "Numa Node % Util Time"}})

func watch(w *rule.Watch) {
	v := w.VM
	s := &v.Starved.Longest
	if v.Starved.Count == 0 || s.Length().Minutes() < w.Threshold("minutes") {
		return
	}
	at := &v.StarvedAt
	limit := rule.Percent(w.Host.Options.Ready)
	worst := rule.Percent(s.Worst)
	f := finding.Finding{
		From: s.From, To: s.To,
		Severity: finding.High,
		Message: fmt.Sprintf("ready time of each vCPU was %s or more for %s, %s, up to %s, while cores idled: node %d was %s busy and node %d %s at %s",
			limit, rule.Duration(s.Length()), w.Span(s), worst, at.Busiest, rule.Percent(at.Busy), at.Idlest, rule.Percent(at.Idle), rule.Moment(at.Time)),
		Evidence: []finding.Evidence{
			w.Limit("ready", limit),
			rule.Saw("waited for", rule.Duration(s.Length()), rule.FieldRDY, s.From),
			rule.Saw("most ready time", worst, rule.FieldRDY, s.At),
			rule.Saw(fmt.Sprintf("load of node %d, a home", at.Busiest), rule.Percent(at.Busy), rule.FieldNode, at.Time),
			rule.Saw(fmt.Sprintf("load of node %d", at.Idlest), rule.Percent(at.Idle), rule.FieldNode, at.Time),
		},
	}
	if w.Predicted != nil && w.Predicted.CPULimit.Known() && w.Predicted.CPULimit.Value > 0 {
		f.Severity = finding.Medium
		f.Evidence = append(f.Evidence, finding.Of("CPU limit (MHz)", w.Predicted.CPULimit, w.Predicted.At))
		f.Assumes = append(f.Assumes, fmt.Sprintf("the CPU limit of %d MHz is not what the VM waits for: see %%MLMTD", w.Predicted.CPULimit.Value))
	}
	f.Advice = advice(w, &f)
	w.Report(f)
}

// advice says what lets the VM run.
func advice(w *rule.Watch, f *finding.Finding) string {
	text := "Power-cycle the VM, or move it to another host and back, so that it is placed anew (a reboot does not); or move another VM off the host"
	if o := w.On(); o != nil {
		m, largest := &o.Kind.Machine, o.Layout.PPDs.Max()
		most, crowded := w.Predicted.Crowded(o.Kind)
		switch {
		case crowded:
			text = fmt.Sprintf("Use at most %d vCPUs: it has more than the host runs at once", most)
		case m.Cores > 0 && int(m.Cores)%largest != 0 && largest*2 > int(m.Cores):
			text += fmt.Sprintf("; its clients of %d vCPUs leave %d cores of a node unused, and none other of their size fits beside them", largest, int(m.Cores)-largest)
			f.Evidence = append(f.Evidence, w.Predicted.VCPUsEvidence(), o.Kind.NodesEvidence())
		}
	}
	if r := w.Release(); r >= numa.ESX41 && r < numa.ESX41+2 {
		f.Evidence = append(f.Evidence, w.ReleaseEvidence())
		return text + ". KB 309166: update to 4.1 U2 or later, which places clients of wide VMs better"
	}
	if a := w.Affinity(); a.Known && a.On {
		f.Evidence = append(f.Evidence, a.Evidence)
		text += ". When VMs that communicate sit on the node, action affinity may hold them there (KB 314059): " + rule.ActionAffinity + " = 0 lets them go"
		if a.Assumes != "" {
			f.Assumes = append(f.Assumes, a.Assumes)
		}
	}
	return text
}

// Package readybesideidle finds VMs that waited for cores while other nodes were idle.
package readybesideidle

import (
	_ "embed"
	"fmt"

	"example.org/homenode/internal/words"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
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
	limit := words.Percent(w.Host.Options.Ready)
	worst := words.Percent(s.Worst)
	f := finding.Finding{
		From: s.From, To: s.To,
		Severity: finding.High,
		Bad:      fmt.Sprintf("each vCPU waited up to %s of the time while node %d idled", worst, at.Idlest),
		Message: fmt.Sprintf("ready time of each vCPU was %s or more for %s, %s, up to %s, while cores idled: node %d was %s busy and node %d %s at %s",
			limit, words.Duration(s.Length()), w.Span(s), worst, at.Busiest, words.Percent(at.Busy), at.Idlest, words.Percent(at.Idle), words.Moment(at.Time)),
		Evidence: []finding.Evidence{
			w.Limit("ready", limit),
			rule.Saw("waited for", words.Duration(s.Length()), rule.FieldRDY, s.From),
			rule.Saw("most ready time", worst, rule.FieldRDY, s.At),
			rule.Saw(fmt.Sprintf("load of node %d, a home", at.Busiest), words.Percent(at.Busy), rule.FieldNode, at.Time),
			rule.Saw(fmt.Sprintf("load of node %d", at.Idlest), words.Percent(at.Idle), rule.FieldNode, at.Time),
		},
	}
	if w.Predicted != nil && w.Predicted.CPULimit.Known() && w.Predicted.CPULimit.Value > 0 {
		f.Severity = finding.Medium
		f.Evidence = append(f.Evidence, finding.Of("CPU limit (MHz)", w.Predicted.CPULimit, w.Predicted.At))
		f.Assumes = append(f.Assumes, fmt.Sprintf("the CPU limit of %d MHz is not what the VM waits for: see %%MLMTD", w.Predicted.CPULimit.Value))
	}
	left := rule.ReadyCauses.Judge(w)
	left.Explain(&f)
	w.Report(f)
}

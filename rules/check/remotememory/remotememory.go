// Package remotememory finds VMs with gigabytes of remote memory despite a fair N%L.
package remotememory

import (
	_ "embed"
	"fmt"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed remotememory.md
var page string

// Rule is M005.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, VMs: true, Watch: watch, Needs: []string{"Numa Local Memory MBytes"}})

func watch(w *rule.Watch) {
	v := w.VM
	s := &v.Far.Longest
	if v.Far.Count == 0 || s.Length().Minutes() < w.Threshold("minutes") || w.LowForLong() && v.Far.Time <= 2*v.Low.Time {
		return
	}
	limit := w.Host.Options.Remote.String()
	most := numa.Bytes(s.Worst)
	f := finding.Finding{
		From: s.From, To: s.To,
		Severity: finding.Medium,
		Bad:      fmt.Sprintf("up to %s remote", most),
		Message:  fmt.Sprintf("%s or more were remote for %s, %s: %s at the most", limit, words.Duration(s.Length()), w.Span(s), most),
		Evidence: []finding.Evidence{
			w.Limit("remote", limit),
			rule.Saw("that much remote for", words.Duration(s.Length()), rule.FieldNRMEM, s.From),
			rule.Saw("most remote memory", most.String(), rule.FieldNRMEM, s.At),
		},
	}
	f.Message += w.Again(&v.Far)
	least, ok := rule.LeastLocality(v, s.From, s.To)
	if mean, known := rule.MeanLocality(v, s.From, s.To); ok && known {
		hides := " hides it:"
		if least < w.Host.Options.Locality {
			hides = " was"
		}
		f.Message += fmt.Sprintf("; N%%L%s %s on average in that time, %s at worst", hides, rule.NL(mean), rule.NL(least))
		f.Evidence = append(f.Evidence, finding.Evidence{Name: "mean N%L of that time", Value: rule.NL(mean), Origin: "derived: " + rule.FieldBoth, At: words.Moment(s.From)}, rule.Saw("least N%L of that time", rule.NL(least), rule.FieldBoth, s.From))
	}
	if ok && least >= w.Threshold("fair") {
		f.Severity = finding.Low
		f.Evidence = append(f.Evidence, w.Limit("fair", rule.NL(w.Threshold("fair"))))
	}
	w.ExplainRemote(&f, s)
	w.Report(f)
}

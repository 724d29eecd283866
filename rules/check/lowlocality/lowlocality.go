// Package lowlocality finds VMs whose memory was remote for a long time.
package lowlocality

import (
	_ "embed"
	"fmt"

	"example.org/homenode/capture"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed lowlocality.md
var page string

// Rule is M001.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Watch: watch, Needs: []string{"Numa Local Memory MBytes"}})

func watch(w *rule.Watch) {
	v := w.VM
	if !w.LowForLong() {
		return
	}
	s := &v.Low.Longest
	limit := rule.NL(w.Host.Options.Locality)
	f := finding.Finding{
		From: s.From, To: s.To,
		Severity: finding.Medium,
		Bad:      rule.NL(s.Worst) + " local at worst",
		Message:  fmt.Sprintf("N%%L was below %s for %s, %s: %s at worst", limit, words.Duration(s.Length()), w.Span(s), rule.NL(s.Worst)),
		Evidence: []finding.Evidence{
			w.Limit("locality", limit),
			rule.Saw("below it", words.Duration(s.Length()), rule.FieldBoth, s.From),
			rule.Saw("least N%L of that time", rule.NL(s.Worst), rule.FieldBoth, s.At),
		},
	}
	if l := &v.Least; l.Local+l.Remote > 0 && l.Time.Equal(s.At) {
		remote := fmt.Sprintf(" (%s of %s remote)", l.Remote, l.Local+l.Remote)
		f.Message += remote
		f.Bad += remote
		f.Evidence = append(f.Evidence, rule.Saw("remote", l.Remote.String(), rule.FieldNRMEM, l.Time), rule.Saw("local and remote", (l.Local+l.Remote).String(), rule.FieldBoth, l.Time))
	}
	f.Message += w.Again(&v.Low)
	if v.Managed > 0 {
		share := float64(v.Low.Time) / float64(v.Managed)
		text := words.Percent(share)
		f.Message += fmt.Sprintf("; it was below for %s of the %s that are judged", text, words.Duration(v.Managed))
		f.Evidence = append(f.Evidence, w.Counted("time below it", text, rule.FieldBoth))
		if share >= 0.5 { // a permanent state of the VM, not an episode
			f.Severity = finding.High
		}
	}
	if mean, ok := v.Remote.Mean(v.Managed); ok {
		mean -= mean % numa.MiB
		f.Message += fmt.Sprintf(", with %s remote on average", mean)
		f.Evidence = append(f.Evidence, w.Counted("mean remote memory", mean.String(), rule.FieldNRMEM))
	}
	w.ExplainRemote(&f, s)
	idle, little := Harmless(v, w.Threshold)
	if idle {
		used, _ := v.Used.Mean()
		f.Severity = finding.Low
		f.Message += "; the VM was idle on average"
		f.Evidence = append(f.Evidence, w.Counted("mean use of a vCPU", words.Percent(used), rule.FieldUSED))
	}
	if little {
		least := remote(w.Threshold)
		f.Severity = finding.Low
		f.Message += fmt.Sprintf("; less than %s were remote", least)
		f.Evidence = append(f.Evidence, w.Limit("remote", least.String()), rule.Saw("most remote memory", v.Remote.Most.String(), rule.FieldNRMEM, v.Remote.At))
	}
	w.Report(f)
}

// Harmless reports whether remote memory of the VM is of low severity: it idled on average, or had little of it at any time. threshold returns those of this rule
// by name.
func Harmless(v *capture.VM, threshold func(name string) float64) (idle, little bool) {
	used, ok := v.Used.Mean()
	return ok && v.VCPUs > 0 && used < threshold("idle"), v.Remote.Most < remote(threshold)
}

func remote(threshold func(name string) float64) numa.Bytes {
	return numa.Bytes(threshold("remote") * float64(numa.GiB))
}

// Package wronglocality finds sources whose N%L contradicts their own memory counters.
package wronglocality

import (
	_ "embed"
	"fmt"

	"example.org/homenode/internal/words"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed wronglocality.md
var page string

// Rule is M007.
var Rule = rule.New(page, rule.Rule{Severity: finding.Medium, VMs: true, Watch: watch, Needs: []string{"Numa % Local", "Numa Local Memory MBytes"}, Beside: true})

func watch(w *rule.Watch) {
	p := &w.VM.Percents
	if p.Wrong == 0 || float64(p.Wrong) < w.Threshold("ticks") || p.Local+p.Remote <= 0 {
		return
	}
	share := float64(p.Local) / float64(p.Local+p.Remote)
	f := finding.Finding{
		From: p.At, To: p.To,
		Severity: finding.Low,
		Message: fmt.Sprintf("N%%L reads %d where %s local and %s remote make %s; %d of %s are wrong like this",
			p.Shown, p.Local, p.Remote, rule.NL(share), p.Wrong, words.Plural(p.Ticks, "tick")),
		Advice: "Take N%L from local and remote memory, as the rest of this report does, and not from the source's own number; look at the place of the first for columns that slipped",
	}
	at := words.Moment(p.At)
	if p.File != "" && p.Line > 0 {
		at = fmt.Sprintf("%s:%d", p.File, p.Line)
		f.Message += ", first at " + at
	}
	for _, e := range []struct{ name, value, field string }{
		{"N%L as printed", fmt.Sprint(p.Shown), rule.FieldNL},
		{"local", p.Local.String(), rule.FieldNLMEM},
		{"remote", p.Remote.String(), rule.FieldNRMEM},
	} {
		f.Evidence = append(f.Evidence, finding.Evidence{Name: e.name, Value: e.value, Origin: "read: " + e.field, At: at})
	}
	f.Evidence = append(f.Evidence, finding.Evidence{Name: "N%L of that memory", Value: rule.NL(share), Origin: "derived: local ÷ (local + remote)", At: at},
		w.Counted("wrong ticks", fmt.Sprintf("%d of %d", p.Wrong, p.Ticks), rule.FieldNL))
	if limit := w.Host.Options.Locality; share < limit && float64(p.Shown)/100 >= limit {
		f.Severity = finding.Medium // an alarm on the printed number does not trigger
		f.Message += fmt.Sprintf("; it hides that N%%L is below %s", rule.NL(limit))
		f.Evidence = append(f.Evidence, w.Limit("M001.locality", rule.NL(limit)))
	}
	w.Report(f)
}

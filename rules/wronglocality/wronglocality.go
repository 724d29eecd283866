// Package wronglocality finds sources whose N%L contradicts their own memory counters.
package wronglocality

import (
	"fmt"

	"homenode/rules/finding"
	"homenode/rules/rule"
)

// Rule is M007.
var Rule = &rule.Rule{
	ID:    "M007",
	Name:  "wronglocality",
	Title: "the N%L of the source contradicts its local and remote memory",
	Why: `N%L is local memory as a share of local and remote memory, truncated. A source that prints another number
next to them is wrong in one of the three: LocalityPct of the esxtop API was seen to read 100 for a VM with remote
memory. Who alarms on that number alone misses the VM.`,
	Fix: `Trust local and remote memory (NLMEM, NRMEM), as homenode does, and compute N%L from them in other tools. An
error in the file, such as columns that slipped, shows here too: look at the line that is named.`,
	Limits: `A difference of 1 is rounding and not counted; so is the 0 that esxtop prints for a VM without memory on a node.
The counters of one tick are not read at the same instant: a single tick that is off while memory is on its way means
little.`,
	Book:     []string{"C-17"},
	Sources:  []string{"govmomi, host.esxtop, https://github.com/vmware/govmomi/pull/1654 (LocalityPct of 100 that is wrong)"},
	Severity: finding.Medium,
	Thresholds: []rule.Threshold{{
		Name: "ticks", Default: 2, Unit: rule.Count, Least: 1, Most: 1_000_000,
		Text: "ticks that have to be wrong: a single one may be memory on its way",
	}},
	VMs:    true,
	Watch:  watch,
	Needs:  []string{"Numa % Local", "Numa Local Memory MBytes"},
	Beside: true,
}

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
			p.Shown, p.Local, p.Remote, rule.NL(share), p.Wrong, rule.Plural(p.Ticks, "tick")),
		Advice: "Take N%L from local and remote memory, as the rest of this report does, and not from the source's own number; look at the place of the first for columns that slipped",
	}
	at := rule.Moment(p.At)
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
		f.Severity = finding.Medium // an alarm on the printed number stays silent
		f.Message += fmt.Sprintf("; it hides that N%%L is below %s", rule.NL(limit))
		f.Evidence = append(f.Evidence, w.Limit("M001.locality", rule.NL(limit)))
	}
	w.Report(f)
}

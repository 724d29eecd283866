package rules

import (
	"maps"
	"slices"

	"homenode/numa"
	"homenode/rule"
)

// apply takes out what the configuration suppresses or switches off, and gives rules
// the severities it names.
func (r *Result) apply(o Options) {
	if o.Policy == nil {
		return
	}
	a := o.Policy.Apply(r.Findings, r.Fleet, o.Today)
	r.Policy, r.Findings, r.Suppressed, r.Off = o.Policy, a.Findings, a.Suppressed, a.Off
	r.PolicyNotes = a.Notes
}

// thresholds returns the thresholds that the configuration sets; nil when none does.
func (o *Options) thresholds() map[string]float64 {
	if o.Policy == nil {
		return nil
	}
	return o.Policy.Thresholds
}

// SuppressedBy returns the suppressions at work, in their order in the configuration,
// each as a note that says what it accepts.
func (r *Result) SuppressedBy() []numa.Note {
	count := map[string]int{}
	subject := map[string]string{}
	for _, s := range r.Suppressed {
		if count[s.By.At]++; count[s.By.At] == 1 {
			subject[s.By.At] = s.Rule + " " + s.Subject()
		}
	}
	var out []numa.Note
	if r.Policy == nil {
		return nil
	}
	for _, s := range r.Policy.Suppress {
		n := count[s.At]
		if n == 0 {
			continue
		}
		text := rule.Plural(n, "finding") + " suppressed until " + s.Until + " (" + subject[s.At]
		if n > 1 {
			text += " …"
		}
		out = append(out, numa.Note{At: s.At, Text: text + "): " + s.Reason})
	}
	return out
}

// OffRules lists the rules that the configuration switches off.
func (r *Result) OffRules() []string {
	if r.Policy == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(r.Policy.Off))
}

package rules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/policy"
	"example.org/homenode/rules/rule"
)

// A Judgement contains the findings of rules, in a fleet or in recordings, after the configuration was applied.
type Judgement struct {
	Findings []finding.Finding // highest severity first, then by rule and subject

	Policy     *policy.Policy      // as given
	Suppressed []policy.Suppressed // findings that it accepts, not included in Findings
	Off        int                 // number of findings of rules that it switches off
	// Failed is the reason why an expectation of the configuration could not be evaluated; nil if all were.
	Failed error
	// PolicyNotes list suppressions that have ended or suppress nothing.
	PolicyNotes []numa.Note
}

// take stores the findings after the configuration was applied: it suppresses some, switches rules off, and
// changes severities.
func (j *Judgement) take(p *policy.Policy, a policy.Applied) {
	j.Policy, j.Findings, j.Suppressed, j.Off, j.PolicyNotes = p, a.Findings, a.Suppressed, a.Off, append(j.PolicyNotes, a.Notes...)
}

// A RuleCount is the number of findings of a rule with one severity.
type RuleCount struct {
	Rule     *rule.Rule
	Severity finding.Severity
	Findings []*finding.Finding
}

// Rule returns the rule with this ID; nil if there is none.
func (j *Judgement) Rule(id string) *rule.Rule {
	for _, one := range slices.Concat(All, j.Own()) {
		if one.ID == id {
			return one
		}
	}
	return nil
}

// Own returns the rules of the fleet's owner.
func (j *Judgement) Own() (out []*rule.Rule) {
	if j.Policy == nil {
		return nil
	}
	return j.Policy.Own()
}

// Counts groups the findings by severity and rule, in their order.
func (j *Judgement) Counts() []RuleCount {
	var out []RuleCount
	for i := range j.Findings {
		f := &j.Findings[i]
		if n := len(out); n == 0 || out[n-1].Rule.ID != f.Rule || out[n-1].Severity != f.Severity {
			out = append(out, RuleCount{Rule: j.Rule(f.Rule), Severity: f.Severity})
		}
		last := &out[len(out)-1]
		last.Findings = append(last.Findings, f)
	}
	return out
}

// AtLeast counts the findings of severity s or more.
func (j *Judgement) AtLeast(s finding.Severity) int {
	return words.Count(j.Findings, func(f finding.Finding) bool { return f.Severity >= s })
}

// SuppressedBy returns the effective suppressions, in their order in the configuration, each as a note that
// describes it.
func (j *Judgement) SuppressedBy() []numa.Note {
	count := map[string]int{}
	subject := map[string]string{}
	for _, s := range j.Suppressed {
		if count[s.By.At]++; count[s.By.At] == 1 {
			subject[s.By.At] = s.Rule + " " + s.Subject()
		}
	}
	var out []numa.Note
	if j.Policy == nil {
		return nil
	}
	for _, s := range j.Policy.Suppress {
		n := count[s.At]
		if n == 0 {
			continue
		}
		text := words.Plural(n, "finding") + " suppressed until " + s.Until + " (" + subject[s.At]
		if n > 1 {
			text += " …"
		}
		out = append(out, numa.Note{At: s.At, Text: text + "): " + s.Reason})
	}
	return out
}

// OffRules lists the rules that the configuration switches off.
func (j *Judgement) OffRules() []string {
	if j.Policy == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(j.Policy.Off))
}

// Unread reports the number of sources and files of folders that could not be read, or only in part; "" for none.
func (r *Result) Unread() string {
	if n := len(r.Fleet.Unread); n > 0 {
		return words.Plural(n, "source") + " could not be read completely"
	}
	return ""
}

// Filtered reports how many findings the filter shows and hides; "" if it hides none.
func (r *Result) Filtered() string {
	n := len(r.LeftOut)
	if n == 0 {
		return ""
	}
	shown := "No finding is shown"
	if len(r.Findings) > 0 {
		shown = words.Verb(len(r.Findings), "finding is shown", "findings are shown")
	}
	return fmt.Sprintf("%s; %s excluded by the filter, but counted below.", shown, words.Verb(n, "finding is", "findings are"))
}

// Nothing returns the reason why no VM was assessed.
func (r *Result) Nothing() string {
	if r.Whole != nil {
		r = r.Whole
	}
	if len(r.Fleet.VMs) == 0 && r.Fleet.Unread != nil {
		return "Nothing was assessed: no VM was found. These sources could not be read, are incomplete, or have an unknown format: " + words.Few(r.Fleet.Unread) + "."
	}
	if len(r.Fleet.VMs) == 0 {
		return "The inventory is empty: it lists no VM."
	}
	if n := r.Templates; n > 0 && n == len(r.Fleet.VMs) {
		return "There is no VM, only " + words.Plural(n, "template") + ", assessed for their future clones."
	}
	return "No VM could be judged."
}

// Missed counts the VMs that were not assessed, and returns the reasons without duplicates.
func (r *Result) Missed() (vms int, why []string) {
	whole := cmp.Or(r.Whole, r)
	hosts := whole.Fleet.HostsByID()
	judged := r.ByID()
	for i := range r.Fleet.VMs {
		v := &r.Fleet.VMs[i]
		if v.Template.Or(false) || judged[v.ID] != nil {
			continue
		}
		reason := r.homeless(v, hosts[v.Host])
		if _, _, err := vnuma.NewGuest(v); err != nil {
			reason = strings.TrimPrefix(err.Error(), "VM "+v.Name+": ")
		}
		if vms++; !slices.Contains(why, reason) {
			why = append(why, reason)
		}
	}
	return vms, why
}

// Slowed returns a sentence with the number of assessed VMs that NUMA slows much (high) and slightly (medium).
// by is the measure that could avoid it, and later is added to the slight ones, both as text.
func (r *Result) Slowed(high, medium int, by, later string) string {
	all := words.Plural(r.VMs, "VM")
	judged := all
	if r.Whole != nil && r.VMs > 1 && r.VMs < r.Whole.VMs {
		judged = "the " + all + " shown"
	}
	switch {
	case r.VMs == 0:
		return r.Nothing()
	case high == 0 && medium == 0:
		return fmt.Sprintf("No performance is lost to NUMA that %s could avoid (%s checked).", by, all)
	case high == 0:
		return fmt.Sprintf("NUMA slows none of %s much; %s slightly%s.", judged, words.Thousands(medium), later)
	case medium == 0:
		return fmt.Sprintf("NUMA slows %s of %s.", words.Thousands(high), judged)
	}
	return fmt.Sprintf("NUMA slows %s of %s; %s more slightly%s.", words.Thousands(high), judged, words.Thousands(medium), later)
}

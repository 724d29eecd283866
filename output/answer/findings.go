package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"homenode/internal/words"
	"homenode/numa"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// Findings are those of a judgement, of a fleet or of recordings, with what forms need to
// print them beside the answer that they are part of.
type Findings struct {
	*rules.Judgement
	Source  string       // what was judged
	Kind    string       // of judgement, in the ids of SARIF runs: "capture/"; "" for a fleet
	Nothing string       // why nothing could be judged; "" when something was
	Rules   []*rule.Rule // that were applied, in their order
	Watched bool         // of recordings: findings say when they held, and subjects in which file
	// Subject describes what a finding, also a suppressed one, is about.
	Subject func(*finding.Finding) Subject
	// Suites are everything that was judged, for JUnit: also what has no findings.
	Suites []Suite
	// Place is what a page can filter by, "Cluster" or "Host"; Places are those with
	// findings, in their order.
	Place  string
	Places []string
	// Rest says where a page's reader finds the findings that the page leaves out.
	Rest   string
	NoExit bool // they do not change the exit code
	// Properties are the numbers of the whole judgement in SARIF.
	Properties map[string]any
}

// A Subject is what a finding is about.
type Subject struct {
	Name  string // as a person reads it: cluster/vm
	Short string // under a heading that names the place
	Group string // subjects of one group stand for each other in a line
	Key   string // the same in every run; names may change
	ID    string // in its source
	At    string // where it was read; "" when unknown
	// File is the file that the finding is in, Line the line and Col the column from 1; "" is none for
	// what was watched, and else goes by At and the sources.
	File      string
	Line, Col int
	Place     string // by which a page filters
	When      string // it held
	Drawing   string // anchor of its drawing; "" without one
}

// A Suite is a cluster or host whose subjects were judged.
type Suite struct {
	Name  string
	Cases []Case
}

// A Case is one subject that was judged.
type Case struct {
	Name     string
	ID       string // told where a suite has a name twice
	Findings []*finding.Finding
	Skipped  string // why it was not judged; "" when it was
}

// RulesWhere returns the rules of which this is true, in their order.
func RulesWhere(ok func(*rule.Rule) bool) []*rule.Rule {
	return slices.DeleteFunc(slices.Clone(rules.All), func(one *rule.Rule) bool { return !ok(one) })
}

// SubjectID returns the ID of the VM or host that the finding is about.
func SubjectID(f *finding.Finding) string {
	if f.VMID != "" {
		return f.VMID
	}
	return f.HostID
}

// Anchor is the anchor on a page of the findings of a rule.
func Anchor(id string) string { return "rule-" + id }

// A First is something to do first: the worst finding of a rule, and how many others of that severity there are.
type First struct {
	*finding.Finding
	Subject Subject
	Alike   int
}

// Anchor is the anchor on a page of the findings of its rule.
func (f *First) Anchor() string { return Anchor(f.Rule) }

// mostFirst is how many things to do first are named.
const mostFirst = 5

// First returns what to do first: of the rules with findings of medium or high severity those of the highest, and among these
// those with the most findings.
func (f *Findings) First() []First {
	var out []First
	for _, c := range f.Counts() {
		again := slices.ContainsFunc(out, func(one First) bool { return one.Rule == c.Rule.ID })
		if c.Severity >= finding.Medium && !again {
			out = append(out, First{c.Findings[0], f.Subject(c.Findings[0]), len(c.Findings) - 1})
		}
	}
	slices.SortStableFunc(out, func(a, b First) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(b.Alike, a.Alike))
	})
	return out[:min(mostFirst, len(out))]
}

// References returns the rules of findings as links to them on the page, as one cell that
// sorts by the worst severity.
func References(findings []*finding.Finding) Cell {
	worst, parts := 0, []Cell(nil)
	var ids []string
	for _, f := range findings {
		worst = max(worst, int(f.Severity)+1)
		parts = append(parts, Cell{Text: f.Rule, Ref: Anchor(f.Rule), Tone: Faint + Tone(f.Severity)})
		ids = append(ids, f.Rule)
	}
	return Cell{Text: strings.Join(ids, " "), Parts: parts, Sort: fmt.Sprint(worst)}
}

// Named names the first subject of each group, which is a cluster or a host, and counts the
// others: "prod-a/sql01 +4, mixed/erp02 +3".
func (f *Findings) Named(findings []*finding.Finding) string {
	var order []string
	count, first := map[string]int{}, map[string]string{}
	for _, one := range findings {
		s := f.Subject(one)
		if count[s.Group]++; count[s.Group] == 1 {
			order, first[s.Group] = append(order, s.Group), s.Name
		}
	}
	const most = 3
	var parts []string
	for i, group := range order {
		if i == most {
			parts = append(parts, "…")
			break
		}
		s := first[group]
		if count[group] > 1 {
			s += fmt.Sprintf(" +%d", count[group]-1)
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, ", ")
}

// Assumed says how many of the findings rest on something that is not stated.
func Assumed(findings []*finding.Finding) string {
	n := 0
	for _, f := range findings {
		if f.Origin() == numa.Assumed {
			n++
		}
	}
	switch n {
	case 0:
		return ""
	case len(findings):
		return "assumed"
	}
	return fmt.Sprintf("%d assumed", n)
}

// Config says what the configuration changes: "homenode.yaml · 1 threshold · off: N002 (3
// findings)"; "" without one.
func (f *Findings) Config() string {
	if f.Policy == nil {
		return ""
	}
	s := f.Policy.File
	if n := len(f.Policy.Thresholds); n > 0 {
		s += " · " + words.Plural(n, "threshold")
	}
	if n := len(f.Policy.Severities); n > 0 {
		s += " · " + words.Verb(n, "severity", "severities")
	}
	if n := len(f.Own()); n > 0 {
		s += " · " + words.Plural(n, "expectation")
	}
	if off := f.OffRules(); len(off) > 0 {
		s += fmt.Sprintf(" · off: %s (%s)", strings.Join(off, ", "), words.Plural(f.Off, "finding"))
	}
	return s
}

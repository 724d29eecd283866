package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

// Findings are the findings of an assessment, of a fleet or of recordings, with the data that output forms need for printing
// them.
type Findings struct {
	*rules.Judgement
	Source  string       // source of the assessment
	Kind    string       // kind of assessment in the IDs of SARIF runs: "capture/"; "" for a fleet
	Nothing string       // why nothing could be assessed; "" if something was
	Rules   []*rule.Rule // the applied rules, in order
	Watched bool         // from recordings: findings have a time, and subjects a file
	// Subject describes the subject of a finding or suppressed finding.
	Subject func(*finding.Finding) Subject
	// Suites are all assessed objects for JUnit, including those without findings.
	Suites []Suite
	// Place is the filter of a page, "Cluster" or "Host". Places are the values with findings, in order.
	Place  string
	Places []string
	// Rest tells the reader of a page where to find the omitted findings.
	Rest   string
	NoExit bool // findings do not affect the exit code
	// Properties are the numbers of the assessment in SARIF.
	Properties map[string]any
}

// A Subject is the object of a finding.
type Subject struct {
	Name  string // display name: cluster/vm
	Short string // display name below a heading that names the place
	Group string // a line names only one subject of each group
	Key   string // stable between runs; names can change
	ID    string // in its source
	At    string // place in the source; "" if unknown
	// File is the file with the finding, Line its line and Col its column from 1. File is "" for live data; otherwise it is derived from At
	// and the sources.
	File      string
	Line, Col int
	Place     string // filter value of a page
	When      string // time of the finding
	Drawing   string // anchor of its drawing; "" for none
}

// A Suite is a cluster or host whose subjects were assessed.
type Suite struct {
	Name  string
	Cases []Case
}

// A Case is an assessed subject.
type Case struct {
	Name     string
	ID       string // shown if the name is not unique in the suite
	Findings []*finding.Finding
	Skipped  string // why it was not assessed; "" if it was
}

// RulesWhere returns the rules for which ok is true, in order.
func RulesWhere(ok func(*rule.Rule) bool) []*rule.Rule {
	return slices.DeleteFunc(slices.Clone(rules.All), func(one *rule.Rule) bool { return !ok(one) })
}

// SubjectID returns the ID of the VM or host of a finding.
func SubjectID(f *finding.Finding) string {
	return cmp.Or(f.VMID, f.HostID)
}

// Anchor returns the anchor on a page of the findings of a rule.
func Anchor(id string) string { return "rule-" + id }

// A First is a recommended first action: the largest case of the highest severity of a rule, with the number of others of this severity, and their names.
type First struct {
	*finding.Finding
	Subject Subject
	Alike   int
	Also    []string
}

// Anchor returns the anchor on a page of the findings of its rule.
func (f *First) Anchor() string { return Anchor(f.Rule) }

// mostFirst is the number of recommended first actions.
const mostFirst = 5

// First returns the recommended first actions. It considers rules with findings of medium or high severity: only those of the
// highest severity, and of these the rules with the most findings.
func (f *Findings) First() []First {
	var out []First
	for _, c := range f.Counts() {
		again := slices.ContainsFunc(out, func(one First) bool { return one.Rule == c.Rule.ID })
		if c.Severity >= finding.Medium && !again {
			rest := slices.DeleteFunc(slices.Clone(c.Findings), func(one *finding.Finding) bool { // a VM that is named already
				return one.VMID != "" && slices.ContainsFunc(out, func(o First) bool { return o.VMID == one.VMID })
			})
			if len(rest) == 0 {
				rest = c.Findings
			}
			largest := slices.MaxFunc(rest, (*finding.Finding).Larger)
			first := First{Finding: largest, Subject: f.Subject(largest), Alike: len(c.Findings) - 1}
			for _, one := range c.Findings {
				if one != largest {
					first.Also = words.Once(first.Also, f.Subject(one).Name)
				}
			}
			out = append(out, first)
		}
	}
	slices.SortStableFunc(out, func(a, b First) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(b.Alike, a.Alike))
	})
	return out[:min(mostFirst, len(out))]
}

// References returns links to the rules of findings on the page, as one cell that sorts by the worst severity.
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

// Named returns the first subject of each group, a cluster or host, with the number of others: "prod-a/sql01 +4, mixed/erp02
// +3". A subject of several findings counts once.
func (f *Findings) Named(findings []*finding.Finding) string {
	var order []string
	subjects, first := map[string]map[string]bool{}, map[string]string{}
	for _, one := range findings {
		s := f.Subject(one)
		if subjects[s.Group] == nil {
			order, first[s.Group], subjects[s.Group] = append(order, s.Group), s.Name, map[string]bool{}
		}
		subjects[s.Group][one.VMID+"\x00"+s.Short] = true // names of VMs repeat
		for _, host := range one.About {
			subjects[s.Group]["\x00"+host] = true
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
		if n := len(subjects[group]); n > 1 {
			s += fmt.Sprintf(" +%d", n-1)
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, ", ")
}

// Assumed reports how many findings depend on assumptions.
func Assumed(findings []*finding.Finding) string {
	n := words.Count(findings, func(f *finding.Finding) bool { return f.Origin() == numa.Assumed })
	switch n {
	case 0:
		return ""
	case len(findings):
		return "assumed"
	}
	return fmt.Sprintf("%d assumed", n)
}

// Config summarizes the effect of the configuration: "homenode.yaml · 1 threshold · off: N002 (3 findings)"; "" if there is
// none.
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

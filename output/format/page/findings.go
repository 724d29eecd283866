package page

import (
	"regexp"
	"strings"

	"homenode/output/answer"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// mostFindings is how many findings of a rule and severity a page lists.
const mostFindings = 200

// judgedPart is the section of findings.
type judgedPart struct {
	*answer.Findings
	Groups []severityGroup
}

// A severityGroup is the findings of one severity, by rule.
type severityGroup struct {
	Severity finding.Severity
	Findings int
	Open     bool
	Rules    []ruleGroup
}

// A ruleGroup is the findings of a rule with one severity.
type ruleGroup struct {
	*rule.Rule
	Anchor     string
	Shown      []shownFinding
	Count, Cut int
	Links      []link
}

// A link is a source of a rule, its address apart.
type link struct{ Text, URL string }

// A shownFinding is a finding with its subject and its evidence.
type shownFinding struct {
	*finding.Finding
	Subject answer.Subject
	Proof   []proof
}

// A proof is evidence, the kind of its origin apart: "read" and "config.hardware.numCPU".
type proof struct {
	finding.Evidence
	Kind, Where string
}

func judgedPartOf(j *answer.Findings) *judgedPart {
	p := &judgedPart{Findings: j}
	for _, c := range j.Counts() {
		if n := len(p.Groups); n == 0 || p.Groups[n-1].Severity != c.Severity {
			p.Groups = append(p.Groups, severityGroup{Severity: c.Severity, Open: c.Severity >= finding.Medium})
		}
		g := &p.Groups[len(p.Groups)-1]
		g.Findings += len(c.Findings)
		one := ruleGroup{Rule: c.Rule, Anchor: answer.Anchor(c.Rule.ID, c.Severity), Count: len(c.Findings), Links: linksOf(c.Rule.Sources)}
		for _, f := range c.Findings[:min(mostFindings, len(c.Findings))] {
			shown := shownFinding{Finding: f, Subject: j.Subject(f)}
			for _, e := range f.Evidence {
				kind, where, _ := strings.Cut(e.Origin, ": ")
				shown.Proof = append(shown.Proof, proof{e, kind, where})
			}
			one.Shown = append(one.Shown, shown)
		}
		one.Cut = one.Count - len(one.Shown)
		g.Rules = append(g.Rules, one)
	}
	return p
}

var address = regexp.MustCompile(`,?\s*(https?://\S+)\s*$`)

// linksOf separates the address at the end of each source.
func linksOf(sources []string) []link {
	out := make([]link, len(sources))
	for i, s := range sources {
		out[i].Text = s
		if m := address.FindStringSubmatchIndex(s); m != nil {
			out[i] = link{s[:m[0]], s[m[2]:m[3]]}
		}
	}
	return out
}

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
	Site   *Site
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
	Shown      []*shownFinding
	Count, Cut int
	Links      []link
	All        string // address of all of them in a site
}

// A link is a source of a rule, its address apart.
type link struct{ Text, URL string }

// A shownFinding is a finding with its subject and its evidence.
type shownFinding struct {
	*finding.Finding
	Subject answer.Subject
	Proof   []proof
	Link    string // the page in a site of what it is about
}

// A proof is evidence, the kind of its origin apart: "read" and "config.hardware.numCPU".
type proof struct {
	finding.Evidence
	Kind, Where string
}

func judgedPartOf(j *answer.Findings, site *Site) *judgedPart {
	p, most := &judgedPart{Findings: j, Site: site}, mostFindings
	if site != nil {
		most = site.Most
	}
	for _, c := range j.Counts() {
		if n := len(p.Groups); n == 0 || p.Groups[n-1].Severity != c.Severity {
			p.Groups = append(p.Groups, severityGroup{Severity: c.Severity, Open: c.Severity >= finding.Medium})
		}
		g := &p.Groups[len(p.Groups)-1]
		g.Findings += len(c.Findings)
		one := ruleGroup{Rule: c.Rule, Anchor: answer.Anchor(c.Rule.ID, c.Severity), Count: len(c.Findings), Links: linksOf(c.Rule.Sources)}
		if site != nil && site.Findings != nil {
			one.All = site.Findings(c.Rule.ID, c.Severity)
		}
		from := 0
		if site != nil {
			from = min(site.From, len(c.Findings))
		}
		for _, f := range c.Findings[from:min(from+most, len(c.Findings))] {
			shown := &shownFinding{Finding: f, Subject: j.Subject(f)}
			if shown.Link = shown.Object().Address(); site != nil && site.Subject != nil {
				shown.Link = site.Subject(f)
			}
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

// bare returns a source without the address at its end.
func bare(source string) string {
	if m := address.FindStringIndex(source); m != nil && m[0] > 0 {
		return source[:m[0]]
	}
	return source
}

// Object returns what the finding is about.
func (f *shownFinding) Object() answer.Object {
	switch {
	case f.VMID != "":
		return answer.Object{Kind: "vm", ID: f.VMID}
	case f.HostID != "":
		return answer.Object{Kind: "host", ID: f.HostID}
	case f.VM != "":
		return answer.Object{Kind: "vm", ID: f.VM}
	case f.Host != "":
		return answer.Object{Kind: "host", ID: f.Host}
	}
	return answer.Object{Kind: "cluster", ID: f.Cluster}
}

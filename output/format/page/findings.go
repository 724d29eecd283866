package page

import (
	"fmt"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/output/answer"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

// mostEntries is the maximum number of entries per rule in a file.
const mostEntries = 40

// judgedPart is the section of findings: a card for each rule.
type judgedPart struct {
	*answer.Findings
	First  []first
	Counts []severityCount
	Cards  []*ruleCard
	Quiet  []*ruleCard // cards without findings above low
	Silent string      // their number of findings: "26 low, 138 info"
	Site   *Site
}

// severityCount is the number of findings with a severity.
type severityCount struct {
	Severity finding.Severity
	Findings int
}

// A ruleCard has the findings of a rule, with the worst severity among them.
type ruleCard struct {
	*rule.Rule
	Severity   finding.Severity
	Anchor     string
	Entries    []*entry
	Count, Cut int // number of findings, and of findings that are not listed
	Counts     []severityCount
	Links      []link
	All        string // address of the complete list in a site
	Rest       string // where to find the findings that are not listed
	Site, Open bool
}

// A link is a source of a rule, with its address separated.
type link struct{ Text, URL string }

// An entry is findings of one rule with the same text about several VMs or hosts. The evidence is that of the
// first.
type entry struct {
	*finding.Finding
	Of []subject
}

// A first is a recommended first action.
type first struct {
	answer.First
	Link string // page of its object in a site
}

// A subject is the object of a finding of an entry.
type subject struct {
	answer.Subject
	Link string // its page in a site
}

// judgedPartOf returns the findings as a part of the page, and adds their anchors to it.
func judgedPartOf(j *answer.Findings, in *page) *judgedPart {
	site := in.Site
	p, most := &judgedPart{Findings: j, Site: site}, mostEntries
	if site != nil {
		most = site.Most
	}
	if !j.Watched && (site == nil || site.First) { // events have the advice for recordings
		for _, f := range j.First() {
			in.onlyDrawn(&f.Subject)
			p.First = append(p.First, first{f, site.link(f.Finding)})
		}
	}
	cards := map[string]*ruleCard{}
	for _, c := range j.Judgement.Counts() {
		card := cards[c.Rule.ID]
		if card == nil {
			card = &ruleCard{Rule: c.Rule, Severity: c.Severity, Anchor: answer.Anchor(c.Rule.ID), Links: linksOf(c.Rule.Sources), Rest: j.Rest, Site: site != nil, Open: site != nil && site.Open}
			if site != nil && site.Findings != nil {
				card.All = site.Findings(c.Rule.ID)
			}
			cards[c.Rule.ID], in.anchors[card.Anchor] = card, true
			if c.Severity >= finding.Medium {
				p.Cards = append(p.Cards, card)
			} else {
				p.Quiet = append(p.Quiet, card)
			}
		}
		card.add(j, c.Findings, most, in)
		card.Counts = append(card.Counts, severityCount{c.Severity, len(c.Findings)})
		if n := len(p.Counts); n == 0 || p.Counts[n-1].Severity != c.Severity {
			p.Counts = append(p.Counts, severityCount{Severity: c.Severity})
		}
		p.Counts[len(p.Counts)-1].Findings += len(c.Findings)
	}
	p.Silent = silent(p.Quiet)
	return p
}

// silent counts the findings of cards by severity.
func silent(cards []*ruleCard) string {
	n := map[finding.Severity]int{}
	for _, c := range cards {
		for _, one := range c.Counts {
			n[one.Severity] += one.Findings
		}
	}
	var parts []string
	for _, s := range []finding.Severity{finding.Low, finding.Info} {
		if n[s] > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", words.Thousands(n[s]), s))
		}
	}
	return strings.Join(parts, ", ")
}

// onlyDrawn removes the link of a subject to its drawing if the page does not have it.
func (p *page) onlyDrawn(s *answer.Subject) {
	if !p.anchors[s.Drawing] {
		s.Drawing = ""
	}
}

// add adds findings of one severity. It merges findings with the same text to one entry.
func (c *ruleCard) add(j *answer.Findings, findings []*finding.Finding, most int, in *page) {
	site := in.Site
	type same struct{ place, message, advice, notice, assumed string }
	said := map[same]*entry{}
	for _, f := range findings {
		of := subject{Subject: j.Subject(f)}
		in.onlyDrawn(&of.Subject)
		key := same{of.Place, f.Message, f.Advice, f.Notice, strings.Join(f.Assumes, "; ")}
		one := said[key]
		c.Count++
		switch {
		case one == nil && len(c.Entries) == most, site != nil && one != nil && len(one.Of) == most:
			c.Cut++
			continue
		case one == nil:
			one = &entry{Finding: f}
			said[key] = one
			c.Entries = append(c.Entries, one)
		}
		of.Link = site.link(f)
		one.Of = append(one.Of, of)
	}
}

var address = pattern.Of(`,?\s*(https?://\S+)\s*$`)

// linksOf splits sources into text and the address at the end.
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

// bare returns a source without the address at the end.
func bare(source string) string {
	if m := address.Regexp().FindStringIndex(source); m != nil && m[0] > 0 {
		return source[:m[0]]
	}
	return source
}

// link returns the address of the page for the object of a finding; "" in a file.
func (s *Site) link(f *finding.Finding) string {
	switch {
	case s == nil:
		return ""
	case s.Subject != nil:
		return s.Subject(f)
	}
	return object(f).Address()
}

// object returns the object of a finding.
func object(f *finding.Finding) answer.Object {
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

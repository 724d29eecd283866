package report

import (
	"cmp"
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"strings"

	"homenode/esxi/vnuma"
	"homenode/numa"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// pageParts are what the pages of fleets and of captures share.
type pageParts struct {
	Title     string
	Policy    string
	Style     template.CSS
	Script    template.JS
	Version   string
	Source    string
	Verdict   string
	Rest      string   // what the verdict leaves open
	PlaceWord string   // what findings are filtered by: Cluster or Host
	Names     []string // of the places that have findings, for the filter
	Findings  int
	Groups    []htmlSeverity
	Config    string // the configuration's file, and what it changes
	Accepted  []numa.Note
}

// newPageParts returns the parts that follow from a judgement.
func newPageParts(j *judged, version string) pageParts {
	p := pageParts{Version: version, Source: j.source, Findings: len(j.Findings)}
	if j.Policy != nil {
		p.Config = j.Policy.File + policyText(j.Judgement)
		p.Accepted = slices.Concat(j.SuppressedBy(), j.PolicyNotes)
	}
	return p
}

// htmlReport is what the page of a fleet shows, in its order.
type htmlReport struct {
	pageParts
	Collected string
	Hosts     int
	VMs       int
	Judged    int
	Pairs     int
	Summaries []htmlCluster
	Seen      []htmlSeen
	SeenCut   int
	SeenText  string
	Kinds     []htmlDrawing
	KindsCut  int
	Drawn     []htmlDrawing
	DrawnCut  int
	Rows      []htmlRow
	Notes     []numa.Note
	Unjudged  []numa.Note
}

type htmlCluster struct {
	Name, Node, Fits            string
	Hosts, VMs                  int
	Wide, Blind, TooBig, Change int
}

// htmlSeverity is the findings of one severity, by rule.
type htmlSeverity struct {
	Severity finding.Severity
	Findings int
	Open     bool
	Rules    []htmlRule
}

type htmlRule struct {
	*rule.Rule
	Anchor   string
	Findings []htmlFinding
	Count    int
	Cut      int
	Links    []htmlSource
}

// htmlSource is a source of a rule, its address apart.
type htmlSource struct{ Text, URL string }

type htmlFinding struct {
	*finding.Finding
	Name     string
	Place    string // cluster or host
	When     string // it held, of what was recorded
	Drawing  string // anchor of the subject's drawing; empty without one
	Evidence []htmlEvidence
}

type htmlEvidence struct {
	Name, Value string
	Kind, Where string // "read" and "config.hardware.numCPU"
	At          string
}

// htmlRow is one VM of the table.
type htmlRow struct {
	Name, Cluster, Host string
	VCPUs               int
	Memory              string
	Bytes               numa.Bytes
	Sees                string
	Nodes               int
	Carried             string
	Clients             int
	Rules               []htmlRuleRef
	Worst               int // 0 without findings, else severity + 1
}

type htmlRuleRef struct {
	ID, Anchor string
	Severity   finding.Severity
}

// newHTMLReport decides what the page shows.
func newHTMLReport(r *rules.Result, o HTMLOptions) (*htmlReport, error) {
	j := judgedFleet(newIndex(r))
	p := &htmlReport{
		pageParts: newPageParts(j, o.Version), Collected: r.Fleet.Collected,
		Hosts: len(r.Fleet.Hosts), VMs: len(r.Fleet.VMs), Judged: r.VMs, Pairs: r.Pairs,
		Notes: r.Fleet.Notes, Unjudged: grouped(r.Unjudged),
	}
	p.Title, p.PlaceWord = "NUMA assessment of "+r.Fleet.Source, "Cluster"
	p.Verdict, p.Rest = verdictOf(r)
	for _, s := range r.Summaries() {
		p.Summaries = append(p.Summaries, htmlCluster{
			Name: ClusterTitle(s.Cluster), Node: nodeText(s.Cluster), Fits: fits(&s), Hosts: len(s.Cluster.Hosts), VMs: len(s.Cluster.VMs),
			Wide: s.Wide, Blind: s.Blind, TooBig: s.TooBig, Change: s.Differing,
		})
	}
	drawn, err := p.draw(r, o)
	if err != nil {
		return nil, err
	}
	places := p.group(j, o.MostFindings, func(f *finding.Finding) htmlFinding {
		return htmlFinding{Name: cmp.Or(f.VM, f.Host), Place: f.Cluster, Drawing: drawn[f.VMID]}
	})
	p.Names = orderOf(r, places)
	p.rows(r)
	p.Seen, p.SeenCut = seenRows(r, o.MostFindings)
	p.SeenText = seenCounts(r)
	return p, nil
}

// group sorts the findings by severity and rule, at most so many a rule; as says how one
// is shown. It returns the places of those that are.
func (p *pageParts) group(j *judged, most int, as func(*finding.Finding) htmlFinding) map[string]bool {
	places := map[string]bool{}
	for _, c := range j.Counts() {
		if n := len(p.Groups); n == 0 || p.Groups[n-1].Severity != c.Severity {
			p.Groups = append(p.Groups, htmlSeverity{Severity: c.Severity, Open: c.Severity >= finding.Medium})
		}
		g := &p.Groups[len(p.Groups)-1]
		g.Findings += len(c.Findings)
		one := htmlRule{Rule: c.Rule, Anchor: anchorOf(c.Rule.ID, c.Severity), Count: len(c.Findings), Links: linksOf(c.Rule.Sources)}
		for i, f := range c.Findings {
			if i == most {
				one.Cut = len(c.Findings) - i
				break
			}
			shown := as(f)
			shown.Finding, shown.Evidence = f, evidenceOf(f)
			one.Findings = append(one.Findings, shown)
			places[shown.Place] = true
		}
		g.Rules = append(g.Rules, one)
	}
	return places
}

// orderOf returns the named clusters that are in the set, in the fleet's order.
func orderOf(r *rules.Result, set map[string]bool) []string {
	var names []string
	for _, c := range r.Clusters {
		if c.Name != "" && set[c.Name] {
			names = append(names, c.Name)
		}
	}
	return names
}

func anchorOf(id string, s finding.Severity) string { return id + "-" + s.String() }

func evidenceOf(f *finding.Finding) []htmlEvidence {
	var out []htmlEvidence
	for _, e := range f.Evidence {
		kind, where, _ := strings.Cut(e.Origin, ": ")
		out = append(out, htmlEvidence{e.Name, e.Value, kind, where, e.At})
	}
	return out
}

var address = regexp.MustCompile(`,?\s*(https?://\S+)\s*$`)

// linksOf separates the address at the end of each source.
func linksOf(sources []string) []htmlSource {
	out := make([]htmlSource, len(sources))
	for i, s := range sources {
		out[i].Text = s
		if m := address.FindStringSubmatchIndex(s); m != nil {
			out[i] = htmlSource{s[:m[0]], s[m[2]:m[3]]}
		}
	}
	return out
}

// rows lists the judged VMs, in the order of the fleet's clusters.
func (p *htmlReport) rows(r *rules.Result) {
	refs := map[string][]htmlRuleRef{}
	for i := range r.Findings {
		if f := &r.Findings[i]; f.VMID != "" {
			refs[f.VMID] = append(refs[f.VMID], htmlRuleRef{f.Rule, anchorOf(f.Rule, f.Severity), f.Severity})
		}
	}
	for _, c := range r.Clusters {
		for _, v := range c.VMs {
			p.Rows = append(p.Rows, rowOf(c, v, refs[v.ID]))
		}
	}
}

// rowOf describes a VM on its own host, or on the first it can run on.
func rowOf(c *rule.Cluster, v *rule.VM, refs []htmlRuleRef) htmlRow {
	l := &v.On[0].Layout
	row := htmlRow{
		Name: v.Name, Cluster: ClusterTitle(c), VCPUs: l.VPDs.Sum(), Memory: "unknown", Bytes: v.Memory.Value, Rules: refs,
		Sees: guestSees(l), Nodes: l.VPDs.Len(), Carried: "no client", Clients: l.PPDs.Len(),
	}
	if v.Host != nil {
		row.Host = v.Host.Name
	}
	if v.Memory.Known() {
		row.Memory = v.Memory.Value.String()
	}
	if l.Managed {
		row.Carried = carriedBy(l)
	}
	for _, ref := range refs {
		row.Worst = max(row.Worst, int(ref.Severity)+1)
	}
	return row
}

// carriedBy returns the clients in words: "2 clients, 16 + 14".
func carriedBy(l *vnuma.Layout) string {
	s := rule.Plural(l.PPDs.Len(), "client")
	if l.Wide() {
		s += ", " + l.PPDs.String()
	}
	return s
}

// plural returns "1,204 VMs".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%s %ss", thousands(n), noun)
}

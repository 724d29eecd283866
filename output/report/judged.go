package report

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"homenode/numa"
	"homenode/output/answer"
	"homenode/output/form"
	"homenode/output/table"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/rules/rule"
)

// judged is what every form needs of a judgement, be it of a fleet or of recordings: the
// findings with their subjects, the rules that were applied and what was left open.
type judged struct {
	*rules.Judgement
	source  string // that was judged
	kind    string // of judgement, in the ids of SARIF runs; "" for a fleet
	nothing string // why nothing could be judged; "" when something was
	rules   []*rule.Rule
	open    []openNotes
	watched bool // findings say when they held

	subject func(*finding.Finding) string                  // as a person reads it: cluster/vm
	group   func(*finding.Finding) string                  // subjects of one group stand for each other in a line
	key     func(*finding.Finding) string                  // of the subject, the same in every run
	id      func(*finding.Finding) string                  // of the subject in its source
	at      func(*finding.Finding) string                  // where the subject was read; "" when nobody says
	place   func(*finding.Finding) (file string, line int) // the same as a file that is there; nil goes by at and the sources
}

// openNotes are notes of one origin.
type openNotes struct {
	from string
	list []numa.Note
}

// notes returns what a reader must know about completeness.
func (j *judged) notes() []numa.Note {
	var all []numa.Note
	for _, o := range j.open {
		all = append(all, o.list...)
	}
	return all
}

// rulesWhere returns the rules of which this holds, in their order.
func rulesWhere(ok func(*rule.Rule) bool) []*rule.Rule {
	return slices.DeleteFunc(slices.Clone(rules.All), func(one *rule.Rule) bool { return !ok(one) })
}

// judgedFleet returns the judgement of a fleet.
func judgedFleet(x *index) *judged {
	j := &judged{
		Judgement: &x.Judgement, source: x.Fleet.Source,
		rules:   rulesWhere(func(one *rule.Rule) bool { return one.Check != nil }),
		open:    []openNotes{{"source", x.Fleet.Notes}, {"judgement", x.Unjudged}, {"configuration", x.PolicyNotes}},
		subject: clusterAndName,
		group:   clusterOf,
		key:     idKey,
		id:      subjectID,
		at:      x.findingAt,
	}
	if x.VMs == 0 && len(x.Fleet.VMs) > x.Templates {
		j.nothing = "no VM could be judged"
	}
	return j
}

func clusterOf(f *finding.Finding) string { return f.Cluster }

// subjectID returns the ID of the VM or host that the finding is about.
func subjectID(f *finding.Finding) string {
	if f.VMID != "" {
		return f.VMID
	}
	return f.HostID
}

// idKey tells subjects apart by their IDs: names may change.
func idKey(f *finding.Finding) string {
	if f.VMID != "" {
		return "vm\x00" + f.VMID
	}
	return "host\x00" + f.HostID
}

func clusterAndName(f *finding.Finding) string { return f.Subject() }

// ExportOptions say how SARIF, JUnit and Markdown write.
type ExportOptions struct {
	Version string           // of homenode; empty leaves it out
	FailOn  finding.Severity // from which severity a finding is a failure
	Details bool             // Markdown: every finding, not only the failures
	// SourceFiles are the files that the fleet was read from, "" for a vCenter.
	SourceFiles []string
}

func (o ExportOptions) form() form.Options {
	return form.Options{Version: o.Version, FailOn: o.FailOn, Details: o.Details, SourceFiles: o.SourceFiles}
}

// answer returns the judgement as an answer, for the forms that are of findings alone.
func (j *judged) answer() *answer.Answer {
	a := &answer.Answer{Findings: &answer.Findings{
		Judgement: j.Judgement, Source: j.source, Kind: j.kind, Nothing: j.nothing, Rules: j.rules, Watched: j.watched,
		Subject: func(f *finding.Finding) answer.Subject {
			s := answer.Subject{Name: j.subject(f), Group: j.group(f), Key: j.key(f), ID: j.id(f), At: j.at(f)}
			if j.place != nil {
				s.File, s.Line = j.place(f)
			}
			return s
		},
	}}
	for _, part := range j.open {
		a.NotesFrom(part.from, part.list...)
	}
	return a
}

// SARIF writes the judged fleet as SARIF 2.1.0.
func SARIF(w io.Writer, r *rules.Result, o ExportOptions) error {
	a := judgedFleet(newIndex(r)).answer()
	a.Findings.Properties = map[string]any{"source": table.Clean(r.Fleet.Source), "collected": table.Clean(r.Fleet.Collected),
		"hosts": len(r.Fleet.Hosts), "vms": len(r.Fleet.VMs), "judged": r.VMs, "predictions": r.Pairs}
	return form.SARIF(w, a, o.form())
}

// JUnit writes the judged fleet as a JUnit report: a suite for each cluster.
func JUnit(w io.Writer, r *rules.Result, o ExportOptions) error {
	x := newIndex(r)
	a := judgedFleet(x).answer()
	a.Findings.Suites = x.suites()
	return form.JUnit(w, a, o.form())
}

// suites returns a suite for each cluster with its hosts and VMs, and one of the VMs that
// were not judged.
func (x *index) suites() []answer.Suite {
	why := func(notes []string) string {
		return cmp.Or(strings.Join(notes, "; "), "not judged: see the notes of the source")
	}
	var all []answer.Suite
	judged := map[*numa.VM]bool{}
	for _, c := range x.Clusters {
		s := answer.Suite{Name: ClusterTitle(c)}
		for _, h := range c.Hosts {
			one := answer.Case{Name: "host " + h.Name, ID: h.ID, Findings: x.byHost[h.ID]}
			if !slices.ContainsFunc(c.Kinds, func(k *rule.Kind) bool { return slices.Contains(k.Hosts, h) }) {
				one.Skipped = why(x.notesAt(h.At))
			}
			s.Cases = append(s.Cases, one)
		}
		for _, v := range c.VMs {
			judged[v.VM] = true
			s.Cases = append(s.Cases, answer.Case{Name: v.Name, ID: v.ID, Findings: x.byVM[v.ID]})
		}
		all = append(all, s)
	}
	left := answer.Suite{Name: "not judged"}
	for i := range x.Fleet.VMs {
		v := &x.Fleet.VMs[i]
		switch {
		case judged[v]:
		case v.Template.Or(false):
			left.Cases = append(left.Cases, answer.Case{Name: v.Name, ID: v.ID, Skipped: "a template does not run"})
		default:
			left.Cases = append(left.Cases, answer.Case{Name: v.Name, ID: v.ID, Skipped: why(x.notesAt(v.At))})
		}
	}
	if len(left.Cases) > 0 {
		all = append(all, left)
	}
	return all
}

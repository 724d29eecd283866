package report

import (
	"slices"

	"homenode/numa"
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

	subject func(*finding.Finding) string         // as a person reads it: cluster/vm
	group   func(*finding.Finding) string         // subjects of one group stand for each other in a line
	key     func(*finding.Finding) string         // of the subject, the same in every run
	id      func(*finding.Finding) string         // of the subject in its source
	at      func(*finding.Finding) string         // where the subject was read; "" when nobody says
	place   func(*finding.Finding) *sarifPhysical // the same as a file that is there; nil goes by at and the sources
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

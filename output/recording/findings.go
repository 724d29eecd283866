package recording

import (
	"cmp"
	"slices"
	"strconv"

	"example.org/homenode/output/answer"
	"example.org/homenode/output/draw/timeline"
	"example.org/homenode/output/table"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
	verdict "example.org/homenode/rules/verdict/recording"
	"example.org/homenode/rules/verdict/simulation"
)

// findings returns the findings, limited to one VM if only is not nil. kind is the kind of
// assessment in SARIF.
func (r *report) findings(kind string, only *simulation.VM) *answer.Findings {
	judgement := &r.Judgement
	if only != nil {
		judgement = &rules.Judgement{}
		for _, f := range only.Findings {
			judgement.Findings = append(judgement.Findings, *f)
		}
	}
	out := &answer.Findings{
		Judgement: judgement, Source: r.Source(), Kind: kind, Nothing: r.Nothing(), Watched: true, Subject: r.subject,
		Rules: answer.RulesWhere(func(one *rule.Rule) bool { return one.Watch != nil }),
		Place: "Host", Rest: "the table of VMs names them all, and --format json has everything",
		Properties: map[string]any{"source": table.Clean(r.Source()), "hosts": len(r.Recordings), "vms": verdict.CountVMs(r.VMs)},
	}
	if r.sim != nil {
		out.Properties["simulated"] = true
	}
	if !r.First.IsZero() {
		out.Properties["first"], out.Properties["last"] = r.First, r.Last
	}
	found := map[string]bool{}
	for i := range judgement.Findings {
		found[r.subject(&judgement.Findings[i]).Place] = true
	}
	for _, rec := range r.Recordings {
		if found[rec.Host] {
			out.Places = append(out.Places, rec.Host)
		}
		s := answer.Suite{Name: rec.Host}
		if only == nil {
			s.Cases = []answer.Case{{Name: "host " + rec.Host, ID: rec.Host, Findings: r.OfHost[rec]}}
		}
		for _, v := range r.On(rec) {
			if only != nil && !slices.Contains(only.Lives, v) {
				continue
			}
			one := answer.Case{Name: v.Label, ID: v.Distinct() + " " + strconv.Itoa(len(s.Cases)), Findings: v.Findings}
			if !v.States() {
				one.Skipped = r.Words.The + " states nothing about NUMA of this VM"
			}
			s.Cases = append(s.Cases, one)
		}
		if len(s.Cases) > 0 {
			out.Suites = append(out.Suites, s)
		}
	}
	return out
}

// subject describes the subject and time of a finding.
func (r *report) subject(f *finding.Finding) answer.Subject {
	name := r.Judged.Subject(f)
	s := answer.Subject{Name: name, Group: name, Short: cmp.Or(f.VM, f.Host), Place: f.Host, ID: answer.SubjectID(f), At: r.FileAt(f),
		// The group changes with a power-on; only the name is stable.
		Key: "watched\x00" + f.Host + "\x00" + f.VM}
	if f.VM != "" && f.VMID == "" && f.GID > 0 {
		s.ID = "gid " + strconv.FormatInt(f.GID, 10)
	}
	s.File, s.Line = r.Place(f)
	rec := r.RecordingOf(f)
	if rec == nil {
		return s
	}
	s.Place = rec.Host
	id := timeline.HostID(rec)
	if v := r.VMOf(f); v != nil {
		s.Short, id = v.Label, timeline.VMID(rec, v.VM)
	}
	if r.drawn[id] {
		s.Drawing = id
	}
	switch {
	case f.From.IsZero():
	case f.From.Equal(f.To):
		s.When = r.Clock.At(f.From)
	default:
		s.When = r.Clock.Span(f.From, f.To)
	}
	return s
}

// found returns the rules of findings without duplicates. The findings must be sorted, highest
// severity first.
func found(findings []*finding.Finding) answer.Cell {
	var first []*finding.Finding
	for _, f := range findings {
		if !slices.ContainsFunc(first, func(one *finding.Finding) bool { return one.Rule == f.Rule }) {
			first = append(first, f)
		}
	}
	if len(first) == 0 {
		return text("")
	}
	c := answer.References(first)
	c.Tone = answer.Faint + answer.Tone(first[0].Severity)
	return c
}

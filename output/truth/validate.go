package truth

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/measure/experiment"
	"example.org/homenode/measure/published"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/output/answer"
)

// Score returns the answer that compares published topologies with the prediction.
func Score(s *published.Score) *answer.Answer {
	a := &answer.Answer{Command: "validate", Format: "homenode-validation", Version: 3, Result: s}
	for i, what := range []string{"nothing of their source went into the model", "a statement of the rule book cites their source", "of a host alone, one node or one vCPU"} {
		k := &s.Kinds[i]
		a.Verdict = append(a.Verdict, fmt.Sprintf("%s, %s: %d of %s reproduced", k.Kind, what, k.Reproduced, words.Plural(k.Cases, "case")))
	}
	a.Verdict = append(a.Verdict, fmt.Sprintf("of %d fields in %s %d are compared, and %d of these agree",
		s.Fields.Stated, words.Plural(s.All.Cases, "published case"), s.Fields.Compared, s.Fields.Agree))
	t := answer.Table{Name: "releases", Columns: answer.Columns("release", ">cases", ">compared", ">reproduced")}
	for _, r := range append(s.Releases[:len(s.Releases):len(s.Releases)], s.All) {
		t.Add(r.Release, strconv.Itoa(r.Cases), strconv.Itoa(r.Compared), strconv.Itoa(r.Reproduced))
	}
	a.Tables = append(a.Tables, t)
	if len(s.Misses) > 0 {
		t := answer.Table{Name: "misses", Title: "Misses", Columns: answer.Columns("case", "field", "predicted", "published"),
			Plain: &answer.Table{Columns: answer.Columns("case", "field", "predicted", "published", "reason", "source")}}
		for i, m := range s.Misses {
			reason := cmp.Or(m.Reason, "not explained")
			t.Add(m.ID, m.Name, m.Predicted, m.Observed)
			t.Plain.Add(m.ID, m.Name, m.Predicted, m.Observed, reason, m.Source)
			t.Rows[i][0].Tone = answer.Medium
			t.Foot = append(t.Foot, fmt.Sprintf("%s: %s (%s)", m.ID, reason, m.Source))
		}
		a.Tables = append(a.Tables, t)
	}
	fields := answer.Table{Name: "fields", Title: "Fields that are not compared", Columns: answer.Columns("why", ">fields"), Plain: &answer.Table{Columns: answer.Columns("why", "fields", "names")}}
	for _, f := range s.Fields.Open {
		names := strings.Join(f.Names, ", ")
		fields.Add(f.Why, strconv.Itoa(f.Fields))
		fields.Plain.Add(f.Why, strconv.Itoa(f.Fields), names)
		fields.Foot = append(fields.Foot, f.Why+": "+names)
	}
	a.Tables = append(a.Tables, fields)
	open := answer.Table{Name: "open", Title: "Not compared: recommendations, measurements, or cases that leave open what decides", Long: true, Columns: answer.Columns("case", "why")}
	for _, c := range s.Open {
		open.Add(c.ID, c.Why)
	}
	a.Tables = append(a.Tables, open)
	a.Note(fmt.Sprintf("%d of %s could not be compared: recommendations, measurements, or cases that leave open what decides (--format json lists each with its reason)",
		len(s.Open), words.Plural(s.All.Cases, "case")))
	return a
}

// Experiments returns the answer that compares each figure of published experiments with the
// model. stale are the cases whose recorded worlds are outdated.
func Experiments(results []*experiment.Result, stale []string) *answer.Answer {
	score := experiment.Count(results)
	a := &answer.Answer{
		Command: "validate --simulations", Format: "homenode-experiments", Version: 3, Simulated: true, Verdict: score.Lines(),
		Result: struct {
			experiment.Score
			Cases []*experiment.Result `json:"cases"`
		}{score, results},
	}
	for _, r := range results {
		t := answer.Table{Name: strings.ToLower(r.ID), Title: r.ID + ": " + r.Title, Foot: []string{"source: " + r.Source}, Columns: answer.Columns("verdict", "kind", "figure", "what", "published", "model", ">worlds"),
			Plain: &answer.Table{Columns: answer.Columns("verdict", "kind", "measure", "figure", "what", "published", "model", "worlds", "worst", "first other", "notes", "title", "source")}}
		for _, text := range r.Assumed {
			t.Foot = append(t.Foot, "assumed: "+text)
		}
		if r.Gave != "" {
			t.Foot = append(t.Foot, "the source gave the model "+r.Gave)
		}
		for i := range r.Rows {
			row := &r.Rows[i]
			t.Add(row.Verdict.String(), row.Kind.String(), row.Figure.ID, row.What, row.Published, row.Model, worlds(row))
			t.Plain.Add(row.Verdict.String(), row.Kind.String(), row.Measure.String(), row.Figure.ID, row.What, row.Published, row.Model, worlds(row), row.Worst.String(), row.In.First, strings.Join(row.Notes, "; "), r.Title, r.Source)
			if row.Verdict == experiment.Miss {
				t.Rows[i][0].Tone = answer.Medium
			}
			if len(row.Notes) > 0 {
				t.Foot = append(t.Foot, row.What+": "+plainLinks.ReplaceAllString(strings.Join(row.Notes, "; "), "docs/evidence/$1"))
			}
		}
		a.Tables = append(a.Tables, t)
	}
	a.Note("blind: nothing of the source went into the model; fitted: a number or a rule of it did; restated: an input, or what follows from inputs and other figures of the source")
	a.Note("worlds: in how many of those that were played the figure is reproduced. In each something that no source states is otherwise")
	if len(stale) > 0 {
		a.Note("only declared variants were played of " + strings.Join(stale, ", ") + ": --vary varies every number that no source states")
	}
	return a
}

// worlds states the number of worlds in which a figure is reproduced.
func worlds(r *experiment.Row) string {
	if r.In.Worlds == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", r.In.Reproduced, r.In.Worlds)
}

// plainLinks matches links in the form used by the pages of docs/evidence.
var plainLinks = pattern.Of(`\[[a-z]+\]\(([a-z-]+\.md)\)`)

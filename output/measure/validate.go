package measure

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"homenode/internal/words"
	"homenode/measure/experiment"
	"homenode/measure/published"
	"homenode/output/answer"
)

// Score returns the answer of published topologies beside the prediction.
func Score(s *published.Score) *answer.Answer {
	a := &answer.Answer{Command: "validate", Format: "homenode-validation", Version: 2, Result: s, Verdict: []string{
		fmt.Sprintf("%d of %s that can be compared are reproduced", s.All.Reproduced, words.Plural(s.All.Compared, "published case")),
	}}
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
	open := answer.Table{Name: "open", Title: "Not compared: recommendations, measurements, or cases that leave open what decides", Long: true, Columns: answer.Columns("case", "why")}
	for _, c := range s.Open {
		open.Add(c.ID, c.Why)
	}
	a.Tables = append(a.Tables, open)
	a.Note(fmt.Sprintf("%d of %s could not be compared: recommendations, measurements, or cases that leave open what decides (--format json lists each with its reason)",
		len(s.Open), words.Plural(s.All.Cases, "case")))
	return a
}

// Experiments returns the answer of published experiments: each figure beside what the model
// says.
func Experiments(results []*experiment.Result) *answer.Answer {
	score := experiment.Count(results)
	a := &answer.Answer{
		Command: "validate --simulations", Format: "homenode-experiments", Version: 2, Simulated: true, Verdict: []string{score.String()},
		Result: struct {
			experiment.Score
			Cases []*experiment.Result `json:"cases"`
		}{score, results},
	}
	for _, r := range results {
		t := answer.Table{Name: strings.ToLower(r.ID), Title: r.ID + ": " + r.Title, Foot: []string{"source: " + r.Source}, Columns: answer.Columns("verdict", "figure", "what", "published", "model"),
			Plain: &answer.Table{Columns: answer.Columns("verdict", "figure", "what", "published", "model", "notes", "title", "source")}}
		for _, text := range r.Assumed {
			t.Foot = append(t.Foot, "assumed: "+text)
		}
		for i := range r.Rows {
			row := &r.Rows[i]
			t.Add(row.Verdict.String(), row.Figure.ID, row.What, row.Published, row.Model)
			t.Plain.Add(row.Verdict.String(), row.Figure.ID, row.What, row.Published, row.Model, strings.Join(row.Notes, "; "), r.Title, r.Source)
			if row.Verdict == experiment.Miss {
				t.Rows[i][0].Tone = answer.Medium
			}
			if len(row.Notes) > 0 {
				t.Foot = append(t.Foot, row.What+": "+plainLinks.ReplaceAllString(strings.Join(row.Notes, "; "), "docs/$1"))
			}
		}
		a.Tables = append(a.Tables, t)
	}
	return a
}

// plainLinks are links as the pages of docs/ write them.
var plainLinks = regexp.MustCompile(`\[[a-z]+\]\(([a-z-]+\.md)\)`)

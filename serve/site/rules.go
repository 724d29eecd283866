package site

import (
	"slices"
	"strconv"
	"time"

	"example.org/homenode/ask"
	"example.org/homenode/ask/fleet"
	"example.org/homenode/internal/words"
	"example.org/homenode/output/answer"
)

// A tab is a part of a page that is shown separately.
type tab struct {
	Label, Address string
	Here           bool
}

// bookParts are the parts of the rule book, each with its question and the field of the question that is set.
var bookParts = []struct {
	kind, label string
	entry       *ask.Entry
	field       string
}{
	{"checks", "Checks", fleet.RulesEntry, ""},
	{"statements", "Statements", fleet.RulesEntry, "statements"},
	{"conflicts", "Conflicts", fleet.RulesEntry, "conflicts"},
	{"settings", "Settings", fleet.RulesEntry, "settings"},
	{"experiments", "Experiments", fleet.RulesEntry, "experiments"},
	{"truth", "Truth", fleet.ValidateEntry, ""},
}

// showRules shows a part of the rule book.
func showRules(x *request) (*view, error) {
	kind := x.query.Get("kind")
	if kind == "" {
		kind = bookParts[0].kind
	}
	v := &view{title: "Rules"}
	var entry *ask.Entry
	var asked ask.Question
	for i := range bookParts {
		p := &bookParts[i]
		q := cloned(x.query)
		for name := range q {
			if name != "fleet" {
				q.Del(name)
			}
		}
		q.Set("kind", p.kind)
		v.tabs = append(v.tabs, tab{p.label, "/rules?" + q.Encode(), p.kind == kind})
		if p.kind == kind {
			entry, asked = p.entry, p.entry.Ask()
			if err := give(asked, p.field, "true"); err != nil {
				return v, err
			}
		}
	}
	if asked == nil {
		return v, &unknownError{"the rule book has no such part"}
	}
	v.command = ask.Line(entry.Name, asked)
	a, err := x.answerOf(entry, asked)
	if err != nil {
		return v, err
	}
	v.answer = a
	if kind == "checks" && x.fleet != nil {
		v.answer = x.counted(a)
	}
	return v, nil
}

// counted returns the list of checks with the number of their findings in the fleet.
func (x *request) counted(a *answer.Answer) *answer.Answer {
	n := x.found()
	out := *a
	out.Verdict = append(slices.Clone(a.Verdict), "In this fleet "+words.Verb(len(n), "check finds", "checks find")+" something.")
	t := a.Tables[0]
	t.Columns = append(slices.Clone(t.Columns), answer.Column{Name: "findings here", Right: true})
	t.Rows = slices.Clone(t.Rows)
	for i, row := range t.Rows {
		id := row[0].Text
		cell := answer.Cell{Text: "0", Sort: "0", Tone: answer.Faint}
		if n[id] > 0 {
			cell = answer.Cell{Text: words.Thousands(n[id]), Sort: strconv.Itoa(n[id]), To: answer.Object{Kind: "findings", ID: id}}
		}
		t.Rows[i] = append(slices.Clone(row), cell)
	}
	out.Tables = []answer.Table{t}
	return &out
}

// found returns the number of the fleet's findings by check. For live checks it counts current findings and those that ended in the last 24
// hours.
func (x *request) found() map[string]int {
	n := map[string]int{}
	for i := range x.fleet.Result.Findings {
		n[x.fleet.Result.Findings[i].Rule]++
	}
	if x.site.Live != nil {
		for _, a := range x.site.Live.alarms(x.fleet.Name) {
			n[a.Finding.Rule]++
		}
		if past, err := x.site.Live.lost(x.Context(), x.fleet.Name, time.Now()); err == nil && past != nil {
			for i := range past.found {
				if !past.found[i].End.IsZero() {
					n[past.found[i].Finding.Rule]++
				}
			}
		}
	}
	return n
}

// showRule shows one entry of the rule book.
func showRule(x *request) (*view, error) {
	id := x.query.Get("rule")
	if id == "" || id[0] == '-' {
		return nil, &unknownError{"the rule book has no such entry"}
	}
	q := fleet.RulesEntry.Ask()
	if err := give(q, "id", id); err != nil {
		return nil, err
	}
	a, err := x.answerOf(fleet.RulesEntry, q)
	if err != nil {
		return nil, &unknownError{err.Error()}
	}
	v := &view{answer: a, command: ask.Line(fleet.RulesEntry.Name, q)}
	if x.fleet == nil {
		return v, nil
	}
	n := x.found()[id]
	if n > 0 {
		out := *a
		t := answer.Table{Name: "here", Title: "In this fleet", Columns: answer.Columns("findings")}
		t.Rows = [][]answer.Cell{{{Text: words.Plural(n, "finding"), To: answer.Object{Kind: "findings", ID: id}}}}
		out.Tables = append([]answer.Table{t}, a.Tables...)
		v.answer = &out
	}
	return v, nil
}

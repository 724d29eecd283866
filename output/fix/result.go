package fix

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"homenode/change/fix"
	"homenode/change/fix/apply"
	"homenode/internal/words"
	"homenode/output/answer"
)

// outcomes has the display order of outcomes.
var outcomes = []struct {
	is   apply.Outcome
	text string
}{
	{apply.Done, "done"}, {apply.Pending, "written, pending a power cycle"}, {apply.Already, "so already"},
	{apply.NeedsOff, "not touched: needs to be off"}, {apply.Refused, "not touched: refused"}, {apply.Drift, "not touched: changed since the plan"},
	{apply.Ignored, "not kept by vSphere, taken back"}, {apply.Timeout, "did not shut down"},
	{apply.Lost, "did not power on, taken back"}, {apply.Failed, "failed"}, {apply.NotBegun, "not begun"},
}

// Results returns the answer of applying a plan. undo means that the plan is a rollback.
func Results(p *fix.Plan, results []apply.Result, source, journal string, undo bool, stopped error) *answer.Answer {
	a := &answer.Answer{Command: "fix", Format: "homenode-fix-result", Title: "Plan " + p.ID + ", carried out"}
	t := answer.Table{Name: "results", Title: "Results", Columns: answer.Columns("object", "outcome", "why")}
	count := map[apply.Outcome]int{}
	var off []string
	for i := range results {
		r := &results[i]
		count[r.Outcome]++
		if r.Off {
			off = append(off, r.Name)
		}
		t.Add(r.Name, string(r.Outcome), r.Why)
	}
	parts := counted(count)
	id, verb := p.ID, "carried out"
	if undo {
		id, verb = p.Undoes, "taken back"
		a.Title = "Plan " + id + ", taken back"
	}
	a.Verdict = []string{fmt.Sprintf("Plan %s was %s: of %s %s.", id, verb, words.Plural(len(results), "change"), strings.Join(parts, ", "))}
	var left []fix.Left
	if undo {
		left = p.Left
	}
	switch {
	case len(results) == 0 && len(left) > 0:
		a.Verdict = []string{fmt.Sprintf("Nothing of plan %s can be taken back.", id)}
	case len(results) == 0:
		a.Verdict = []string{fmt.Sprintf("Plan %s has nothing to do.", id)}
	}
	if len(left) > 0 {
		a.Verdict = append(a.Verdict, stays(left))
	}
	if stopped != nil {
		a.Verdict = append(a.Verdict, "It ended early: "+stopped.Error()+".")
	}
	if off != nil {
		a.Verdict = append(a.Verdict, fmt.Sprintf("LEFT OFF, power on by hand or with --resume: %s.", strings.Join(off, ", ")))
	}
	if len(results) > 0 || !undo {
		a.Tables = []answer.Table{t}
	}
	if undo {
		a.Tables = append(a.Tables, leftTables(p)...)
		if lost := texts(p, "lost", "Not restored by a rollback", func(c *fix.Change) []string { return c.Lost }); len(lost.Rows) > 0 {
			a.Tables = append(a.Tables, lost)
		}
	}
	a.Facts = []answer.Fact{{Name: "journal", Text: journal}}
	a.Result = struct {
		Plan    string         `json:"plan"`
		Undo    bool           `json:"undo,omitempty"`
		Journal string         `json:"journal"`
		Stopped string         `json:"stopped,omitempty"`
		Results []apply.Result `json:"results"`
		Left    []fix.Left     `json:"left,omitempty"`
	}{id, undo, journal, text(stopped), results, left}
	if count[apply.Done]+count[apply.Pending] == 0 && count[apply.NeedsOff] > 0 && stopped == nil {
		a.Verdict[0] += " Nothing was changed."
	}
	a.Next = next(count, words.Command(source), words.Command(journal), undo, stopped != nil || off != nil)
	return a
}

// stays names what a rollback leaves as the run wrote it.
func stays(left []fix.Left) string {
	var names []string
	for _, l := range left {
		if name := cmp.Or(l.VM, l.Host); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return fmt.Sprintf("NOT taken back, or not all: %s.", words.List(names))
}

// next returns the commands that continue, verify or undo the run.
func next(count map[apply.Outcome]int, source, journal string, undo, early bool) (out []string) {
	fix := "homenode fix " + source
	failed := count[apply.Failed] + count[apply.Timeout] + count[apply.Lost] + count[apply.Ignored]
	switch {
	case count[apply.NeedsOff] > 0:
		out = append(out, fix+" --resume "+journal+" --power guest")
	case early || failed+count[apply.Refused]+count[apply.NotBegun] > 0:
		out = append(out, fix+" --resume "+journal)
	}
	if count[apply.Drift] > 0 && !undo { // make a new plan from the current state
		out = append(out, fix)
	}
	if written := count[apply.Done] + count[apply.Pending]; written > 0 && !undo && !early {
		out = append(out, fix+" --verify "+journal, fix+" --rollback "+journal+" --power guest")
	}
	return out
}

// counted lists the number of changes by outcome: "3 done", "1 failed".
func counted(count map[apply.Outcome]int) (parts []string) {
	for _, o := range outcomes {
		if n := count[o.is]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, o.text))
		}
	}
	return parts
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

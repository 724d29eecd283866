package fix

import (
	"cmp"
	"fmt"
	"strings"

	"example.org/homenode/change/fix"
	"example.org/homenode/change/fix/apply"
	"example.org/homenode/internal/words"
	"example.org/homenode/output/answer"
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

// A Run is the outcome of carrying out a plan; empty if there was nothing left to take back.
type Run struct {
	Plan            *fix.Plan // a rollback has the ID of the plan that it takes back in Undoes
	Results         []apply.Result
	Source, Journal string
	Power           string // as --power said; "" for a run that begins nothing
	Stopped         error  // why it ended early
	Reversible      bool   // a rollback has something to do
	Before          int    // objects that earlier rollbacks took back
}

// Answer returns the answer of the run.
func (r *Run) Answer() *answer.Answer {
	undo, id := r.Plan.Undoes != "", cmp.Or(r.Plan.Undoes, r.Plan.ID)
	verb := map[bool]string{false: "carried out", true: "taken back"}[undo]
	a := &answer.Answer{Command: "fix", Format: "homenode-fix-result", Title: "Plan " + id + ", " + verb}
	t := answer.Table{Name: "results", Title: "Results", Columns: answer.Columns("object", "outcome", "why")}
	count := map[apply.Outcome]int{}
	var off []string
	for i := range r.Results {
		one := &r.Results[i]
		count[one.Outcome]++
		if one.Off {
			off = append(off, one.Name)
		}
		t.Add(one.Name, string(one.Outcome), one.Why)
	}
	var left []fix.Left
	if undo {
		left = r.Plan.Left
	}
	a.Verdict = []string{r.headline(id, verb, undo, count)}
	if len(left) > 0 {
		a.Verdict = append(a.Verdict, stays(left))
	}
	if r.Stopped != nil {
		a.Verdict = append(a.Verdict, "It ended early: "+r.Stopped.Error()+".")
	}
	if off != nil {
		a.Verdict = append(a.Verdict, fmt.Sprintf("LEFT OFF, power on by hand or with --resume: %s.", strings.Join(off, ", ")))
	}
	if len(r.Results) > 0 || !undo {
		a.Tables = []answer.Table{t}
	}
	if undo {
		a.Tables = append(a.Tables, leftTables(r.Plan)...)
	}
	a.Facts = []answer.Fact{{Name: "journal", Text: r.Journal}}
	a.Result = struct {
		Plan    string         `json:"plan"`
		Undo    bool           `json:"undo,omitempty"`
		Journal string         `json:"journal"`
		Stopped string         `json:"stopped,omitempty"`
		Results []apply.Result `json:"results"`
		Left    []fix.Left     `json:"left,omitempty"`
	}{id, undo, r.Journal, text(r.Stopped), r.Results, left}
	a.Next = r.next(count, off != nil)
	return a
}

// headline says what became of the plan with this ID.
func (r *Run) headline(id, verb string, undo bool, count map[apply.Outcome]int) string {
	off := count[apply.NeedsOff]
	switch n := len(r.Results); {
	case off > 0 && off == n:
		names := words.Texts(r.Results, func(one apply.Result) string { return one.Name })
		return fmt.Sprintf("Nothing was changed: %s %s to be off (--power guest).", words.Few(names), map[bool]string{true: "has", false: "have"}[n == 1])
	case n > count[apply.Already] && n == off+count[apply.Already]+count[apply.Refused]+count[apply.Drift]+count[apply.NotBegun]:
		return fmt.Sprintf("Nothing was changed: of %s %s.", words.Plural(n, "change"), strings.Join(counted(count), ", "))
	case n > 0:
		return fmt.Sprintf("Plan %s was %s: of %s %s.", id, verb, words.Plural(n, "change"), strings.Join(counted(count), ", "))
	case !undo:
		return fmt.Sprintf("Plan %s has nothing to do.", id)
	case r.Before > 0:
		return fmt.Sprintf("Plan %s was taken back before: %s. Nothing more can be.", id, words.Plural(r.Before, "object"))
	default:
		return fmt.Sprintf("Nothing of plan %s can be taken back.", id)
	}
}

// stays names what a rollback leaves as the run wrote it.
func stays(left []fix.Left) string {
	var names []string
	for _, l := range left {
		names = words.Once(names, cmp.Or(l.VM, l.Host))
	}
	return fmt.Sprintf("NOT taken back, or not all: %s.", words.List(names))
}

// Resume returns the command that goes on with the run.
func (r *Run) Resume() string {
	resume := "homenode fix " + words.Command(r.Source) + " --resume " + words.Command(r.Journal)
	if r.Power != "" {
		resume += " --power " + r.Power
	}
	return resume
}

// next returns the commands that continue, verify or undo the run.
func (r *Run) next(count map[apply.Outcome]int, off bool) (out []string) {
	fix, journal, undo := "homenode fix "+words.Command(r.Source), words.Command(r.Journal), r.Plan.Undoes != ""
	early := r.Stopped != nil || off
	failed := count[apply.Failed] + count[apply.Timeout] + count[apply.Lost] + count[apply.Ignored]
	switch {
	case count[apply.NeedsOff] > 0:
		out = append(out, fix+" --resume "+journal+" --power guest")
	case early || failed+count[apply.Refused]+count[apply.NotBegun] > 0:
		out = append(out, r.Resume())
	}
	if count[apply.Drift] > 0 && !undo { // make a new plan from the current state
		out = append(out, fix)
	}
	if written := count[apply.Done] + count[apply.Pending]; written > 0 && !undo && !early {
		out = append(out, fix+" --verify "+journal)
		if power := " --power guest"; r.Reversible {
			if r.Power == string(apply.PowerMove) { // options of hosts act on VMs that arrive
				power = " --power vmotion"
			}
			out = append(out, fix+" --rollback "+journal+power)
		}
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

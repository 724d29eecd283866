package apply_test

import (
	"slices"
	"testing"
	"time"

	"example.org/homenode/change/fix"
	"example.org/homenode/change/fix/apply"
	"example.org/homenode/change/fix/journal"
	"example.org/homenode/numa"
)

// TestRollbackOf reads a journal whose run was taken back in two parts, and one whose rollback has not ended.
func TestRollbackOf(t *testing.T) {
	p := &fix.Plan{ID: "p"}
	for i, id := range []string{"a", "b", "c"} {
		p.Changes = append(p.Changes, fix.Change{VM: &fix.Target{ID: id, Name: id}, Batch: i + 1, Edits: []numa.Edit{{Kind: numa.EditHardware, From: numa.Is("19"), To: numa.Is("20")},
			{Kind: numa.EditCPUHotAdd, From: numa.Is("true"), To: numa.Is("false")}}})
	}
	run := func(p *fix.Plan, ids ...string) (out []journal.Line) {
		out = append(out, journal.Line{Step: journal.StepPlan, Whole: p, Undo: p.Undoes != ""})
		for _, id := range ids {
			out = append(out, journal.Line{Step: journal.StepIntent, Target: id, Do: "reconfigure"}, journal.Line{Step: journal.StepDone, Target: id, Do: "reconfigure", Time: time.Unix(1, 0), Edits: p.Changes[0].Edits},
				journal.Line{Step: journal.StepEnd, Target: id, State: string(apply.Done)})
		}
		return out
	}
	of := func(lines []journal.Line) (*apply.Rollback, *fix.Plan) {
		t.Helper()
		r, err := apply.RollbackOf(lines, nil)
		if err != nil {
			t.Fatal(err)
		}
		rest, err := r.Rest()
		if err != nil {
			t.Fatal(err)
		}
		return r, rest
	}
	names := func(p *fix.Plan) (names []string) {
		for i := range p.Changes {
			names = append(names, p.Changes[i].Target().ID)
		}
		return names
	}
	lines := run(p, "a", "b", "c")
	r, rest := of(lines)
	if got := names(rest); !slices.Equal(got, []string{"c", "b", "a"}) || len(r.Back)+len(r.Open) > 0 || len(rest.Left) != 3 {
		t.Errorf("before a rollback: %v, %+v", got, r)
	}
	lines = append(append(lines, run(r.Plan, "a")...), run(r.Plan, "b")...)
	r, rest = of(lines)
	if got := names(rest); !slices.Equal(got, []string{"c"}) || len(r.Back) != 2 || len(r.Open) > 0 || len(r.Changes) != 3 || len(rest.Left) != 3 || rest.Changes[0].Batch != 1 {
		t.Errorf("after two rollbacks: %v, %+v", got, r)
	}
	if r, _ = of(lines[:len(lines)-1]); !slices.Equal(r.Open, []string{"b"}) || len(r.Back) != 1 {
		t.Errorf("a rollback that has not ended: %+v", r)
	}
}

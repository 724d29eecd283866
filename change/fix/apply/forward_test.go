package apply_test

import (
	"testing"

	"homenode/change/fix"
	"homenode/change/fix/apply"
	"homenode/change/fix/journal"
)

// TestForward reads a journal whose run was taken back in two parts, and one whose rollback has not ended.
func TestForward(t *testing.T) {
	run := func(undo bool, ids ...string) (out []journal.Line) {
		out = append(out, journal.Line{Step: journal.StepPlan, Whole: &fix.Plan{}, Undo: undo})
		for _, id := range ids {
			out = append(out, journal.Line{Step: journal.StepIntent, Target: id, Do: "reconfigure"}, journal.Line{Step: journal.StepDone, Target: id, Do: "reconfigure"},
				journal.Line{Step: journal.StepEnd, Target: id, State: string(apply.Done)})
		}
		return out
	}
	lines := append(append(run(false, "a", "b", "c"), run(true, "a")...), run(true, "b")...)
	forward, back, err := apply.Forward(lines)
	if err != nil || len(forward) != 10 || !back["a"] || !back["b"] || back["c"] {
		t.Errorf("%d lines, %v, %v", len(forward), back, err)
	}
	if _, _, err := apply.Forward(lines[:len(lines)-1]); err == nil {
		t.Error("a rollback that has not ended is taken for one that has")
	}
	if forward, back, err := apply.Forward(run(false, "a")); err != nil || len(forward) != 4 || len(back) != 0 {
		t.Errorf("without a rollback: %d lines, %v, %v", len(forward), back, err)
	}
}

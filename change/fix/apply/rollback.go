package apply

import (
	"example.org/homenode/change/fix"
	"example.org/homenode/change/fix/journal"
	"example.org/homenode/numa"
)

// A Rollback is the plan that takes back the writes of the run of a journal, and the progress of earlier rollbacks.
type Rollback struct {
	*fix.Plan                   // whole, also the writes that were taken back before
	Back      map[string]Write  // VMs, hosts and clusters that were taken back, by ID
	Ended     map[string]Result // how the last rollback ended with each, by ID
	Open      []string          // IDs of those whose last rollback has not ended
}

// RollbackOf returns the rollback of a journal, of the VMs, hosts and clusters that only reports; nil for all.
func RollbackOf(lines []journal.Line, only func(*fix.Target) bool) (*Rollback, error) {
	end := endOf(lines, 0)
	p, _ := Remember(lines[:end])
	begun := Begun(lines[:end])
	undo, err := p.Undo(func(c *fix.Change) []numa.Edit {
		if only != nil && !only(c.Target()) {
			return nil
		}
		return begun[c.Target().ID]
	})
	if err == nil {
		err = undo.LeaveUnwritable()
	}
	r := &Rollback{Plan: undo, Back: map[string]Write{}}
	for end < len(lines) {
		start := end
		end = endOf(lines, start)
		written := Written(lines[:end])
		r.Ended = Ended(lines[:end])
		for id, result := range r.Ended {
			if !result.left() {
				r.Back[id] = written[id]
			}
		}
		r.Open = open(lines[start:end])
	}
	return r, err
}

// endOf returns where the run after the one that begins at a line begins; the number of lines for the last one.
func endOf(lines []journal.Line, at int) int {
	for at++; at < len(lines) && lines[at].Step != journal.StepPlan; at++ {
	}
	return min(at, len(lines))
}

// open returns the IDs of the steps that a run began and did not end.
func open(lines []journal.Line) (ids []string) {
	begun := map[string]bool{}
	for i := range lines {
		switch l := &lines[i]; l.Step {
		case journal.StepIntent:
			begun[l.Target] = true
		case journal.StepEnd:
			delete(begun, l.Target)
		}
	}
	for id := range begun {
		ids = append(ids, id)
	}
	return ids
}

// Rest returns the plan of the writes that no earlier rollback took back. Settings that stay are part of it too.
func (r *Rollback) Rest() (*fix.Plan, error) {
	rest := *r.Plan
	return &rest, rest.Drop(func(c *fix.Change) bool {
		_, back := r.Back[c.Target().ID]
		return back
	})
}

package journal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"example.org/homenode/change/fix"
	"example.org/homenode/numa"
)

// dos are the actions of a run.
var dos = []string{"reconfigure", "takeBack", "options", "shutdown", "powerOff", "powerOn", "wait", "move"}

// Outcomes are the ends of the change of an object: those of package apply, which a test compares.
var Outcomes = []string{"done", "pending", "already", "needsOff", "refused", "drift", "ignored", "timeout", "lost", "failed", "notBegun"}

// A checker follows a journal line by line. A journal is a file that anybody may have written: nothing in it is believed that a run of its plan
// could not have written.
type checker struct {
	plan  *fix.Plan
	edits map[string][]numa.Edit // of the plan of the run, by the ID of the VM, host or cluster
	first *fix.Plan              // which rollbacks take back
	begun map[string][]numa.Edit // what its run began to write last, by ID
}

// check says why a line is none that a run wrote.
func (c *checker) check(l *Line) error {
	if l.Step == StepPlan {
		return c.begin(l)
	}
	switch {
	case c.plan == nil:
		return errors.New("found no plan in the first line, want the journal of a fix")
	case l.Whole != nil || l.Undo || l.Power != "":
		return errors.New("a plan stands in a line of its own")
	case l.Plan != c.plan.ID:
		return fmt.Errorf("it is of the plan %.40q, the run is of %s", l.Plan, c.plan.ID)
	case !printable(l.Host, l.Key, l.ChangeVersion):
		return errors.New("found control characters in an ID")
	}
	planned, ok := c.edits[l.Target]
	if !ok {
		return fmt.Errorf("%.80q is not changed by the plan", l.Target)
	}
	switch l.Step {
	case StepIntent, StepTask, StepDone:
		if !slices.Contains(dos, l.Do) {
			return fmt.Errorf("found the action %.40q, want one of %s", l.Do, strings.Join(dos, ", "))
		}
	case StepEnd:
		if !slices.Contains(Outcomes, l.State) || l.Do != "" {
			return fmt.Errorf("found the outcome %.40q, want one of %s", l.State, strings.Join(Outcomes, ", "))
		}
	default:
		return fmt.Errorf("found the step %.40q", l.Step)
	}
	for i, e := range l.Edits {
		if slices.ContainsFunc(l.Edits[:i], func(o numa.Edit) bool { return o.Kind == e.Kind && strings.EqualFold(o.Key, e.Key) }) {
			return fmt.Errorf("it writes %.80q twice", e.Name())
		}
		if err := written(e, l.Do, planned); err != nil {
			return err
		}
	}
	if c.plan == c.first && len(l.Edits) > 0 {
		c.begun[l.Target] = l.Edits
	}
	return nil
}

// begin takes the plan of a run.
func (c *checker) begin(l *Line) error {
	p := l.Whole
	if p == nil || l.Plan != p.ID {
		return errors.New("found no plan that its ID fits")
	}
	if err := p.Check(); err != nil {
		return err
	}
	if !slices.Contains([]string{"", "guest", "hard", "reboot", "wait", "vmotion"}, l.Power) {
		return fmt.Errorf("found the power %.40q", l.Power)
	}
	edits := map[string][]numa.Edit{}
	for i := range p.Changes {
		edits[p.Changes[i].Target().ID] = p.Changes[i].Edits
	}
	switch {
	case l.Undo != (p.Undoes != "") || l.Undo && (c.first == nil || p.Undoes != c.first.ID):
		return errors.New("it takes back a run that is not in the journal")
	case l.Undo:
		if err := c.back(p); err != nil {
			return err
		}
	case c.plan != nil:
		return errors.New("a journal is of one plan, and of runs that take it back")
	default:
		c.first, c.begun = p, map[string][]numa.Edit{}
	}
	c.plan, c.edits = p, edits
	return nil
}

// back says why a plan is no rollback of the first one: each of its changes has to be one of the rollback that is made of what the journal says, or a part.
func (c *checker) back(p *fix.Plan) error {
	made, err := c.first.Undo(func(of *fix.Change) []numa.Edit {
		if begun := c.begun[of.Target().ID]; begun != nil {
			return begun
		}
		return of.Edits
	})
	if err != nil {
		return err
	}
	back := map[string]*fix.Change{}
	for i := range made.Changes {
		back[made.Changes[i].Target().ID] = &made.Changes[i]
	}
	for i := range p.Changes {
		of := &p.Changes[i]
		want := back[of.Target().ID]
		if want == nil {
			return fmt.Errorf("it takes back a change of %.80q, which no run before it changed", of.Target().ID)
		}
		for _, e := range of.Edits {
			if !slices.Contains(want.Edits, e) {
				return fmt.Errorf("it takes %.80q back from %.80q to %.80q, which no run before it changed so", e.Name(), e.From, e.To)
			}
		}
		is, must := *of, *want
		is.Edits, must.Edits, is.Batch, must.Batch = nil, nil, 0, 0
		one, err := json.Marshal(is)
		other, err2 := json.Marshal(must)
		if err = cmp.Or(err, err2); err != nil || !bytes.Equal(one, other) {
			return errors.Join(fmt.Errorf("what it says about %.80q does not follow from the plan that it takes back", of.Target().ID), err)
		}
	}
	return nil
}

// written says why no run of the plan can have written the edit. It returns nil for a planned edit with its former value, and for the setting that makes
// the next reboot a power cycle.
func written(e numa.Edit, do string, planned []numa.Edit) error {
	if do == "takeBack" {
		e = e.Undo()
	}
	if set := numa.Is("TRUE"); strings.EqualFold(e.Key, fix.RebootKey) && e.Kind == numa.EditExtraConfig && e.To.Same(set) && !e.From.Same(set) {
		return errors.Join(fix.Writable(e), fix.Writable(e.Undo()))
	}
	for _, p := range planned {
		if p.Kind == e.Kind && strings.EqualFold(p.Key, e.Key) && p.To == e.To && (p.From == e.From || e.Kind == numa.EditHostOption) {
			return fix.Writable(e)
		}
	}
	return fmt.Errorf("the plan does not change %.80q from %.80q to %.80q", e.Name(), e.From, e.To)
}

// printable reports whether the texts have no control characters.
func printable(texts ...string) bool {
	return !slices.ContainsFunc(texts, func(t string) bool {
		return strings.ContainsFunc(t, func(r rune) bool { return !unicode.IsPrint(r) })
	})
}

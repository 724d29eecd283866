package apply

import (
	"time"

	"example.org/homenode/change/fix"
	"example.org/homenode/change/fix/journal"
	"example.org/homenode/numa"
)

// A past is what the journal remembers of one VM or host.
type past struct {
	ran     bool              // before the run
	began   bool              // an intent was written
	asked   time.Time         // when it was about to be asked to shut down, the last that was begun of it: it may still be on the way
	stopped bool              // the run powered it off, or was about to: it is powered on again
	waited  bool              // until somebody powers it off: it is powered on again when it is changed
	edits   []numa.Edit       // that were sent
	written time.Time         // when they were read back
	cycled  time.Time         // when it was seen on again
	moved   map[string]string // where the VMs of a host were to be moved, by ID
	ended   *Result
}

// open reports whether something was begun that did not come to a good end. Of a VM that has to be off nothing was begun but the waiting.
func (k *past) open() bool {
	return k.began && (k.ended == nil || k.ended.left() && k.ended.Outcome != NeedsOff)
}

// Remember returns the plan of the last run in a journal, and what was done of it.
func Remember(lines []journal.Line) (*fix.Plan, map[string]*past) {
	var p *fix.Plan
	known := map[string]*past{}
	for i := range lines {
		l := &lines[i]
		if l.Step == journal.StepPlan && l.Whole != nil {
			before := known
			p, known = l.Whole, map[string]*past{}
			for i := range p.Changes { // a rollback finds VMs where the run before it left them
				c := &p.Changes[i]
				k := before[c.Target().ID]
				if !l.Undo || k == nil || !k.open() {
					continue
				}
				left := &past{ran: k.ran, began: true, asked: k.asked, stopped: k.stopped}
				if k.edits != nil { // sent, but perhaps not made: the same of those that take them back
					left.edits = c.Edits
				}
				known[c.Target().ID] = left
			}
			continue
		}
		if l.Target == "" {
			continue
		}
		k := known[l.Target]
		if k == nil {
			k = &past{}
			known[l.Target] = k
		}
		switch l.Step {
		case journal.StepIntent:
			if !k.began {
				k.ran, k.began = l.Ran, true
			}
			k.asked = time.Time{}
			switch {
			case l.Do == "shutdown":
				k.asked, k.stopped = l.Time, true
			case l.Do == "powerOff": // a task, which is waited for like any other
				k.stopped = true
			case l.Do == "wait":
				k.waited = true
			case l.Do == "move":
				if k.moved == nil {
					k.moved = map[string]string{}
				}
				k.moved[l.Key] = l.Host
			case l.Do == "reconfigure" || l.Do == "options":
				k.edits, k.stopped = l.Edits, k.stopped || k.waited
			}
		case journal.StepDone:
			switch l.Do {
			case "reconfigure", "options":
				k.written, k.edits = l.Time, l.Edits
			case "powerOn":
				k.stopped, k.waited, k.cycled = false, false, l.Time
			}
		case journal.StepEnd:
			k.ended = &Result{Name: l.Name, ID: l.Target, Outcome: Outcome(l.State), Why: l.Why}
		}
	}
	return p, known
}

// Down returns the VMs, by ID, that the journal says a run powered off, or waited for, and did not power on again: if they are off, Run powers them on.
func Down(lines []journal.Line) map[string]bool {
	_, known := Remember(lines)
	out := map[string]bool{}
	for id, k := range known {
		out[id] = k.ran && (k.stopped || k.waited)
	}
	return out
}

// Ended returns how the last run of the journal ended with each VM and host, by ID.
func Ended(lines []journal.Line) map[string]Result {
	_, known := Remember(lines)
	out := map[string]Result{}
	for id, k := range known {
		if k.ended != nil {
			out[id] = *k.ended
		}
	}
	return out
}

// A Write is what a run changed of a VM or host.
type Write struct {
	Edits []numa.Edit // with the values that were there before
	At    time.Time
	// Cycled is when the run saw the VM on again after it; zero when it did not power it off.
	Cycled time.Time
}

// Written returns what the last run of the journal changed, by ID.
func Written(lines []journal.Line) map[string]Write {
	_, known := Remember(lines)
	out := map[string]Write{}
	for id, k := range known {
		if !k.written.IsZero() && (k.ended == nil || k.ended.Outcome != Ignored && k.ended.Outcome != Lost) {
			out[id] = Write{k.edits, k.written, k.cycled}
		}
	}
	return out
}

// Begun returns what a rollback takes back, by ID: the edits that were written, and those of a VM or host whose change
// came to no good end. Of these it is not known what was written; a rollback compares first, and powers the VM on.
func Begun(lines []journal.Line) map[string][]numa.Edit {
	p, known := Remember(lines)
	out := map[string][]numa.Edit{}
	for i := range p.Changes {
		c := &p.Changes[i]
		switch k := known[c.Target().ID]; {
		case k == nil:
		case k.edits != nil && (k.open() || !k.written.IsZero()):
			out[c.Target().ID] = k.edits
		case k.open():
			out[c.Target().ID] = c.Edits
		}
	}
	return out
}

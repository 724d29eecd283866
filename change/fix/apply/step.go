package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/homenode/change/fix"
	"example.org/homenode/change/fix/journal"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/numa"
)

// A step carries out the change of one VM or host.
type step struct {
	*run
	c    *fix.Change
	past past
	off  bool // it was running, and is not now
}

func (s *step) say(format string, args ...any) {
	if s.o.Progress != nil {
		s.o.Progress(s.c.Target(), fmt.Sprintf(format, args...))
	}
}

// intent writes what comes next; nothing is done when it cannot be written.
func (s *step) intent(do string, edits []numa.Edit, version string) error {
	err := s.j.Append(journal.Line{Step: journal.StepIntent, Plan: s.p.ID, Target: s.c.Target().ID, Name: s.c.Target().Name, Do: do,
		Edits: edits, ChangeVersion: version, Ran: s.past.ran})
	if err != nil {
		return &diskError{err}
	}
	s.past.began = true
	return nil
}

// started returns what writes the key of a task. That is told, not needed: an error does not undo the task.
func (s *step) started(do string) func(string) error {
	return func(key string) error {
		_ = s.j.Append(journal.Line{Step: journal.StepTask, Plan: s.p.ID, Target: s.c.Target().ID, Do: do, Key: key}) // the next intent fails
		return nil
	}
}

func (s *step) done(do string, edits []numa.Edit, version string) error {
	err := s.j.Last(journal.Line{Step: journal.StepDone, Plan: s.p.ID, Target: s.c.Target().ID, Do: do, Edits: edits, ChangeVersion: version})
	if err != nil {
		return &diskError{err}
	}
	return nil
}

// state reads the VM, with one login when the session has expired.
func (s *step) state(ctx context.Context) (numa.State, error) {
	id := s.c.Target().ID
	var all map[string]numa.State
	err := s.again(ctx, func() (err error) {
		all, err = s.t.States(ctx, []string{id})
		return err
	})
	if err != nil {
		return numa.State{}, err
	}
	st, ok := all[id]
	if !ok {
		return st, fmt.Errorf("%w, or the account does not see it", numa.ErrGone)
	}
	return st, nil
}

// settled reads the VM when no task of it runs and nothing of it changes, or when that takes too long. It reads twice: tasks are read after
// the VM, so one that ended in between has changed what was read.
func (s *step) settled(ctx context.Context) (numa.State, error) {
	st, err := s.state(ctx)
	for begin := time.Now(); err == nil; {
		if st.Task != "" {
			if err := s.rest(ctx, nil); err != nil {
				return st, err
			}
		}
		was := st
		st, err = s.state(ctx)
		still := was.Task == "" && st.Task == "" && was.ChangeVersion == st.ChangeVersion && was.VM.Power.Value == st.VM.Power.Value
		if still || time.Since(begin) > s.o.Busy {
			break
		}
	}
	return st, err
}

// side says on which side of the change the VM is. What this run, or the one that it goes on with, left half done counts
// as before: all of it is made again.
func (s *step) side(st *numa.State) (fix.Side, string) {
	side, why := s.c.Compare(&st.VM.Config)
	if side == fix.Drifted && s.past.edits != nil && s.c.Partly(&st.VM.Config) {
		return fix.Before, ""
	}
	return side, why
}

// vm carries out the change of a VM.
func (s *step) vm(ctx context.Context) (Outcome, error) {
	st, err := s.settled(ctx)
	if err != nil {
		return Failed, err
	}
	if was, is := s.c.VM.UUID, st.VM.UUID; was != "" && is != "" && was != is {
		return Drift, fmt.Errorf("another VM has its ID now: the instance UUID is %s, not %s", is, was)
	}
	var renamed error
	if was, is := texttab.Clean(s.c.VM.Name), texttab.Clean(st.VM.Name); was != is {
		renamed = fmt.Errorf("it is called %q, the plan calls it %q", is, was)
	}
	if renamed != nil && !(s.past.began && isOff(&st)) {
		return Drift, renamed
	}
	if s.o.Power == PowerReboot { // the key is set, whatever else is done with it
		c := *s.c
		c.Edits = slices.DeleteFunc(slices.Clone(c.Edits), func(e numa.Edit) bool { return strings.EqualFold(e.Key, fix.RebootKey) })
		s.c = &c
	}
	needs := s.c.Needs()
	side, why := s.side(&st)
	power := s.o.Power == PowerGuest || s.o.Power == PowerHard
	if !isOff(&st) && (side != fix.Before || !power) && s.goesOff(ctx, st.Boot) {
		s.say("vCenter asked its guest to shut down before: waiting up to %v", s.o.Off)
		if s.until(ctx, s.o.Off, isOff) == nil {
			if st, err = s.settled(ctx); err != nil {
				return Failed, err
			}
			side, why = s.side(&st)
		}
	}
	running := st.VM.Power.Value == numa.PoweredOn
	if !s.past.began {
		s.past.ran = running
	}
	s.off = s.past.ran && isOff(&st) && (s.past.stopped || s.past.waited)
	tools := st.Tools
	outcome, pending := Already, error(nil)
	if side == fix.After && s.past.began {
		outcome = Done
		if needs == numa.NeedsCycle && running && !power {
			outcome, pending = Pending, s.pending()
		}
	}
	// A VM that the run shut down is powered on again, whatever else is found.
	blocked := pending
	switch {
	case side == fix.Drifted:
		outcome, blocked = Drift, errors.New(why)
	case side == fix.Before && renamed != nil:
		outcome, blocked = Drift, renamed
	case side == fix.Before && s.moved[s.c.VM.ID] != "":
		outcome, blocked = Drift, errors.New(s.moved[s.c.VM.ID])
	case side == fix.Before && power && running && needs != numa.NeedsNothing && !s.o.Stops[s.c.VM.ID]:
		outcome, blocked = Drift, errors.New("it was off when the plan was made or the question was asked, which said that it has no downtime, and runs now")
	case side == fix.Before && s.never[s.c.VM.ID] != "":
		outcome, blocked = Refused, errors.New(s.never[s.c.VM.ID])
	case side == fix.Before && s.misstated[s.c.VM.ID] != "" && !s.c.Partly(&st.VM.Config):
		outcome, blocked = Refused, errors.New(s.misstated[s.c.VM.ID]+": make the plan anew")
	case side == fix.Before:
		if text := fix.Refused(&st); text != "" {
			outcome, blocked = Refused, errors.New(text)
		}
	}
	if side == fix.Before && blocked == nil {
		outcome, blocked = s.write(ctx, &st, needs)
		if outcome == NeedsOff || outcome == Timeout {
			return outcome, blocked
		}
	} else if side == fix.After && s.past.began && s.past.written.IsZero() {
		edits := s.past.edits
		if edits == nil {
			edits = s.c.Edits
		}
		if err := s.done("reconfigure", edits, st.ChangeVersion); err != nil {
			return Done, err
		}
		s.past.written = s.o.Now()
	}
	if ctx.Err() != nil {
		return Failed, fmt.Errorf("interrupted: %w; the journal knows how far it came", ctx.Err())
	}
	return s.finish(ctx, outcome, blocked, needs, tools)
}

// goesOff reports whether the guest was really asked to shut down before the last run ended, and was not powered on since. Where that cannot be read it may
// have been.
func (s *step) goesOff(ctx context.Context, boot time.Time) (asked bool) {
	if s.past.asked.IsZero() {
		return false
	}
	err := s.again(ctx, func() (err error) {
		asked, err = s.t.ShutdownAsked(ctx, s.c.VM.ID, s.past.asked, boot)
		return err
	})
	return asked || err != nil
}

// write powers the VM off where that is needed and asked for, and makes the edits.
func (s *step) write(ctx context.Context, st *numa.State, needs numa.Needs) (Outcome, error) {
	running := st.VM.Power.Value == numa.PoweredOn
	edits := s.c.Edits
	switch {
	case !running || needs == numa.NeedsNothing:
	case s.o.Power == PowerGuest || s.o.Power == PowerHard:
		if out, err := s.shutdown(ctx, st); err != nil {
			return out, err
		}
	case needs == numa.NeedsOff && s.o.Power == PowerWait:
		if err := s.waitOff(ctx); err != nil {
			return NeedsOff, err
		}
	case needs == numa.NeedsOff:
		return NeedsOff, errors.New("it has to be powered off for this: --power guest")
	case s.o.Power == PowerReboot:
		e := numa.Edit{Kind: numa.EditExtraConfig, Key: fix.RebootKey, To: numa.Is("TRUE")}
		if e.From = e.ValueOf(&st.VM.Config); !e.From.Same(e.To) {
			edits = append(slices.Clone(edits), e)
		}
	}
	if running && s.off { // powering off has changed its version, and somebody may have changed more
		now, err := s.settled(ctx)
		if err != nil {
			return Failed, err
		}
		if text := fix.Refused(&now); text != "" {
			return Refused, errors.New(text)
		}
		if side, why := s.side(&now); side == fix.Drifted {
			return Drift, fmt.Errorf("%w: %s", numa.ErrChanged, why)
		}
		*st = now
	}
	out, err := s.reconfigure(ctx, st, edits)
	if err != nil {
		return out, err
	}
	if needs == numa.NeedsCycle && running && !s.off {
		return Pending, s.pending()
	}
	return Done, nil
}

// pending says what a VM still needs whose settings are written.
func (s *step) pending() error {
	if s.o.Power == PowerReboot {
		return errors.New("it takes effect with the next reboot of the guest, which " + fix.RebootKey + " makes a power cycle")
	}
	return errors.New("it takes effect with the next power cycle: power off and on, a reboot is not enough")
}

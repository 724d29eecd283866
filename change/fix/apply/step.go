package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"homenode/change/fix"
	"homenode/change/fix/journal"
	"homenode/numa"
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
		Edits: edits, ChangeVersion: version, Ran: s.past.ran, Host: s.past.host})
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
		return st, errors.New("it is no longer in the inventory, or the account does not see it")
	}
	return st, nil
}

// losses bounds how often a request that only reads is made again after its connection dropped.
const losses = 5

// again makes a request that changes nothing until it is answered: after a login when the session expired, and a few
// times when the connection was lost, as when the vCenter restarts.
func (s *step) again(ctx context.Context, request func() error) error {
	for tries := 0; ; tries++ {
		err := request()
		switch {
		case err == nil || ctx.Err() != nil || tries >= losses:
			return err
		case errors.Is(err, numa.ErrExpired):
			if err := s.relogin(ctx); err != nil && tries >= losses-1 {
				return err
			}
		case errors.Is(err, numa.ErrLost) || isConnection(err):
		default:
			return err
		}
		if tries > 0 || !errors.Is(err, numa.ErrExpired) {
			if err := s.rest(ctx, nil); err != nil {
				return err
			}
		}
	}
}

// isConnection reports whether the server could not be reached.
func isConnection(err error) bool { return strings.Contains(err.Error(), "connection refused") }

func (s *step) relogin(ctx context.Context) error {
	s.login.Lock()
	defer s.login.Unlock()
	return s.t.Login(ctx)
}

// patience is how long another task of a VM may run on.
const patience = 2 * time.Minute

// vm carries out the change of a VM.
func (s *step) vm(ctx context.Context) (Outcome, error) {
	st, err := s.state(ctx)
	if err != nil {
		return Failed, err
	}
	running := st.VM.Power.Value == numa.PoweredOn
	if !s.past.began {
		s.past.ran, s.past.host = running, st.VM.Host
	}
	s.off = s.past.ran && !running
	tools := st.Tools
	side, why := s.c.Compare(&st.VM.Config)
	needs := s.c.Needs()
	outcome, pending := Already, error(nil)
	if side == fix.After && s.past.began {
		outcome = Done
		if needs == numa.NeedsCycle && running && s.o.Power != PowerGuest && s.o.Power != PowerHard {
			outcome, pending = Pending, s.pending()
		}
	}
	// A VM that the run shut down is powered on again, whatever else is found.
	blocked := pending
	switch {
	case side == fix.Drifted:
		outcome, blocked = Drift, errors.New(why)
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
		if err := s.done("reconfigure", s.c.Edits, st.ChangeVersion); err != nil {
			return Done, err
		}
		s.past.written = s.o.Now()
	}
	if ctx.Err() != nil {
		return Failed, fmt.Errorf("interrupted: %w; the journal knows how far it came", ctx.Err())
	}
	return s.finish(ctx, outcome, blocked, needs, tools)
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
		edits = append(slices.Clone(edits), numa.Edit{Kind: numa.EditExtraConfig, Key: rebootKey, To: numa.Is("TRUE")})
	}
	version := st.ChangeVersion
	if s.off { // powering off has changed it
		now, err := s.state(ctx)
		if err != nil {
			return Failed, err
		}
		version = now.ChangeVersion
	}
	out, err := s.reconfigure(ctx, edits, version)
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
		return errors.New("it takes effect with the next reboot of the guest, which " + rebootKey + " makes a power cycle")
	}
	return errors.New("it takes effect with the next power cycle: power off and on, a reboot is not enough")
}

// reconfigure makes the edits, reads them back, and takes them back when vSphere did not keep all.
func (s *step) reconfigure(ctx context.Context, edits []numa.Edit, version string) (Outcome, error) {
	for begin, tries := time.Now(), 0; ; tries++ {
		if err := s.intent("reconfigure", edits, version); err != nil {
			return Failed, err
		}
		err := s.t.Reconfigure(ctx, s.c.VM.ID, edits, version, s.started("reconfigure"))
		if ctx.Err() != nil {
			return Failed, ctx.Err()
		}
		if errors.Is(err, numa.ErrExpired) && tries < losses {
			if err := s.relogin(ctx); err != nil {
				return Failed, err
			}
		}
		st, readErr := s.state(ctx)
		if readErr != nil {
			return Failed, errors.Join(err, readErr)
		}
		side, why := s.c.Compare(&st.VM.Config)
		switch {
		case side == fix.After: // whatever the answer was: it is written
			s.past.written = s.o.Now()
			return Done, s.done("reconfigure", s.c.Edits, st.ChangeVersion)
		case err == nil:
			return s.ignored(ctx, &st, why)
		case side == fix.Drifted:
			return Conflict, fmt.Errorf("%w: %s", numa.ErrChanged, why)
		case errors.Is(err, numa.ErrChanged) && tries < 2: // something else of it changed, such as its notes
		case errors.Is(err, numa.ErrChanged):
			return Conflict, err
		case errors.Is(err, numa.ErrBusy) && time.Since(begin) < patience:
			if err := s.rest(ctx, nil); err != nil {
				return Failed, err
			}
		case (errors.Is(err, numa.ErrExpired) || errors.Is(err, numa.ErrLost) || isConnection(err)) && tries < losses:
		default:
			return Failed, err
		}
		version = st.ChangeVersion
	}
}

// ignored takes back what was kept of edits that were not all kept.
func (s *step) ignored(ctx context.Context, st *numa.State, why string) (Outcome, error) {
	var lost []string
	var back []numa.Edit
	for _, e := range s.c.Edits {
		one := fix.Change{Edits: []numa.Edit{e}}
		switch side, _ := one.Compare(&st.VM.Config); side {
		case fix.After:
			back = append(back, e.Undo())
		default:
			lost = append(lost, fmt.Sprintf("%s is %s, not %s", e.Name(), e.ValueOf(&st.VM.Config), e.To))
		}
	}
	err := fmt.Errorf("the task ended well, but vSphere did not keep it: %s", strings.Join(lost, "; "))
	if back == nil {
		return Ignored, err
	}
	if failed := s.intent("takeBack", back, st.ChangeVersion); failed != nil {
		return Ignored, errors.Join(err, failed)
	}
	if failed := s.t.Reconfigure(ctx, s.c.VM.ID, back, st.ChangeVersion, s.started("takeBack")); failed != nil {
		return Failed, fmt.Errorf("%w; taking the others back failed: %v", err, failed)
	}
	return Ignored, err
}

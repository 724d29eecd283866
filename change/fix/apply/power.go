package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"example.org/homenode/change/fix/journal"
	"example.org/homenode/numa"
)

// shutdown shuts the guest down and waits until the VM is off.
func (s *step) shutdown(ctx context.Context, st *numa.State) (Outcome, error) {
	if err := s.intent("shutdown", nil, st.ChangeVersion); err != nil {
		return Failed, err
	}
	s.past.stopped = true
	s.say("shutting the guest down")
	ask := func() error { return s.once(ctx, func() error { return s.t.Shutdown(ctx, st.VM.ID) }) }
	err := ask()
	for tries := 0; passing(err) && tries < losses; tries++ { // asking twice does no harm
		now, err := s.state(ctx)
		if err != nil {
			return Failed, err
		}
		if isOff(&now) || !passing(ask()) {
			break
		}
	}
	if err != nil && !passing(err) && !errors.Is(err, numa.ErrPower) { // ErrPower: off already
		if !errors.Is(err, numa.ErrNoTools) || s.o.Power != PowerHard {
			return Failed, err
		}
	}
	if errors.Is(err, numa.ErrNoTools) || s.until(ctx, s.o.Off, isOff) != nil {
		if ctx.Err() != nil {
			return Failed, ctx.Err()
		}
		if s.o.Power != PowerHard {
			return Timeout, fmt.Errorf("the guest did not shut down within %v; it was not powered off (--power hard would), nothing was changed. Should it go off later, --resume powers it on", s.o.Off)
		}
		if err := s.intent("powerOff", nil, ""); err != nil {
			return Failed, err
		}
		s.say("powering off")
		err := s.once(ctx, func() error { return s.t.PowerOff(ctx, st.VM.ID, s.started("powerOff")) })
		if err != nil && !passing(err) && !errors.Is(err, numa.ErrPower) {
			return Failed, err
		}
		if err := s.until(ctx, s.o.Off, isOff); err != nil {
			return Failed, fmt.Errorf("it is still on: %w", err)
		}
	}
	s.off = true
	return Done, nil
}

func isOff(st *numa.State) bool { return st.VM.Power.Value == numa.PoweredOff }

// until looks at the VM until ok holds of it.
func (s *step) until(ctx context.Context, limit time.Duration, ok func(*numa.State) bool) error {
	for begin, wait := time.Now(), s.o.Poll/16; ; wait = min(2*wait, s.o.Poll) {
		st, err := s.state(ctx)
		if err != nil {
			return err
		}
		if ok(&st) {
			return nil
		}
		if time.Since(begin) > limit {
			return fmt.Errorf("not within %v", limit)
		}
		if err := pause(ctx, nil, wait); err != nil {
			return err
		}
	}
}

// waitOff waits until somebody powers the VM off.
func (s *step) waitOff(ctx context.Context) error {
	s.say("waiting until it is powered off")
	if err := s.intent("wait", nil, ""); err != nil {
		return err
	}
	for begin := time.Now(); ; {
		st, err := s.state(ctx)
		if err != nil {
			return err
		}
		if isOff(&st) {
			s.off, s.past.waited = true, true
			return nil
		}
		select {
		case <-s.o.Stop:
			return errors.New("stopped while it was waited for: go on with --resume")
		default:
		}
		if time.Since(begin) > s.o.Wait {
			return fmt.Errorf("it was not powered off within %v", s.o.Wait)
		}
		if err := s.rest(ctx, s.o.Stop); err != nil {
			return err
		}
	}
}

// finish powers on what the run powered off, and waits until it is well.
func (s *step) finish(ctx context.Context, outcome Outcome, why error, needs numa.Needs, tools bool) (Outcome, error) {
	if s.past.waited && !s.past.stopped && s.past.written.IsZero() { // somebody else powered it off, and nothing was changed
		s.off = false
	}
	if !s.off {
		return outcome, why
	}
	failed := s.powerOn(ctx)
	if failed != nil && s.off && ctx.Err() == nil && outcome == Done && !s.past.written.IsZero() {
		return s.lost(ctx, failed)
	}
	if failed != nil {
		return Failed, errors.Join(why, failed)
	}
	if outcome != Done && outcome != Already {
		return outcome, why
	}
	if tools || s.past.began && s.c.VM.Runs {
		if err := s.until(ctx, s.o.Tools, func(st *numa.State) bool { return st.Tools || !tools }); err != nil {
			return Failed, fmt.Errorf("VMware Tools do not run after the power-on: %w", err)
		}
	}
	if s.o.Probe != nil {
		s.say("probing")
		if err := s.o.Probe(ctx, s.c.VM); err != nil {
			return Failed, fmt.Errorf("the probe after the power-on: %w", err)
		}
	}
	return outcome, why
}

// powerOn powers the VM on, on the host where it is registered now, else where vSphere wants.
func (s *step) powerOn(ctx context.Context) error {
	// A full disk does not keep a VM off: the line is tried, not needed.
	diskErr := s.j.Last(journal.Line{Step: journal.StepIntent, Plan: s.p.ID, Target: s.c.Target().ID, Name: s.c.Target().Name, Do: "powerOn", Ran: s.past.ran})
	s.say("powering on")
	s.off = true
	host := ""
	if st, err := s.state(ctx); err == nil {
		host = st.VM.Host
	}
	for tries := 0; ; tries++ {
		err := s.once(ctx, func() error { return s.t.PowerOn(ctx, s.c.VM.ID, host, s.started("powerOn")) })
		if ctx.Err() != nil {
			return ctx.Err()
		}
		st, readErr := s.settled(ctx)
		if readErr == nil && st.VM.Power.Value == numa.PoweredOn {
			s.off, s.past.stopped = false, false
			if diskErr != nil {
				return &diskError{diskErr}
			}
			return s.done("powerOn", nil, st.ChangeVersion)
		}
		switch {
		case readErr == nil && (passing(err) || errors.Is(err, numa.ErrBusy)) && tries < losses:
		case readErr == nil && host != "":
			host = ""
		default:
			if err == nil && readErr == nil {
				err = errors.New("it is still off")
			}
			return fmt.Errorf("it does not power on: %w", errors.Join(err, readErr))
		}
	}
}

// lost takes the edits of a VM back that does not power on with them, and powers it on without.
func (s *step) lost(ctx context.Context, why error) (Outcome, error) {
	s.say("it does not power on: taking the edits back")
	var back []numa.Edit
	for _, e := range slices.Backward(s.past.edits) {
		if e.Kind != numa.EditHardware { // there is no way back
			back = append(back, e.Undo())
		}
	}
	if err := s.takeBack(ctx, back); err != nil {
		return Lost, fmt.Errorf("%w; taking the edits back failed: %w", why, err)
	}
	if err := s.powerOn(ctx); err != nil {
		return Lost, fmt.Errorf("%w; without the edits neither: %w", why, err)
	}
	return Lost, fmt.Errorf("%w; the edits were taken back, and it is on again", why)
}

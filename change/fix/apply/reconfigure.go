package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/homenode/change/fix"
	"example.org/homenode/numa"
)

// reconfigure makes the edits that the VM lacks, reads them back, and takes them back when vSphere did not keep all. st is the VM as it was checked:
// vSphere refuses a change of any other version.
func (s *step) reconfigure(ctx context.Context, st *numa.State, edits []numa.Edit) (Outcome, error) {
	for begin, tries := time.Now(), 0; ; tries++ {
		send := next(edits, &st.VM.Config)
		if err := s.intent("reconfigure", edits, st.ChangeVersion); err != nil {
			return Failed, err
		}
		s.past.edits = edits
		err := s.t.Reconfigure(ctx, s.c.VM.ID, send, st.ChangeVersion, s.started("reconfigure"))
		if ctx.Err() != nil {
			return Failed, ctx.Err()
		}
		now, readErr := s.settled(ctx)
		if readErr != nil {
			return Failed, errors.Join(err, readErr)
		}
		side, why := s.c.Compare(&now.VM.Config)
		partly := s.c.Partly(&now.VM.Config)
		switch {
		case side == fix.After: // whatever the answer was: it is written
			s.past.written = s.o.Now()
			return Done, s.done("reconfigure", edits, now.ChangeVersion)
		case err == nil && partly && len(send) < len(next(edits, nil)) && fix.Kept(send, &now.VM.Config): // the virtual hardware is upgraded: now the others
			tries--
		case err == nil || partly && !upgraded(edits, &now.VM.Config):
			return s.ignored(ctx, edits, &now)
		case side == fix.Drifted && !partly:
			return Drift, fmt.Errorf("%w: %s", numa.ErrChanged, why)
		case errors.Is(err, numa.ErrChanged) && tries < losses: // something else of it changed, such as its notes, or its power state is still taken in
			if err := s.rest(ctx, nil); err != nil {
				return Failed, err
			}
		case errors.Is(err, numa.ErrChanged):
			return Drift, err
		case errors.Is(err, numa.ErrBusy) && time.Since(begin) < s.o.Busy:
			if err := s.rest(ctx, nil); err != nil {
				return Failed, err
			}
		case passing(err) && tries < losses:
		default:
			return Failed, err
		}
		st = &now
	}
}

// next returns the edits that are made in the next task: those that the configuration lacks, and an upgrade of the virtual hardware alone and
// first, which is a task of its own. A nil configuration lacks all.
func next(edits []numa.Edit, c *numa.Config) (out []numa.Edit) {
	for _, e := range edits {
		switch {
		case c != nil && fix.Kept([]numa.Edit{e}, c):
		case c != nil && e.Kind == numa.EditHardware:
			return []numa.Edit{e}
		default:
			out = append(out, e)
		}
	}
	return out
}

// upgraded reports whether the virtual hardware is upgraded already, before the other edits are made.
func upgraded(edits []numa.Edit, c *numa.Config) bool {
	return slices.ContainsFunc(edits, func(e numa.Edit) bool { return e.Kind == numa.EditHardware && fix.Kept([]numa.Edit{e}, c) })
}

// ignored names the edits that vSphere did not keep, and takes the others back. A rollback leaves the others as they are.
func (s *step) ignored(ctx context.Context, edits []numa.Edit, st *numa.State) (Outcome, error) {
	var lost []string
	var back []numa.Edit
	for _, e := range edits {
		is := e.ValueOf(&st.VM.Config)
		if !fix.Kept([]numa.Edit{e}, &st.VM.Config) {
			lost = append(lost, fmt.Sprintf("%s is %s, not %s", e.Name(), is, e.To))
		}
		if undo := e.Undo(); !fix.Kept([]numa.Edit{undo}, &st.VM.Config) && e.Kind != numa.EditHardware {
			undo.From = is
			back = append(back, undo)
		}
	}
	err := fmt.Errorf("the task ended well, but vSphere did not keep it: %s", strings.Join(lost, "; "))
	if s.undo {
		return Ignored, err
	}
	slices.Reverse(back)
	if failed := s.takeBack(ctx, back); failed != nil {
		return Failed, fmt.Errorf("%w; taking it back failed: %w", err, failed)
	}
	return Ignored, err
}

// takeBack makes edits that give settings the values that they had before, and reads them back.
func (s *step) takeBack(ctx context.Context, edits []numa.Edit) error {
	c := fix.Change{VM: s.c.VM, Edits: edits}
	for tries, last := 0, error(nil); ; tries++ {
		st, err := s.settled(ctx)
		if err != nil {
			return errors.Join(last, err)
		}
		side, why := c.Compare(&st.VM.Config)
		switch {
		case side == fix.After && tries == 0:
			return nil
		case side == fix.After:
			return s.done("takeBack", nil, st.ChangeVersion)
		case side == fix.Drifted && !c.Partly(&st.VM.Config):
			return fmt.Errorf("%w: %s", numa.ErrChanged, why)
		case tries > 0 && last == nil:
			var stays []string
			for _, e := range edits {
				if is := e.ValueOf(&st.VM.Config); !fix.Kept([]numa.Edit{e}, &st.VM.Config) {
					stays = append(stays, fmt.Sprintf("%s stays %s", e.Name(), is))
				}
			}
			return errors.New("vSphere did not keep it: " + strings.Join(stays, "; "))
		case tries > losses || last != nil && !passing(last) && !errors.Is(last, numa.ErrChanged) && !errors.Is(last, numa.ErrBusy):
			return last
		}
		if err := s.intent("takeBack", nil, st.ChangeVersion); err != nil {
			return err
		}
		last = s.t.Reconfigure(ctx, s.c.VM.ID, next(edits, &st.VM.Config), st.ChangeVersion, s.started("takeBack"))
	}
}

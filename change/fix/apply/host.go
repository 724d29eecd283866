package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"example.org/homenode/internal/words"

	"example.org/homenode/change/fix"
	"example.org/homenode/numa"
)

// options reads the options of the host, or the rules of the cluster, with these keys.
func (s *step) options(ctx context.Context, keys []string) (numa.Settings, error) {
	if s.c.Cluster != nil {
		return s.t.DRSRules(ctx, s.c.Cluster.ID, keys)
	}
	return s.t.HostOptions(ctx, s.c.Host.ID, keys)
}

// setOptions makes the edits of options or rules.
func (s *step) setOptions(ctx context.Context) error {
	if s.c.Cluster != nil {
		return s.t.SetDRSRules(ctx, s.c.Cluster.ID, s.c.Edits)
	}
	return s.t.SetHostOptions(ctx, s.c.Host.ID, s.c.Edits)
}

// host changes the options of a host, or the rules of a cluster.
func (s *step) host(ctx context.Context) (Outcome, error) {
	keys := words.Texts(s.c.Edits, func(e numa.Edit) string { return e.Key })
	edits := slices.Clone(s.c.Edits)
	sideNow := func() (fix.Side, string, error) {
		var set numa.Settings
		err := s.again(ctx, func() (err error) {
			set, err = s.options(ctx, keys)
			return err
		})
		if err != nil {
			return fix.Drifted, "", err
		}
		before, after, differ := true, true, ""
		for i, e := range s.c.Edits {
			v := numa.Value{}
			if text, ok := set.Lookup(e.Key); ok {
				v = numa.Is(text)
			}
			if !v.Same(e.To) {
				edits[i].From = v // the plan may not know what a default is
			}
			// A host that was read with a few options only does not say what the others are.
			before, after = before && (v.Same(e.From) || !e.From.Set), after && v.Same(e.To)
			if !v.Same(e.From) && e.From.Set {
				differ = fmt.Sprintf("%s is %s, not %s", e.Key, v, e.From)
			}
		}
		switch {
		case after:
			return fix.After, "", nil
		case before:
			return fix.Before, "", nil
		}
		return fix.Drifted, differ, nil
	}
	side, why, err := sideNow()
	switch moved := s.moved[s.c.Target().ID]; {
	case err != nil:
		return Failed, err
	case moved != "" && !s.past.began:
		return Drift, errors.New(moved)
	case side == fix.Drifted:
		return Drift, errors.New(why)
	case side == fix.After && !s.past.began:
		return Already, nil
	case side == fix.After && s.past.edits != nil: // they know what was there before
		return Done, s.done("options", s.past.edits, "")
	case side == fix.After:
		return Done, s.done("options", s.c.Edits, "")
	}
	if err := s.intent("options", edits, ""); err != nil {
		return Failed, err
	}
	wanted := slices.Clone(edits) // with what was there before: sideNow notes what is there then
	for tries := 0; ; tries++ {
		err = s.once(ctx, func() error { return s.setOptions(ctx) })
		side, _, readErr := sideNow()
		switch {
		case readErr != nil:
			return Failed, errors.Join(err, readErr)
		case side == fix.After:
			return Done, s.done("options", wanted, "")
		case err == nil:
			return Ignored, errors.New("the host took the options and did not keep them")
		case errors.Is(err, numa.ErrNoOption):
			return Refused, err
		case !passing(err) || tries >= losses:
			return Failed, err
		}
	}
}

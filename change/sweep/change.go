package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"homenode/change/whatif"
	"homenode/esxi/vnuma"
	"homenode/numa"
	"homenode/source/story"
)

// change returns the story of a point. s stays as it is. The changes of the fleet come
// first, then the lines and factors, which may name hosts that were added; each kind in
// its order.
func change(ctx context.Context, s *numa.Story, steps []Step, choices vnuma.Choices) (*numa.Story, error) {
	out := *s
	out.Loads, out.Events = slices.Clone(s.Loads), slices.Clone(s.Events)
	if err := changeFleet(ctx, &out, steps, choices); err != nil {
		return nil, plain(err)
	}
	for i := range steps {
		var err error
		switch st := &steps[i]; st.Do {
		case StoryLine:
			err = story.Add(&out, st.Text, "--grid")
		case ScaleLoad:
			err = scale(&out, st.Text, st.Factor)
		case WhatIf: // changeFleet did
		default:
			err = fmt.Errorf("found a step %q", st.Do)
		}
		if err != nil {
			return nil, plain(err)
		}
	}
	return &out, out.Check()
}

// plain leaves the places in texts that the user did not write out of an error.
func plain(err error) error {
	var at *numa.SyntaxError
	if errors.As(err, &at) {
		return errors.New(at.Msg)
	}
	return err
}

// changeFleet applies the changes of the fleet.
func changeFleet(ctx context.Context, s *numa.Story, steps []Step, choices vnuma.Choices) error {
	var changes []whatif.Change
	for i := range steps {
		if steps[i].Do != WhatIf {
			continue
		}
		c, err := whatif.ParseAt("--grid", 1, steps[i].Text)
		if err != nil {
			return err
		}
		changes = append(changes, c)
	}
	if changes == nil {
		return nil
	}
	out, err := Changed(ctx, s, changes, choices)
	if err == nil {
		*s = *out
	}
	return err
}

// Changed returns the story with its fleet changed, and without what that makes untrue.
// s stays as it is. The error is about the changes, or about an event that cannot happen
// any more.
func Changed(ctx context.Context, s *numa.Story, changes []whatif.Change, choices vnuma.Choices) (*numa.Story, error) {
	fleet, _, err := whatif.Apply(ctx, s.Fleet, changes, choices)
	if err != nil {
		return nil, err
	}
	out := *s
	out.Fleet, out.Seen, out.Events = fleet, slices.Clone(s.Seen), slices.Clone(s.Events)
	c := changed{Story: &out, was: byID(s.Fleet), now: byID(fleet)}
	if err := c.settle(); err != nil {
		return nil, err
	}
	return &out, out.Check()
}

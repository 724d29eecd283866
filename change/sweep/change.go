package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"example.org/homenode/change/whatif"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/source/story"
)

// change returns the story of a point. s is not modified. The changes of the fleet are applied
// first, then the lines and factors, which may name added hosts; each kind in its order.
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

// plain removes positions in texts that the user did not write from an error.
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

// Changed returns the story with its fleet changed, and without facts that the change makes
// wrong. s is not modified. The error is about the changes, or about an event that can no
// longer happen.
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

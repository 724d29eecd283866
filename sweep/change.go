package sweep

import (
	"errors"
	"fmt"
	"slices"

	"homenode/numa"
	"homenode/source/scenario"
	"homenode/source/story"
	"homenode/source/word"
	"homenode/vnuma"
	"homenode/whatif"
)

// change returns the story of a point. s stays as it is. The changes of the fleet come
// first, then the lines and factors, which may name hosts that were added; each kind in
// its order.
func change(s *numa.Story, steps []Step, choices vnuma.Choices) (*numa.Story, error) {
	out := *s
	out.Used, out.Loads, out.Talks = slices.Clone(s.Used), slices.Clone(s.Loads), slices.Clone(s.Talks)
	out.Seen, out.Events = slices.Clone(s.Seen), slices.Clone(s.Events)
	if err := changeFleet(&out, steps, choices); err != nil {
		return nil, plain(err)
	}
	for i := range steps {
		var err error
		switch st := &steps[i]; st.Do {
		case StoryLine:
			err = story.Add(&out, st.Text, "--sweep")
		case ScaleLoad:
			err = scale(&out, st.Text, st.Factor)
		}
		if err != nil {
			return nil, plain(err)
		}
	}
	return &out, out.Check()
}

// plain leaves the places in texts that the user did not write out of an error.
func plain(err error) error {
	var change *whatif.SyntaxError
	var at *word.Error
	var line *scenario.SyntaxError
	switch {
	case errors.As(err, &line) && line.File == "--sweep":
		return errors.New(line.Msg)
	case errors.As(err, &change):
		return errors.New(change.Msg)
	case errors.As(err, &at):
		return errors.New(at.Msg)
	}
	return err
}

// changeFleet applies the what-ifs, and takes out of the story what they make untrue.
func changeFleet(s *numa.Story, steps []Step, choices vnuma.Choices) error {
	var changes []whatif.Change
	for i := range steps {
		var c whatif.Change
		var err error
		switch st := &steps[i]; st.Do {
		case WhatIf:
			c, err = whatif.ParseAt("--sweep", 1, st.Text)
		case LoseHost:
			c, err = whatif.LoseHost(st.Text)
		case AddHost:
			c, err = whatif.AddHost(st.Text)
		case StoryLine, ScaleLoad:
			continue
		default:
			return fmt.Errorf("found a step %q", st.Do)
		}
		if err != nil {
			return err
		}
		changes = append(changes, c)
	}
	if changes == nil {
		return nil
	}
	fleet, _, err := whatif.Apply(s.Fleet, changes, choices)
	if err != nil {
		return err
	}
	before := s.Fleet
	s.Fleet = fleet
	c := changed{Story: s, before: before, now: byID(fleet), was: byID(before)}
	return c.settle()
}

package ask

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"example.org/homenode/internal/bounded"
	"example.org/homenode/numa"
	"example.org/homenode/source/demo"
	"example.org/homenode/source/open"
	"example.org/homenode/source/story"
)

// MostAtHand limits the size of files that are read completely to complete a name, or to check whether they are stories. A snapshot of 10,000 VMs is
// smaller and takes half a second.
const MostAtHand = 64 << 20

// Story reads a story, or makes one from a fleet. With part, name must be a fleet. fine reports whether the story sets its tick length.
func (s *Source) Story(ctx context.Context, e *Env, name string, part bool) (_ *numa.Story, fine bool, err error) {
	isDemo := name == open.Demo
	if e.Held != nil {
		isDemo = e.Held.Demo
	}
	if isDemo && !part {
		told, err := demo.Story()
		if err == nil {
			told.Name = open.Demo
		}
		return told, true, err
	}
	if e.Held != nil {
		fleet, err := e.Held.fleet([]string{name})
		if err != nil {
			return nil, false, err
		}
		return story.Of(fleet, story.Defaults{}), false, nil
	}
	if e.Open == nil {
		return nil, false, ErrNoFleet
	}
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Size() <= MostAtHand {
		b, err := bounded.File(name, MostAtHand)
		if err != nil {
			return nil, false, err
		}
		if story.Is(b) {
			told, err := story.Read(name, b)
			if err == nil {
				err = s.amend(told)
			}
			return told, story.StatesEvery(b), err
		}
	} else if !isDemo && errors.Is(err, fs.ErrNotExist) && !strings.Contains(name, ".") && name != "vcenter" && !strings.HasPrefix(name, "@") {
		return nil, false, fmt.Errorf("%w (want a story, a SOURCE, or demo)", err)
	}
	fleet, err := s.Read(ctx, e, name)
	if err != nil {
		return nil, false, err
	}
	return story.Of(fleet, story.Defaults{}), false, nil
}

// amend applies the source options to the fleet of a story.
func (s *Source) amend(told *numa.Story) error {
	if err := s.Options().Apply(told.Fleet); err != nil {
		return err
	}
	return told.Check()
}

package flags

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"homenode/change/sweep"
	"homenode/change/whatif"
	"homenode/esxi/vnuma"
	"homenode/numa"
	"homenode/source/story"
)

// A Story says what happens in a simulation, beside what its story says.
type Story struct {
	hours float64
	loads []string
	at    []string
	part  []string

	// Set by read: the story is too large to be judged, and how often the speed of a VM is
	// computed.
	Silent bool
	Prices int
}

// Register adds the flags to a command.
func (f *Story) Register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.Float64Var(&f.hours, "hours", 0, "how long to simulate, instead of what the story says (a day when it does not)")
	fl.StringArrayVar(&f.part, "part", nil, "of a SOURCE: this cluster or host alone, with its VMs; names may have * and ? (repeatable)")
	fl.StringArrayVar(&f.loads, "load", nil, "load of VMs from the start: 'web* cpu=40% memory=80%' (repeatable; docs/reference/scenarios.md has all words)")
	fl.StringArrayVar(&f.at, "at", nil, "what happens besides: '2h fail esx07', '14:30 power-on sql01'; or how it runs: 'run 8h every=1m seed=7', with the time between two ticks and the seed of the noise (repeatable)")
}

// The sizes of fleets from which ticks are coarser where it is not stated how fine they shall
// be, and from which nothing is judged (docs/evidence/performance.md).
const (
	mostFine   = 1000
	mostMinute = 5000
	mostJudged = 20000
)

// Read reads the story that the argument names, or makes one of a fleet, and adds what the
// flags say.
func (f *Story) Read(cmd *cobra.Command, src *Source, arg string, changes *WhatIf, choices vnuma.Choices) (*numa.Story, error) {
	asked, err := changes.Changes("table") // every form can show a changed fleet
	if err != nil {
		return nil, err
	}
	s, fine, err := src.Story(cmd, arg)
	if err != nil {
		return nil, err
	}
	if f.part != nil {
		if err := takePart(s, f.part); err != nil {
			return nil, fmt.Errorf("--part: %w", err)
		}
	}
	if asked != nil {
		if err := changeStory(s, asked, choices); err != nil {
			return nil, err
		}
	}
	if err := f.add(cmd, s); err != nil {
		return nil, err
	}
	if len(s.Fleet.Hosts) == 0 {
		return nil, fmt.Errorf("%s: found no host to simulate", arg)
	}
	f.size(s, fine)
	for _, a := range changes.Asked { // the report must not pass for one of today's fleet
		s.Name += ", --what-if " + a
	}
	return s, nil
}

// takePart leaves of the fleet of a story what the patterns name. A story that says what happens to its VMs is whole.
func takePart(s *numa.Story, patterns []string) error {
	if len(s.Loads)+len(s.Talks)+len(s.Seen)+len(s.Events) > 0 {
		return errors.New("only with a SOURCE: a story has its own fleet")
	}
	fleet, err := story.Part(s.Fleet, patterns)
	if err != nil {
		return err
	}
	s.Fleet = fleet
	s.Name += ", " + strings.Join(patterns, ", ")
	return nil
}

// changeStory gives the story another fleet, as a point of a sweep has it.
func changeStory(s *numa.Story, asked []whatif.Change, choices vnuma.Choices) error {
	changed, err := sweep.Changed(s, asked, choices)
	if err == nil {
		*s = *changed
	}
	return err
}

// lineWords are the lines of a story that --at takes as they are, beside those of events.
var lineWords = []string{"run", "used", "load", "talk", "placed"}

// run gives the story the length of --hours.
func (f *Story) run(cmd *cobra.Command, s *numa.Story) error {
	if !cmd.Flags().Changed("hours") {
		return nil
	}
	length := time.Duration(f.hours * float64(time.Hour)).Round(numa.Step)
	if !(f.hours > 0 && f.hours <= numa.MostLength.Hours()) || length <= 0 {
		return fmt.Errorf("--hours: found %v, want more than 0 and at most %.0f", f.hours, numa.MostLength.Hours())
	}
	err := story.Add(s, "run "+length.String(), "--hours")
	if e, ok := errors.AsType[*numa.SyntaxError](err); ok && e.File == "--hours" { // the user did not type that line
		err = errors.New(e.Msg)
	}
	if err != nil {
		return fmt.Errorf("--hours: %w", err)
	}
	return nil
}

// saysEvery reports whether --at says how fine the ticks shall be.
func (f *Story) saysEvery() bool {
	return slices.ContainsFunc(f.at, func(line string) bool {
		words := strings.Fields(line)
		return len(words) > 0 && words[0] == "run" && slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "every=") })
	})
}

// add adds what the flags say to the story.
func (f *Story) add(cmd *cobra.Command, s *numa.Story) error {
	if err := f.run(cmd, s); err != nil {
		return err
	}
	for _, one := range []struct {
		key, flag string
		lines     []string
	}{{"load", "--load", f.loads}, {"at", "--at", f.at}} {
		var lines strings.Builder
		for _, text := range one.lines {
			if first, _, _ := strings.Cut(strings.TrimSpace(text), " "); first != one.key && (one.key != "at" || !slices.Contains(lineWords, first)) {
				text = one.key + " " + text
			}
			if strings.ContainsAny(text, "\r\n") {
				return fmt.Errorf("%s: found a line break, want one line each", one.flag)
			}
			lines.WriteString(text + "\n")
		}
		if lines.Len() == 0 {
			continue
		}
		if err := story.Add(s, lines.String(), one.flag); err != nil {
			return err
		}
	}
	return nil
}

// size makes the ticks of a large fleet coarser where neither flag nor story says how fine
// they shall be.
func (f *Story) size(s *numa.Story, fine bool) {
	n := len(s.Fleet.VMs)
	if n > mostFine {
		f.Prices = 48 // half-hours of a day
	}
	if f.saysEvery() {
		return
	}
	f.Silent = n > mostJudged
	switch {
	case fine:
	case n > mostMinute:
		s.Every = 5 * time.Minute
	case n > mostFine:
		s.Every = time.Minute
	}
}

package ask

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"example.org/homenode/change/sweep"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/rules/simulate"
	"example.org/homenode/source/story"
)

// A Play adds events, loads and changes to a story.
type Play struct {
	Hours   float64  `ask:"hours" label:"Hours" example:"8" help:"how long to simulate, instead of what the story says (a day when it does not)"`
	Part    []string `ask:"part" label:"Hosts" help:"of a SOURCE: this cluster or host alone, with its VMs; names may have * and ? (repeatable)"`
	Loads   []string `ask:"load" label:"Load of VMs" example:"sql* cpu=60%" help:"load of VMs from the start: 'web* cpu=40% memory=80%' (repeatable; docs/reference/scenarios.md has all words)"`
	At      []string `ask:"at" label:"What happens" example:"2h fail esx07" help:"what happens besides: '2h fail esx07', '14:30 power-on sql01'; or how it runs: 'run 8h every=1m seed=7', with the time between two ticks and the seed of the noise (repeatable)"`
	WhatIfs []string `ask:"what-if" label:"Change" example:"vm=sql* hotAdd=off" help:"change the fleet before the story begins: 'vm=sql* hotAdd=off', 'host=esx* nodesPerSocket=2', 'release=8.0U3 hw=21', 'lose-host=esx07', 'add-host=2x32c/1TB count=2', or @FILE with such lines (repeatable)"`
	Choice  `group:"Judge"`
	Source  `group:"Source" only:"nodes-per-socket assume-host"`
}

// A Trace receives every tick of a simulation for an export beside the answer.
type Trace interface {
	Tick(host int, t *numa.Tick) error // concurrent for different hosts, unless Serial
	Serial() bool
	Close() error
	Abort() // no effect after Close
}

// PlayNames are the fields that affect the simulation, for the next commands of an answer.
var PlayNames = []string{"hours", "load", "at", "part", "choose", "what-if"}

// Fleet sizes above which the default tick is longer, and above which the simulation has no assessment (docs/evidence/performance.md).
const (
	mostFine   = 1000
	mostMinute = 5000
	mostJudged = 20000
)

// Told reads the named story, or makes a story from a fleet, and applies the fields. It returns the story, the same story without the events
// of --at and the changes of --what-if (nil if there are none), and the options of the simulation and assessment.
func (p *Play) Told(ctx context.Context, e *Env, asked *Asked, name string) (s, without *numa.Story, o simulate.Options, err error) {
	o.Workers = runtime.GOMAXPROCS(0)
	if o.Rules, err = p.Choice.Options(e); err != nil {
		return nil, nil, o, err
	}
	changes, err := Changes(p.WhatIfs)
	if err != nil {
		return nil, nil, o, err
	}
	s, fine, err := p.Story(ctx, e, name, p.Part != nil)
	if err != nil {
		return nil, nil, o, err
	}
	vnuma.AssumeStored(s.Fleet, o.Rules.Choices)
	if p.Part != nil {
		if err := takePart(s, p.Part); err != nil {
			return nil, nil, o, fmt.Errorf("--part: %w", err)
		}
	}
	if len(p.Happens()) > 0 {
		bare := *s
		bare.Events = slices.Clone(s.Events)
		if p.add(asked, &bare, false) == nil { // else it is about a VM or host that only the change adds
			without = &bare
		}
	}
	if changes != nil {
		if s, err = sweep.Changed(ctx, s, changes, o.Rules.Choices); err != nil {
			return nil, nil, o, err
		}
	}
	if err := p.add(asked, s, true); err != nil {
		return nil, nil, o, err
	}
	if len(s.Fleet.Hosts) == 0 {
		return nil, nil, o, fmt.Errorf("%s: found no host to simulate", name)
	}
	p.size(s, &o, fine)
	for _, text := range p.WhatIfs { // the report must not be mistaken for one of today's fleet
		s.Name += ", --what-if " + text
	}
	if without != nil {
		without.Every = s.Every
	}
	return s, without, o, nil
}

// Happens returns the events of --at and the changes of --what-if, as typed.
func (p *Play) Happens() (out []string) {
	for _, line := range p.At {
		if isEvent(line) {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return append(out, p.WhatIfs...)
}

// isEvent reports whether a line of the field at is an event.
func isEvent(line string) bool {
	words := strings.Fields(line)
	return len(words) > 0 && !slices.Contains(lineWords, words[0])
}

// takePart reduces the fleet of a story to the objects that match the patterns. It rejects a story with events or loads of its own.
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

// lineWords are the lines of a story, other than events, that the field at accepts unchanged.
var lineWords = []string{"run", "used", "load", "talk", "placed"}

// run sets the length of the story.
func (p *Play) run(asked *Asked, s *numa.Story) error {
	if !asked.Given("hours") {
		return nil
	}
	length := time.Duration(p.Hours * float64(time.Hour)).Round(numa.Step)
	if !(p.Hours > 0 && p.Hours <= numa.MostLength.Hours()) || length <= 0 {
		return Wrong("hours", fmt.Errorf("found %v, want more than 0 and at most %.0f", p.Hours, numa.MostLength.Hours()))
	}
	err := story.Add(s, "run "+length.String(), "--hours")
	if e, ok := errors.AsType[*numa.SyntaxError](err); ok && e.File == "--hours" { // the user did not type that line
		err = errors.New(e.Msg)
	}
	return Wrong("hours", err)
}

// saysEvery reports whether the field at sets the tick length.
func (p *Play) saysEvery() bool {
	return slices.ContainsFunc(p.At, func(line string) bool {
		words := strings.Fields(line)
		return len(words) > 0 && words[0] == "run" && slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "every=") })
	})
}

// add applies the fields to the story, optionally without events.
func (p *Play) add(asked *Asked, s *numa.Story, events bool) error {
	if err := p.run(asked, s); err != nil {
		return err
	}
	for _, one := range []struct {
		key   string
		lines []string
	}{{"load", p.Loads}, {"at", p.At}} {
		var lines strings.Builder
		for _, text := range one.lines {
			if !events && one.key == "at" && isEvent(text) {
				continue
			}
			if first, _, _ := strings.Cut(strings.TrimSpace(text), " "); first != one.key && (one.key != "at" || !slices.Contains(lineWords, first)) {
				text = one.key + " " + text
			}
			if strings.ContainsAny(text, "\r\n") {
				return Wrong(one.key, errors.New("found a line break, want one line each"))
			}
			lines.WriteString(text + "\n")
		}
		if lines.Len() == 0 {
			continue
		}
		if err := story.Add(s, lines.String(), "--"+one.key); err != nil {
			return err
		}
	}
	return nil
}

// size increases the tick length of a large fleet, unless the user or the story sets it.
func (p *Play) size(s *numa.Story, o *simulate.Options, fine bool) {
	n := len(s.Fleet.VMs)
	if n > mostFine {
		o.Prices = 48 // half-hours in a day
	}
	if p.saysEvery() {
		return
	}
	o.Silent = n > mostJudged
	switch {
	case fine:
	case n > mostMinute:
		s.Every = 5 * time.Minute
	case n > mostFine:
		s.Every = time.Minute
	}
}

package ask

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/policy"
	"example.org/homenode/source/open"
)

// An Env is the set of resources that a front end provides to questions.
type Env struct {
	// Open reads the fleet of the sources. unread lists the sources that could not be read if others could.
	Open func(ctx context.Context, sources []string, o open.Options) (fleet *numa.Fleet, unread []numa.Note, err error)
	Held *Held     // a fleet of this process; it is then the only source
	Own  fs.FS     // the only files that a question can read by name, in a shared process; nil for all files of this machine
	In   io.Reader // standard input, as a file of a question; nil for none

	Sink  Sink                               // receives the ticks of captures; nil for none
	Trace func(s *numa.Story) (Trace, error) // starts an export of the ticks of a simulation; nil for none

	Policy  *policy.Policy // the owner's configuration: thresholds, severities, accepted findings; nil for none
	Today   time.Time
	Version string
	Shared  bool   // the process is shared: budgets apply, and no file is written
	Form    string // output format, for answers that depend on it; "" for a value
	Table   string // table of the answer to write as CSV; "" for none
	Timed   bool   // answers include their duration
	// Flags are the flags of the front end that the user gave. Next commands in an answer repeat them.
	Flags map[string][]string

	Warn func(text string) // Warn shows a warning while the answer is computed; nil discards it.
	// Progress returns a function that shows progress in units of noun, and one that clears it; nil shows nothing.
	Progress func(did, noun string) (show func(done, total int), clear func())
}

// A Held is a fleet of this process with its current assessment.
type Held struct {
	Sources []string             // its names in questions
	Demo    bool                 // the demo fleet; its story covers a day
	Result  *rules.Result        // shared: a question that changes the fleet copies it
	Bare    func() *rules.Result // the baseline assessment for a what-if; nil for none
	Ticks   string               // as in rules.Options
}

// judged reports whether the assessment of h was made with these options.
func (h *Held) judged(o rules.Options) bool {
	return h != nil && h.Result != nil && h.Result.Policy == o.Policy && h.Result.Choices == o.Choices
}

// Bare returns the assessment of the loaded fleet without observations if its options equal o. It is nil if there is none, or when the context ends.
func (e *Env) Bare(ctx context.Context, o rules.Options) *rules.Result {
	if !e.Held.judged(o) || e.Held.Bare == nil {
		return nil
	}
	made := make(chan *rules.Result, 1)
	go func() { made <- e.Held.Bare() }() // computed once for all callers
	select {
	case r := <-made:
		return r
	case <-ctx.Done():
		return nil
	}
}

// Tell shows a warning.
func (e *Env) Tell(text string) {
	if e.Warn != nil {
		e.Warn(text)
	}
}

// Doing shows progress. The second function clears it.
func (e *Env) Doing(did, noun string) (show func(done, total int), clear func()) {
	if e.Progress == nil {
		return func(int, int) {}, func() {}
	}
	return e.Progress(did, noun)
}

// fleet returns a copy of the fleet. Hosts, VMs and lists are copied; values inside facts are never changed in place.
func (h *Held) fleet(sources []string) (*numa.Fleet, error) {
	if err := h.allow(sources); err != nil {
		return nil, err
	}
	out := *h.Result.Fleet
	out.Clusters, out.Hosts, out.VMs, out.Notes = slices.Clone(out.Clusters), slices.Clone(out.Hosts), slices.Clone(out.VMs), slices.Clone(out.Notes)
	return &out, nil
}

// allow rejects every source except the loaded fleet.
func (h *Held) allow(sources []string) error {
	if h.Result == nil {
		return ErrNoFleet
	}
	for _, s := range sources {
		if !slices.Contains(h.Sources, s) {
			return fmt.Errorf("%q: a page asks about the fleet that is shown alone", s)
		}
	}
	return nil
}

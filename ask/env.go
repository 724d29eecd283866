package ask

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"homenode/numa"
	"homenode/rules"
	"homenode/rules/policy"
	"homenode/source/open"
)

// An Env is what a front end lends to the questions.
type Env struct {
	// Open reads the fleet that sources name. What of several could not be read is returned beside it.
	Open func(ctx context.Context, sources []string, o open.Options) (fleet *numa.Fleet, unread []numa.Note, err error)
	Held *Held     // a fleet in this process, which then is the only source
	Own  fs.FS     // the only files that questions read by name, none of a process that others use but these; nil for all of this machine
	In   io.Reader // standard input, which a question can name; nil for none

	// Logs makes Open fetch vmware.log of some VMs of a vCenter.
	Logs func(wanted func(*numa.VM) bool)
	// Save writes a file beside the answer, whole or not at all; nil for a front end that writes none.
	Save  func(name string, data []byte) error
	Sink  Sink                               // takes the ticks of captures beside the answer; nil for none
	Trace func(s *numa.Story) (Trace, error) // begins what takes the ticks of a simulation beside the answer; nil for none

	Policy  *policy.Policy // what the owner accepts and how the owner judges; nil for none
	Today   time.Time
	Version string
	Shared  bool   // others use this process: budgets hold, and no file is written
	Form    string // of the output, where the answer depends on it; "" for the answer as a value
	Table   string // of the answer, which the asker named for a CSV file; "" for none
	Timed   bool   // answers say how long they took
	// Flags are what the asker said to the front end by its own flags: the next commands that an answer names have them too.
	Flags map[string][]string

	Warn func(text string) // what the asker should know while the answer is made; nil drops it
	// Progress returns what shows how many of a noun are done, and what takes that away; nil shows nothing.
	Progress func(did, noun string) (show func(done, total int), clear func())
}

// A Held is a fleet that this process keeps judged.
type Held struct {
	Sources []string             // its names in questions
	Demo    bool                 // it is the demo's fleet, whose day has a story
	Result  *rules.Result        // shared: a question that changes the fleet takes a copy
	Bare    func() *rules.Result // the judgement that a what-if stands beside; nil for none
	Ticks   string               // as rules.Options has it
}

// judged reports whether the judgement that is held is that of these options.
func (h *Held) judged(o rules.Options) bool {
	return h != nil && h.Result != nil && h.Result.Policy == o.Policy && h.Result.Choices == o.Choices
}

// Bare returns the judgement of the fleet that is held without what was seen of it, when it is that of these options; nil for none, or when the context ends.
func (e *Env) Bare(ctx context.Context, o rules.Options) *rules.Result {
	if !e.Held.judged(o) || e.Held.Bare == nil {
		return nil
	}
	made := make(chan *rules.Result, 1)
	go func() { made <- e.Held.Bare() }() // it is made once for all askers
	select {
	case r := <-made:
		return r
	case <-ctx.Done():
		return nil
	}
}

// Tell tells the asker something.
func (e *Env) Tell(text string) {
	if e.Warn != nil {
		e.Warn(text)
	}
}

// Doing shows how far something is; the second function takes that away.
func (e *Env) Doing(did, noun string) (show func(done, total int), clear func()) {
	if e.Progress == nil {
		return func(int, int) {}, func() {}
	}
	return e.Progress(did, noun)
}

// fleet returns a copy of the fleet: hosts, VMs and lists are its own, values inside facts are never written in place.
func (h *Held) fleet(sources []string) (*numa.Fleet, error) {
	if err := h.allow(sources); err != nil {
		return nil, err
	}
	out := *h.Result.Fleet
	out.Clusters, out.Hosts, out.VMs, out.Notes = slices.Clone(out.Clusters), slices.Clone(out.Hosts), slices.Clone(out.VMs), slices.Clone(out.Notes)
	return &out, nil
}

// allow refuses every source but the one that is held.
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

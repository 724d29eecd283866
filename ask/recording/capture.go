package recording

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"example.org/homenode/ask"
	"example.org/homenode/capture"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/format"
	"example.org/homenode/output/recording"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/policy"
	"example.org/homenode/source/ticks"
)

// Capture asks which VMs of recorded hosts lost locality, when and why.
type Capture struct {
	ask.Asked
	Files        []string `ask:"file,arg"`
	ask.Captures `group:"Read"`
	Every        time.Duration `ask:"interval" group:"Read" help:"time between outputs of host commands that were saved without a date"`
	Start        string        `ask:"start" help:"time of the first of them"`
	Merge        bool          `ask:"merge,local" help:"FILE is a JSON result of a capture of one file, or a folder of them: answer about all these files (docs/captures.md)"`
	Fleet        []string      `ask:"fleet" help:"SOURCE of the inventory: observations are compared with the prediction"`
	ask.Filter   `group:"Show" only:"vm host rule severity select"`
	Details      bool   `ask:"details" group:"Show" help:"every finding with its advice (table, markdown)"`
	FailOn       string `ask:"fail-on" group:"Judge" default:"medium" help:"least severity that makes the exit code 1: info, low, medium, high"`

	inventories ask.Source // not a field: flags of the front end configure the connection to a vCenter
}

// Steps returns the size of the files in megabytes.
func (f *Capture) Steps(e *ask.Env) (int, string, error) { return e.Megabytes(f.Files) }

// Answer answers the question.
func (f *Capture) Answer(ctx context.Context, e *ask.Env) (*ask.Reply, error) {
	from, err := least(f.FailOn)
	if err != nil {
		return nil, err
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	shown, err := f.Compile()
	if err != nil {
		return nil, err
	}
	options, err := (&ask.Choice{}).Options(e)
	if err != nil {
		return nil, err
	}
	inventory, err := f.inventory(ctx, e, options)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	recordings, notes, nothing := f.read(ctx, e, rules.CaptureOptions(options.Policy), inventory)
	o := recording.Options{Details: f.Details, VM: f.one(), Version: e.Version, Words: f.words()}
	if e.Timed {
		o.Took = time.Since(start)
	}
	if e.Form == "json" {
		if o.Whole, err = f.Whole(); err != nil {
			return nil, err
		}
	}
	if nothing != nil && (o.Whole == nil || !errors.As(nothing, new(*ask.Nothing))) {
		return nil, nothing // otherwise --merge can report the file
	}
	w := rules.Watch(recordings, inventory, options)
	w.Notes, w.Unread = append(notes, w.Notes...), max(0, f.Failed-cutFiles(recordings))
	if nothing == nil && (e.Form != "svg" || o.VM == "") { // a drawing can show a host named by the field vm
		if w, err = shown.Watched(w); err != nil {
			return nil, err
		}
	}
	r, err := f.judged(e, w, o, from)
	return ask.Partly(r, err, nothing, f.Captures.Incomplete(), f.inventories.Incomplete())
}

// check validates the fields before anything is read.
func (f *Capture) check() error {
	if f.Merge {
		return f.checkMerge()
	}
	if f.Every < 0 {
		return ask.Wrong("interval", fmt.Errorf("found %s, want more than 0", f.Every))
	}
	f.Interval = f.Every
	return cmp.Or(f.Check(f.Files), ask.Set("start", f.Start, &f.Began, ask.ParseTime))
}

// one returns the VM if the filter selects exactly one by name; else "".
func (f *Capture) one() string {
	o := f.Options()
	return o.One()
}

// inventory reads the fleet, or the inventory beside the captures; nil for none.
func (f *Capture) inventory(ctx context.Context, e *ask.Env, o rules.Options) (*rules.Result, error) {
	fleet := slices.Clone(f.Fleet)
	if len(fleet) == 0 && e.Own == nil && !f.Merge {
		for _, name := range f.Files {
			fleet = append(fleet, ticks.Inventories(name)...)
		}
	}
	if len(fleet) == 0 {
		return nil, nil
	}
	read, err := f.inventories.Read(ctx, e, fleet...)
	if err != nil {
		return nil, err
	}
	return rules.RunContext(ctx, read, rules.Options{Policy: thresholdsOf(o.Policy), Today: o.Today})
}

// read reads captures or their results.
func (f *Capture) read(ctx context.Context, e *ask.Env, o capture.Options, inventory *rules.Result) ([]*capture.Recording, []numa.Note, error) {
	if f.Merge {
		return f.merge(ctx, e, o)
	}
	return f.Read(ctx, e, f.Files, o, inventory)
}

// judged returns the answer, or a single drawing.
func (f *Capture) judged(e *ask.Env, w *rules.Watched, o recording.Options, from finding.Severity) (*ask.Reply, error) {
	r := &ask.Reply{Form: format.Options{Details: f.Details || o.VM != "", FailOn: from}, Found: w.AtLeast(from) > 0}
	if e.Form != "svg" {
		r.Answers = []*answer.Answer{recording.Capture(w, o)}
		if w.Blind() {
			r.Partly = errors.New("nothing could be judged: the recording has no counters of NUMA")
		}
		return r, nil
	}
	a, err := recording.CaptureDrawing(w, o.VM)
	r.Answers = []*answer.Answer{a}
	return r, err
}

// cutFiles returns the number of truncated files.
func cutFiles(recordings []*capture.Recording) int {
	names := map[string]bool{}
	for _, rec := range recordings {
		for _, f := range rec.Files {
			if f.Cut {
				names[f.Name] = true
			}
		}
	}
	return len(names)
}

// words returns the files and the fields that affect the answer, for the next commands.
func (f *Capture) words() []string {
	return f.Words(f.Files, slices.Concat([]string{"merge"}, ask.AnswerNames, ask.FilterNames)...)
}

// thresholdsOf returns the configuration without accepted findings and disabled rules: findings about the inventory are not shown.
func thresholdsOf(p *policy.Policy) *policy.Policy {
	if p == nil {
		return nil
	}
	return &policy.Policy{File: p.File, Thresholds: p.Thresholds}
}

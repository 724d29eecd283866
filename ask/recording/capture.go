package recording

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"homenode/ask"
	"homenode/capture"
	"homenode/numa"
	"homenode/output/answer"
	"homenode/output/format"
	"homenode/output/recording"
	"homenode/rules"
	"homenode/rules/finding"
	"homenode/rules/policy"
	"homenode/source/ticks"
)

// Capture asks which VMs of recorded hosts lost locality, when and why.
type Capture struct {
	ask.Asked
	Files        []string `ask:"file,arg"`
	ask.Captures `group:"Read"`
	Every        time.Duration `ask:"interval" group:"Read" help:"time between outputs of host commands that were saved without a date"`
	Start        string        `ask:"start" help:"time of the first of them"`
	Merge        bool          `ask:"merge,local" help:"FILE is a JSON result of a capture of one file, or a folder of them: answer about all these files (docs/captures.md)"`
	Fleet        []string      `ask:"fleet" help:"SOURCE of the inventory: what was seen is compared with the prediction"`
	ask.Filter   `group:"Show" only:"vm host rule severity select"`
	Details      bool     `ask:"details" group:"Show" help:"every finding with its advice (table, markdown)"`
	FailOn       string   `ask:"fail-on" group:"Judge" default:"medium" help:"least severity that makes the exit code 1: info, low, medium, high"`
	Explore      []string `ask:"explore" group:"Output" label:"Columns" example:"Group Memory(*:sql01)\\Numa *" help:"list the columns of one batch file of esxtop: '*' (objects), 'Group Memory', 'Group Memory(*:sql01)\\Numa *'; with --format csv write them, again for more"`

	inventories ask.Source // no fields: the front end says how a vCenter is reached
}

// Steps counts what is read.
func (f *Capture) Steps(e *ask.Env) (int, string, error) { return e.Megabytes(f.Files) }

// Answer answers the question.
func (f *Capture) Answer(ctx context.Context, e *ask.Env) (*ask.Reply, error) {
	if f.Explore != nil {
		return f.explore(ctx, e)
	}
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
		return nil, nothing // else --merge can tell of the file
	}
	w := rules.Watch(recordings, inventory, options)
	w.Notes, w.Unread = append(notes, w.Notes...), max(0, f.Failed-cutFiles(recordings))
	if nothing == nil && (e.Form != "svg" || o.VM == "") { // a drawing can be of a host that the field vm names
		if w, err = shown.Watched(w); err != nil {
			return nil, err
		}
	}
	r, err := f.judged(e, w, o, from)
	return ask.Partly(r, err, nothing, f.Captures.Incomplete(), f.inventories.Incomplete())
}

// check looks at what is read before anything is.
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

// one returns the VM that alone is asked for by its name; "" when patterns or several are.
func (f *Capture) one() string {
	o := f.Options()
	return o.One()
}

// inventory reads the fleet, or what lies beside the captures; nil for none.
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
	read, err := f.inventories.Read(ctx, e, false, fleet...)
	if err != nil {
		return nil, err
	}
	return rules.RunContext(ctx, read, rules.Options{Policy: thresholdsOf(o.Policy), Today: o.Today})
}

// read reads the captures, or the results of captures.
func (f *Capture) read(ctx context.Context, e *ask.Env, o capture.Options, inventory *rules.Result) ([]*capture.Recording, []numa.Note, error) {
	if f.Merge {
		return f.merge(ctx, e, o)
	}
	return f.Read(ctx, e, f.Files, o, inventory)
}

// judged returns the answer, or a drawing alone.
func (f *Capture) judged(e *ask.Env, w *rules.Watched, o recording.Options, from finding.Severity) (*ask.Reply, error) {
	r := &ask.Reply{Form: format.Options{Details: f.Details || o.VM != "", FailOn: from}, Found: w.AtLeast(from) > 0}
	if e.Form != "svg" {
		r.Answers = []*answer.Answer{recording.Capture(w, o)}
		return r, nil
	}
	a, err := recording.CaptureDrawing(w, o.VM)
	r.Answers = []*answer.Answer{a}
	return r, err
}

// cutFiles counts the files that were not read to their end.
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

// words are the files and the fields that change the answer, for the next commands.
func (f *Capture) words() []string {
	return f.Words(f.Files, slices.Concat([]string{"merge"}, ask.AnswerNames, ask.FilterNames)...)
}

// thresholdsOf returns the configuration without what it accepts and switches off: the findings about the inventory are not shown.
func thresholdsOf(p *policy.Policy) *policy.Policy {
	if p == nil {
		return nil
	}
	return &policy.Policy{File: p.File, Thresholds: p.Thresholds}
}

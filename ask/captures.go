package ask

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"time"

	"homenode/capture"
	"homenode/capture/archive"
	"homenode/internal/inorder"
	"homenode/internal/words"
	"homenode/numa"
	"homenode/rules"
	"homenode/source/open"
	"homenode/source/ticks"
)

// Captures say what is read of captures.
type Captures struct {
	Host string `ask:"host-name" label:"Name of the host" example:"esx07" help:"name of the host, for files that call it localhost or do not name it"`
	From string `ask:"from" label:"From, UTC" example:"2026-11-03 02:00" help:"leave out what was before this time: '2026-11-03 02:00' in UTC, or RFC 3339"`
	To   string `ask:"to" label:"To, UTC" example:"2026-11-03 04:00" help:"leave out what was after this time"`

	Window   [2]time.Time  // zero when not asked for
	Began    time.Time     // of outputs without a date
	Interval time.Duration // between them
	Failed   int           // files that could not be read, or not to the end; set by Read

	result *archive.Result // of the one file that was read; nil for several
}

// A Sink takes every tick of captures beside the answer: an export.
type Sink interface {
	File(name string, first *numa.Tick) FileSink // the first tick can be left out
	Serial() bool                                // files come one after the other
	Close() (warnings []string, err error)
	Abort() // nothing after Close
}

// A FileSink takes the ticks of one file.
type FileSink interface {
	Tick(t *numa.Tick) error
	Close() error
	Abort() // nothing after Close
}

// MostMegabytes of captures are read in less than the time that a page has.
const MostMegabytes = 100_000

// Megabytes counts those of the files of the process with these names, and of what lies below them.
func (e *Env) Megabytes(names []string) (n int, noun string, err error) {
	var all int64
	for _, name := range names {
		if e.Own == nil {
			break
		}
		_ = fs.WalkDir(e.Own, name, func(_ string, d fs.DirEntry, err error) error {
			if err != nil { // whoever reads it says why it cannot be read
				return nil
			}
			if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
				all += info.Size()
			}
			return nil
		})
	}
	return int(all >> 20), "MB of captures", nil
}

// Check reads the times, before anything else is read.
func (c *Captures) Check(files []string) error {
	if len(files) == 0 {
		return errors.New("want a FILE to read, or demo")
	}
	return c.ReadTimes()
}

// ReadTimes reads the window.
func (c *Captures) ReadTimes() (err error) {
	for _, one := range []struct {
		field, value string
		to           *time.Time
	}{{"from", c.From, &c.Window[0]}, {"to", c.To, &c.Window[1]}} {
		if one.value == "" {
			continue
		}
		if *one.to, err = ParseTime(one.value); err != nil {
			return Wrong(one.field, err)
		}
	}
	if !c.Window[1].IsZero() && c.Window[1].Before(c.Window[0]) {
		return errors.New("--to is before --from")
	}
	return nil
}

// ParseTime reads a time of day with its date, in UTC unless it says otherwise.
func ParseTime(s string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("found %q, want a time like '2026-11-03 02:00' (UTC) or 2026-11-03T02:00:00+01:00", s)
}

// Incomplete returns an error when Read had to leave a file out, or its end: "no findings" about half of a capture is no good news.
func (c *Captures) Incomplete() error {
	if c.Failed == 0 {
		return nil
	}
	return fmt.Errorf("not everything was read: %s failed", words.Plural(c.Failed, "file"))
}

// Whole returns what Read read, for the JSON of which several are merged: nil for several files, whose recordings would be too much for one answer.
func (c *Captures) Whole() ([]byte, error) {
	if c.result == nil {
		return nil, nil
	}
	return c.result.Pack()
}

// Nothing is the error for captures that were read, and in which no tick was found.
type Nothing struct{ text string }

func (n *Nothing) Error() string { return n.text }

// NothingFound is the error for captures without a tick; outside counts those before --from and after --to, and the notes say why there are no others.
func NothingFound(where string, outside int, notes []numa.Note) error {
	text := "found no tick in " + where
	switch {
	case outside > 0:
		text += fmt.Sprintf(": %s outside --from and --to", words.Plural(outside, "tick"))
	case len(notes) > 0:
		const most = 3
		var why []string
		for _, n := range notes {
			if !strings.HasSuffix(n.Text, ": holds no ticks") {
				why = append(why, n.String())
			}
		}
		if why == nil {
			why = []string{notes[0].String()}
		}
		text += ": " + strings.Join(why[:min(len(why), most)], "; ")
	}
	return &Nothing{text}
}

// Read reads the captures that the files name, one recording a host. Files that cannot be read are named in the notes, and the rest is read. The error
// is a *Nothing when that is nothing; there are notes then, too.
func (c *Captures) Read(ctx context.Context, e *Env, files []string, o capture.Options, inventory *rules.Result) (_ []*capture.Recording, _ []numa.Note, err error) {
	r := capturing{captures: c, env: e, options: &archive.Options{Capture: o, From: c.Window[0], To: c.Window[1]}}
	r.ticks = ticks.Options{Host: c.Host, MachineOf: func(host string) *numa.Host { return inventory.Machine(host) }, Start: c.Began, Interval: c.Interval,
		From: c.Window[0], To: c.Window[1], Workers: runtime.GOMAXPROCS(0), Files: e.Own}
	if e.Sink != nil {
		defer e.Sink.Abort() // nothing after Close
	}
	var m archive.Merger
	defer m.Close()
	for _, name := range files {
		if err := r.read(ctx, name, &m, len(files) == 1); err != nil {
			return nil, nil, err
		}
	}
	if e.Sink != nil {
		warnings, err := e.Sink.Close()
		if err == nil {
			err = m.Add(&archive.Result{Notes: warnings})
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return c.Merged(ctx, e, files, &m)
}

// capturing is what the readings of Read share.
type capturing struct {
	captures *Captures
	env      *Env
	options  *archive.Options
	ticks    ticks.Options
}

// read reads what one name stands for: with all cores one file after the other, or several files at a time where there are more files than cores.
func (r *capturing) read(ctx context.Context, name string, m *archive.Merger, alone bool) error {
	list, skipped, err := open.Captures(name, r.env.In, r.ticks.Files)
	if err != nil {
		return err
	}
	o, atOnce := r.ticks, 1
	if cores := runtime.GOMAXPROCS(0); len(list) > cores && (r.env.Sink == nil || !r.env.Sink.Serial()) {
		o.Workers, atOnce = 0, cores
	}
	show, clear := r.env.Doing("read", "file")
	defer clear()
	do := func(ctx context.Context, i int) (*capturedFile, error) {
		one := &capturedFile{capturing: r, Reading: archive.Reading{Options: r.options}}
		defer one.abort() // nothing after Close
		more, err := list[i](ctx, o, ticks.Visit{Open: one.open, Tick: one.tick, Done: one.done})
		one.skipped = more
		if err != nil && len(list) > 1 && one.err == nil && ctx.Err() == nil { // of an archive, around its files
			one.Fail(err)
			err = nil
		}
		return one, err
	}
	return inorder.Run(ctx, len(list), atOnce, do, func(i int, one *capturedFile) error {
		skipped += one.skipped
		if i == len(list)-1 && skipped > 0 {
			one.Note(name + ": " + words.Plural(skipped, "file") + " of other formats skipped")
		}
		if alone && len(list) == 1 {
			r.captures.result = &one.Result
		}
		if len(list) > 1 {
			show(i+1, len(list))
		}
		return m.Add(&one.Result)
	})
}

// Merged returns what was read, one recording a host, and the notes about it.
func (c *Captures) Merged(ctx context.Context, e *Env, files []string, m *archive.Merger) ([]*capture.Recording, []numa.Note, error) {
	all, err := m.Merged(ctx)
	if err != nil {
		return nil, nil, err
	}
	c.Failed = len(all.Failed)
	e.warnFailed(all.Failed)
	var others []numa.Note
	for _, text := range all.Files {
		others = append(others, numa.Note{Text: text})
	}
	notes := slices.Concat(failedNotes(all.Failed, all.Recordings), all.Notes, others)
	if len(all.Recordings) == 0 {
		if c.Failed > 0 { // it was said
			others = nil
		}
		return nil, notes, NothingFound(strings.Join(files, ", "), all.Outside, others)
	}
	return all.Recordings, notes, nil
}

// mostSaid is how many files that could not be read are named one by one.
const mostSaid = 50

// warnFailed says why files could not be read.
func (e *Env) warnFailed(failed []string) {
	for i, text := range failed {
		if i == mostSaid && len(failed) > mostSaid+1 {
			e.Tell(fmt.Sprintf("%d more could not be read: --format json names them all", len(failed)-i))
			return
		}
		e.Tell(text)
	}
}

// failedNotes returns the failures as notes, but for those that the recording of the file tells of as it has ticks of it.
func failedNotes(failed []string, recordings []*capture.Recording) (notes []numa.Note) {
	told := map[string]bool{}
	for _, rec := range recordings {
		for _, f := range rec.Files {
			for _, text := range f.Warnings {
				told[text] = true
			}
		}
	}
	for _, text := range failed {
		if !told[text] {
			notes = append(notes, numa.Note{Text: text})
		}
	}
	return notes
}

// A capturedFile reads one file, or files that belong together.
type capturedFile struct {
	*capturing
	archive.Reading
	sink    FileSink // of the file that is read
	skipped int      // files of other formats
	err     error    // of an export, which ends the reading
}

// open begins a file.
func (r *capturedFile) open(name, format string) error {
	r.Open(name, format)
	return nil
}

// tick takes one tick of the file.
func (r *capturedFile) tick(t *numa.Tick) error {
	if r.sink == nil && r.env.Sink != nil {
		r.sink = r.env.Sink.File(r.Name(), t)
	}
	if !r.Tick(t) || r.sink == nil {
		return nil
	}
	r.err = r.sink.Tick(t)
	return r.err
}

// done ends a file. A damaged file keeps what was read of it.
func (r *capturedFile) done(f *ticks.File, err error) error {
	if r.err != nil {
		return r.err
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	r.Done(f, err)
	if r.sink == nil {
		return nil
	}
	r.err = r.sink.Close()
	r.sink = nil
	return r.err
}

// abort removes what is not written to its end.
func (r *capturedFile) abort() {
	if r.sink != nil {
		r.sink.Abort()
	}
}

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

	"example.org/homenode/capture"
	"example.org/homenode/capture/archive"
	"example.org/homenode/internal/inorder"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/source/open"
	"example.org/homenode/source/ticks"
)

// Captures are the parameters of reading captures.
type Captures struct {
	Host string `ask:"host-name" label:"Name of the host" example:"esx07" help:"name of the host, for files that call it localhost or do not name it"`
	From string `ask:"from" label:"From, UTC" example:"2026-11-03 02:00" help:"ignore everything before this time: '2026-11-03 02:00' in UTC, or RFC 3339"`
	To   string `ask:"to" label:"To, UTC" example:"2026-11-03 04:00" help:"ignore everything after this time"`

	Window   [2]time.Time  // zero for no limit
	Began    time.Time     // start of outputs without a date
	Interval time.Duration // between ticks
	Failed   int           // files that were unreadable or truncated; set by Read

	result *archive.Result // of the only file that was read; nil for several
}

// A Sink receives every tick of captures for an export beside the answer.
type Sink interface {
	File(name string, first *numa.Tick) FileSink // the first tick need not be exported
	Serial() bool                                // files must be written one after the other
	Close() (warnings []string, err error)
	Abort() // no effect after Close
}

// A FileSink receives the ticks of one file.
type FileSink interface {
	Tick(t *numa.Tick) error
	Close() error
	Abort() // no effect after Close
}

// MostMegabytes is the size of captures that can be read within the time limit of a page.
const MostMegabytes = 100_000

// Megabytes returns the size of the named files of the process, including the files in folders.
func (e *Env) Megabytes(names []string) (n int, noun string, err error) {
	var all int64
	for _, name := range names {
		if e.Own == nil {
			break
		}
		_ = fs.WalkDir(e.Own, name, func(_ string, d fs.DirEntry, err error) error {
			if err != nil { // the reader reports it
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

// Check parses the times before anything is read.
func (c *Captures) Check(files []string) error {
	if len(files) == 0 {
		return errors.New("want a FILE to read, or demo")
	}
	return c.ReadTimes()
}

// ReadTimes parses the window, start and interval.
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

// ParseTime parses a date and time, in UTC unless the text has a zone.
func ParseTime(s string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("found %q, want a time like '2026-11-03 02:00' (UTC) or 2026-11-03T02:00:00+01:00", s)
}

// Incomplete returns an error when Read skipped a file or the end of one: "no findings" in half of a capture would be misleading.
func (c *Captures) Incomplete() error {
	if c.Failed == 0 {
		return nil
	}
	return fmt.Errorf("not everything was read: %s failed", words.Plural(c.Failed, "file"))
}

// Whole returns the result of Read as JSON for --merge. It is nil for several files, whose recordings would be too large for one answer.
func (c *Captures) Whole() ([]byte, error) {
	if c.result == nil {
		return nil, nil
	}
	return c.result.Pack()
}

// Nothing is the error for readable captures without a tick.
type Nothing struct{ text string }

func (n *Nothing) Error() string { return n.text }

// NothingFound is the error for captures without a tick. outside counts the ticks outside of --from and --to; the notes give other reasons.
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

// Read reads the captures, one recording per host. Unreadable files are named in the notes and skipped. The error is a *Nothing if no tick was found;
// the notes are valid in this case.
func (c *Captures) Read(ctx context.Context, e *Env, files []string, o capture.Options, inventory *rules.Result) (_ []*capture.Recording, _ []numa.Note, err error) {
	r := capturing{captures: c, env: e, options: &archive.Options{Capture: o, From: c.Window[0], To: c.Window[1]}}
	r.ticks = ticks.Options{Host: c.Host, MachineOf: func(host string) *numa.Host { return inventory.Machine(host) }, Start: c.Began, Interval: c.Interval,
		From: c.Window[0], To: c.Window[1], Workers: runtime.GOMAXPROCS(0), Files: e.Own}
	if e.Sink != nil {
		defer e.Sink.Abort() // no effect after Close
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

// capturing is the state shared by the readers of Read.
type capturing struct {
	captures *Captures
	env      *Env
	options  *archive.Options
	ticks    ticks.Options
}

// read reads the files of one argument. With more files than cores it reads several at a time; otherwise it uses all cores for one file after the
// other.
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
		defer one.abort() // no effect after Close
		more, err := list[i](ctx, o, ticks.Visit{Open: one.open, Tick: one.tick, Done: one.done})
		one.skipped = more
		if err != nil && len(list) > 1 && one.err == nil && ctx.Err() == nil { // the error concerns the archive around its files
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

// Merged returns the merged recordings, one per host, and their notes.
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
		if c.Failed > 0 { // already reported
			others = nil
		}
		return nil, notes, NothingFound(strings.Join(files, ", "), all.Outside, others)
	}
	return all.Recordings, notes, nil
}

// mostSaid limits the unreadable files that are named individually.
const mostSaid = 50

// warnFailed reports why files could not be read.
func (e *Env) warnFailed(failed []string) {
	for i, text := range failed {
		if i == mostSaid && len(failed) > mostSaid+1 {
			e.Tell(fmt.Sprintf("%d more could not be read: --format json names them all", len(failed)-i))
			return
		}
		e.Tell(text)
	}
}

// failedNotes returns the failures as notes. It omits files with ticks, because their recordings already have such a note.
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
	sink    FileSink // of the current file
	skipped int      // files of other formats
	err     error    // of an export; it ends the reading
}

// open begins a file.
func (r *capturedFile) open(name, format string) error {
	r.Open(name, format)
	return nil
}

// tick handles one tick of the file.
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

// done ends a file. The ticks of a damaged file before the damage are kept.
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

// abort removes incomplete output.
func (r *capturedFile) abort() {
	if r.sink != nil {
		r.sink.Abort()
	}
}

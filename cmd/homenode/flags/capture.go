package flags

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"homenode/capture"
	"homenode/capture/archive"
	"homenode/capture/export/openmetrics"
	"homenode/capture/export/parquet"
	"homenode/numa"
	"homenode/rules"
	"homenode/rules/policy"
	"homenode/rules/rule"
	"homenode/source/open"
	"homenode/source/ticks"
)

// Captures say what is read of captures, and where it is exported to.
type Captures struct {
	Host        string // of files that call it localhost or do not name it
	start       string
	From, To    string
	locality    int
	Parquet     string
	openmetrics string

	Window   [2]time.Time // zero when not asked for
	Began    time.Time
	Interval time.Duration
	Failed   int // files that could not be read, or not to the end; set by Read
	Files    int // of an archive, they among them; 0 without
}

// RegisterPart adds the flags that say which ticks are read, and of which host.
func (f *Captures) RegisterPart(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.Host, "host-name", "", "name of the host, for files that call it localhost or do not name it")
	fl.StringVar(&f.From, "from", "", "leave out what was before this time: '2026-11-03 02:00' in UTC, or RFC 3339")
	fl.StringVar(&f.To, "to", "", "leave out what was after this time")
}

// Register adds all flags.
func (f *Captures) Register(cmd *cobra.Command) {
	f.RegisterPart(cmd)
	fl := cmd.Flags()
	fl.IntVar(&f.locality, "locality", 0, "N%L in percent below which memory counts as far away, instead of M001.locality (vendors say 80, 85 or 90)")
	fl.DurationVar(&f.Interval, "interval", 0, "time between outputs of host commands that were saved without a date")
	fl.StringVar(&f.start, "start", "", "time of the first of them")
	fl.StringVar(&f.Parquet, "parquet", "", "also write all counters as Parquet files to this folder (docs/parquet.md)")
	fl.StringVar(&f.openmetrics, "openmetrics", "", "also write all counters to this file, for backfill into Prometheus (docs/openmetrics.md)")
}

// Check reads the values of the flags.
func (f *Captures) Check(args []string, archive bool) error {
	switch {
	case archive && len(args) > 0:
		return fmt.Errorf("--archive: found %s beside it, want its folder alone", args[0])
	case archive && f.openmetrics != "":
		return errors.New("--openmetrics: not with --archive: --parquet takes any number of files")
	case !archive && len(args) == 0:
		return errors.New("want a FILE to read, or demo")
	}
	if err := f.ReadTimes(); err != nil {
		return err
	}
	if f.locality != 0 && (f.locality < 1 || f.locality > 100) {
		return fmt.Errorf("--locality: found %d, want percent from 1 to 100", f.locality)
	}
	if f.Interval < 0 {
		return fmt.Errorf("--interval: found %s, want more than 0", f.Interval)
	}
	return nil
}

// ReadTimes reads --from, --to and --start.
func (f *Captures) ReadTimes() (err error) {
	for _, one := range []struct {
		flag, value string
		to          *time.Time
	}{{"from", f.From, &f.Window[0]}, {"to", f.To, &f.Window[1]}, {"start", f.start, &f.Began}} {
		if one.value == "" {
			continue
		}
		if *one.to, err = parseTime(one.value); err != nil {
			return fmt.Errorf("--%s: %w", one.flag, err)
		}
	}
	if !f.Window[1].IsZero() && f.Window[1].Before(f.Window[0]) {
		return errors.New("--to is before --from")
	}
	return nil
}

// parseTime reads a time of day with its date, in UTC unless it says otherwise.
func parseTime(s string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("found %q, want a time like '2026-11-03 02:00' (UTC) or 2026-11-03T02:00:00+01:00", s)
}

// SetLocality lets --locality win over the configuration.
func (f *Captures) SetLocality(o *rules.Options) error {
	if f.locality == 0 {
		return nil
	}
	p := &policy.Policy{File: "--locality"}
	if o.Policy != nil {
		*p = *o.Policy
	}
	set := map[string]float64{}
	for name, value := range p.Thresholds {
		set[name] = value
	}
	set["M001.locality"] = float64(f.locality) / 100
	p.Thresholds = set
	o.Policy = p
	return nil
}

// Incomplete returns an error when Read had to leave a file out, or its end: "no
// findings" about half of a capture is no good news.
func (f *Captures) Incomplete() error {
	if f.Failed == 0 {
		return nil
	}
	if f.Files > 0 {
		return fmt.Errorf("not everything was read: of %s %d could not be read", rule.Plural(f.Files, "file"), f.Failed)
	}
	return fmt.Errorf("not everything was read: %s failed", rule.Plural(f.Failed, "file"))
}

// NothingFound is the error for captures without a tick; outside counts those before
// --from and after --to, and the notes say why there are no others.
func NothingFound(where string, outside int, notes []numa.Note) error {
	text := "found no tick in " + where
	switch {
	case outside > 0:
		text += fmt.Sprintf(": %s outside --from and --to", rule.Plural(outside, "tick"))
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
	return errors.New(text)
}

// Read reads the captures that the arguments name, one recording a host. Files that
// cannot be read are named in the notes, and the rest is read.
func (f *Captures) Read(cmd *cobra.Command, args []string, o capture.Options, inventory *rules.Result) (_ []*capture.Recording, _ []numa.Note, err error) {
	r := captureReading{Reading: archive.Reading{Options: &archive.Options{Capture: o, From: f.Window[0], To: f.Window[1]}}, flags: f, stderr: cmd.ErrOrStderr()}
	defer r.abort() // nothing after Close
	files, err := CaptureFiles(cmd)
	if err != nil {
		return nil, nil, err
	}
	if files != nil && (f.openmetrics != "" || f.Parquet != "") {
		return nil, nil, errors.New("a page writes no files")
	}
	if f.openmetrics != "" {
		if r.metrics, err = openmetrics.New(f.openmetrics); err != nil {
			return nil, nil, fmt.Errorf("--openmetrics: %w", err)
		}
	}
	opt := ticks.Options{Host: f.Host, MachineOf: func(host string) *numa.Host { return inventory.Machine(host) }, Start: f.Began, Interval: f.Interval, From: f.Window[0], To: f.Window[1], Workers: runtime.GOMAXPROCS(0), Files: files}
	for _, arg := range args {
		if err := r.walk(cmd.Context(), cmd.InOrStdin(), arg, opt); err != nil {
			return nil, nil, err
		}
	}
	if r.metrics != nil {
		if err := r.metrics.Close(); err != nil {
			return nil, nil, fmt.Errorf("--openmetrics: %w", err)
		}
		for _, w := range r.metrics.Warnings() {
			r.Note(f.openmetrics + ": " + w)
		}
	}
	return r.merged(args)
}

// captureReading is the state of Read.
type captureReading struct {
	archive.Reading
	flags   *Captures
	stderr  io.Writer
	metrics *openmetrics.Writer
	lake    *parquet.Writer // of the file that is read
	named   string          // the host that files name, where --host-name says otherwise
	err     error           // of an export, which ends the reading
}

// walk reads what one argument names.
func (r *captureReading) walk(ctx context.Context, stdin io.Reader, arg string, opt ticks.Options) error {
	passed, err := open.Ticks(ctx, arg, stdin, opt, ticks.Visit{Open: r.open, Tick: r.tick, Done: r.done})
	if passed > 0 {
		r.Note(arg + ": " + rule.Plural(passed, "file") + " of other formats skipped")
	}
	return err
}

// open begins a file.
func (r *captureReading) open(name, format string) error {
	r.Open(name, format)
	return nil
}

// newLake begins what the file writes as Parquet.
func (r *captureReading) newLake(first *numa.Tick) (err error) {
	file := r.Name()
	if file != open.Demo && file != open.StandardInput {
		if file, err = filepath.Abs(file); err != nil {
			return err
		}
	}
	r.lake, err = parquet.New(r.flags.Parquet, archive.PartID(first, file))
	return err
}

// tick takes one tick of the file.
func (r *captureReading) tick(t *numa.Tick) error {
	if r.flags.Parquet != "" && r.lake == nil {
		if err := r.newLake(t); err != nil {
			return r.export("--parquet", err)
		}
	}
	if !r.Tick(t) {
		return nil
	}
	if r.lake != nil {
		if err := r.lake.Add(r.Name(), t); err != nil {
			return r.export("--parquet", err)
		}
	}
	if r.metrics != nil {
		if err := r.metrics.Add(t); err != nil {
			return r.export("--openmetrics", err)
		}
	}
	return nil
}

// export ends the reading: what was asked for cannot be written.
func (r *captureReading) export(flag string, err error) error {
	r.err = fmt.Errorf("%s: %w", flag, err)
	return r.err
}

// done ends a file. A damaged file keeps what was read of it.
func (r *captureReading) done(f *ticks.File, err error) error {
	if r.err != nil {
		return r.err
	}
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return err
		}
		r.flags.Failed++
		fmt.Fprintf(r.stderr, "homenode: %s\n", ErrorText(err))
	}
	r.Done(f, err)
	if f.Named != "" {
		if r.named != "" && !numa.SameHost(r.named, f.Named) {
			return fmt.Errorf("--host-name %s: found files of %s and %s (%s), which are two hosts: want files of one", r.flags.Host, r.named, f.Named, f.Name)
		}
		r.named = f.Named
	}
	if r.lake == nil {
		return nil
	}
	if err := r.lake.Close(); err != nil {
		return fmt.Errorf("--parquet: %w", err)
	}
	r.lake = nil
	return nil
}

// abort removes what is not written to its end.
func (r *captureReading) abort() {
	if r.lake != nil {
		r.lake.Abort()
	}
	if r.metrics != nil {
		r.metrics.Abort()
	}
}

// merged returns one recording a host.
func (r *captureReading) merged(args []string) ([]*capture.Recording, []numa.Note, error) {
	recordings, notes, err := capture.Merge(r.Result.Recordings)
	if err != nil {
		return nil, nil, err
	}
	slices.Sort(r.Result.Notes)
	var others []numa.Note
	for _, text := range r.Result.Notes {
		others = append(others, numa.Note{Text: text})
	}
	if len(recordings) == 0 {
		if r.Result.Broken { // it was said
			others = nil
		}
		return nil, nil, NothingFound(strings.Join(args, ", "), r.Result.Outside, others)
	}
	return recordings, slices.Concat(FailedNotes(r.Result.Failed, recordings), notes, others), nil
}

// FailedNotes returns the failures as notes, but for those that the recording of the file tells
// of as it has ticks of it.
func FailedNotes(failed []string, recordings []*capture.Recording) (notes []numa.Note) {
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

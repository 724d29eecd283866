package main

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

// captureFlags say what is read of captures, and where it is exported to.
type captureFlags struct {
	host        string
	interval    time.Duration
	start       string
	from, to    string
	locality    int
	parquet     string
	openmetrics string

	window [2]time.Time // zero when not asked for
	began  time.Time
	failed int // files that could not be read, or not to the end; set by read
	files  int // of an archive, they among them; 0 without
}

func (f *captureFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.host, "host-name", "", "name of the host, for files that call it localhost or do not name it")
	fl.StringVar(&f.from, "from", "", "leave out what was before this time: '2026-11-03 02:00' in UTC, or RFC 3339")
	fl.StringVar(&f.to, "to", "", "leave out what was after this time")
	fl.IntVar(&f.locality, "locality", 0, "N%L in percent below which memory counts as far away, instead of M001.locality (vendors say 80, 85 or 90)")
	fl.DurationVar(&f.interval, "interval", 0, "time between outputs of host commands that were saved without a date")
	fl.StringVar(&f.start, "start", "", "time of the first of them")
	fl.StringVar(&f.parquet, "parquet", "", "also write all counters as Parquet files to this folder (docs/parquet.md)")
	fl.StringVar(&f.openmetrics, "openmetrics", "", "also write all counters to this file, for backfill into Prometheus (docs/openmetrics.md)")
}

// check reads the values of the flags.
func (f *captureFlags) check(args []string, archive bool) error {
	switch {
	case archive && len(args) > 0:
		return fmt.Errorf("--archive: found %s beside it, want its folder alone", args[0])
	case archive && f.openmetrics != "":
		return errors.New("--openmetrics: not with --archive: --parquet takes any number of files")
	case !archive && len(args) == 0:
		return errors.New("want a FILE to read, or demo")
	}
	if err := f.readTimes(); err != nil {
		return err
	}
	if f.locality != 0 && (f.locality < 1 || f.locality > 100) {
		return fmt.Errorf("--locality: found %d, want percent from 1 to 100", f.locality)
	}
	if f.interval < 0 {
		return fmt.Errorf("--interval: found %s, want more than 0", f.interval)
	}
	return nil
}

// readTimes reads --from, --to and --start.
func (f *captureFlags) readTimes() (err error) {
	for _, one := range []struct {
		flag, value string
		to          *time.Time
	}{{"from", f.from, &f.window[0]}, {"to", f.to, &f.window[1]}, {"start", f.start, &f.began}} {
		if one.value == "" {
			continue
		}
		if *one.to, err = parseTime(one.value); err != nil {
			return fmt.Errorf("--%s: %w", one.flag, err)
		}
	}
	if !f.window[1].IsZero() && f.window[1].Before(f.window[0]) {
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

// setLocality lets --locality win over the configuration.
func (f *captureFlags) setLocality(o *rules.Options) error {
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

// incomplete returns an error when read had to leave a file out, or its end: "no
// findings" about half of a capture is no good news.
func (f *captureFlags) incomplete() error {
	if f.failed == 0 {
		return nil
	}
	if f.files > 0 {
		return fmt.Errorf("not everything was read: of %s %d could not be read", rule.Plural(f.files, "file"), f.failed)
	}
	return fmt.Errorf("not everything was read: %s failed", rule.Plural(f.failed, "file"))
}

// readAll reads the captures that the arguments name, or the archive.
func (f *captureFlags) readAll(cmd *cobra.Command, args []string, a *archiveFlags, o capture.Options, inventory *rules.Result) ([]*capture.Recording, []numa.Note, error) {
	if a.dir == "" {
		return f.read(cmd, args, o, inventory)
	}
	m, err := a.read(cmd, f.parquet, archive.Options{Capture: o, Host: f.host, Start: f.began, Interval: f.interval, From: f.window[0], To: f.window[1]})
	if err != nil {
		return nil, nil, err
	}
	f.failed, f.files = m.Broken, m.Jobs
	notes := append(failedNotes(m.Failed, m.Recordings), m.Notes...)
	if len(m.Recordings) == 0 {
		return nil, nil, nothingFound("--archive "+a.dir, m.Outside, notes)
	}
	return m.Recordings, notes, nil
}

// nothingFound is the error for captures without a tick; outside counts those before
// --from and after --to, and the notes say why there are no others.
func nothingFound(where string, outside int, notes []numa.Note) error {
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

// read reads the captures that the arguments name, one recording a host. Files that
// cannot be read are named in the notes, and the rest is read.
func (f *captureFlags) read(cmd *cobra.Command, args []string, o capture.Options, inventory *rules.Result) (_ []*capture.Recording, _ []numa.Note, err error) {
	r := captureReading{Reading: archive.Reading{Options: &archive.Options{Capture: o, From: f.window[0], To: f.window[1]}}, flags: f, stderr: cmd.ErrOrStderr()}
	defer r.abort() // nothing after Close
	if f.openmetrics != "" {
		if r.metrics, err = openmetrics.New(f.openmetrics); err != nil {
			return nil, nil, fmt.Errorf("--openmetrics: %w", err)
		}
	}
	opt := ticks.Options{Host: f.host, MachineOf: func(host string) *numa.Host { return machineOf(inventory, host) }, Start: f.began, Interval: f.interval, From: f.window[0], To: f.window[1], Workers: runtime.GOMAXPROCS(0)}
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

// captureReading is the state of read.
type captureReading struct {
	archive.Reading
	flags   *captureFlags
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
		r.Note(arg + ": " + rule.Plural(passed, "file") + " of other formats passed over")
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
	r.lake, err = parquet.New(r.flags.parquet, archive.PartID(first, file))
	return err
}

// tick takes one tick of the file.
func (r *captureReading) tick(t *numa.Tick) error {
	if r.flags.parquet != "" && r.lake == nil {
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
		r.flags.failed++
		fmt.Fprintf(r.stderr, "homenode: %s\n", errorText(err))
	}
	r.Done(f, err)
	if f.Named != "" {
		if r.named != "" && !numa.SameHost(r.named, f.Named) {
			return fmt.Errorf("--host-name %s: found files of %s and %s (%s), which are two hosts: want files of one", r.flags.host, r.named, f.Named, f.Name)
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
		return nil, nil, nothingFound(strings.Join(args, ", "), r.Result.Outside, others)
	}
	return recordings, slices.Concat(failedNotes(r.Result.Failed, recordings), notes, others), nil
}

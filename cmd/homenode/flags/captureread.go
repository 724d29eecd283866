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

	"github.com/spf13/cobra"

	"homenode/capture"
	"homenode/capture/archive"
	"homenode/capture/export/openmetrics"
	"homenode/capture/export/parquet"
	"homenode/internal/inorder"
	"homenode/numa"
	"homenode/rules"
	"homenode/rules/rule"
	"homenode/source/open"
	"homenode/source/ticks"
)

// Read reads the captures that the arguments name, one recording a host. Files that
// cannot be read are named in the notes, and the rest is read. The error is a *Nothing when
// that is nothing; there are notes then, too.
func (f *Captures) Read(cmd *cobra.Command, args []string, o capture.Options, inventory *rules.Result) (_ []*capture.Recording, _ []numa.Note, err error) {
	files, err := CaptureFiles(cmd)
	if err != nil {
		return nil, nil, err
	}
	if files != nil && (f.openmetrics != "" || f.Parquet != "") {
		return nil, nil, errors.New("a page writes no files")
	}
	r := captureReading{flags: f, options: &archive.Options{Capture: o, From: f.Window[0], To: f.Window[1]}}
	r.ticks = ticks.Options{Host: f.Host, MachineOf: func(host string) *numa.Host { return inventory.Machine(host) }, Start: f.Began, Interval: f.Interval, From: f.Window[0], To: f.Window[1], Workers: runtime.GOMAXPROCS(0), Files: files}
	if f.openmetrics != "" {
		if r.metrics, err = openmetrics.New(f.openmetrics); err != nil {
			return nil, nil, fmt.Errorf("--openmetrics: %w", err)
		}
		defer func() { r.metrics.Abort() }() // nothing after Close
	}
	var m archive.Merger
	defer m.Close()
	for _, arg := range args {
		if err := r.read(cmd, arg, &m, len(args) == 1); err != nil {
			return nil, nil, err
		}
	}
	if r.metrics != nil {
		if err := r.metrics.Close(); err != nil {
			return nil, nil, fmt.Errorf("--openmetrics: %w", err)
		}
		var notes archive.Result
		for _, w := range r.metrics.Warnings() {
			notes.Notes = append(notes.Notes, f.openmetrics+": "+w)
		}
		if err := m.Add(&notes); err != nil {
			return nil, nil, err
		}
	}
	return f.merged(cmd, args, &m)
}

// captureReading is what the readings of Read share.
type captureReading struct {
	flags   *Captures
	options *archive.Options
	ticks   ticks.Options
	metrics *openmetrics.Writer // nil for none
}

// read reads what one argument names: with all cores one file after the other, or several
// files at a time where there are more files than cores.
func (r *captureReading) read(cmd *cobra.Command, arg string, m *archive.Merger, alone bool) error {
	list, skipped, err := open.Captures(arg, cmd.InOrStdin(), r.ticks.Files)
	if err != nil {
		return err
	}
	o, atOnce := r.ticks, 1
	if cores := runtime.GOMAXPROCS(0); len(list) > cores && r.metrics == nil { // OpenMetrics goes into one file
		o.Workers, atOnce = 0, cores
	}
	line := NewProgress(cmd, "read", "file")
	defer line.Clear()
	do := func(ctx context.Context, i int) (*fileReading, error) {
		one := &fileReading{captureReading: r, Reading: archive.Reading{Options: r.options}}
		defer one.abort() // nothing after Close
		more, err := list[i](ctx, o, ticks.Visit{Open: one.open, Tick: one.tick, Done: one.done})
		one.skipped = more
		if err != nil && len(list) > 1 && one.err == nil && ctx.Err() == nil { // of an archive, around its files
			one.Fail(err)
			err = nil
		}
		return one, err
	}
	return inorder.Run(cmd.Context(), len(list), atOnce, do, func(i int, one *fileReading) error {
		skipped += one.skipped
		if i == len(list)-1 && skipped > 0 {
			one.Note(arg + ": " + rule.Plural(skipped, "file") + " of other formats skipped")
		}
		if alone && len(list) == 1 {
			r.flags.result = &one.Result
		}
		if len(list) > 1 {
			line.Show(i+1, len(list))
		}
		return m.Add(&one.Result)
	})
}

// merged returns what was read, one recording a host, and the notes about it.
func (f *Captures) merged(cmd *cobra.Command, args []string, m *archive.Merger) ([]*capture.Recording, []numa.Note, error) {
	all, err := m.Merged(cmd.Context())
	if err != nil {
		return nil, nil, err
	}
	f.Failed = len(all.Failed)
	sayFailed(cmd.ErrOrStderr(), all.Failed)
	var others []numa.Note
	for _, text := range all.Files {
		others = append(others, numa.Note{Text: text})
	}
	notes := slices.Concat(failedNotes(all.Failed, all.Recordings), all.Notes, others)
	if len(all.Recordings) == 0 {
		if f.Failed > 0 { // it was said
			others = nil
		}
		return nil, notes, NothingFound(strings.Join(args, ", "), all.Outside, others)
	}
	return all.Recordings, notes, nil
}

// mostSaid is how many files that could not be read are named one by one.
const mostSaid = 50

// sayFailed prints why files could not be read.
func sayFailed(w io.Writer, failed []string) {
	for i, text := range failed {
		if i == mostSaid && len(failed) > mostSaid+1 {
			fmt.Fprintf(w, "homenode: %d more could not be read: --format json names them all\n", len(failed)-i)
			return
		}
		fmt.Fprintf(w, "homenode: %s\n", ErrorText(errors.New(text)))
	}
}

// failedNotes returns the failures as notes, but for those that the recording of the file tells
// of as it has ticks of it.
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

// A fileReading reads one file, or files that belong together.
type fileReading struct {
	*captureReading
	archive.Reading
	lake    *parquet.Writer // of the file that is read
	skipped int             // files of other formats
	err     error           // of an export, which ends the reading
}

// open begins a file.
func (r *fileReading) open(name, format string) error {
	r.Open(name, format)
	return nil
}

// newLake begins what the file writes as Parquet.
func (r *fileReading) newLake(first *numa.Tick) (err error) {
	file := r.Name()
	if file != open.Demo && file != open.StandardInput {
		if file, err = filepath.Abs(file); err != nil {
			return err
		}
	}
	r.lake, err = parquet.New(r.flags.Parquet, parquet.PartID(first, file))
	return err
}

// tick takes one tick of the file.
func (r *fileReading) tick(t *numa.Tick) error {
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
func (r *fileReading) export(flag string, err error) error {
	r.err = fmt.Errorf("%s: %w", flag, err)
	return r.err
}

// done ends a file. A damaged file keeps what was read of it.
func (r *fileReading) done(f *ticks.File, err error) error {
	if r.err != nil {
		return r.err
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	r.Done(f, err)
	if r.lake == nil {
		return nil
	}
	if err := r.lake.Close(); err != nil {
		return r.export("--parquet", err)
	}
	r.lake = nil
	return nil
}

// abort removes what is not written to its end.
func (r *fileReading) abort() {
	if r.lake != nil {
		r.lake.Abort()
	}
}

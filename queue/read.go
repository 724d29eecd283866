package queue

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"homenode/capture"
	"homenode/numa"
	"homenode/output/lake"
	"homenode/source/series"
)

// Do reads one job of an archive. Whatever is wrong with its files is in the Result; a
// *Refusal is about this machine, and other errors are those of ctx or say that the job is none.
func Do(ctx context.Context, here Here, job Job, opt Options) (*Result, error) {
	if err := job.check(); err != nil {
		return nil, err
	}
	root, err := filepath.Abs(here.Root)
	if err != nil {
		return nil, err
	}
	source, grown, err := job.source(root)
	if err != nil {
		return nil, &Refusal{Reason: err.Error()}
	}
	r := &reading{opt: &opt, names: job.names(root), result: &Result{Name: job.Name}, grown: grown}
	if here.Parquet != "" {
		if r.part, err = lake.New(here.Parquet, job.lakeID()); err != nil {
			return nil, &Refusal{"parquet: " + err.Error(), true}
		}
		defer r.part.Abort() // nothing after Close
	}
	in := series.Options{Host: opt.Host, Start: opt.Start, Interval: opt.Interval}
	_, err = source.Read(ctx, in, series.Visit{Open: r.open, Tick: r.tick, Done: r.done})
	var refusal *Refusal
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &refusal):
		return nil, refusal
	case err != nil: // of an archive, around its files
		if err := r.trouble(err); err != nil {
			return nil, err
		}
		r.note(err.Error())
	}
	if r.part != nil {
		if err := r.part.Close(); err != nil {
			return nil, &Refusal{"parquet: " + err.Error(), true}
		}
	}
	return r.result, nil
}

// lakeID is one for each set of files, whatever else is asked of them: they are written
// once.
func (j *Job) lakeID() string {
	var paths []string
	for _, f := range j.Files {
		paths = append(paths, f.Path)
	}
	return lake.ID(paths...)
}

// A reading is one call of Do.
type reading struct {
	opt       *Options
	recorders *capture.Recorders // of the file that is read; nil between files
	part      *lake.Writer       // nil without Parquet
	names     *strings.Replacer
	name      string // of the file that is read
	ticks     int    // of it, that are not left out
	grown     []string
	result    *Result
}

func (r *reading) open(name, format string) error {
	r.name = r.names.Replace(name)
	// One for each file: those in an archive are in no order of time.
	r.recorders = capture.NewRecorders(r.opt.Capture)
	r.recorders.Open(r.name, format)
	for _, path := range r.grown {
		r.recorders.Warn(path + ": grew after the archive was listed")
	}
	return nil
}

func (r *reading) tick(t *numa.Tick) error {
	if t.Time.Before(r.opt.From) || !r.opt.To.IsZero() && t.Time.After(r.opt.To) {
		r.result.Outside++
		return nil
	}
	r.recorders.Add(t)
	r.result.Ticks++
	r.ticks++
	if r.part == nil {
		return nil
	}
	if err := r.part.Add(r.name, t); err != nil {
		return &Refusal{"parquet: " + err.Error(), true}
	}
	return nil
}

// done takes the warnings of a file. Recordings hold those of files with ticks.
func (r *reading) done(f *series.File, err error) error {
	if bad := r.trouble(err); bad != nil {
		return bad
	}
	texts := f.Warnings
	if err != nil {
		r.result.Broken = true
		texts = append(texts, err.Error())
	} else if f.Ticks == 0 {
		texts = append(texts, f.Name+": holds no ticks")
	}
	for _, text := range texts {
		if r.ticks > 0 {
			r.recorders.Warn(r.names.Replace(text))
		} else {
			r.note(text)
		}
	}
	if r.recorders != nil { // it was a capture
		r.result.Recordings = append(r.result.Recordings, r.recorders.Recordings()...)
	}
	r.recorders, r.ticks = nil, 0
	return nil
}

func (r *reading) note(text string) {
	r.result.Notes = append(r.result.Notes, r.names.Replace(text))
}

// troubled begins the reason of a worker that could not read a file to its end.
const troubled = "read "

// trouble returns a *Refusal when err is of this machine and not of what a file holds.
func (r *reading) trouble(err error) error {
	var path *fs.PathError
	var number syscall.Errno
	// EINVAL comes of offsets that a damaged file makes up.
	if errors.As(err, &path) && errors.As(path.Err, &number) && number != syscall.EINVAL {
		return &Refusal{Reason: troubled + r.names.Replace(path.Error())}
	}
	return nil
}

// again looks at a job that a worker refused. It returns why nobody can read it, or nil.
func (j *Job) again(root, reason string) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	s, _, err := j.source(root)
	if err != nil || !strings.HasPrefix(reason, troubled) {
		return err
	}
	for _, p := range append(s.Files, s.Infos...) {
		if err := readAll(p); err != nil {
			return errors.New(j.names(root).Replace(err.Error()))
		}
	}
	return nil
}

func readAll(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(io.Discard, f)
	return err
}

package archive

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"homenode/capture/export/parquet"
	"homenode/internal/queue"
	"homenode/numa"
	"homenode/source/ticks"
)

// Do reads one job of an archive. Whatever is wrong with its files is in the Result; a
// *queue.Refusal is about this machine, and other errors are those of ctx or say that the job is none.
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
		return nil, &queue.Refusal{Reason: err.Error()}
	}
	r := &reading{Reading: Reading{Options: &opt, Names: job.names(root), Result: Result{Name: job.Name}}, grown: grown}
	r.parquet, r.job = here.Parquet, &job
	defer func() {
		if r.part != nil {
			r.part.Abort() // nothing after Close
		}
	}()
	in := ticks.Options{Host: opt.Host, Start: opt.Start, Interval: opt.Interval, From: opt.From, To: opt.To}
	_, err = source.Read(ctx, in, ticks.Visit{Open: r.open, Tick: r.tick, Done: r.done})
	var refusal *queue.Refusal
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &refusal):
		return nil, refusal
	case err != nil: // of an archive, around its files
		if err := r.trouble(err); err != nil {
			return nil, err
		}
		r.Fail(err)
	}
	if r.part != nil {
		if err := r.part.Close(); err != nil {
			return nil, &queue.Refusal{Reason: "parquet: " + err.Error(), Always: true}
		}
	}
	return &r.Result, nil
}

// PartID names what an input writes to a lake, for parquet.New. It is the same when the files are
// read again, whatever else is asked of them: they are written once. A file that begins
// with another tick is another one, although an older one had its name.
func PartID(first *numa.Tick, files ...string) string {
	return parquet.ID(append(files, first.Host, first.Time.UTC().Format(time.RFC3339Nano))...)
}

// A reading is one call of Do.
type reading struct {
	Reading
	job     *Job
	parquet string          // folder; empty for none
	part    *parquet.Writer // nil before the first tick
	grown   []string
}

func (r *reading) open(name, format string) error {
	r.Open(name, format)
	for _, path := range r.grown {
		r.Warn(path + ": grew after the archive was listed")
	}
	return nil
}

func (r *reading) tick(t *numa.Tick) (err error) {
	if r.parquet != "" && r.part == nil {
		var paths []string
		for _, f := range r.job.Files {
			paths = append(paths, f.Path)
		}
		if r.part, err = parquet.New(r.parquet, PartID(t, paths...)); err != nil {
			return &queue.Refusal{Reason: "parquet: " + err.Error(), Always: true}
		}
	}
	if !r.Tick(t) || r.part == nil {
		return nil
	}
	if err := r.part.Add(r.Name(), t); err != nil {
		return &queue.Refusal{Reason: "parquet: " + err.Error(), Always: true}
	}
	return nil
}

func (r *reading) done(f *ticks.File, err error) error {
	if bad := r.trouble(err); bad != nil {
		return bad
	}
	r.Done(f, err)
	return nil
}

// troubled begins the reason of a worker that could not read a file to its end.
const troubled = "read "

// trouble returns a *queue.Refusal when err is of this machine and not of what a file holds.
func (r *reading) trouble(err error) error {
	var path *fs.PathError
	var number syscall.Errno
	// EINVAL comes of offsets that a damaged file makes up.
	if errors.As(err, &path) && errors.As(path.Err, &number) && number != syscall.EINVAL {
		return &queue.Refusal{Reason: troubled + r.shown(path.Error())}
	}
	return nil
}

// again looks at a job that a worker refused. It returns why it cannot be read, or nil.
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

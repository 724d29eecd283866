package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"homenode/capture"
	"homenode/numa"
	"homenode/output/lake"
	"homenode/source/series"
)

// Options say how the files of an archive are read; all of it tells one result from
// another.
type Options struct {
	Capture capture.Options `json:"capture"`
	// Version is that of the program. Workers of another one refuse: what they read may
	// differ.
	Version string `json:"version"`
	// Host, Start and Interval are those of series.Options.
	Host     string        `json:"host,omitempty"`
	Start    time.Time     `json:"start,omitzero"`
	Interval time.Duration `json:"interval,omitempty"`
}

// Here is what each machine has of its own.
type Here struct {
	Root    string // of the archive
	Parquet string // folder for ticks as Parquet; empty for none
	Version string // of this program
	AtOnce  int    // files at a time; 0 is one for each core
}

// captureTask is the payload of a task of kindCapture.
type captureTask struct {
	Job     Job     `json:"job"`
	Options Options `json:"options"`
}

const kindCapture = "capture"

// Handlers are what workers of an archive do.
func Handlers(here Here) map[string]Handler {
	return map[string]Handler{kindCapture: func(ctx context.Context, payload []byte) ([]byte, error) {
		var t captureTask
		if err := json.Unmarshal(payload, &t); err != nil {
			return nil, fmt.Errorf("task: %w", err)
		}
		if t.Options.Version != here.Version {
			return nil, &Refusal{fmt.Sprintf("this worker is homenode %s, the task wants %s", here.Version, t.Options.Version)}
		}
		r, err := Do(ctx, here, t.Job, t.Options)
		if err != nil {
			return nil, err
		}
		return r.encode()
	}}
}

// Run reads the files of an archive with the cores of this machine. A file that cannot be
// read is a note; an archive without anything to read is an error.
func Run(ctx context.Context, here Here, jobs []Job, opt Options, progress func(Progress)) (*Merged, error) {
	return run(here, jobs, opt, func(tasks []Task, check func(Task, string) error, use func(int, Outcome) error) error {
		return runLocal(ctx, tasks, Handlers(here)[kindCapture], here.AtOnce, CollectOptions{Check: check, Progress: progress}, use)
	})
}

// Run is the function Run with the workers of the queue.
func (c *Client) Run(ctx context.Context, here Here, jobs []Job, opt Options, progress func(Progress)) (*Merged, error) {
	return run(here, jobs, opt, func(tasks []Task, check func(Task, string) error, use func(int, Outcome) error) error {
		return c.Collect(ctx, tasks, CollectOptions{Check: check, Progress: progress}, use)
	})
}

func run(here Here, jobs []Job, opt Options, do func([]Task, func(Task, string) error, func(int, Outcome) error) error) (*Merged, error) {
	opt.Version = here.Version
	tasks := make([]Task, len(jobs))
	for i, j := range jobs {
		var err error
		if tasks[i], err = newTask(kindCapture, captureTask{j, opt}); err != nil {
			return nil, err
		}
	}
	m, err := newMerger()
	if err != nil {
		return nil, err
	}
	defer m.close()
	check := func(t Task, reason string) error { return checkAgain(here.Root, t, reason) }
	use := func(i int, out Outcome) error { return m.add(jobs[i].Path, out) }
	if err := do(tasks, check, use); err != nil {
		return nil, err
	}
	return m.merged()
}

// troubled begins the reason of a worker that could not read a file to its end.
const troubled = "read "

// checkAgain looks at a file that a worker refused. It returns why nobody can read it, or
// nil.
func checkAgain(root string, task Task, reason string) error {
	var t captureTask
	if err := json.Unmarshal(task.Payload, &t); err != nil {
		return err
	}
	f, r, err := t.Job.open(root)
	if err != nil {
		return err
	}
	defer f.Close()
	if strings.HasPrefix(reason, troubled) {
		if _, err := io.Copy(io.Discard, r); err != nil {
			return errors.New(errorOf(err))
		}
	}
	return nil
}

// Do reads one file of an archive. Whatever is wrong with the file is in the Result; a
// *Refusal is about this machine, and other errors are those of ctx.
func Do(ctx context.Context, here Here, job Job, opt Options) (result *Result, err error) {
	f, r, err := job.open(here.Root)
	if err != nil {
		return nil, &Refusal{job.Path + ": " + err.Error()}
	}
	defer f.Close()
	recorders := capture.NewRecorders(opt.Capture)
	var part *lake.Writer
	if here.Parquet != "" {
		if part, err = lake.New(here.Parquet, lake.ID(job.Path)); err != nil {
			return nil, &Refusal{"parquet: " + err.Error()}
		}
		defer part.Abort() // nothing after Close
	}
	var wrote error
	in := series.Options{Host: opt.Host, Start: opt.Start, Interval: opt.Interval}
	file, err := series.Read(ctx, job.Path, r, in, func(t *numa.Tick) error {
		recorders.Add(t)
		if part != nil {
			wrote = part.Add(job.Path, t)
		}
		return wrote
	})
	var io *fs.PathError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case wrote != nil:
		return nil, &Refusal{"parquet: " + wrote.Error()}
	case errors.As(err, &io):
		return nil, &Refusal{troubled + job.Path + ": " + errorOf(io)}
	}
	if part != nil {
		if err := part.Close(); err != nil {
			return nil, &Refusal{"parquet: " + err.Error()}
		}
	}
	return newResult(job, file, err, recorders), nil
}

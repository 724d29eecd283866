// Package archive reads archives of captures: thousands of files, by the cores of this
// machine or by the workers of a queue. A file, or files that belong together, is a Job;
// its Result is the same wherever it is worked out, so that the results merge to the same
// recordings in whatever way the work was shared.
//
//	Scan ──► jobs ─┬─ Run:   goroutines of this process ─┬─► results ──► Merged
//	               └─ RunOn: workers of a queue ─────────┘   in job order
package archive

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"homenode/capture"
	"homenode/internal/queue"
)

// Options say how the files of an archive are read; all of it tells one result from
// another.
type Options struct {
	Capture capture.Options `json:"capture"`
	// Version is that of the program. Workers of another one refuse: what they read may
	// differ.
	Version string `json:"version"`
	// Host, Start and Interval are those of ticks.Options.
	Host     string        `json:"host,omitempty"`
	Start    time.Time     `json:"start,omitzero"`
	Interval time.Duration `json:"interval,omitempty"`
	// From and To leave out the ticks before and after; zero is no bound.
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
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
func Handlers(here Here) map[string]queue.Handler {
	return map[string]queue.Handler{kindCapture: func(ctx context.Context, payload []byte) ([]byte, error) {
		var t captureTask
		if err := json.Unmarshal(payload, &t); err != nil {
			return nil, fmt.Errorf("task: %w", err)
		}
		if t.Options.Version != here.Version {
			return nil, &queue.Refusal{Reason: fmt.Sprintf("is homenode %s, the task wants %s", here.Version, t.Options.Version)}
		}
		if err := t.Options.Capture.Check(); err != nil {
			return nil, fmt.Errorf("task: %w", err)
		}
		r, err := Do(ctx, here, t.Job, t.Options)
		if err != nil {
			return nil, err
		}
		return r.encode()
	}}
}

// Run reads the jobs of an archive with the cores of this machine. A file that cannot be
// read is a note; an archive without anything to read is an error.
func Run(ctx context.Context, here Here, jobs []Job, opt Options, progress func(queue.Progress)) (*Merged, error) {
	return run(here, jobs, opt, func(tasks []queue.Task, check func(queue.Task, string) error, use func(int, queue.Outcome) error) error {
		return queue.RunLocal(ctx, tasks, Handlers(here)[kindCapture], here.AtOnce, queue.CollectOptions{Check: check, Progress: progress}, use)
	})
}

// RunOn is Run with the workers of a queue.
func RunOn(ctx context.Context, c *queue.Client, here Here, jobs []Job, opt Options, progress func(queue.Progress)) (*Merged, error) {
	return run(here, jobs, opt, func(tasks []queue.Task, check func(queue.Task, string) error, use func(int, queue.Outcome) error) error {
		return c.Collect(ctx, tasks, queue.CollectOptions{Check: check, Progress: progress}, use)
	})
}

func run(here Here, jobs []Job, opt Options, do func([]queue.Task, func(queue.Task, string) error, func(int, queue.Outcome) error) error) (*Merged, error) {
	opt.Version = here.Version
	tasks := make([]queue.Task, len(jobs))
	for i, j := range jobs {
		var err error
		if tasks[i], err = queue.NewTask(kindCapture, captureTask{j, opt}); err != nil {
			return nil, err
		}
	}
	m, err := newMerger()
	if err != nil {
		return nil, err
	}
	defer m.close()
	index := map[string]int{}
	for i := range tasks {
		index[tasks[i].ID] = i
	}
	check := func(t queue.Task, reason string) error { return jobs[index[t.ID]].again(here.Root, reason) }
	use := func(i int, out queue.Outcome) error { return m.add(jobs[i].Name, out) }
	if err := do(tasks, check, use); err != nil {
		return nil, err
	}
	return m.merged()
}

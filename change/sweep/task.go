package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"homenode/internal/queue"
	"homenode/numa"
	"homenode/rules"
	"homenode/rules/policy"
	"homenode/rules/simulate"
)

// Kind is that of the tasks of sweeps.
const Kind = "sweep"

// A runTask is the payload of a task: one run.
type runTask struct {
	Options Options `json:"options"`
	Base    string  `json:"base"` // the queue.Input that is today's story
	Seed    uint64  `json:"seed"`
	Steps   []Step  `json:"steps,omitempty"`
}

// Handlers are what workers of a sweep do. version is that of the program; input gives
// the bodies of inputs.
func Handlers(version string, input func(ctx context.Context, id string) ([]byte, error)) map[string]queue.Handler {
	w := &worker{version: version, input: input}
	return map[string]queue.Handler{Kind: w.do}
}

// A worker keeps the story of the sweep it works on, which all its points begin with.
type worker struct {
	version string
	input   func(ctx context.Context, id string) ([]byte, error)

	lock  sync.Mutex
	id    string
	story *numa.Story // of id; it is not written to
}

func (w *worker) do(ctx context.Context, payload []byte) ([]byte, error) {
	var t runTask
	if err := json.Unmarshal(payload, &t); err != nil {
		return nil, fmt.Errorf("task: %w", err)
	}
	if t.Options.Version != w.version {
		return nil, &queue.Refusal{Reason: fmt.Sprintf("is homenode %s, the task wants %s", w.version, t.Options.Version)}
	}
	judge, err := t.Options.rules()
	if err != nil {
		return nil, err
	}
	base, err := w.base(ctx, t.Base)
	if err != nil {
		return nil, err
	}
	story, err := change(base, t.Steps, judge.Choices)
	if err != nil {
		return nil, err
	}
	story.Seed = t.Seed
	o := simulate.Options{Rules: judge, Silent: t.Options.Silent}
	sums := &hostSum{}
	if t.Options.Hosts {
		sums = newHostSum(story.Fleet)
		o.Tick = sums.add
	}
	r, err := simulate.Run(ctx, story, o)
	if err != nil {
		return nil, err
	}
	rec, err := record(r, sums.hosts, t.Options.VMs)
	if err != nil {
		return nil, err
	}
	return json.Marshal(rec)
}

// base returns today's story. Tasks that come one after the other have the same.
func (w *worker) base(ctx context.Context, id string) (*numa.Story, error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.id == id {
		return w.story, nil
	}
	body, err := w.input(ctx, id)
	if err != nil {
		return nil, err
	}
	story, err := DecodeStory(body)
	if err != nil {
		return nil, fmt.Errorf("task: %w", err)
	}
	w.id, w.story = id, story
	return story, nil
}

// rules returns the options of the judgement.
func (o *Options) rules() (rules.Options, error) {
	out := rules.Options{Choices: o.Choices}
	if o.Config == "" {
		return out, nil
	}
	var err error
	if out.Today, err = time.Parse(time.DateOnly, o.Today); err != nil {
		return out, fmt.Errorf("task: %w", err)
	}
	out.Policy, err = policy.Parse(o.ConfigName, []byte(o.Config), rules.All)
	return out, err
}

// How says who does the runs.
type How struct {
	Queue    *queue.Client // nil for the cores of this machine
	Workers  int           // without Queue; 0 is one for each core
	Progress func(queue.Progress)
}

// A run is a point with a seed.
type run struct{ point, seed int } // indexes

// Run does the runs of a plan. A point that cannot be simulated has its reason in the
// result; the error is about the queue or the context.
func (p *Plan) Run(ctx context.Context, how How) (*Result, error) {
	var body bytes.Buffer
	if err := EncodeStory(&body, p.Story); err != nil {
		return nil, err
	}
	base := queue.NewInput(body.Bytes())
	points := p.Points()
	out := &Result{Plan: p, Source: p.Story.Name, Start: p.Story.Start, Hours: p.Story.Length.Hours()}
	for _, at := range points {
		out.Points = append(out.Points, PointResult{Point: at, Labels: p.labels(at), Steps: p.steps(at), Runs: make([]RunResult, len(p.Seeds))})
	}
	tasks, first, err := p.tasks(out, base.ID)
	if err != nil {
		return nil, err
	}
	use := func(i int, outcome queue.Outcome) error {
		rr := RunResult{Failed: outcome.Failed}
		if outcome.Failed == "" {
			rr.Record = &Record{}
			if err := json.Unmarshal(outcome.Result, rr.Record); err != nil {
				return fmt.Errorf("result of a point: %w", err)
			}
		}
		for _, r := range first[i] {
			out.Points[r.point].Runs[r.seed] = rr
		}
		return nil
	}
	opt := queue.CollectOptions{Inputs: []queue.Input{base}, Progress: how.Progress}
	if how.Queue != nil {
		err = how.Queue.Collect(ctx, tasks, opt, use)
	} else {
		h := Handlers(p.Options.Version, func(context.Context, string) ([]byte, error) { return base.Body, nil })
		err = queue.RunLocal(ctx, tasks, h[Kind], how.Workers, opt, use)
	}
	if err != nil {
		return nil, err
	}
	for i := range out.Points {
		for j, seed := range p.Seeds {
			out.Points[i].Runs[j].Seed = seed
		}
	}
	out.measure()
	return out, nil
}

// tasks returns the tasks of all runs, and for each of them the runs that it does: points
// that change nothing are one run.
func (p *Plan) tasks(out *Result, base string) (tasks []queue.Task, does [][]run, err error) {
	index := map[string]int{}
	for i := range out.Points {
		for j, seed := range p.Seeds {
			t, err := queue.NewTask(Kind, runTask{Options: p.Options, Base: base, Seed: seed, Steps: out.Points[i].Steps})
			if err != nil {
				return nil, nil, err
			}
			k, ok := index[t.ID]
			if !ok {
				k, index[t.ID] = len(tasks), len(tasks)
				tasks, does = append(tasks, t), append(does, nil)
			}
			does[k] = append(does[k], run{i, j})
		}
	}
	return tasks, does, nil
}

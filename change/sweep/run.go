package sweep

import (
	"context"
	"encoding/json"
	"fmt"

	"example.org/homenode/internal/inorder"
	"example.org/homenode/rules/simulate"
)

// How controls the execution of runs.
type How struct {
	Workers  int                   // number of goroutines; 0 means one per core
	Progress func(done, total int) // nil for none
}

// A run is a point with a seed.
type run struct{ point, seed int } // indexes

// A task is a simulation for one or several runs.
type task struct {
	steps []Step
	seed  uint64
	does  []run
}

// Run executes the runs of a plan. The result contains the reason for a point that cannot be
// simulated; the error is that of the context.
func (p *Plan) Run(ctx context.Context, how How) (*Result, error) {
	out := &Result{Plan: p, Source: p.Story.Name, Start: p.Story.Start, Hours: p.Story.Length.Hours()}
	for _, at := range p.Points() {
		out.Points = append(out.Points, PointResult{Point: at, Labels: p.labels(at), Steps: p.steps(at), Runs: make([]RunResult, len(p.Seeds))})
	}
	tasks, err := p.tasks(out)
	if err != nil {
		return nil, err
	}
	do := func(ctx context.Context, i int) (RunResult, error) {
		rec, err := p.simulate(ctx, &tasks[i])
		if ctx.Err() != nil {
			return RunResult{}, context.Cause(ctx)
		}
		if err != nil {
			return RunResult{Failed: err.Error()}, nil
		}
		return RunResult{Record: rec}, nil
	}
	err = inorder.Run(ctx, len(tasks), how.Workers, do, func(i int, rr RunResult) error {
		for _, r := range tasks[i].does {
			rr.Seed = p.Seeds[r.seed]
			out.Points[r.point].Runs[r.seed] = rr
		}
		if how.Progress != nil {
			how.Progress(i+1, len(tasks))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out.measure()
	return out, nil
}

// simulate executes one task.
func (p *Plan) simulate(ctx context.Context, t *task) (*Record, error) {
	story, err := change(ctx, p.Story, t.steps, p.Options.Rules.Choices)
	if err != nil {
		return nil, err
	}
	story.Seed = t.seed
	o := simulate.Options{Rules: p.Options.Rules, Silent: p.Options.Silent}
	sums := &hostSum{}
	if p.Options.Hosts {
		sums = newHostSum(story.Fleet)
		o.Tick = sums.add
	}
	r, err := simulate.Run(ctx, story, o)
	if err != nil {
		return nil, err
	}
	return record(r, sums.hosts, p.Options.VMs)
}

// tasks returns the necessary simulations: points that change nothing share one task for each
// seed.
func (p *Plan) tasks(out *Result) (tasks []task, err error) {
	index := map[string]int{}
	for i := range out.Points {
		steps, err := json.Marshal(out.Points[i].Steps)
		if err != nil {
			return nil, err
		}
		for j, seed := range p.Seeds {
			key := fmt.Sprintf("%d %s", seed, steps)
			k, ok := index[key]
			if !ok {
				k, index[key] = len(tasks), len(tasks)
				tasks = append(tasks, task{steps: out.Points[i].Steps, seed: seed})
			}
			tasks[k].does = append(tasks[k].does, run{i, j})
		}
	}
	return tasks, nil
}

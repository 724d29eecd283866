package recording

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"example.org/homenode/ask"
	"example.org/homenode/change/sweep"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/change"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/simulate"
)

// grid simulates a story once for each point of a grid, and compares the points.
func (f *Simulate) grid(ctx context.Context, e *ask.Env, story *numa.Story, o simulate.Options, from finding.Severity) (*ask.Reply, error) {
	const why = "not with --grid: its points are compared as a whole"
	if err := cmp.Or(onlyTables(e, "grid"), f.Refuse(why, "why", "moment", "vm", "details"), notBeside(e, why)); err != nil {
		return nil, err
	}
	plan, err := sweep.New(ctx, story, f.Grid, sweep.Options{Rules: o.Rules, Silent: o.Silent})
	if err != nil {
		return nil, err
	}
	show, clear := e.Doing("simulated", "run")
	result, err := plan.Run(ctx, sweep.How{Progress: show})
	clear()
	if err != nil {
		return nil, err
	}
	r := &ask.Reply{Answers: []*answer.Answer{change.Sweep(result)}, AllTables: true, Found: result.AtLeast(from) > 0}
	if n := result.Failed(); n > 0 {
		r.Partly = fmt.Errorf("%d of %d points could not be simulated", n, len(result.Points))
	}
	return r, nil
}

// notBeside rejects --table and an export of ticks, which apply to a single run.
func notBeside(e *ask.Env, why string) error {
	switch {
	case e.Table != "":
		return ask.Wrong("table", errors.New(why))
	case e.Trace != nil:
		return ask.Wrong("trace", errors.New(why))
	}
	return nil
}

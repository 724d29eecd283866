package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/homenode/ask"
	"example.org/homenode/change/whatif"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/change"
	answers "example.org/homenode/output/fleet"
	"example.org/homenode/output/format"
	"example.org/homenode/rules"
	"example.org/homenode/rules/filter"
	"example.org/homenode/rules/finding"
	"example.org/homenode/size/fit"
)

// Assess asks which VMs of a fleet have NUMA problems, why, and which changes fix them.
type Assess struct {
	ask.Asked
	Sources    []string `ask:"source,arg,need"`
	FailOn     string   `ask:"fail-on" default:"medium" group:"Judge" help:"least severity that makes the exit code 1: info, low, medium, high"`
	ask.Choice `group:"Judge"`
	ask.WhatIf `group:"Judge"`
	ask.Filter `group:"Show"`
	Details    bool `ask:"details" group:"Show" help:"every finding with its advice (table, markdown)"`
	ask.Source `group:"Source"`
}

// Answer answers the question.
func (a *Assess) Answer(ctx context.Context, e *ask.Env) (*ask.Reply, error) {
	least, err := finding.ParseSeverity(a.FailOn)
	if err != nil {
		return nil, ask.Wrong("fail-on", err)
	}
	options, err := a.Choice.Options(e)
	if err != nil {
		return nil, err
	}
	changes, err := a.changes(e)
	if err != nil {
		return nil, err
	}
	shown, err := a.Compile()
	if err != nil {
		return nil, err
	}
	var r *ask.Reply
	if changes != nil {
		r, err = a.beside(ctx, e, options, changes, shown, least)
	} else {
		r, err = a.judge(ctx, e, options, shown, least)
	}
	return ask.Partly(r, err, a.Incomplete())
}

// changes parses the changes of a what-if; nil for none.
func (a *Assess) changes(e *ask.Env) ([]whatif.Change, error) {
	switch {
	case a.WhatIfs == nil:
		return nil, nil
	case e.Form != "" && !slices.Contains(format.Tables, e.Form):
		return nil, fmt.Errorf("--format: found %q, want one of %s for a what-if", e.Form, strings.Join(format.Tables, ", "))
	case e.Table != "":
		return nil, errors.New("--table: a what-if writes all its tables")
	}
	return ask.Changes(a.WhatIfs)
}

// judge assesses the fleet without changes.
func (a *Assess) judge(ctx context.Context, e *ask.Env, options rules.Options, shown *filter.Filter, least finding.Severity) (*ask.Reply, error) {
	start := time.Now()
	whole, read, err := a.Judged(ctx, e, true, options, a.Sources...)
	if err != nil {
		return nil, err
	}
	if whole.Failed != nil {
		return nil, whole.Failed
	}
	judged := time.Since(start) - read
	fleet := whole.Fleet
	result, err := shown.Fleet(ctx, whole)
	if err != nil {
		return nil, err
	}
	o := answers.Options{Version: e.Version, Details: a.Details, Sources: len(a.Sources),
		SourceWords: a.Words(a.Sources, append([]string{"choose", "config"}, ask.SourceNames...)...),
		Words:       a.Words(a.Sources, slices.Concat([]string{"choose"}, ask.AnswerNames, ask.FilterNames)...)}
	if e.Timed {
		o.Read, o.Judged = read, judged
	}
	r, err := ask.Answered(answers.Assess(result, o), nil)
	r.Form = format.Options{Details: a.Details, FailOn: least}
	switch {
	case len(fleet.VMs) == 0 && fleet.Unread != nil: // reported by Incomplete
	case len(fleet.VMs) == 0:
		r.Partly = fmt.Errorf("%s: the inventory is empty: it lists no VM", strings.Join(a.Sources, ", "))
	case result.VMs == 0 && len(result.Fleet.VMs) > result.Templates:
		r.Partly = fmt.Errorf("%s: none of %s could be judged: see the notes", strings.Join(a.Sources, ", "), words.Plural(len(result.Fleet.VMs)-result.Templates, "VM"))
	default:
		r.Found = result.AtLeast(least) > 0
	}
	return r, err
}

// losses returns the failure of a host that leaves most VMs of each cluster without one, by the ID of the cluster.
func losses(ctx context.Context, f *numa.Fleet, of []whatif.Capacity) map[string]*fit.Free {
	out := map[string]*fit.Free{}
	for i := range of {
		if id := of[i].ID; slices.ContainsFunc(f.Clusters, func(c numa.Cluster) bool { return c.ID == id }) {
			if c, err := fit.Find(f, id); err == nil {
				out[id] = c.Loss(ctx)
			}
		}
	}
	return out
}

// beside assesses the fleet before and after the changes. Only findings that the changes cause affect the exit code.
func (a *Assess) beside(ctx context.Context, e *ask.Env, options rules.Options, changes []whatif.Change, shown *filter.Filter, least finding.Severity) (*ask.Reply, error) {
	fleet, err := a.ReadBy(ctx, e, options.Choices, false, a.Sources...)
	if err != nil {
		return nil, err
	}
	both, err := whatif.Judge(ctx, e.Bare(ctx, options), fleet, changes, options, shown)
	if err != nil {
		return nil, err
	}
	o := change.Options{Details: a.Details, FailOn: least, Losses: losses(ctx, both.Whole, both.Capacity), Today: losses(ctx, fleet, both.Capacity)}
	r, err := ask.Answered(change.WhatIf(both, o), nil)
	r.AllTables, r.Found = true, both.Worsens(least)
	return r, err
}

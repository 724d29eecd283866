package compare

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/ask"
	"example.org/homenode/change/diff"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/change"
	"example.org/homenode/rules"
	"example.org/homenode/rules/finding"
	"example.org/homenode/source/open"
)

// areFleets reports whether a side can only be a fleet: a vCenter, a list of SOURCEs, or the demo beside another fleet.
func areFleets(a, b []string) bool {
	return slices.ContainsFunc([][]string{a, b}, func(side []string) bool {
		return len(side) == 1 && (open.VCenter(side[0]) || strings.HasPrefix(side[0], "@"))
	})
}

// fleets assesses two fleets and returns their differences.
func (f *Compare) fleets(ctx context.Context, e *ask.Env, a, b string) (*ask.Reply, error) {
	least, err := finding.ParseSeverity(cmp.Or(f.FailOn, "medium"))
	if err != nil {
		return nil, ask.Wrong("fail-on", fmt.Errorf("%w (of two fleets)", err))
	}
	options, err := f.Choice.Options(e)
	if err != nil {
		return nil, err
	}
	shown, err := f.Compile()
	if err != nil {
		return nil, err
	}
	var judged [2]*rules.Result
	for i, source := range []string{a, b} {
		fleet, err := f.ReadBy(ctx, e, options.Choices, false, source)
		if err != nil {
			return nil, err
		}
		if judged[i], err = rules.RunContext(ctx, fleet, options); err != nil {
			return nil, err
		}
	}
	d, err := diff.Compare(ctx, judged[0], judged[1], diff.Options{
		Judge: func(fleet *numa.Fleet) (*rules.Result, error) { return rules.RunContext(ctx, fleet, options) }, Filter: shown,
	})
	if err != nil {
		return nil, err
	}
	findings, _, _ := d.Worsens(least)
	r := reply(change.Diff(d, change.Options{Details: f.Details, FailOn: least}), d.Differs() || findings > 0)
	return ask.Partly(r, nil, f.Incomplete(), unjudged(judged[0]), unjudged(judged[1]))
}

// unjudged is the error for a fleet in which no VM could be assessed, so that only settings were compared.
func unjudged(r *rules.Result) error {
	n, why := r.Missed()
	if n == 0 || r.VMs > 0 {
		return nil
	}
	return fmt.Errorf("%s: none of %s could be judged, and only settings are compared: %s", r.Fleet.Source, words.Plural(n, "VM"), strings.Join(why, "; "))
}

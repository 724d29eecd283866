package compare

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"example.org/homenode/ask"
	"example.org/homenode/measure/captures"
	"example.org/homenode/output/truth"
	"example.org/homenode/rules"
	verdict "example.org/homenode/rules/verdict/recording"
	"example.org/homenode/source/open"
	"example.org/homenode/source/tables"
	"example.org/homenode/source/ticks"
)

// areCaptures reports whether both sides are captures of hosts; if only one is, it returns the name. Benchmark results that include
// captures, such as folders of HCIBench, count as benchmark results, and workbooks as inventories.
func areCaptures(ctx context.Context, a, b []string) (both bool, one string) {
	var is [2]string
	for side, args := range [][]string{a, b} {
		for _, arg := range args {
			if arg != open.Demo {
				l, err := ticks.List(arg)
				if err != nil || !slices.ContainsFunc(l.Sources, func(s ticks.Source) bool { return !slices.ContainsFunc(s.Files, tables.Book) }) {
					continue // the benchmark reader reports errors of other files
				}
				if found, _, err := open.Benchmarks(ctx, []string{arg}); err == nil && len(found) > 0 {
					continue
				}
			}
			is[side] = arg
		}
	}
	if is[0] != "" && is[1] != "" {
		return true, ""
	}
	return false, cmp.Or(is[0], is[1])
}

// captures compares two captures, or one capture before and after a time.
func (f *Compare) captures(ctx context.Context, e *ask.Env, a, b []string) (*ask.Reply, error) {
	fails, err := f.worse()
	if err != nil {
		return nil, err
	}
	shown, err := f.Compile()
	if err != nil {
		return nil, err
	}
	var sides [2]*verdict.Judged
	var notes []string
	var incomplete error
	for i, names := range [][]string{a, b} {
		in := ask.Captures{Host: f.Host}
		if f.At != "" {
			*[]*string{&in.To, &in.From}[i] = f.At
			if err := in.ReadTimes(); err != nil {
				return nil, ask.Wrong("at", errors.Unwrap(err))
			}
		}
		recordings, found, err := in.Read(ctx, e, names, rules.CaptureOptions(nil), nil)
		if err != nil {
			return nil, err
		}
		for _, n := range found {
			notes = append(notes, n.String())
		}
		w, err := shown.Watched(rules.Watch(recordings, nil, rules.Options{}))
		if err != nil {
			return nil, err
		}
		sides[i], incomplete = verdict.Of(w), cmp.Or(incomplete, in.Incomplete())
	}
	r, err := captures.Compare(sides[0], sides[1])
	if err != nil {
		return nil, err
	}
	r.Notes = append(r.Notes, notes...)
	v := r.All.Verdict
	return ask.Partly(reply(truth.Captures(r, f.Details), fails && (v == captures.Worse || v == captures.Mixed)), nil, incomplete)
}

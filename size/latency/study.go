package latency

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"example.org/homenode/esxi/cost"
	"example.org/homenode/numa/unit"
	"example.org/homenode/size/sheet"
)

// An Ask is the input of a study. The zero value is the published ladder.
type Ask struct {
	Core      unit.Hz       // 0 means the clock of the article, CoreOf2019
	Processor string        // the processor whose memory latency is used; "" for the median of the published hosts
	Machine   *cost.Machine // its entry in package cost
	Samples   []Sample      // the user's own
	Files     []string      // source of the samples
	// Calls is the number of times that a request performs a step, Budget the request's total time; 0 for unknown.
	Calls   float64
	Budget  unit.Seconds
	Remote  unit.Share // of memory accesses, to compute their cost
	Details bool       // show every step with all known facts
}

var calculator = sheet.Load(published, "latency.sheet")

// Study returns the ladder with the consequences of each step. Its error names the impossible part of the question.
func Study(a *Ask) (*sheet.Run, error) {
	core := a.Core
	core = cmp.Or(core, CoreOf2019)
	switch {
	case !finite(float64(core)) || core <= 0:
		return nil, fmt.Errorf("core: found %v, want a clock above 0", core)
	case !finite(a.Calls) || a.Calls < 0:
		return nil, fmt.Errorf("calls: found %v, want a number above 0", a.Calls)
	case !finite(float64(a.Budget)) || a.Budget < 0:
		return nil, errors.New("budget: want a time above 0")
	case !(a.Remote >= 0 && a.Remote <= 1):
		return nil, fmt.Errorf("remote share: found %v, want 0 to 100 %%", a.Remote)
	}
	known := map[string]map[string]any{}
	var rows []map[string]any
	for _, rung := range Ladder(core, a.Machine) {
		row, err := rung.row(a.Samples)
		if err != nil {
			return nil, err
		}
		if row["published"] != nil || row["yours"] != nil {
			rows = append(rows, row)
		}
		known[string(rung.Step)] = row
	}
	of := func(what string) func([]any) any {
		return func(args []any) any { return known[args[0].(string)][what] }
	}
	why := ""
	if a.Machine != nil && len(a.Machine.Why) > 0 {
		why = a.Machine.Why[0] // the others concern nodes
	}
	return calculator.Run(sheet.Input{Rows: rows, Call: map[string]func([]any) any{"published": of("published"), "yours": of("yours")}, Values: map[string]any{
		"core": sheet.Plain(float64(core), "hz"), "coreGiven": a.Core > 0, "cpu": a.Processor, "why": why, "details": a.Details,
		"calls": sheet.Plain(a.Calls, "whole"), "budget": sheet.Plain(float64(a.Budget), "seconds"), "remote": sheet.Plain(float64(a.Remote), "share"),
		"files": strings.Join(a.Files, ", "), "latencies": sheet.Plain(float64(len(a.Samples)), "whole"), "publishedRemote": remoteRatio(),
	}}), nil
}

// row returns a rung with the user's measurements of it: the median, the least and the greatest.
func (r *Rung) row(all []Sample) (map[string]any, error) {
	row := map[string]any{"step": string(r.Step), "name": r.Name, "clocked": r.Clocked, "minor": r.Minor, "published": nil, "yours": nil, "samples": nil, "measured": ""}
	if r.Published != nil {
		row["published"] = sheet.Of(*r.Published, "seconds")
	}
	var values []float64
	var samples []Sample
	var from []string
	for _, s := range all {
		if s.Step != r.Step {
			continue
		}
		if !finite(float64(s.Value)) || s.Value <= 0 {
			return nil, fmt.Errorf("%s: %s: found %v, want a time above 0", s.Where, s.What, s.Value)
		}
		samples, values, from = append(samples, s), append(values, float64(s.Value)), append(from, fmt.Sprintf("%s (%s: %s)", s.Value, s.Where, s.What))
	}
	if len(values) > 0 {
		value, low, high := span(values)
		row["yours"] = sheet.Of(unit.Figure[unit.Seconds]{Value: value, Low: low, High: high, Origin: unit.Measured}, "seconds")
		row["samples"], row["measured"] = samples, strings.Join(from, "; ")
	}
	return row, nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// remoteRatio returns far ÷ local of the published hosts, the median and the range.
func remoteRatio() sheet.Value {
	var all []float64
	for _, host := range cost.Table() {
		all = append(all, host.Paths[cost.Far].Nanoseconds.Value/host.Paths[cost.Local].Nanoseconds.Value)
	}
	v, low, high := span(all)
	return sheet.Of(unit.Figure[unit.Seconds]{Value: v, Low: low, High: high, Origin: unit.Derived, Source: hostTypes}, "times")
}

// span returns the median, the least and the greatest of values in seconds.
func span(values []float64) (median, low, high unit.Seconds) {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	return unit.Seconds((v[(n-1)/2] + v[n/2]) / 2), unit.Seconds(v[0]), unit.Seconds(v[n-1])
}

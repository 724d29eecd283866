// Package recording has the questions about events over time.
package recording

import (
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/ask"
	"example.org/homenode/output/format"
	"example.org/homenode/output/recording"
	"example.org/homenode/rules/finding"
)

// CaptureEntry is the question about captures.
var CaptureEntry = &ask.Entry{Name: "capture", Title: "What happened", Configured: true, New: func() ask.Question { return &Capture{} }, Budget: ask.Budget{Steps: ask.MostMegabytes}, Tables: recording.CaptureTables}

// Entries lists the questions in display order.
var Entries = []*ask.Entry{
	{Name: "simulate", Title: "Simulate", Configured: true, Lead: "The model of the NUMA scheduler runs over this fleet, or a part of it, when you press Show.", New: func() ask.Question { return &Simulate{} },
		Budget: ask.Budget{Steps: 48_000}, Tables: recording.SimulationTables},
	CaptureEntry,
	{Name: "optimise", Title: "Optimise", Configured: true, New: func() ask.Question { return &Optimise{} }},
}

// least parses --fail-on, the lowest severity that affects the exit code.
func least(failOn string) (finding.Severity, error) {
	s, err := finding.ParseSeverity(failOn)
	return s, ask.Wrong("fail-on", err)
}

// onlyTables rejects output forms that the option does not support.
func onlyTables(e *ask.Env, with string) error {
	if e.Form == "" || slices.Contains(format.Tables, e.Form) {
		return nil
	}
	return ask.Wrong("format", fmt.Errorf("found %q, want one of %s with --%s", e.Form, strings.Join(format.Tables, ", "), with))
}

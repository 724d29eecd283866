// Package recording has the questions about what happens over time.
package recording

import (
	"fmt"
	"slices"
	"strings"

	"homenode/ask"
	"homenode/output/format"
	"homenode/output/recording"
	"homenode/rules/finding"
)

// CaptureEntry is the question about captures.
var CaptureEntry = &ask.Entry{Name: "capture", Title: "What happened", Configured: true, New: func() ask.Question { return &Capture{} }, Budget: ask.Budget{Steps: ask.MostMegabytes}, Tables: recording.CaptureTables}

// Entries are the questions, in the order in which they are listed.
var Entries = []*ask.Entry{
	{Name: "simulate", Title: "Simulate", Configured: true, Lead: "The model of the NUMA scheduler runs over this fleet, or a part of it, when you press Show.", New: func() ask.Question { return &Simulate{} },
		Budget: ask.Budget{Steps: 24_000}, Tables: recording.SimulationTables},
	CaptureEntry,
	{Name: "optimise", Title: "Optimise", Configured: true, New: func() ask.Question { return &Optimise{} }},
}

// least reads the severity from which findings are told to the asker.
func least(failOn string) (finding.Severity, error) {
	s, err := finding.ParseSeverity(failOn)
	return s, ask.Wrong("fail-on", err)
}

// onlyTables refuses the other forms of an answer, which a way to ask does not have.
func onlyTables(e *ask.Env, with string) error {
	if e.Form == "" || slices.Contains(format.Tables, e.Form) {
		return nil
	}
	return ask.Wrong("format", fmt.Errorf("found %q, want one of %s with --%s", e.Form, strings.Join(format.Tables, ", "), with))
}

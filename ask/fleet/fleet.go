// Package fleet has the questions about a fleet and about the rules.
package fleet

import (
	"example.org/homenode/ask"
	answers "example.org/homenode/output/fleet"
)

// mostVMs is the number of VMs that can be assessed in some seconds
// (docs/evidence/performance.md).
const mostVMs = 100_000

// Entries of the questions.
var (
	AssessEntry   = &ask.Entry{Name: "assess", Title: "Fleet", Configured: true, New: func() ask.Question { return &Assess{} }, Budget: ask.Budget{Steps: mostVMs}, Tables: answers.TableNames}
	ExplainEntry  = &ask.Entry{Name: "explain", Title: "Explain", Configured: true, New: func() ask.Question { return &Explain{} }, Budget: ask.Budget{Steps: mostVMs}}
	RulesEntry    = &ask.Entry{Name: "rules", Title: "Rules", New: func() ask.Question { return &Rules{} }, Configured: true, Budget: ask.Budget{Steps: 1}}
	ValidateEntry = &ask.Entry{Name: "validate", Title: "Truth", New: func() ask.Question { return &Validate{} }, Budget: ask.Budget{Steps: 1}}
)

// Entries lists the questions in display order.
var Entries = []*ask.Entry{AssessEntry, ExplainEntry, RulesEntry, ValidateEntry}

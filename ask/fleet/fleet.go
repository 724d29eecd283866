// Package fleet has the questions about a fleet, and about what judges it.
package fleet

import (
	"homenode/ask"
	answers "homenode/output/fleet"
)

// The questions.
var (
	AssessEntry   = &ask.Entry{Name: "assess", Title: "Fleet", New: func() ask.Question { return &Assess{} }, Tables: answers.TableNames}
	ExplainEntry  = &ask.Entry{Name: "explain", Title: "Explain", New: func() ask.Question { return &Explain{} }}
	RulesEntry    = &ask.Entry{Name: "rules", Title: "Rules", New: func() ask.Question { return &Rules{} }}
	ValidateEntry = &ask.Entry{Name: "validate", Title: "Truth", New: func() ask.Question { return &Validate{} }, Unconfigured: true}
)

// Entries are the questions, in the order in which they are listed.
var Entries = []*ask.Entry{AssessEntry, ExplainEntry, RulesEntry, ValidateEntry}

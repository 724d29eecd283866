// Package change has the questions about changing a fleet: the plan for its findings, and the migration of VMs to another platform.
package change

import "example.org/homenode/ask"

// Entries of the questions.
var (
	FixEntry  = &ask.Entry{Name: "fix", Title: "Plans", New: func() ask.Question { return &Plan{} }, Budget: ask.Budget{Steps: 50_000}}
	MoveEntry = &ask.Entry{Name: "move", Title: "Moves", New: func() ask.Question { return &Move{} }}
)

// Entries lists the questions in display order.
var Entries = []*ask.Entry{FixEntry, MoveEntry}

// Package change has the questions about changing a fleet: the plan that its findings need, and what becomes of VMs on another platform.
package change

import "homenode/ask"

// The entries of the questions.
var (
	FixEntry  = &ask.Entry{Name: "fix", Title: "Plans", New: func() ask.Question { return &Plan{} }, Budget: ask.Budget{Steps: 50_000}}
	MoveEntry = &ask.Entry{Name: "move", Title: "Moves", New: func() ask.Question { return &Move{} }}
)

// Entries are the questions, in the order in which they are listed.
var Entries = []*ask.Entry{FixEntry, MoveEntry}

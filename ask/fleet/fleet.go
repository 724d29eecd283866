// Package fleet has the questions about a fleet, and about what judges it.
package fleet

import (
	"homenode/ask"
	answers "homenode/output/fleet"
)

// The questions.
var (
	AssessEntry = &ask.Entry{Name: "assess", Title: "Fleet", New: func() ask.Question { return &Assess{} }, Tables: answers.TableNames}
)

// Entries are the questions, in the order in which they are listed.
var Entries = []*ask.Entry{AssessEntry}

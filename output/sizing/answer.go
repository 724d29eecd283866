// Package sizing writes what the size commands came to: what was assumed, the
// result, and what would change it, in this order, as text, Markdown, CSV, JSON and
// SVG. Every command makes an Answer of its typed result; here is the one place that
// prints Answers.
package sizing

import (
	"io"

	"homenode/capacity"
	"homenode/output/chart"
)

// An Answer is the result of a sum, ready to be printed.
type Answer struct {
	Command  string // "size io"
	Question string // what was asked, with the numbers, in one line
	// Assumed is everything that the result rests on beside the question.
	Assumed []Assumption
	// Verdict is the result in one to three sentences, one a line.
	Verdict []string
	Tables  []Table
	// If says what the result would be under other circumstances.
	If    []Change
	Notes []string // what is doubtful or left out
	Next  []string // commands to run next
	// Charts are drawn below each other. A command with a drawing of its own sets Draw.
	Charts []chart.Chart
	Draw   func(io.Writer) error
	// NoDrawing says why there is neither; "" where none is ever missing.
	NoDrawing string
	// Result is what JSON shows: a struct with tags, in SI units and bytes.
	Result any
}

// An Assumption is one thing that the result rests on.
type Assumption struct {
	What     string          `json:"what"`
	Value    string          `json:"value"`
	Range    string          `json:"range,omitempty"` // within which it holds or was measured
	Origin   capacity.Origin `json:"origin"`
	Source   string          `json:"source,omitempty"`
	Hardware string          `json:"hardware,omitempty"`
	Note     string          `json:"note,omitempty"`
}

// A Change is one thing that could be otherwise.
type Change struct {
	If     string `json:"if"`     // "blocks twice as large"
	Result string `json:"result"` // "21.4 GHz"
	Change string `json:"change"` // "+38 %"
}

// A Table is a part of the result.
type Table struct {
	Name    string // one lower-case word, for CSV
	Title   string // a line above it; "" for none
	Columns []Column
	Rows    [][]string // as many cells as columns
	Drawing bool       // for people: programs that read CSV do without
	// Plain stands for the table in CSV: plain numbers, and every row where Rows are the
	// first of many. nil: CSV has the table as it is.
	Plain *Table
}

// A Column is one column of a table.
type Column struct {
	Name  string
	Right bool // numbers
}

// Figure returns a figure as an assumption; text prints its numbers.
func Figure[T ~float64](what string, f capacity.Figure[T], text func(T) string) Assumption {
	a := Assumption{What: what, Value: text(f.Value), Origin: f.Origin, Source: f.Source, Hardware: f.Hardware, Note: f.Note}
	if f.Low != f.High {
		a.Range = text(f.Low) + " to " + text(f.High)
	}
	return a
}

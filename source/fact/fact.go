// Package fact contains the facts of one file with their places, in a form that all readers of
// evidence share. The read command prints and checks them.
package fact

import (
	"cmp"
	"fmt"
	"slices"

	"example.org/homenode/numa"
)

// A Fact is one value stated in a file.
type Fact struct {
	Subject string `json:"subject"` // object that it describes: "host", "node 0", "VM sql01", "client vm.3850537/1"
	Name    string `json:"name"`    // standard technical term: "home node", "local memory"
	// Value is a string, bool, int, int64 or float64, in the unit of the file.
	Value any    `json:"value"`
	Unit  string `json:"unit,omitempty"` // "KiB", "ns", "MB/s" (10^6 bytes), "%"; empty for counts and words
	Line  int    `json:"line,omitempty"` // from 1; 0 if the file has no lines
	Col   int    `json:"col,omitempty"`  // from 1, in bytes; 0 for the whole line
	// Origin is the place in a file without lines, or the source of a derived value.
	Origin string `json:"origin,omitempty"`
}

// A Warning describes an unknown or doubtful part of a file, and its place.
type Warning struct {
	Line int    `json:"line"`
	Col  int    `json:"col,omitempty"`
	Text string `json:"text"`
}

// A File is the content of one file, in its order.
type File struct {
	Name     string    `json:"file"`   // as given; inside an archive "bundle.tgz/path"
	Format   string    `json:"format"` // such as "vmware.log" or "lscpu -J"
	Facts    []Fact    `json:"facts"`
	Warnings []Warning `json:"warnings,omitempty"`
	Error    string    `json:"error,omitempty"` // why it could not be read; "" if it could
}

// Add appends a fact.
func (f *File) Add(line, col int, subject, name string, value any, unit string) {
	f.Facts = append(f.Facts, Fact{Subject: subject, Name: name, Value: value, Unit: unit, Line: line, Col: col})
}

// Warn appends a warning.
func (f *File) Warn(line, col int, format string, args ...any) {
	f.Warnings = append(f.Warnings, Warning{line, col, fmt.Sprintf(format, args...)})
}

// Sort sorts facts and warnings by their places.
func (f *File) Sort() {
	SortFacts(f.Facts)
	SortWarnings(f.Warnings)
}

// SortFacts sorts facts by their places.
func SortFacts(list []Fact) {
	slices.SortStableFunc(list, func(a, b Fact) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col)) })
}

// SortWarnings sorts warnings by their lines.
func SortWarnings(list []Warning) {
	slices.SortStableFunc(list, func(a, b Warning) int { return cmp.Compare(a.Line, b.Line) })
}

// At returns the place of a line and column of f as file:line or file:line:column.
func (f *File) At(line, col int) string { return numa.Place(f.Name, line, col) }

// A Document is one file in the types of its reader.
type Document interface {
	// File returns the facts of the document.
	File() *File
}

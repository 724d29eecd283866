// Package format prints Answers: as text for a terminal; as JSON, CSV and a workbook for programs; as Markdown for tickets;
// and their drawings as SVG. Package page prints HTML. It does not depend on commands: an Answer has everything that is
// printed.
package format

import (
	"fmt"
	"io"

	"example.org/homenode/output/answer"
	"example.org/homenode/output/format/page"
	"example.org/homenode/output/table"
	"example.org/homenode/rules/finding"
)

// Options are the options for printing an Answer. The zero value suits a file.
type Options struct {
	Version string // version of homenode; "" omits it
	Colour  bool
	Width   int // width of the terminal in columns; 0 for no limit
	// Details prints every finding, instead of the number per rule.
	Details bool
	FailOn  finding.Severity // lowest severity of a failure
	// SourceFiles are the input files, with "" for each source that is not a file.
	SourceFiles []string
	// Table is the table of Data that CSV and JSON write. "" means all tables in one CSV file, or the whole answer in JSON.
	Table string
	// Workbook writes tables as XLSX, as package table/xlsx does; nil if this form is not available.
	Workbook func(io.Writer, []table.Table) error
}

// Names are the forms of every answer; the first is the default.
var Names = []string{"table", "json", "html", "csv", "xlsx", "markdown", "svg"}

// Tables are the forms of answers without drawings; the first is the default.
var Tables = Names[:6]

// Judged are the forms of an answer with findings; the first is the default.
var Judged = []string{"table", "json", "html", "csv", "xlsx", "sarif", "junit", "codequality", "comment", "markdown"}

// Write writes the answer in the named form.
func Write(w io.Writer, name string, a *answer.Answer, o Options) error {
	switch name {
	case "table":
		return Text(w, a, o)
	case "json":
		return JSON(w, a, o)
	case "html":
		return page.Write(w, a, o.Version)
	case "csv":
		return CSV(w, a, o)
	case "xlsx":
		if o.Workbook != nil {
			return o.Workbook(w, dataOf(a))
		}
	case "markdown":
		return Markdown(w, a, o)
	case "svg":
		return SVG(w, a)
	case "sarif":
		return SARIF(w, a, o)
	case "junit":
		return JUnit(w, a, o)
	case "codequality":
		return CodeQuality(w, a, o)
	case "comment":
		return Comment(w, a, o)
	}
	return fmt.Errorf("no form %q", name)
}

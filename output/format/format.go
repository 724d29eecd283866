// Package format prints Answers: as text for a terminal, as JSON, CSV and a workbook for
// programs, as Markdown for tickets, and their drawings as SVG; package page prints HTML. It knows no command:
// what one has to say stands in its Answer.
package format

import (
	"fmt"
	"io"

	"homenode/output/answer"
	"homenode/output/format/page"
	"homenode/output/table"
	"homenode/rules/finding"
)

// Options say how an Answer is printed. The zero value suits a file.
type Options struct {
	Version string // of homenode; empty leaves it out
	Colour  bool
	Width   int // columns of the terminal; 0 for none: tables are as wide as their cells
	// Details asks for every finding, not only how many of each rule.
	Details bool
	FailOn  finding.Severity // from which severity a finding is a failure
	// SourceFiles are the files that were read, "" for a source that is none.
	SourceFiles []string
	// Table is the table of Data that CSV and JSON write; "" for all tables in one file of CSV, and the whole answer in JSON.
	Table string
	// Workbook writes tables as XLSX; package table/xlsx has it. nil when there is no such form.
	Workbook func(io.Writer, []table.Table) error
}

// Names are the forms that every answer has; the first is the default.
var Names = []string{"table", "json", "html", "csv", "xlsx", "markdown", "svg"}

// Tables are the forms of an answer that never has a drawing; the first is the default.
var Tables = Names[:6]

// Judged are the forms of an answer with findings; the first is the default.
var Judged = []string{"table", "json", "html", "csv", "xlsx", "sarif", "junit", "codequality", "comment", "markdown"}

// Write writes the answer in the form of this name.
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

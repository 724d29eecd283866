// Package answer has the result of a command as data: its verdict, the assumptions behind it, its tables,
// findings and drawings, and the next commands. Every command converts its typed result to one Answer.
// Package format is the only package that prints Answers, so that a terminal, a file and a page have the same
// content.
package answer

import (
	"io"
	"net/url"
	"slices"
	"strings"

	"example.org/homenode/numa/unit"
	"example.org/homenode/output/draw/picture"
	"example.org/homenode/output/table"
)

// An Answer is ready to be printed. Its fields are in reading order. Texts are untrusted; output forms escape
// them.
type Answer struct {
	Command  string // "size io"
	Format   string // of JSON; "" for "homenode-" and the command
	Version  int    // of JSON; 0 counts as 1
	Title    string // of a page and a file; "" for the question
	Question string // the question with its numbers, in one line; "" if the verdict repeats it
	// Simulated means that no part of the result was observed.
	Simulated bool

	// Verdict is the result in one to three sentences, one a line; the first is the headline.
	Verdict []string
	// States replace the verdict after the headline on a page. Each is about a different time.
	States []State
	Facts  []Fact // the data that was read and assessed
	// Assumed lists the assumptions of the result, other than the question.
	Assumed []Assumption
	Tables  []Table // the result, for people
	// Findings are the findings of rules; nil for a command without an assessment.
	Findings *Findings
	// Changes list the results under other conditions.
	Changes []Change
	Notes   []Note // doubts and omissions
	// Drawings appear one below the other.
	Drawings []Drawing
	// NoDrawing is the reason for a missing drawing; "" if the command has none.
	NoDrawing string
	Next      []string // commands to run next

	// Data are the tables for spreadsheets and scripts, with all rows and plain numbers; nil if Tables serve
	// this purpose.
	Data []table.Table
	// Result is the JSON value: a struct with tags, in SI units and bytes, or a func() any that computes the
	// value if that takes long.
	Result any
}

// A State is one line about the current state, the state over the last day, or the settings.
type State struct {
	Name string
	Cell Cell
}

// A Fact is one line about data that was read or assessed.
type Fact struct {
	Name string `json:"name"`
	Text string `json:"text"`
	Took string `json:"-"` // duration; never written to files
}

// An Assumption is one assumption of the result.
type Assumption struct {
	What     string      `json:"what"`
	Value    string      `json:"value"`
	Range    string      `json:"range,omitempty"` // validity or measured range
	Origin   unit.Origin `json:"origin"`
	Source   string      `json:"source,omitempty"`
	Hardware string      `json:"hardware,omitempty"`
	Note     string      `json:"note,omitempty"`
}

// A Change is a variation of the conditions with its result.
type Change struct {
	If     string `json:"if"`     // "blocks twice as large"
	Result string `json:"result"` // "21.4 GHz"
	Change string `json:"change"` // "+38 %"
}

// A Drawing is a picture of the result.
type Drawing struct {
	ID    string // the anchor on a page: a letter, then letters, digits and hyphens; "" for none
	About string // one sentence about its content
	Worst []Cell // the objects with the worst values; pages link them behind About
	Wide  bool   // it needs the full width of a page
	// Picture draws it for a page or a file.
	Picture func() *picture.Picture
	// Letters draws it on a terminal with width columns; nil if terminals omit it. It replaces the tables of
	// the answer.
	Letters func(w io.Writer, width int, colour bool) error
	// Heading and Lead appear on a page above this drawing and the following ones. Cut describes, after them,
	// which drawings were omitted.
	Heading, Lead, Cut string
}

// A Table is a part of the result for human readers: few rows, cells with units.
type Table struct {
	Name    string // one lower-case word, for CSV
	Title   string // a line above it; "" for none
	Columns []Column
	Rows    [][]Cell // as many cells as columns
	Cut     string   // the omitted rows, and how to see them
	Foot    []string // sentences below it that explain columns and cells
	// Long means that only pages show the table; a terminal and a ticket omit it. On pages it replaces the
	// short table with the same name.
	Long bool
	// First means that it is first on a page, before drawings and findings.
	First bool
	Lead  string // on a page, a sentence below the title
	// Folded means that a report shows the rows on request.
	Folded bool
	// Fill computes the rows of a long table when a page shows them, so that other forms need not; nil if
	// Rows has them.
	Fill func() [][]Cell
	// Plain replaces the table in CSV: it has plain numbers, and all rows where Rows is truncated. nil: CSV
	// has the table itself.
	Plain *Table
}

// A Column is one column of a table.
type Column struct {
	Name  string
	Right bool   // numbers
	About string // explanation; "" if the name is clear
	AsIs  bool   // the name belongs to an object: a terminal does not capitalize it
}

// Columns returns the columns with these names. The prefix ">" marks a column of numbers.
func Columns(names ...string) []Column {
	out := make([]Column, len(names))
	for i, name := range names {
		out[i].Name, out[i].Right = strings.CutPrefix(name, ">")
	}
	return out
}

// A Cell is one cell of a table.
type Cell struct {
	Text string
	Tone Tone
	Ref  string // anchor of the object on the same page
	To   Object // the object, for a site with pages of objects
	Web  string // a public address, which is also the end of the text; pages link it
	Sort string // a plain number as sort key; "" to sort by text
	// Parts replace the text: several texts with their own tones and anchors.
	Parts []Cell
}

// An Object is an object of the model that has a page in a site. The zero value is none.
type Object struct {
	Kind string // "vm", "host", "cluster", "rule" or "capture"; "findings" for the findings of a rule
	ID   string // ID in its fleet; for a cluster its name
}

// Cluster returns the object of a cluster; none for the implicit cluster of a standalone host.
func Cluster(name string) Object {
	if name == "" {
		return Object{}
	}
	return Object{Kind: "cluster", ID: name}
}

// Elsewhere is the kind of an object with an explicit address, such as a page at a moment. The ID is the
// address.
const Elsewhere = "elsewhere"

// Address returns the path of the object's page in a site, such as /vm?vm=vm-101; "" for none.
func (o Object) Address() string {
	switch o.Kind {
	case "":
		return ""
	case Elsewhere:
		return o.ID
	}
	if o.Kind == "findings" { // the page of the fleet shows the findings of a rule
		return "/?" + url.Values{"rule": {o.ID}}.Encode()
	}
	return "/" + o.Kind + "?" + url.Values{o.Kind: {o.ID}}.Encode()
}

// A Tone is the emphasis of a text.
type Tone uint8

// Tones. The tones of severities are in the order of finding.Severity.
const (
	Plain Tone = iota
	Faint
	Low
	Medium
	High
	Bad // a number that should be 0
)

// BadIf returns Bad or Plain.
func BadIf(is bool) Tone {
	if is {
		return Bad
	}
	return Plain
}

// Explain adds a sentence below the table; "" adds none.
func (t *Table) Explain(sentence string) {
	if sentence != "" {
		t.Foot = append(t.Foot, sentence)
	}
}

// Texts returns the texts of all cells.
func (t *Table) Texts() (all []string) {
	for _, row := range t.Rows {
		for i := range row {
			all = append(all, row[i].Text)
		}
	}
	return all
}

// Add adds a row of plain cells.
func (t *Table) Add(cells ...string) {
	row := make([]Cell, len(cells))
	for i, c := range cells {
		row[i].Text = c
	}
	t.Rows = append(t.Rows, row)
}

// AllTables returns all tables of the answer in reading order, including those of assumptions and changes.
func (a *Answer) AllTables() []Table {
	var out []Table
	if len(a.Assumed) > 0 {
		out = append(out, AssumedTable(a.Assumed))
	}
	out = append(out, a.Tables...)
	if len(a.Changes) > 0 {
		out = append(out, ChangeTable(a.Changes))
	}
	return out
}

// AssumedTable returns assumptions as a table. The range follows the value; the hardware and the note follow
// the source.
func AssumedTable(all []Assumption) Table {
	t := Table{Name: "assumed", Title: "Assumed", Columns: []Column{{Name: "what"}, {Name: "value"}, {Name: "origin"}, {Name: "source"}}}
	for _, as := range all {
		value := as.Value
		if as.Range != "" {
			value += " (" + as.Range + ")"
		}
		t.Add(as.What, value, string(as.Origin), joined(as.Source, as.Hardware, as.Note))
	}
	return t
}

// joined joins the non-empty texts with commas.
func joined(texts ...string) string {
	out := ""
	for _, s := range slices.DeleteFunc(texts, func(s string) bool { return s == "" }) {
		if out != "" {
			out += ", "
		}
		out += s
	}
	return out
}

// ChangeTable returns changes as a table.
func ChangeTable(all []Change) Table {
	t := Table{Name: "whatif", Title: "What if", Columns: []Column{{Name: "if"}, {Name: "result"}, {Name: "change", Right: true}}}
	if !slices.ContainsFunc(all, func(c Change) bool { return c.Change != "" }) {
		t.Columns = t.Columns[:2]
	}
	for _, c := range all {
		t.Add([]string{c.If, c.Result, c.Change}[:len(t.Columns)]...)
	}
	return t
}

// HeadingOf returns the heading of a table in files. In an answer with findings every table has a heading, as
// the findings have one.
func (a *Answer) HeadingOf(t *Table) string {
	if t.Title == "" && t.Name != "" && a.Findings != nil {
		return strings.ToUpper(t.Name[:1]) + t.Name[1:]
	}
	return t.Title
}

// Package answer is what a command came to, as data: its verdict, what that rests on, the
// tables, findings and drawings behind it, and what to do next. Every command makes one
// Answer of its typed result; package format is the one place that prints Answers, so that a
// terminal, a file and a page say the same.
package answer

import (
	"io"
	"net/url"
	"slices"
	"strings"

	"homenode/numa/unit"
	"homenode/output/draw/picture"
	"homenode/output/table"
)

// An Answer is ready to be printed. Its fields stand in the order of reading. Texts may come
// from strangers: forms clean them.
type Answer struct {
	Command  string // "size io"
	Format   string // of JSON; "" for homenode- and the command
	Version  int    // of JSON; 0 counts as 1
	Title    string // of a page and a file; "" for the question
	Question string // what was asked, with the numbers, in one line; "" where the verdict says it
	// Simulated says that nothing of it was observed.
	Simulated bool

	// Verdict is the result in one to three sentences, one a line; the first is the headline.
	Verdict []string
	// States stand on a page for the verdict behind its headline: each speaks of a time of its own.
	States []State
	Facts  []Fact // what was read and judged
	// Assumed is everything that the result rests on beside the question.
	Assumed []Assumption
	Tables  []Table // the result, for people
	// Findings are what the rules say; nil when the command judges nothing.
	Findings *Findings
	// Changes say what the result would be under other circumstances.
	Changes []Change
	Notes   []Note // what is doubtful or left out
	// Drawings are shown below each other.
	Drawings []Drawing
	// NoDrawing says why there is none; "" where none is ever missing.
	NoDrawing string
	Next      []string // commands to run next

	// Data are the tables for spreadsheets and scripts, all rows with plain numbers; nil
	// where Tables serve them too.
	Data []table.Table
	// Result is what JSON shows: a struct with tags, in SI units and bytes; or a func() any
	// that makes it where that takes long.
	Result any
}

// A State is one line about how something is: now, over the last day, or by its settings.
type State struct {
	Name string
	Cell Cell
}

// A Fact is one line about what was read or judged.
type Fact struct {
	Name string `json:"name"`
	Text string `json:"text"`
	Took string `json:"-"` // the time it took: never in files
}

// An Assumption is one thing that the result rests on.
type Assumption struct {
	What     string      `json:"what"`
	Value    string      `json:"value"`
	Range    string      `json:"range,omitempty"` // within which it holds or was measured
	Origin   unit.Origin `json:"origin"`
	Source   string      `json:"source,omitempty"`
	Hardware string      `json:"hardware,omitempty"`
	Note     string      `json:"note,omitempty"`
}

// Figure returns a figure as an assumption; text prints its numbers.
func Figure[T ~float64](what string, f unit.Figure[T], text func(T) string) Assumption {
	a := Assumption{What: what, Value: text(f.Value), Origin: f.Origin, Source: f.Source, Hardware: f.Hardware, Note: f.Note}
	if f.Low != f.High {
		a.Range = text(f.Low) + " to " + text(f.High)
	}
	return a
}

// A Change is one thing that could be otherwise.
type Change struct {
	If     string `json:"if"`     // "blocks twice as large"
	Result string `json:"result"` // "21.4 GHz"
	Change string `json:"change"` // "+38 %"
}

// A Drawing is a picture of the result.
type Drawing struct {
	ID    string // the anchor on a page: a letter, then letters, digits and hyphens; "" for none
	About string // what it shows, in one sentence
	Wide  bool   // it has a page's width
	// Picture draws it for a page or a file.
	Picture func() *picture.Picture
	// Letters draws it on a terminal of so many columns; nil where a terminal does without.
	// An answer that is drawn there shows no tables beside it.
	Letters func(w io.Writer, width int, colour bool) error
	// Heading and Lead stand on a page above this drawing and those that follow it; Cut says
	// behind them what is not drawn.
	Heading, Lead, Cut string
}

// A Table is a part of the result for people: few rows, cells with units.
type Table struct {
	Name    string // one lower-case word, for CSV
	Title   string // a line above it; "" for none
	Columns []Column
	Rows    [][]Cell // as many cells as columns
	Cut     string   // what it leaves out and how to see it
	Bars    bool     // it draws with letters: programs that read CSV do without
	Foot    []string // sentences below it about its columns and cells
	// Long says that it is for pages alone: a terminal and a ticket do without. There it
	// stands for the short table of its name.
	Long bool
	// First says that it stands first on a page, above its drawings and findings.
	First bool
	Lead  string // on a page, a sentence below the title
	// Folded says that the report shows the rows when they are asked for.
	Folded bool
	// Fill makes the rows of a long table where a page shows them: no other form pays for
	// them. nil: Rows has them.
	Fill func() [][]Cell
	// Plain stands for the table in CSV: plain numbers, and every row where Rows are the
	// first of many. nil: CSV has the table as it is.
	Plain *Table
}

// A Column is one column of a table.
type Column struct {
	Name  string
	Right bool   // numbers
	About string // what it means; "" where the name says it
	AsIs  bool   // the name is that of an object: a terminal does not write it in capitals
}

// Columns returns the columns of these names; ">" before a name stands for numbers.
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
	Ref  string // anchor of what it names on the same page
	To   Object // what it names, for a site that has a page of it
	Web  string // a public address, at the end of the text too: pages make a link of it
	Sort string // a plain number to sort by; "" for the text
	// Parts stand for the text: several, each with its own tone and anchor.
	Parts []Cell
}

// An Object is a thing of the model that a site has a page of. The zero value is none.
type Object struct {
	Kind string // "vm", "host", "cluster", "rule", "capture" or, of a rule, "findings"
	ID   string // in its fleet; of a cluster its name
}

// Cluster returns a cluster as an object; none for that of a standalone host.
func Cluster(name string) Object {
	if name == "" {
		return Object{}
	}
	return Object{Kind: "cluster", ID: name}
}

// Elsewhere is the kind of what has an address of its own, such as a page at a moment. Its ID is the address.
const Elsewhere = "elsewhere"

// Address returns the path of its page in a site: /vm?vm=vm-101; "" for no object.
func (o Object) Address() string {
	switch o.Kind {
	case "":
		return ""
	case Elsewhere:
		return o.ID
	}
	if o.Kind == "findings" { // the page of the fleet shows those of a rule
		return "/?" + url.Values{"rule": {o.ID}}.Encode()
	}
	return "/" + o.Kind + "?" + url.Values{o.Kind: {o.ID}}.Encode()
}

// A Tone says how a text is set off.
type Tone uint8

// The tones; those of severities are in the order of finding.Severity.
const (
	Plain Tone = iota
	Faint
	Low
	Medium
	High
	Bad // a number that should be 0
)

// BadIf is the tone of what is bad, or not.
func BadIf(is bool) Tone {
	if is {
		return Bad
	}
	return Plain
}

// Add adds a row of plain cells.
func (t *Table) Add(cells ...string) {
	row := make([]Cell, len(cells))
	for i, c := range cells {
		row[i].Text = c
	}
	t.Rows = append(t.Rows, row)
}

// AllTables returns every table of the answer with what it assumes and what would change it,
// in the order of reading.
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

// AssumedTable returns assumptions as a table: the range stands behind the value, the
// hardware and the note behind the source.
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

// joined returns the texts that are not empty, with commas.
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

// HeadingOf returns the heading of a table in files: of an answer with findings every
// table has one, as the findings do.
func (a *Answer) HeadingOf(t *Table) string {
	if t.Title == "" && t.Name != "" && a.Findings != nil {
		return strings.ToUpper(t.Name[:1]) + t.Name[1:]
	}
	return t.Title
}

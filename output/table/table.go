// Package table is the row model of tables for spreadsheets and scripts, and writes it as
// CSV; its folder xlsx writes workbooks. All CSV and XLSX for people comes from here, so
// that one guard stands between the names of strangers and the formulas of spreadsheets.
package table

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"homenode/internal/texttab"
	"homenode/internal/words"
	"homenode/numa/pattern"
)

// A Table is the row model of one topic: what CSV, XLSX and the JSON of a table print. Its texts are clean and
// have one line; they are not escaped for any format.
type Table struct {
	Name    string // in lower case, as users type it after --table
	Columns []Column
	Len     int // number of rows; CSV does without
	// Rows yields the rows in their order, a cell for each column. The row is
	// borrowed: clone it to keep it.
	Rows iter.Seq[[]Cell]
}

// A Column is one column of a Table.
type Column struct {
	Name  string // with the unit, such as "Memory MiB"
	Width int    // in letters, for formats that have widths
}

// Of returns a table of rows that are all there.
func Of(name string, columns []Column, rows [][]Cell) Table {
	return Table{Name: name, Columns: columns, Len: len(rows), Rows: slices.Values(rows)}
}

// Names lists the names of tables, in their order.
func Names(tables []Table) []string {
	return words.Texts(tables, func(t Table) string { return t.Name })
}

// Named returns the table with this name; false when there is none.
func Named(tables []Table, name string) (Table, bool) {
	for _, t := range tables {
		if t.Name == name {
			return t, true
		}
	}
	return Table{}, false
}

// A Cell is a text, a figure, a number, a time, yes or no, or unknown. The zero value is unknown.
type Cell struct {
	kind   cellKind
	text   string
	number float64
	time   time.Time
}

type cellKind uint8

const (
	unknownCell cellKind = iota
	textCell
	figureCell
	numberCell
	timeCell
	boolCell
)

// Text returns a cell with s; an empty text is unknown.
func Text(s string) Cell {
	if s == "" {
		return Cell{}
	}
	return Cell{kind: textCell, text: Clean(s)}
}

// YesNo returns True or False, as RVTools writes them.
func YesNo(b bool) Cell {
	if b {
		return Cell{kind: boolCell, text: "True"}
	}
	return Cell{kind: boolCell, text: "False"}
}

// signed is a number with a sign and perhaps a unit, such as -12, +38 % or +2 hosts. A
// unit has letters alone: a spreadsheet finds no function and no other cell in it.
var signed = pattern.Of(`^[+-][0-9][0-9,]*(\.[0-9]+)?( ?%)?( [A-Za-zµ]+)?$`)

// Figure returns a cell with a number that was written for people. One with a sign, such as
// +38 %, needs no guard; what is no number is a text.
func Figure(s string) Cell {
	c := Text(s)
	if c.text != "" && (c.text[0] == '+' || c.text[0] == '-') && signed.MatchString(c.text) {
		c.kind = figureCell
	}
	return c
}

// Number returns a cell with n.
func Number[T int | int32 | float64](n T) Cell { return Cell{kind: numberCell, number: float64(n)} }

// Time returns a cell with a moment, as RFC 3339 in UTC; the zero time is unknown.
func Time(t time.Time) Cell {
	if t.IsZero() {
		return Cell{}
	}
	return Cell{kind: timeCell, text: t.UTC().Format(time.RFC3339), time: t.UTC()}
}

// Time returns the time in the cell, in UTC; false when it is none.
func (c Cell) Time() (time.Time, bool) { return c.time, c.kind == timeCell }

// Number returns the number in the cell; false when it is none.
func (c Cell) Number() (n float64, ok bool) { return c.number, c.kind == numberCell }

// String returns the cell as text: a number in its shortest form, "" for unknown.
func (c Cell) String() string {
	if c.kind == numberCell {
		return strconv.FormatFloat(c.number, 'f', -1, 64)
	}
	return c.text
}

// noncharacters are what no XML file can have and texttab leaves.
var noncharacters = strings.NewReplacer("\ufffe", "\ufffd", "\uffff", "\ufffd")

// Clean returns s on one line, for display and for every format of files.
func Clean(s string) string {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return noncharacters.Replace(texttab.Line(s))
		}
	}
	return s // as nearly all are: captures have millions of cells
}

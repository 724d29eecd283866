// Package table is the row model of tables for spreadsheets and scripts, and writes them as CSV. Its folder
// xlsx writes workbooks. These packages write all CSV and XLSX for human readers, so that one guard protects
// against untrusted names that are formulas.
package table

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa/pattern"
)

// A Table is the row model of one topic, printed as CSV, XLSX or JSON. Its texts are sanitized and have one
// line; they are not escaped for any format.
type Table struct {
	Name    string // in lower case, as typed after --table
	Columns []Column
	Len     int // number of rows; CSV does not need it
	// Rows yields the rows in order, with one cell per column. A row is only valid until the next: clone it to
	// keep it.
	Rows iter.Seq[[]Cell]
}

// A Column is one column of a Table.
type Column struct {
	Name  string // including the unit, such as "Memory MB"
	Width int    // in characters, for formats with column widths
}

// Of returns a table of existing rows.
func Of(name string, columns []Column, rows [][]Cell) Table {
	return Table{Name: name, Columns: columns, Len: len(rows), Rows: slices.Values(rows)}
}

// Each returns a table with a row for each of all, which is computed when it is read.
func Each[T any](name string, columns []Column, all []T, row func(T) []Cell) Table {
	return Table{Name: name, Columns: columns, Len: len(all), Rows: func(yield func([]Cell) bool) {
		for _, one := range all {
			if !yield(row(one)) {
				return
			}
		}
	}}
}

// Within returns a table with a row for each part of each of all, which is computed when it is read.
func Within[T, P any](name string, columns []Column, all []T, parts func(T) []P, row func(T, *P) []Cell) Table {
	t := Table{Name: name, Columns: columns, Rows: func(yield func([]Cell) bool) {
		for _, one := range all {
			list := parts(one)
			for i := range list {
				if !yield(row(one, &list[i])) {
					return
				}
			}
		}
	}}
	for _, one := range all {
		t.Len += len(parts(one))
	}
	return t
}

// Names returns the names of tables, in order.
func Names(tables []Table) []string {
	return words.Texts(tables, func(t Table) string { return t.Name })
}

// Named returns the table with this name; ok is false if there is none.
func Named(tables []Table, name string) (Table, bool) {
	for _, t := range tables {
		if t.Name == name {
			return t, true
		}
	}
	return Table{}, false
}

// A Cell is a text, a formatted number, a number, a time, yes or no, or unknown. The zero value is unknown.
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

// signed matches a number with a sign and optionally a unit, such as -12, +38 % or +2 hosts. A unit only has
// letters, so that a spreadsheet finds no function or cell reference in it.
var signed = pattern.Of(`^[+-][0-9][0-9,]*(\.[0-9]+)?( ?%)?( [A-Za-zµ]+)?$`)

// Figure returns a cell with a number formatted for human readers. One with a sign, such as +38 %, needs no
// guard. Other content is a text.
func Figure(s string) Cell {
	c := Text(s)
	if c.text != "" && (c.text[0] == '+' || c.text[0] == '-') && signed.MatchString(c.text) {
		c.kind = figureCell
	}
	return c
}

// plain matches a number without a unit, as people read it.
var plain = pattern.Of(`^-?[0-9]+(,[0-9]{3})*(\.[0-9]+)?$`)

// Numeric returns a cell of a column of numbers: the number, or a figure where the text is more than that.
func Numeric(s string) Cell {
	if n, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64); err == nil && plain.MatchString(s) {
		return Number(n)
	}
	return Figure(s)
}

// Number returns a cell with n.
func Number[T int | int32 | float64](n T) Cell { return Cell{kind: numberCell, number: float64(n)} }

// Time returns a cell with a time, as RFC 3339 in UTC; the zero time is unknown.
func Time(t time.Time) Cell {
	if t.IsZero() {
		return Cell{}
	}
	return Cell{kind: timeCell, text: t.UTC().Format(time.RFC3339), time: t.UTC()}
}

// Time returns the time in the cell, in UTC; ok is false if it has none.
func (c Cell) Time() (time.Time, bool) { return c.time, c.kind == timeCell }

// Number returns the number in the cell; ok is false if it has none.
func (c Cell) Number() (n float64, ok bool) { return c.number, c.kind == numberCell }

// String returns the cell as text: a number in its shortest form, "" for unknown.
func (c Cell) String() string {
	if c.kind == numberCell {
		return strconv.FormatFloat(c.number, 'f', -1, 64)
	}
	return c.text
}

// noncharacters replaces characters that are invalid in XML and that texttab keeps.
var noncharacters = strings.NewReplacer("\ufffe", "\ufffd", "\uffff", "\ufffd")

// Clean returns s on one line, safe for display and for every file format.
func Clean(s string) string {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return noncharacters.Replace(texttab.Line(s))
		}
	}
	return s // the common case: captures have millions of cells
}

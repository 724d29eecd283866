package answer

import (
	"iter"
	"slices"
	"strconv"

	"example.org/homenode/internal/words"
	"example.org/homenode/output/table"
)

// A Field is a column of a table, declared once for all forms. CSV, XLSX and JSON have the value of Cell, the screen and pages that of
// Shown. T is the type of a row.
type Field[T any] struct {
	Name  string // in files, with the unit, such as "Memory MB"
	Width int    // in files, in characters
	Cell  func(T) table.Cell
	Head  string // on the screen; "" if only files have the field
	Right bool   // numbers
	About string // explanation on a page
	// Shown returns the cell for the screen; nil: use Cell.
	Shown func(T) Cell
	Only  string // kind of the tables with this field; "" for all
}

// Of returns the fields for tables of a kind; "" is the kind of all tables.
func Of[T any](kind string, fields []Field[T]) []Field[T] {
	return slices.DeleteFunc(slices.Clone(fields), func(f Field[T]) bool { return f.Only != "" && f.Only != kind })
}

// Group returns fields of files whose cells come from one function.
func Group[T any](columns []table.Column, cells func(T) []table.Cell) (out []Field[T]) {
	for i, c := range columns {
		out = append(out, Field[T]{Name: c.Name, Width: c.Width, Cell: func(row T) table.Cell { return cells(row)[i] }})
	}
	return out
}

// File returns the table for spreadsheets and scripts.
func File[T any](name string, fields []Field[T], n int, rows iter.Seq[T]) table.Table {
	fields = slices.DeleteFunc(slices.Clone(fields), func(f Field[T]) bool { return f.Cell == nil })
	t := table.Table{Name: name, Len: n}
	for _, f := range fields {
		t.Columns = append(t.Columns, table.Col(f.Name, f.Width))
	}
	t.Rows = func(yield func([]table.Cell) bool) {
		cells := make([]table.Cell, len(fields))
		for row := range rows {
			for i := range fields {
				cells[i] = fields[i].Cell(row)
			}
			if !yield(cells) {
				return
			}
		}
	}
	return t
}

// Screen adds columns and rows to a table for human readers. For a long table it computes the rows when a page shows them.
func Screen[T any](t Table, fields []Field[T], rows iter.Seq[T]) Table {
	fields = slices.DeleteFunc(slices.Clone(fields), func(f Field[T]) bool { return f.Head == "" })
	for _, f := range fields {
		t.Columns = append(t.Columns, Column{Name: f.Head, Right: f.Right, About: f.About})
	}
	t.Fill = func() (out [][]Cell) {
		for row := range rows {
			cells := make([]Cell, len(fields))
			for i := range fields {
				cells[i] = fields[i].shown(row)
			}
			out = append(out, cells)
		}
		return out
	}
	if !t.Long {
		t.Rows, t.Fill = t.Fill(), nil
	}
	return t
}

func (f *Field[T]) shown(row T) Cell {
	if f.Shown != nil {
		return f.Shown(row)
	}
	c := f.Cell(row)
	if n, ok := c.Number(); ok && n == float64(int(n)) {
		return Cell{Text: words.Thousands(int(n)), Sort: strconv.Itoa(int(n))}
	}
	return Cell{Text: c.String()}
}

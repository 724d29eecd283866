package hostcmd

import (
	"math"
	"slices"

	"homenode/numa"
	"homenode/source/text"
)

// A table is what sched-stats prints: a header and rows of cells without blanks.
// Columns are found by name; their order and number differ by release, and a
// terminal cuts the right edge.
type table struct {
	o       *Output
	columns map[string]int // by normal name
	names   []text.Line
	rows    [][]text.Line
}

// tableOf reads a table whose header has the column key.
func (o *Output) tableOf(lines []text.Line, key string) *table {
	t := &table{o: o}
	for _, l := range lines {
		cells := l.Fields()
		isHeader := slices.ContainsFunc(cells, func(c text.Line) bool { return normal(c.Text) == key })
		switch {
		case l.Text == "":
		case t.columns == nil && isHeader:
			t.names, t.columns = cells, map[string]int{}
			for i, c := range cells {
				t.columns[normal(c.Text)] = i
			}
		case t.columns == nil || len(cells) > len(t.names):
			o.strange(l)
		default:
			if len(cells) < len(t.names) {
				o.file.Warn(l.N, l.Col, "found %d values, want %d: the right edge is cut", len(cells), len(t.names))
			}
			t.rows = append(t.rows, cells)
		}
	}
	if t.columns == nil {
		o.file.Warn(o.Line, 0, "found no header with the column %s", key)
	}
	return t
}

// cell returns the cell of a row in the column of this name.
func (t *table) cell(row []text.Line, column string) (l text.Line, ok bool) {
	i, ok := t.columns[normal(column)]
	if !ok || i >= len(row) || row[i].Text == "-" {
		return text.Line{}, false
	}
	return row[i], true
}

// whole reads a whole number of at least low; or is what it is when it is missing
// or no number.
func (t *table) whole(row []text.Line, subject, column, name, unit string, low, or int64) int64 {
	l, ok := t.cell(row, column)
	if !ok {
		return or
	}
	n, ok := t.o.whole(l, subject, name, unit, low, math.MaxInt64>>12)
	if !ok {
		return or
	}
	return n
}

// small is whole for what is counted.
func (t *table) small(row []text.Line, subject, column, name, unit string, low, or int) int {
	l, ok := t.cell(row, column)
	if !ok {
		return or
	}
	n, ok := t.o.whole(l, subject, name, unit, int64(low), math.MaxInt32)
	if !ok {
		return or
	}
	return int(n)
}

// memory reads an amount in KiB; -1 when it is missing or no number.
func (t *table) memory(row []text.Line, subject, column, name string) numa.Bytes {
	n := t.whole(row, subject, column, name, "KiB", 0, -1)
	if n < 0 {
		return -1
	}
	return numa.Bytes(n) * numa.KiB
}

// truncated returns a share as ESXi prints percent: without its fraction, so that
// 99.98% is 99 (19919352 KiB of 19922944 in a public listing).
func truncated(part, sum numa.Bytes) int {
	if sum <= 0 {
		return 0
	}
	if part > math.MaxInt64/100 {
		part, sum = part>>8, sum>>8
	}
	return int(100 * part / sum)
}

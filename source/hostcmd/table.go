package hostcmd

import (
	"math"
	"slices"

	"example.org/homenode/numa"
	"example.org/homenode/source/text"
)

// A table is the output form of sched-stats: a header and rows of cells without blanks. Columns are
// found by name; their order and number differ by release, and a terminal cuts the right edge.
type table struct {
	o       *Output
	columns map[string]int // by normal name
	names   []text.Line
	rows    [][]text.Line
}

// tableOf parses a table whose header has the column key.
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

// A column describes a number in each row of a table: its header, the name and unit of the fact,
// its least value, and its destination. An amount of memory is in KiB.
type column struct {
	header, name, unit string
	least              int64
	to                 any // *int, *int64 or *numa.Bytes
}

// read parses the numbers of a row. Missing and malformed ones leave their destination unchanged.
func (t *table) read(row []text.Line, subject string, columns ...column) {
	for _, c := range columns {
		l, ok := t.cell(row, c.header)
		if !ok {
			continue
		}
		most := int64(math.MaxInt64 >> 12)
		if _, small := c.to.(*int); small {
			most = math.MaxInt32
		}
		n, ok := t.o.whole(l, subject, c.name, c.unit, c.least, most)
		if !ok {
			continue
		}
		switch to := c.to.(type) {
		case *int:
			*to = int(n)
		case *int64:
			*to = n
		case *numa.Bytes:
			*to = numa.Bytes(n) * numa.KiB
		}
	}
}

// truncated returns a share as ESXi prints percentages: without its fraction, so that 99.98% is 99
// (19919352 KiB of 19922944 in a public listing).
func truncated(part, sum numa.Bytes) int {
	if sum <= 0 {
		return 0
	}
	if part > math.MaxInt64/100 {
		part, sum = part>>8, sum>>8
	}
	return int(100 * part / sum)
}

package guest

import (
	"fmt"
	"strconv"
	"strings"

	"example.org/homenode/source/text"
)

// A matrix is a table of node pairs with rows in the order of its columns: the distances of
// numactl and the access costs of Coreinfo.
type matrix[T any] struct {
	name, unit string // of the facts: "distance", "measured cost"
	ids        []int  // of the columns; nil before the table
	rows       [][]T
	read       func(s string) (T, bool)
	want       string // expected value, for messages of read
}

// distances reads SLIT values.
func distances() matrix[int] {
	return matrix[int]{name: "distance", want: "a number up to 255", read: func(s string) (int, bool) { return number(s, 255) }}
}

// costs reads multiples of the fastest access. A localised Windows uses a decimal comma.
func costs() matrix[float64] {
	return matrix[float64]{name: "measured cost", unit: "× fastest", want: "a number", read: func(s string) (float64, bool) {
		cost, err := strconv.ParseFloat(strings.Replace(s, ",", ".", 1), 64)
		return cost, err == nil
	}}
}

// head reads the node numbers above the table.
func (m *matrix[T]) head(l text.Line) bool {
	ids, err := cpuList(l.Text)
	if err != nil || len(ids) > maxNode || m.ids != nil {
		return false
	}
	m.ids = ids
	return true
}

// row reads the values of one node; a row of another length is truncated or wrapped.
func (m *matrix[T]) row(v *View, l text.Line) {
	cells := l.Fields()
	node := strings.TrimSuffix(cells[0].Text, ":")
	id, ok := number(node, maxNode)
	if !ok || len(cells)-1 != len(m.ids) || len(m.rows) == len(m.ids) || m.ids[len(m.rows)] != id {
		v.file.Warn(l.N, l.Col, "%ss of node %s: found %d values, want %d in the order of the columns", m.name, node, len(cells)-1, len(m.ids))
		return
	}
	row := make([]T, len(m.ids))
	for i, c := range cells[1:] {
		value, ok := m.read(c.Text)
		if !ok {
			v.file.Warn(c.N, c.Col, "%s: found %q, want %s", m.name, text.Short(c.Text), m.want)
			return
		}
		row[i] = value
		v.file.Add(c.N, c.Col, fmt.Sprintf("node %d", id), fmt.Sprintf("%s to node %d", m.name, m.ids[i]), value, m.unit)
	}
	m.rows = append(m.rows, row)
}

// end returns the rows if they are complete.
func (m *matrix[T]) end(v *View) [][]T {
	if len(m.rows) != len(m.ids) || len(v.Nodes) > 0 && len(v.Nodes) != len(m.ids) {
		v.file.Warn(v.Line, 0, "the table of %ss has %d rows and %d columns for %d nodes", m.name, len(m.rows), len(m.ids), len(v.Nodes))
		return nil
	}
	return m.rows
}

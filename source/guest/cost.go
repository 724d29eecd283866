package guest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"homenode/source/text"
)

// costTable is Coreinfo's table of access costs. A localised Windows writes a
// decimal comma.
type costTable struct {
	opened bool
	ids    []int
	rows   [][]float64
}

var (
	costHead = regexp.MustCompile(`^\d+(?:\s+\d+)*$`)
	costRow  = regexp.MustCompile(`^\d+:(?:\s+\d+[.,]\d+)+$`)
)

func (t *costTable) take(v *View, l text.Line) bool {
	switch {
	case t.ids == nil && costHead.MatchString(l.Text):
		ids, err := cpuList(l.Text)
		if err != nil || len(ids) > maxNode {
			return false
		}
		t.ids = ids
	case t.ids != nil && costRow.MatchString(l.Text):
		t.row(v, l)
	default:
		return false
	}
	return true
}

func (t *costTable) row(v *View, l text.Line) {
	cells := l.Fields()
	id, ok := number(strings.TrimSuffix(cells[0].Text, ":"), maxNode)
	if !ok || len(cells)-1 != len(t.ids) || len(t.rows) == len(t.ids) || t.ids[len(t.rows)] != id {
		v.file.Warn(l.N, l.Col, "costs of node %s: found %d values, want %d in the order of the columns", strings.TrimSuffix(cells[0].Text, ":"), len(cells)-1, len(t.ids))
		return
	}
	row := make([]float64, len(t.ids))
	for i, c := range cells[1:] {
		cost, err := strconv.ParseFloat(strings.Replace(c.Text, ",", ".", 1), 64)
		if err != nil {
			v.file.Warn(c.N, c.Col, "cost: found %q, want a number", text.Short(c.Text))
			return
		}
		row[i] = cost
		v.file.Add(c.N, c.Col, fmt.Sprintf("node %d", id), fmt.Sprintf("measured cost to node %d", t.ids[i]), cost, "× fastest")
	}
	t.rows = append(t.rows, row)
}

func (t *costTable) end(v *View) {
	if !t.opened {
		return
	}
	if len(t.rows) != len(t.ids) || len(v.Nodes) > 0 && len(v.Nodes) != len(t.ids) {
		v.file.Warn(v.Line, 0, "the table of costs has %d rows and %d columns for %d nodes", len(t.rows), len(t.ids), len(v.Nodes))
		return
	}
	v.Cost = t.rows
}

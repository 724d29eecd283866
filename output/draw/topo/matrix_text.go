package topo

import (
	"io"
	"strconv"

	"homenode/internal/texttab"
)

// markCodes are the ANSI codes of the marks.
var markCodes = map[Mark]string{Worse: "1;31", Better: "32", Other: "36", Alike: faint, Absent: faint}

// MatrixText prints matrices for a terminal of so many columns; 0 means 80. The
// captions alone are wrapped: a table keeps its rows.
func MatrixText(w io.Writer, all []*Matrix, width int, colour bool) error {
	if width <= 0 {
		width = 80
	}
	c := &canvas{width: max(width, 12), colour: colour}
	for i, m := range all {
		if i > 0 {
			c.b.WriteByte('\n')
		}
		c.wrapped(bold, m.Title)
		if len(m.Rows) > 0 {
			t := matrixTable(m, colour)
			if _, err := t.WriteTo(&c.b); err != nil {
				return err
			}
		}
		if s := m.LeftOut(); s != "" {
			c.wrapped(faint, s)
		}
	}
	c.b.WriteByte('\n')
	for _, s := range all[0].Caption() {
		c.wrapped(faint, s)
	}
	_, err := io.WriteString(w, c.b.String())
	return err
}

func matrixTable(m *Matrix, colour bool) *texttab.Table {
	t := &texttab.Table{Right: map[int]bool{1: true}}
	names, shapes := []string{"VM", "VCPUS"}, []string{"", ""}
	for i := range m.Columns {
		names, shapes = append(names, m.Columns[i].Name), append(shapes, m.Columns[i].Shape)
	}
	t.Row(names...)
	t.Row(shapes...)
	for i := range m.Rows {
		r := &m.Rows[i]
		cells := []string{r.Label, strconv.Itoa(r.VCPUs)}
		for j := range r.Cells {
			cells = append(cells, r.Cells[j].Label())
		}
		t.Row(cells...)
		for j := range r.Cells {
			if code := markCodes[r.Cells[j].Mark]; colour && code != "" {
				t.Paint(j+2, code)
			}
		}
	}
	return t
}

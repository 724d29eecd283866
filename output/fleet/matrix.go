package fleet

import (
	"fmt"
	"strconv"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/draw/picture"
	"example.org/homenode/output/draw/topo"
	"example.org/homenode/output/table"
	judged "example.org/homenode/rules/verdict/fleet"
	"example.org/homenode/rules/verdict/matrix"
)

// markTones are the tones of the cells of a matrix.
var markTones = [...]answer.Tone{matrix.Home: answer.Plain, matrix.Alike: answer.Faint, matrix.Worse: answer.High, matrix.Better: answer.Plain, matrix.Other: answer.Low, matrix.Absent: answer.Faint}

// matrices is the JSON of matrices.
type matrices struct {
	Event    string           `json:"event"`
	Filter   string           `json:"filter,omitempty"`
	Clusters []*matrix.Matrix `json:"clusters"`
}

// Matrix returns the answer which VMs get another layout on other hosts of their cluster. all
// must not be empty. filter describes the filter; "" for none.
func Matrix(all []*matrix.Matrix, source, filter string) *answer.Answer {
	a := &answer.Answer{
		Command: "explain", Format: "homenode-matrix", Version: 2, Title: "VMs on the kinds of hosts of " + source, Verdict: matrix.Verdict(all),
		Result: matrices{all[0].Event.String(), filter, all}, Data: []table.Table{matrixData(all)},
	}
	if filter != "" {
		a.Facts = []answer.Fact{{Name: "shown", Text: filter}}
	}
	for i, m := range all {
		a.Tables = append(a.Tables, matrixTable(i, m))
		a.Drawings = append(a.Drawings, answer.Drawing{
			About: m.Title + ": VMs on the kinds of hosts", Wide: true, Picture: func() *picture.Picture { return topo.OfMatrix(m) },
		})
	}
	a.Tables[len(all)-1].Foot = topo.MatrixCaption(all[0])
	a.Note(judged.StoredSizes(func(yield func(*numa.VM) bool) {
		for _, m := range all {
			for i := range m.Rows {
				for _, v := range m.Rows[i].VMs {
					if !yield(v.VM) {
						return
					}
				}
			}
		}
	})...)
	return a
}

// matrixTable has one column for each kind of host. Its first row describes them.
func matrixTable(nth int, m *matrix.Matrix) answer.Table {
	t := answer.Table{Name: fmt.Sprintf("matrix %d", nth+1), Title: m.Title, Columns: []answer.Column{{Name: "VM"}, {Name: "vCPUs", Right: true}}, Cut: topo.LeftOut(m)}
	shapes := make([]answer.Cell, 2)
	for i := range m.Columns {
		t.Columns = append(t.Columns, answer.Column{Name: m.Columns[i].Name, AsIs: true})
		shapes = append(shapes, answer.Cell{Text: m.Columns[i].Shape, Tone: answer.Faint})
	}
	t.Rows = append(t.Rows, shapes)
	for i := range m.Rows {
		r := &m.Rows[i]
		cells := []answer.Cell{{Text: r.Label}, count(r.VCPUs)}
		for j := range r.Cells {
			cells = append(cells, answer.Cell{Text: r.Cells[j].Label(), Tone: markTones[r.Cells[j].Mark]})
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// matrixData has one row for each VM on each kind of host.
func matrixData(all []*matrix.Matrix) table.Table {
	var rows [][]table.Cell
	for _, m := range all {
		for i := range m.Rows {
			r := &m.Rows[i]
			for _, v := range r.VMs {
				for j := range r.Cells {
					on, c := &m.Columns[j], &r.Cells[j]
					far := table.Cell{}
					if c.Layout != nil {
						far = table.Percent(c.Far)
					}
					rows = append(rows, []table.Cell{table.Text(m.Title), table.Text(v.Name), table.Text(v.ID), table.Number(r.VCPUs), table.Text(strings.Join(on.HostNames(), ", ")),
						table.Text(on.Shape), table.Text(c.Mark.Word()), table.Text(c.Short), table.Text(sizes(c.VPDs)), table.Text(sizes(c.PPDs)), far})
				}
			}
		}
	}
	return table.Of("matrix", []table.Column{
		table.Col("Cluster", 16), table.Col("VM", 24), table.Col("VM ID", 14), table.Col("vCPUs", 7), table.Col("Hosts", 30), table.Col("Shape", 24),
		table.Col("Compared with home", 16), table.Col("Layout", 18), table.Col("vCPUs per guest node", 20), table.Col("vCPUs per client", 20), table.Col("Far share %", 11),
	}, rows)
}

// sizes returns "16 16".
func sizes(all []int) string {
	texts := make([]string, len(all))
	for i, n := range all {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, " ")
}

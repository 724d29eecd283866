package svg

import (
	"fmt"
	"io"
	"strconv"

	"homenode/internal/texttab"
	"homenode/output/draw/topo"
)

// Sizes of a matrix.
const (
	cellHeight = Px(200)
	cellGap    = Px(20)
	cellPad    = Px(60)
	cellLeast  = Px(900)
	cellMost   = Px(2200)
	cellLetter = Px(68) // mean width of a letter of a cell: digits and capitals
)

// markClass is the class of a cell by its mark.
var markClass = map[topo.Mark]string{
	topo.Home: "home", topo.Alike: "alike", topo.Worse: "worse", topo.Better: "better", topo.Other: "other", topo.Absent: "absent",
}

// DrawMatrix writes m as one svg element, as Draw does: a row for each VM, a column
// for each kind of host. The id of a cell names the VM and the host.
func DrawMatrix(w io.Writer, m *topo.Matrix, o Options) error {
	out := writer{w: w, ids: !o.Inline, nth: map[string]int{}}
	out.picture(placeMatrix(m), o)
	return out.err
}

// placeMatrix gives every cell its place.
func placeMatrix(m *topo.Matrix) *picture {
	p := &picture{id: m.ID, title: m.Title + ": VMs on the kinds of hosts"}
	first, widths := matrixWidths(m)
	p.width = 2*margin + first
	for _, w := range widths {
		p.width += w + cellGap
	}
	p.width = max(p.width, 2*margin+2*roomWidth)
	y := margin + 160
	p.groups = append(p.groups, group{id: m.ID + "__title", class: "title", shapes: []shape{{class: "name", x: margin, y: y, text: texttab.Cut(m.Title, int((p.width-2*margin)/titleLetter))}}})
	y += 260
	x := margin + first
	for i := range m.Columns {
		c := &m.Columns[i]
		most := int((widths[i] - cellPad) / letter)
		p.groups = append(p.groups, group{id: m.ID + "__column-" + topo.ShapeID(c.Hosts[0].ID), class: "node", shapes: []shape{
			{class: "name", x: x + cellPad/2, y: y, text: texttab.Cut(c.Name, most)},
			{class: "facts", x: x + cellPad/2, y: y + lineHeight, text: texttab.Cut(c.Shape, most)},
		}})
		x += widths[i] + cellGap
	}
	y += lineHeight + 80
	for i := range m.Rows {
		p.matrixRow(m, &m.Rows[i], first, widths, y)
		y += cellHeight + cellGap
	}
	y += lineHeight + 100 // the line of the numbers of a focused cell
	caption := group{id: m.ID + "__caption", class: "caption"}
	sentences := m.Caption()
	if s := m.LeftOut(); s != "" {
		sentences = append(sentences, s)
	}
	for _, s := range sentences {
		for _, line := range texttab.Wrap(s, int((p.width-2*margin)/letter)) {
			caption.shapes = append(caption.shapes, shape{class: "facts", x: margin, y: y, text: line})
			y += lineHeight
		}
	}
	p.groups = append(p.groups, caption)
	p.height = y + margin
	return p
}

func (p *picture) matrixRow(m *topo.Matrix, r *topo.Row, first Px, widths []Px, y Px) {
	vm := topo.ShapeID(r.VMs[0].ID)
	base := y + cellHeight - cellPad
	p.groups = append(p.groups, group{id: m.ID + "__vm-" + vm, class: "row", numbers: fmt.Sprintf("%s: %d vCPU", r.Names(), r.VCPUs), shapes: []shape{
		{class: "name", x: margin, y: base, text: texttab.Cut(r.Label, int((first-500)/letter))},
		{class: "amount", x: margin + first - cellPad, y: base, text: strconv.Itoa(r.VCPUs)},
	}})
	x := margin + first
	for i := range r.Cells {
		c := &r.Cells[i]
		shapes := []shape{{class: "block", x: x, y: y, w: widths[i], h: cellHeight}}
		shapes = append(shapes, shape{class: "label", x: x + cellPad, y: base, text: texttab.Cut(c.Label(), int((widths[i]-cellPad)/cellLetter))})
		p.groups = append(p.groups, group{
			id: fmt.Sprintf("%s__vm-%s__host-%s", m.ID, vm, topo.ShapeID(m.Columns[i].Hosts[0].ID)), class: "cell " + markClass[c.Mark],
			numbers: fmt.Sprintf("%s on %s: %s", r.Label, m.Columns[i].Name, c.Label()), shapes: shapes,
		})
		x += widths[i] + cellGap
	}
}

// matrixWidths returns the width of the VMs' names and of each column.
func matrixWidths(m *topo.Matrix) (first Px, widths []Px) {
	clamp := func(n int) Px { return min(max(Px(n)*cellLetter+2*cellPad, cellLeast), cellMost) }
	longest := 0
	for i := range m.Rows {
		longest = max(longest, columns(m.Rows[i].Label))
	}
	widths = make([]Px, len(m.Columns))
	for i := range m.Columns {
		n := max(columns(m.Columns[i].Name), columns(m.Columns[i].Shape))
		for j := range m.Rows {
			n = max(n, columns(m.Rows[j].Cells[i].Label()))
		}
		widths[i] = clamp(n)
	}
	return clamp(longest) + 500, widths
}

package svg

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"homenode/internal/texttab"
	"homenode/output/draw/picture"
	"homenode/output/draw/topo"
	"homenode/rules/verdict/matrix"
)

// Sizes of a matrix.
const (
	cellHeight = picture.Px(200)
	cellGap    = picture.Px(20)
	cellPad    = picture.Px(60)
	cellLeast  = picture.Px(900)
	cellMost   = picture.Px(2200)
	cellLetter = picture.Px(68) // mean width of a letter of a cell: digits and capitals
)

// markClass is the class of a cell by its mark.
var markClass = map[matrix.Mark]string{
	matrix.Home: "home", matrix.Alike: "alike", matrix.Worse: "worse", matrix.Better: "better", matrix.Other: "other", matrix.Absent: "absent",
}

// DrawMatrix writes m as one svg element, as Draw does: a row for each VM, a column
// for each kind of host. The id of a cell names the VM and the host.
func DrawMatrix(w io.Writer, m *matrix.Matrix, o Options) error {
	return write(w, placeMatrix(m), o)
}

// matrixID is the id of the drawing; those of its shapes begin with it.
func matrixID(m *matrix.Matrix) string { return "matrix-" + topo.ShapeID(m.Title) }

// placeMatrix gives every cell its place.
func placeMatrix(m *matrix.Matrix) *picture.Picture {
	p := newPicture(matrixID(m), m.Title+": VMs on the kinds of hosts")
	first, widths := matrixWidths(m)
	p.Width = 2*margin + first
	for _, w := range widths {
		p.Width += w + cellGap
	}
	p.Width = max(p.Width, 2*margin+2*roomWidth)
	y := margin + 160
	p.Add(picture.Group{ID: matrixID(m) + "__title", Class: "title", Shapes: []picture.Shape{{Class: "name", X: margin, Y: y, Text: texttab.Cut(m.Title, int((p.Width-2*margin)/titleLetter))}}})
	y += 260
	x := margin + first
	for i := range m.Columns {
		c := &m.Columns[i]
		most := int((widths[i] - cellPad) / letter)
		p.Add(picture.Group{ID: matrixID(m) + "__column-" + topo.ShapeID(c.Hosts[0].ID), Class: "node", Shapes: []picture.Shape{
			{Class: "name", X: x + cellPad/2, Y: y, Text: texttab.Cut(c.Name, most)},
			{Class: "facts", X: x + cellPad/2, Y: y + lineHeight, Text: texttab.Cut(c.Shape, most)},
		}})
		x += widths[i] + cellGap
	}
	y += lineHeight + 80
	for i := range m.Rows {
		matrixRow(p, m, &m.Rows[i], first, widths, y)
		y += cellHeight + cellGap
	}
	y += lineHeight + 100 // the line of the numbers of a focused cell
	p.NumbersY = y - 170
	sentences := topo.MatrixCaption(m)
	if s := topo.LeftOut(m); s != "" {
		sentences = append(sentences, s)
	}
	caption := picture.Lines("facts", sentences, margin, y, p.Width-2*margin, letter, lineHeight)
	p.Add(picture.Group{ID: matrixID(m) + "__caption", Class: "caption", Shapes: caption})
	y += picture.Px(len(caption)) * lineHeight
	p.Height = y + margin
	return p
}

func matrixRow(p *picture.Picture, m *matrix.Matrix, r *matrix.Row, first picture.Px, widths []picture.Px, y picture.Px) {
	vm := topo.ShapeID(r.VMs[0].ID)
	base := y + cellHeight - cellPad
	p.Add(picture.Group{ID: matrixID(m) + "__vm-" + vm, Class: "row", Focus: true, Numbers: fmt.Sprintf("%s: %d vCPU", texttab.Clean(strings.Join(r.Names, ", ")), r.VCPUs), Shapes: []picture.Shape{
		{Class: "name", X: margin, Y: base, Text: texttab.Cut(r.Label, int((first-500)/letter))},
		{Class: "amount", X: margin + first - cellPad, Y: base, Text: strconv.Itoa(r.VCPUs)},
	}})
	x := margin + first
	for i := range r.Cells {
		c, column := &r.Cells[i], &m.Columns[i]
		p.Add(picture.Group{
			ID: fmt.Sprintf("%s__vm-%s__host-%s", matrixID(m), vm, topo.ShapeID(column.Hosts[0].ID)), Class: "cell " + markClass[c.Mark],
			Focus: true, Numbers: fmt.Sprintf("%s on %s: %s", r.Label, column.Name, c.Label()), Shapes: []picture.Shape{
				{Class: "block", X: x, Y: y, W: widths[i], H: cellHeight},
				{Class: "label", X: x + cellPad, Y: base, Text: texttab.Cut(c.Label(), int((widths[i]-cellPad)/cellLetter))},
			},
		})
		x += widths[i] + cellGap
	}
}

// matrixWidths returns the width of the VMs' names and of each column.
func matrixWidths(m *matrix.Matrix) (first picture.Px, widths []picture.Px) {
	clamp := func(n int) picture.Px { return min(max(picture.Px(n)*cellLetter+2*cellPad, cellLeast), cellMost) }
	longest := 0
	for i := range m.Rows {
		longest = max(longest, texttab.Width(m.Rows[i].Label))
	}
	widths = make([]picture.Px, len(m.Columns))
	for i := range m.Columns {
		n := max(texttab.Width(m.Columns[i].Name), texttab.Width(m.Columns[i].Shape))
		for j := range m.Rows {
			n = max(n, texttab.Width(m.Rows[j].Cells[i].Label()))
		}
		widths[i] = clamp(n)
	}
	return clamp(longest) + 500, widths
}

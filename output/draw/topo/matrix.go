package topo

import (
	"fmt"
	"strconv"
	"strings"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/words"
	"example.org/homenode/output/draw/picture"
	"example.org/homenode/rules/rule"
	"example.org/homenode/rules/verdict/matrix"
)

// MatrixCaption explains the matrix and its assumptions, one sentence per line.
func MatrixCaption(m *matrix.Matrix) []string {
	event := "after a power cycle on that host"
	if m.Event == vnuma.VMotionIn {
		event = "after vMotion to that host: the guest keeps its nodes"
	}
	return []string{
		"Each cell: the VM alone " + event + ". Predicted, not observed.",
		"● home, = the same as at home, ▼ worse, ▲ better, ≠ other, – it does not power on there.",
		rule.ShortLegend("2×16 blind sees 1×8 +50 %"),
	}
}

// LeftOut describes the VMs without a row; "" if there are none.
func LeftOut(m *matrix.Matrix) string {
	if m.Same == 0 {
		return ""
	}
	return "Left out: " + words.Plural(m.Same, "VM") + " of one client, the same on every host (--all)."
}

// Sizes of a matrix.
const (
	cellHeight = picture.Px(200)
	cellGap    = picture.Px(20)
	cellPad    = picture.Px(60)
	cellLeast  = picture.Px(900)
	cellMost   = picture.Px(2200)
	cellLetter = picture.Px(68) // mean width of a character in a cell: digits and capitals
	countWidth = picture.Px(500)
)

// markClass maps marks to cell classes.
var markClass = [...]string{matrix.Home: "home", matrix.Alike: "alike", matrix.Worse: "worse", matrix.Better: "better", matrix.Other: "other", matrix.Absent: "absent"}

// OfMatrix returns the picture of m: a row for each VM, a column for each kind of host. The ID of a
// cell consists of the VM and the host.
func OfMatrix(m *matrix.Matrix) *picture.Picture {
	p := newPicture("matrix-"+picture.ID(m.Title), m.Title+": VMs on the kinds of hosts")
	first, widths := matrixWidths(m)
	p.Width = 2*margin + first
	for _, w := range widths {
		p.Width += w + cellGap
	}
	p.Width = max(p.Width, 2*margin+2*roomWidth)
	p.Heading(m.Title, "")
	text := func(class string, x, y picture.Px, width picture.Px, s string) picture.Shape {
		return picture.Shape{Class: class, X: x, Y: y, Text: picture.Cut(s, width, cellLetter)}
	}
	x := margin + first
	for i := range m.Columns {
		c := &m.Columns[i]
		p.Add(picture.Group{ID: p.ID + "__column-" + picture.ID(c.Hosts[0].ID), Class: "node", Shapes: []picture.Shape{
			text("name", x+cellPad/2, p.Y+130, widths[i]-cellPad, c.Name), text("facts", x+cellPad/2, p.Y+130+lineHeight, widths[i]-cellPad, c.Shape)}})
		x += widths[i] + cellGap
	}
	p.Y += 2*lineHeight + 40
	for i := range m.Rows {
		r := &m.Rows[i]
		id, base := p.ID+"__vm-"+picture.ID(r.VMs[0].ID), p.Y+cellHeight-cellPad
		p.Add(picture.Group{ID: id, Class: "row", Focus: true, Numbers: fmt.Sprintf("%s: %d vCPU", texttab.Clean(strings.Join(r.Names, ", ")), r.VCPUs), Shapes: []picture.Shape{
			text("name", margin, base, first-countWidth, r.Label), text("amount", margin+first-cellPad, base, countWidth, strconv.Itoa(r.VCPUs))}})
		x := margin + first
		for j := range r.Cells {
			c, column := &r.Cells[j], &m.Columns[j]
			p.Add(picture.Group{ID: id + "__host-" + picture.ID(column.Hosts[0].ID), Class: "cell " + markClass[c.Mark], Focus: true, Numbers: fmt.Sprintf("%s on %s: %s", r.Label, column.Name, c.Label()),
				Shapes: []picture.Shape{{Class: "block", X: x, Y: p.Y, W: widths[j], H: cellHeight}, text("label", x+cellPad, base, widths[j]-cellPad, c.Label())}})
			x += widths[j] + cellGap
		}
		p.Y += cellHeight + cellGap
	}
	p.Y += lineHeight // shows the numbers of a focused cell
	p.NumbersY = p.Y - 60
	sentences := MatrixCaption(m)
	if s := LeftOut(m); s != "" {
		sentences = append(sentences, s)
	}
	p.Caption(p.ID, sentences...)
	p.Height = p.Y + margin
	return p
}

// matrixWidths returns the width of the column of VM names, and of the other columns.
func matrixWidths(m *matrix.Matrix) (first picture.Px, widths []picture.Px) {
	clamp := func(n int) picture.Px { return min(max(picture.Px(n)*cellLetter+2*cellPad, cellLeast), cellMost) }
	longest := 0
	for i := range m.Rows {
		longest = max(longest, texttab.Width(m.Rows[i].Label))
	}
	for i := range m.Columns {
		n := max(texttab.Width(m.Columns[i].Name), texttab.Width(m.Columns[i].Shape))
		for j := range m.Rows {
			n = max(n, texttab.Width(m.Rows[j].Cells[i].Label()))
		}
		widths = append(widths, clamp(n))
	}
	return clamp(longest) + countWidth, widths
}

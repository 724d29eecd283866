package topo

import (
	"fmt"
	"io"
	"strings"

	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/words"
)

// Text draws d for a terminal with width columns; 0 means 80. Nodes that do not fit side by
// side are stacked.
//
//	┌ node 0 ─ 18 cores ─ 512 GB ──────────────┐
//	│ sql01.0 ████████████████  16c  192 GB    │
//	│ free memory 271 GB   vCPU per core 1.2   │
//	└──────────────────────────────────────────┘
func Text(w io.Writer, d *Drawing, width int, colour bool) error {
	if width <= 0 {
		width = 80
	}
	c := &canvas{width: max(width, 12), colour: colour}
	c.wrapped(bold, strings.Join(append([]string{d.Title}, d.Facts...), "   "))
	if len(d.Nodes) > 0 {
		p := c.plan(d)
		c.guests(d, p)
		for i := 0; i < len(d.Nodes); i += p.across {
			c.row(d.Nodes[i:min(i+p.across, len(d.Nodes))], p)
		}
	}
	for i := range d.Loose {
		c.wrapped("", "no home node: "+d.Loose[i].Numbers())
	}
	if d.LooseMore.Clients > 0 {
		c.wrapped("", "no home node: "+d.LooseMore.Numbers())
	}
	for _, s := range append(c.legend, d.Caption...) {
		c.wrapped(faint, s)
	}
	_, err := io.WriteString(w, c.b.String())
	return err
}

// canvas collects the lines of a drawing.
type canvas struct {
	b      strings.Builder
	width  int
	colour bool
	legend []string
}

// ANSI codes of the drawing.
const (
	bold   = "1"
	faint  = "2"
	blue   = "34"
	red    = "31"
	yellow = "33"
)

func (c *canvas) paint(code, s string) string {
	if !c.colour || code == "" || strings.TrimSpace(s) == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (c *canvas) line(s string) { c.b.WriteString(strings.TrimRight(s, " ") + "\n") }

// wrapped writes text wrapped to the width of the terminal.
func (c *canvas) wrapped(code, text string) {
	line, indent := "", ""
	for word := range strings.SplitSeq(text, " ") {
		switch {
		case line == indent:
			line += word
		case texttab.Width(line)+1+texttab.Width(word) > c.width:
			c.line(c.paint(code, texttab.Cut(line, c.width)))
			indent = "  "
			line = indent + word
		default:
			line += " " + word
		}
	}
	c.line(c.paint(code, texttab.Cut(line, c.width)))
}

// A plan has the sizes, in columns, that are common to all nodes of a drawing.
type plan struct {
	across                int // nodes side by side
	inner                 int // width of the content of a box, between "│ " and " │"
	label, bar            int
	vcpus, memory, remote int // remote is 0 if no memory is remote
	most                  int // vCPUs of a full bar
}

// Minimum widths of a name and a bar; narrower nodes are stacked.
const (
	leastLabel = 8
	leastBar   = 8
)

// plan computes the sizes for the width of the terminal.
func (c *canvas) plan(d *Drawing) *plan {
	p := &plan{most: 1}
	for i := range d.Nodes {
		n := &d.Nodes[i]
		for j := range n.Clients {
			cl := &n.Clients[j]
			p.most = max(p.most, cl.VCPUs)
			p.measure(cl.Label, cl.VCPUs, memoryOf(cl), remoteOf(cl))
		}
		if n.More.Clients > 0 {
			p.measure(n.More.Label(), n.More.VCPUs, n.More.Memory.String(), "")
		}
		for _, s := range append(n.feet(), head(n, false)) {
			p.inner = max(p.inner, texttab.Width(s))
		}
	}
	rest := p.vcpus + p.memory + 5 // two spaces before each column, one before the bar
	if p.remote > 0 {
		rest += p.remote + 2
	}
	room := func(across int) int { return (c.width-across+1)/across - 4 }
	p.across = len(d.Nodes)
	for p.across > 1 && (len(d.Nodes)%p.across != 0 ||
		room(p.across) < max(p.inner, min(p.label, leastLabel)+rest+min(p.most, leastBar))) {
		p.across--
	}
	free := room(p.across) - rest
	p.bar = max(0, min(p.most, max(min(leastBar, free/3), free-p.label)))
	p.label = max(0, min(p.label, free-p.bar))
	p.inner = max(0, min(max(p.inner, p.label+p.bar+rest), room(p.across)))
	c.legend = d.explained(p.bar < p.most, p.most)
	return p
}

// explained returns the legend of the characters in a drawing.
func (d *Drawing) explained(shortened bool, most int) (out []string) {
	if shortened {
		out = append(out, fmt.Sprintf("A full bar is %s.", words.Plural(most, "vCPU")))
	}
	d.any(func(cl *Client) bool { // finds the first
		named := cl.Numbered() && !d.Stated
		if named {
			out = append(out, fmt.Sprintf("%s: client %d of %s, a wide VM.", cl.Label, cl.Index, cl.VM))
		}
		return named
	})
	switch remote := d.any(func(cl *Client) bool { return cl.Remote > 0 }); {
	case remote && d.Stated:
		out = append(out, "▒ on other nodes than its vCPUs; part of the amount before it.")
	case remote:
		out = append(out, "▒ remote at first, or when it was seen; part of the amount before it: what the guest uses of it comes home as far as there is room (C-16).")
	}
	if d.any(func(cl *Client) bool { return cl.Interleaved && cl.Remote == 0 }) {
		out = append(out, "░ memory interleaved over the home nodes of all clients of the VM.")
	}
	return out
}

func (p *plan) measure(label string, vcpus int, memory, remote string) {
	p.label = max(p.label, texttab.Width(label))
	p.vcpus = max(p.vcpus, texttab.Width(count(vcpus)))
	p.memory = max(p.memory, texttab.Width(memory))
	p.remote = max(p.remote, texttab.Width(remote))
}

func count(vcpus int) string { return fmt.Sprintf("%dc", vcpus) }

func memoryOf(c *Client) string {
	if !c.MemoryKnown {
		return "?"
	}
	return c.Memory.String()
}

func remoteOf(c *Client) string {
	switch {
	case c.Remote > 0:
		return "▒ " + c.Remote.String()
	case c.Interleaved:
		return "░"
	}
	return ""
}

// head returns the text in the top border of a node.
func head(n *Node, threads bool) string {
	parts := n.Heading()
	if !threads && n.Threads > 0 {
		parts = append(parts[:2:2], parts[3:]...)
	}
	return strings.Join(parts, " ─ ")
}

// row draws nodes side by side, in boxes of equal height.
func (c *canvas) row(nodes []Node, p *plan) {
	boxes := make([][]string, len(nodes))
	feet := make([][]string, len(nodes))
	height := 0
	for i := range nodes {
		boxes[i], feet[i] = c.box(&nodes[i], p)
		height = max(height, len(boxes[i])+len(feet[i]))
	}
	lines := make([]string, height+2)
	for i := range nodes {
		title := head(&nodes[i], true)
		if texttab.Width(title) > p.inner {
			title = head(&nodes[i], false)
		}
		box := append([]string{c.border('┌', title, '┐', p.inner)}, boxes[i]...)
		for len(box) < height+1-len(feet[i]) {
			box = append(box, strings.Repeat(" ", p.inner))
		}
		box = append(append(box, feet[i]...), c.border('└', "", '┘', p.inner))
		for j, s := range box {
			if j > 0 && j <= height {
				s = "│ " + s + " │"
			}
			if i > 0 {
				s = " " + s
			}
			lines[j] += s
		}
	}
	for _, s := range lines {
		c.line(s)
	}
}

// border returns a horizontal border with a title, as wide as a box.
func (c *canvas) border(left rune, title string, right rune, inner int) string {
	if title == "" {
		return string(left) + strings.Repeat("─", inner+2) + string(right)
	}
	title = texttab.Cut(title, inner)
	name, rest, more := strings.Cut(title, " ─ ")
	if more {
		rest = " ─ " + rest
	}
	return string(left) + " " + c.paint(bold, name) + rest + " " + strings.Repeat("─", inner-texttab.Width(title)) + string(right)
}

// box returns the content lines of a node, each p.inner wide: its clients, and its totals for
// the bottom.
func (c *canvas) box(n *Node, p *plan) (lines, sums []string) {
	for i := range n.Clients {
		lines = append(lines, c.client(&n.Clients[i], p))
	}
	if m := &n.More; m.Clients > 0 {
		lines = append(lines, c.paint(faint, fit(strings.Join(p.cells(m.Label(), "", m.VCPUs, m.Memory.String(), ""), ""), p.inner)))
	}
	if len(n.Clients) == 0 {
		lines = append(lines, c.paint(faint, fit("no client", p.inner)))
	}
	if n.Foreign > 0 {
		lines = append(lines, c.paint(yellow, fit(fmt.Sprintf("▒ %s of %s, %s", n.Foreign, n.guests(), n.elsewhere()), p.inner)))
	}
	feet := n.feet()
	if sum := strings.Join(feet, "   "); texttab.Width(sum) <= p.inner {
		feet = []string{sum}
	}
	for _, s := range feet {
		sums = append(sums, c.paint(faint, fit(s, p.inner)))
	}
	return lines, sums
}

// cells returns the columns of a line with their separators.
func (p *plan) cells(label, bar string, vcpus int, memory, remote string) []string {
	out := []string{fit(label, p.label), " ", fit(bar, p.bar), "  ", left(count(vcpus), p.vcpus), "  ", left(memory, p.memory)}
	if p.remote > 0 {
		out = append(out, "  ", fit(remote, p.remote))
	}
	return out
}

func (c *canvas) client(cl *Client, p *plan) string {
	cells := p.cells(shortLabel(cl, p.label), bar(cl.VCPUs, p.most, p.bar), cl.VCPUs, memoryOf(cl), remoteOf(cl))
	if s := strings.Join(cells, ""); texttab.Width(s) > p.inner {
		return fit(s, p.inner)
	}
	codes := [9]string{2: blue, 8: yellow}
	if cl.High {
		codes[0] = red
	}
	for i, s := range cells {
		cells[i] = c.paint(codes[i], s)
	}
	return fit(strings.Join(cells, ""), p.inner)
}

// shortLabel shortens a label but keeps the number of the client: batch….1.
func shortLabel(cl *Client, n int) string {
	suffix := fmt.Sprintf(".%d", cl.Index)
	name, isWide := strings.CutSuffix(cl.Label, suffix)
	if !isWide || texttab.Width(cl.Label) <= n || n < len(suffix)+2 {
		return texttab.Cut(cl.Label, n)
	}
	return texttab.Cut(name, n-len(suffix)) + suffix
}

// eighths are the last characters of a bar, with a resolution of an eighth of a column.
const eighths = " ▏▎▍▌▋▊▉"

// bar returns a bar for n of most, at most columns wide; it is never empty.
func bar(n, most, columns int) string {
	if columns <= 0 {
		return ""
	}
	e := max(1, (n*8*columns+most/2)/most)
	s := strings.Repeat("█", e/8)
	if e%8 > 0 {
		s += string([]rune(eighths)[e%8])
	}
	return s
}

// fit cuts or pads s to exactly n columns.
func fit(s string, n int) string {
	s = texttab.Cut(s, n)
	return s + strings.Repeat(" ", max(0, n-texttab.Width(s)))
}

// left pads s on the left to n columns.
func left(s string, n int) string { return strings.Repeat(" ", max(0, n-texttab.Width(s))) + s }

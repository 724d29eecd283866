package chart

import (
	"fmt"
	"strconv"
	"strings"

	"example.org/homenode/output/draw/picture"
)

// Hosts shows the NUMA nodes of hosts side by side, one cell per measure. Darker cells are worse. Bad cells are also crossed
// out or framed, so that colour is not needed. Up to namedHosts hosts have one line each with numbers; more are shown as
// small blocks.
type Hosts struct {
	Measures []string // of each node
	Groups   []HostGroup
	Dark     string // meaning of a dark cell, for the legend
	Bad      string // meaning of a crossed-out cell
}

// A HostGroup is the hosts of one cluster.
type HostGroup struct {
	Name  string
	Hosts []HostRow
}

// A HostRow is one host.
type HostRow struct {
	ID, Name string // ID is unique in the chart
	Link     string // address of its page; "" for none
	Note     string // why it has no nodes
	Nodes    []HostNode
}

// A HostNode is a node with a value for each measure.
type HostNode struct {
	Node   int
	Values []Shade
}

// A Shade is one value of a node.
type Shade struct {
	Known, Bad bool
	Dark       float64 // from 0 (as it should be) to 1
	Text       string  // the number, a few characters long
}

// Sizes of Hosts.
const (
	namedHosts  = 40
	hostLine    = picture.Px(220) // height of a host with name
	hostCell    = picture.Px(400)
	hostGap     = picture.Px(140)   // between measures
	hostNames   = picture.Px(1_500) // maximum width of a name
	hostBlock   = picture.Px(90)    // size of a cell in a block
	hostBetween = picture.Px(60)    // between blocks
)

func (h *Hosts) draw(l *layout) {
	n, nodes := 0, 1
	names := picture.Px(400)
	for i := range h.Groups {
		g := &h.Groups[i]
		n += len(g.Hosts)
		for j := range g.Hosts {
			nodes = max(nodes, len(g.Hosts[j].Nodes))
			names = max(names, picture.Wide(picture.Cut(g.Hosts[j].Name, hostNames, letter), letter))
		}
	}
	right, named := width, n <= namedHosts
	left := margin + names + 120
	if named && l.alone { // no wider than necessary
		right = min(width, max(4200, left+picture.Px(len(h.Measures))*(picture.Px(nodes)*hostCell+hostGap)+margin))
		l.Width = right
	}
	l.legend(h.legend(named))
	if named {
		cell := min(hostCell, ((right-margin-left)/picture.Px(max(len(h.Measures), 1))-hostGap)/picture.Px(nodes))
		l.hostLines(h, left, nodes, cell)
	} else {
		l.hostBlocks(h)
	}
	if n == 0 {
		l.nothing(right/2, l.Y+100)
		l.Y += 200
	}
}

// legend explains dark and crossed-out cells.
func (h *Hosts) legend(named bool) []picture.Entry {
	const each = picture.SampleWidth / heatSteps
	return []picture.Entry{{Text: h.Dark, Sample: func(x, y picture.Px) (out []picture.Shape) {
		for i := range heatSteps {
			out = append(out, picture.Shape{Class: "heatcell " + heatClass(i), X: x + picture.Px(i)*each, Y: y, W: each, H: heatHeight})
		}
		return out
	}}, {Text: h.Bad, Sample: func(x, y picture.Px) []picture.Shape {
		bad := Shade{Known: true, Bad: true}
		return bad.cell(x+picture.SampleWidth-heatHeight, y, heatHeight, heatHeight, named)
	}}}
}

// cross returns the path of two diagonals.
func cross(x, y, w, h picture.Px) string {
	return fmt.Sprintf("M%s %sL%s %sM%s %sL%s %s", x, y, x+w, y+h, x, y+h, x+w, y)
}

// cell returns the shapes of a value. A cell with a number gets a frame if it is bad, other cells are crossed out.
func (s *Shade) cell(x, y, w, h picture.Px, named bool) []picture.Shape {
	out := []picture.Shape{{Class: "heatcell none", X: x, Y: y, W: w, H: h}}
	if !s.Known {
		return out
	}
	shade := heatClass(int(s.Dark * heatSteps))
	out[0].Class = "heatcell " + shade
	switch {
	case !named && s.Bad:
		out[0].Class = "heatcell badfill"
		return append(out, picture.Shape{Class: "cross", Path: cross(x+w/6, y+h/6, w-w/3, h-h/3)})
	case !named:
		return out
	}
	text := picture.Shape{Class: "tick on-" + shade, X: x + w/2, Y: y + h/2 + 38, Text: s.Text}
	if s.Bad {
		text.Class += " badtext"
		out = append(out, picture.Shape{Class: "badframe", X: x + 10, Y: y + 10, W: w - 20, H: h - 20})
	}
	if s.Text == "" {
		return out
	}
	return append(out, text)
}

// numbers describes all values of a host in one line.
func (h *Hosts) numbers(one *HostRow) string {
	if len(one.Nodes) == 0 {
		return one.Name + ": " + one.Note
	}
	var parts []string
	for _, n := range one.Nodes {
		var values []string
		for k, v := range n.Values {
			text := v.Text
			if !v.Known {
				text = "unknown"
			}
			values = append(values, h.Measures[k]+" "+text)
		}
		parts = append(parts, fmt.Sprintf("node %d: %s", n.Node, strings.Join(values, ", ")))
	}
	return one.Name + ": " + strings.Join(parts, "; ")
}

// host returns the group of a host with its hover area.
func (l *layout) host(class string, h *Hosts, one *HostRow, x, y, w, tall picture.Px) picture.Group {
	return picture.Group{ID: l.id("host", one.ID), Class: class, Numbers: h.numbers(one), Link: one.Link, Focus: true, Shapes: []picture.Shape{{Class: "hit", X: x, Y: y, W: w, H: tall}}}
}

// cells returns the cells of a host.
func (one *HostRow) cells(of func(node, measure int, v *Shade) []picture.Shape) (out []picture.Shape) {
	for n := range one.Nodes {
		for k := range one.Nodes[n].Values {
			out = append(out, of(n, k, &one.Nodes[n].Values[k])...)
		}
	}
	return out
}

// hostLines draws a line for each host.
func (l *layout) hostLines(h *Hosts, left picture.Px, nodes int, cell picture.Px) {
	each := picture.Px(nodes)*cell + hostGap // width of a measure
	end := left + picture.Px(len(h.Measures))*each - hostGap
	head := picture.Group{ID: l.id("measures", ""), Class: "axis"}
	for k, m := range h.Measures {
		head.Shapes = append(head.Shapes, picture.Shape{Class: "facts", X: left + picture.Px(k)*each, Y: l.Y + 110, Text: picture.Cut(m, each-40, letter)})
	}
	l.Add(head)
	l.Y += lineHeight
	at := func(node, measure int) picture.Px { return left + picture.Px(measure)*each + picture.Px(node)*cell }
	for i := range h.Groups {
		g := &h.Groups[i]
		name := picture.Group{ID: l.id("group", g.Name), Class: "axis", Shapes: []picture.Shape{{Class: "value", X: margin, Y: l.Y + 125, Text: picture.Cut(g.Name, left-margin-40, bold)}}}
		for k := range h.Measures {
			for n := range nodes {
				name.Shapes = append(name.Shapes, picture.Shape{Class: "tick", X: at(n, k) + cell/2, Y: l.Y + 125, Text: strconv.Itoa(n)})
			}
		}
		l.Add(name)
		l.Y += lineHeight + 10
		for j := range g.Hosts {
			one := &g.Hosts[j]
			row := l.host("hostrow", h, one, margin-40, l.Y, end-margin+40, hostLine)
			row.Shapes = append(row.Shapes, picture.Shape{Class: "hostname", X: margin, Y: l.Y + 145, Text: picture.Cut(one.Name, left-margin-80, letter)})
			if len(one.Nodes) == 0 {
				row.Shapes = append(row.Shapes, picture.Shape{Class: "facts", X: left, Y: l.Y + 145, Text: " " + picture.Cut(one.Note, end-left, letter)})
			}
			l.Add(row)
			// The link has the numbers in words, so they are not part of it.
			l.Add(picture.Group{ID: l.id("cells", one.ID), Class: "under", Shapes: one.cells(func(n, k int, v *Shade) []picture.Shape {
				return v.cell(at(n, k), l.Y, cell, hostLine-20, true)
			})})
			l.Y += hostLine
		}
		l.Y += 90
	}
}

// hostBlocks draws a block for each host, with nodes from left to right and measures from top to bottom.
func (l *layout) hostBlocks(h *Hosts) {
	l.text("measures", "", "axis", "facts", margin, l.Y+110, picture.Cut("A block is a host: its nodes beside each other; from the top "+strings.Join(h.Measures, ", "), l.Inner(), letter))
	l.Y += lineHeight + 60
	tall := picture.Px(len(h.Measures)) * hostBlock
	names := picture.Px(300)
	text := func(g *HostGroup) string {
		return picture.Cut(fmt.Sprintf("%s · %d", g.Name, len(g.Hosts)), hostNames, bold)
	}
	for i := range h.Groups {
		names = max(names, picture.Wide(text(&h.Groups[i]), bold))
	}
	left := margin + names + 100
	for i := range h.Groups {
		g := &h.Groups[i]
		l.text("group", g.Name, "axis", "value", margin, l.Y+tall/2+38, text(g))
		x := left
		for j := range g.Hosts {
			one := &g.Hosts[j]
			wide := picture.Px(max(len(one.Nodes), 1)) * hostBlock
			if x+wide > width-margin && x > left {
				x = left
				l.Y += tall + hostBetween
			}
			row := l.host("hostblock", h, one, x-15, l.Y-15, wide+30, tall+30)
			row.Shapes = append(row.Shapes, one.cells(func(n, k int, v *Shade) []picture.Shape {
				return v.cell(x+picture.Px(n)*hostBlock, l.Y+picture.Px(k)*hostBlock, hostBlock, hostBlock, false)
			})...)
			if len(one.Nodes) == 0 {
				row.Shapes = append(row.Shapes, picture.Shape{Class: "unseen", Path: cross(x, l.Y, wide, tall)})
			}
			l.Add(row)
			x += wide + hostBetween
		}
		l.Y += tall + 130
	}
}

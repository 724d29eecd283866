package chart

import (
	"fmt"
	"strconv"
	"strings"

	"homenode/output/draw/picture"
)

// Hosts shows the NUMA nodes of hosts beside each other, cell by cell: the darker a cell, the worse. A bad one is crossed or
// framed, so colour is not needed. Up to namedHosts hosts have a line each, with their numbers; more are small blocks.
type Hosts struct {
	Measures []string // of each node
	Groups   []HostGroup
	Dark     string // what a dark cell means, for the legend
	Bad      string // what a crossed one means
}

// A HostGroup is the hosts of one cluster.
type HostGroup struct {
	Name  string
	Hosts []HostRow
}

// A HostRow is one host.
type HostRow struct {
	ID, Name string // the ID is unique in the chart
	Link     string // the address of its page; "" for none
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
	Dark       float64 // from 0, as it should be, to 1
	Text       string  // the number, a few characters
}

// Sizes of Hosts.
const (
	namedHosts  = 40
	hostLine    = picture.Px(220) // of a host with its name
	hostCell    = picture.Px(400)
	hostGap     = picture.Px(140)   // between measures
	hostNames   = picture.Px(1_500) // the widest name
	hostBlock   = picture.Px(90)    // a cell of a block
	hostBetween = picture.Px(60)    // blocks
)

func (l *layout) hosts(h *Hosts) {
	n := 0
	nodes := 1
	for i := range h.Groups {
		n += len(h.Groups[i].Hosts)
		for j := range h.Groups[i].Hosts {
			nodes = max(nodes, len(h.Groups[i].Hosts[j].Nodes))
		}
	}
	named := n <= namedHosts
	right := width
	if named {
		names := picture.Px(400)
		for i := range h.Groups {
			for j := range h.Groups[i].Hosts {
				names = max(names, picture.Wide(picture.Cut(h.Groups[i].Hosts[j].Name, hostNames, letter), letter))
			}
		}
		left := margin + names + 120
		right = min(width, max(4200, left+picture.Px(len(h.Measures))*(picture.Px(nodes)*hostCell+hostGap)+margin))
		l.hostsLegend(h, right, named)
		l.hostLines(h, left, nodes, min(hostCell, ((right-margin-left)/picture.Px(max(len(h.Measures), 1))-hostGap)/picture.Px(nodes)))
	} else {
		l.hostsLegend(h, right, named)
		l.hostBlocks(h)
	}
	if l.pic.Width = right; n == 0 {
		l.nothing(right/2, l.y+100)
		l.y += 200
	}
}

// hostsLegend says what dark and crossed cells are.
func (l *layout) hostsLegend(h *Hosts, right picture.Px, named bool) {
	x := margin
	for i := range heatSteps {
		l.pic.Add(picture.Group{ID: l.id("step", strconv.Itoa(i)), Class: "legend heat-" + strconv.Itoa(i), Shapes: []picture.Shape{{Class: "heatcell", X: x, Y: l.y, W: 130, H: heatHeight}}})
		x += 130
	}
	dark := picture.Cut(h.Dark, right-x-100, letter)
	l.pic.Add(picture.Group{ID: l.id("legend", "dark"), Class: "legend", Shapes: []picture.Shape{{Class: "facts", X: x + 60, Y: l.y + 110, Text: dark}}})
	x += 60 + picture.Wide(dark, letter) + 200
	if w := 200 + picture.Wide(h.Bad, letter); x+w > right {
		x = margin
		l.y += lineHeight + 30
	}
	sample := []picture.Shape{{Class: "badframe", X: x, Y: l.y, W: heatHeight, H: heatHeight}}
	if !named {
		sample = []picture.Shape{{Class: "heatcell badfill", X: x, Y: l.y, W: heatHeight, H: heatHeight}, {Class: "cross", Path: cross(x+20, l.y+20, heatHeight-40, heatHeight-40)}}
	}
	l.pic.Add(picture.Group{ID: l.id("legend", "bad"), Class: "legend badcell", Shapes: append(sample, picture.Shape{Class: "facts", X: x + 200, Y: l.y + 110, Text: h.Bad})})
	l.y += lineHeight + 80
}

// cross is two lines over a cell.
func cross(x, y, w, h picture.Px) string {
	return fmt.Sprintf("M%s %sL%s %sM%s %sL%s %s", x, y, x+w, y+h, x, y+h, x+w, y)
}

// step is the colour of a value.
func (s *Shade) step() string {
	return "heat-" + strconv.Itoa(min(max(int(s.Dark*heatSteps), 0), heatSteps-1))
}

// numbers says everything of a host in a line.
func (h *Hosts) numbers(one *HostRow) string {
	if len(one.Nodes) == 0 {
		return one.Name + ": " + one.Note
	}
	var parts []string
	for i := range one.Nodes {
		var values []string
		for k := range one.Nodes[i].Values {
			v := &one.Nodes[i].Values[k]
			text := v.Text
			if !v.Known {
				text = "unknown"
			}
			values = append(values, h.Measures[k]+" "+text)
		}
		parts = append(parts, fmt.Sprintf("node %d: %s", one.Nodes[i].Node, strings.Join(values, ", ")))
	}
	return one.Name + ": " + strings.Join(parts, "; ")
}

// hostLines draws a line for each host.
func (l *layout) hostLines(h *Hosts, left picture.Px, nodes int, cell picture.Px) {
	head := picture.Group{ID: l.id("measures", ""), Class: "axis"}
	for k, m := range h.Measures {
		x := left + picture.Px(k)*(picture.Px(nodes)*cell+hostGap)
		head.Shapes = append(head.Shapes, picture.Shape{Class: "facts", X: x, Y: l.y + 110, Text: picture.Cut(m, picture.Px(nodes)*cell+hostGap-40, letter)})
	}
	l.pic.Add(head)
	l.y += lineHeight
	for i := range h.Groups {
		g := &h.Groups[i]
		name := picture.Group{ID: l.id("group", g.Name), Class: "axis", Shapes: []picture.Shape{{Class: "value", X: margin, Y: l.y + 125, Text: picture.Cut(g.Name, left-margin-40, bold)}}}
		for k := range h.Measures {
			for n := range nodes {
				name.Shapes = append(name.Shapes, picture.Shape{Class: "tick", X: left + picture.Px(k)*(picture.Px(nodes)*cell+hostGap) + picture.Px(n)*cell + cell/2, Y: l.y + 125, Text: strconv.Itoa(n)})
			}
		}
		l.pic.Add(name)
		l.y += lineHeight + 10
		for j := range g.Hosts {
			one := &g.Hosts[j]
			row := picture.Group{ID: l.id("host", one.ID), Class: "hostrow", Numbers: h.numbers(one), Link: one.Link, Focus: true}
			row.Shapes = append(row.Shapes, picture.Shape{Class: "hit", X: margin - 40, Y: l.y, W: l.rowEnd(left, nodes, cell, len(h.Measures)) - margin + 40, H: hostLine}, picture.Shape{Class: "hostname", X: margin, Y: l.y + 145, Text: picture.Cut(one.Name, left-margin-80, letter)})
			if len(one.Nodes) == 0 {
				row.Shapes = append(row.Shapes, picture.Shape{Class: "facts", X: left, Y: l.y + 145, Text: picture.Cut(one.Note, l.rowEnd(left, nodes, cell, len(h.Measures))-left, letter)})
			}
			l.pic.Add(row)
			for n := range one.Nodes {
				for k := range one.Nodes[n].Values {
					v := &one.Nodes[n].Values[k]
					x := left + picture.Px(k)*(picture.Px(nodes)*cell+hostGap) + picture.Px(n)*cell
					l.pic.Add(l.hostCell(one, n, k, v, x, cell, hostLine-20))
				}
			}
			l.y += hostLine
		}
		l.y += 90
	}
}

// rowEnd is where the last cell ends.
func (l *layout) rowEnd(left picture.Px, nodes int, cell picture.Px, measures int) picture.Px {
	return left + picture.Px(measures)*(picture.Px(nodes)*cell+hostGap) - hostGap
}

// hostCell is one cell with its number.
func (l *layout) hostCell(one *HostRow, n, k int, v *Shade, x, w, h picture.Px) picture.Group {
	g := picture.Group{ID: l.id("cell", fmt.Sprintf("%s-%d-%d", one.ID, n, k)), Class: "cell under none", Shapes: []picture.Shape{{Class: "heatcell", X: x, Y: l.y, W: w, H: h}}}
	if !v.Known {
		return g
	}
	g.Class = "cell under " + v.step()
	text := picture.Shape{Class: "tick", X: x + w/2, Y: l.y + h/2 + 38, Text: v.Text}
	if v.Bad {
		g.Class += " badcell"
		text.Class = "tick badtext"
		g.Shapes = append(g.Shapes, picture.Shape{Class: "badframe", X: x + 10, Y: l.y + 10, W: w - 20, H: h - 20})
	}
	g.Shapes = append(g.Shapes, text)
	return g
}

// hostBlocks draws a block for each host: its nodes beside each other, its measures below each other.
func (l *layout) hostBlocks(h *Hosts) {
	l.pic.Add(picture.Group{ID: l.id("measures", ""), Class: "axis", Shapes: []picture.Shape{{Class: "facts", X: margin, Y: l.y + 110,
		Text: picture.Cut("A block is a host: its nodes beside each other; from the top "+strings.Join(h.Measures, ", "), width-2*margin, letter)}}})
	l.y += lineHeight + 60
	tall := picture.Px(len(h.Measures)) * hostBlock
	names := picture.Px(300)
	text := func(g *HostGroup) string { return fmt.Sprintf("%s · %d", g.Name, len(g.Hosts)) }
	for i := range h.Groups {
		names = max(names, picture.Wide(picture.Cut(text(&h.Groups[i]), hostNames, bold), bold))
	}
	left := margin + names + 100
	for i := range h.Groups {
		g := &h.Groups[i]
		l.pic.Add(picture.Group{ID: l.id("group", g.Name), Class: "axis", Shapes: []picture.Shape{{Class: "value", X: margin, Y: l.y + tall/2 + 38, Text: picture.Cut(text(g), hostNames, bold)}}})
		x := left
		for j := range g.Hosts {
			one := &g.Hosts[j]
			wide := picture.Px(max(len(one.Nodes), 1)) * hostBlock
			if x+wide > width-margin && x > left {
				x = left
				l.y += tall + hostBetween
			}
			row := picture.Group{ID: l.id("host", one.ID), Class: "hostblock", Numbers: h.numbers(one), Link: one.Link, Focus: true,
				Shapes: []picture.Shape{{Class: "hit", X: x - 15, Y: l.y - 15, W: wide + 30, H: tall + 30}}}
			if len(one.Nodes) == 0 {
				row.Shapes = append(row.Shapes, picture.Shape{Class: "unseen", Path: cross(x, l.y, wide, tall)})
			}
			for n := range one.Nodes {
				for k := range one.Nodes[n].Values {
					v := &one.Nodes[n].Values[k]
					cx, cy := x+picture.Px(n)*hostBlock, l.y+picture.Px(k)*hostBlock
					class := "heatcell none"
					if v.Known {
						class = "heatcell fill-" + v.step()
					}
					row.Shapes = append(row.Shapes, picture.Shape{Class: class, X: cx, Y: cy, W: hostBlock, H: hostBlock})
					if v.Bad {
						row.Shapes[len(row.Shapes)-1].Class = "heatcell badfill"
						row.Shapes = append(row.Shapes, picture.Shape{Class: "cross", Path: cross(cx+15, cy+15, hostBlock-30, hostBlock-30)})
					}
				}
			}
			l.pic.Add(row)
			x += wide + hostBetween
		}
		l.y += tall + 130
	}
}

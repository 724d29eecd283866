package svg

import (
	"fmt"
	"strings"

	"homenode/internal/texttab"
	"homenode/numa"
	"homenode/output/draw/topo"
)

// column places the memory of a node as a column that fills from the floor: the
// local memory of its clients in the order of the blocks, then what clients on
// other nodes have here.
func (l *layout) column(n *topo.Node, x, floor Px) {
	if l.memory == 0 || !n.Memory.Known() {
		return
	}
	height := func(b numa.Bytes) Px { return Px(int64(l.plan) * int64(b>>20) / int64(max(1, l.memory>>20))) }
	top := floor - height(n.Memory.Value)
	l.add(group{id: n.ID + "__memory", class: "memory", shapes: []shape{{class: "wall", x: x, y: top, w: memoryWidth, h: floor - top}}})
	var below numa.Bytes
	part := func(g group, b numa.Bytes, class, fill string) {
		if from, to := floor-height(below), floor-height(below+b); b > 0 && from > to {
			g.shapes = []shape{{class: class, x: x, y: to, w: memoryWidth, h: from - to, fill: fill}}
			l.add(g)
		}
		below += b
	}
	for i := range n.Clients {
		c := &n.Clients[i]
		local := c.Local()
		numbers := fmt.Sprintf("%s: %s on node %d", c.Label, local, n.Number)
		part(group{id: c.ID + "__memory", class: clientClass(c), numbers: numbers}, local, "fill", "")
		if c.Interleaved {
			below -= local
			part(group{id: c.ID + "__spread", class: clientClass(c)}, local, "pattern", "spread")
			l.spread = true
		}
	}
	part(group{id: n.More.ID + "__memory", class: "more", numbers: n.More.Numbers()}, n.More.Local, "fill", "")
	if n.Foreign > 0 {
		l.remote = true
		part(group{id: n.ID + "__foreign", class: "foreign", numbers: fmt.Sprintf("%s: remote to them", n.Numbers())},
			n.Foreign, "fill", "remote")
	}
	free, _ := n.Free()
	if room := floor - height(below) - top; room > 2*lineHeight {
		amount, unit, _ := strings.Cut(free.String(), " ")
		middle := top + room/2
		l.add(group{id: n.ID + "__free", class: "free", shapes: []shape{
			{class: "amount", x: x + memoryWidth/2, y: middle - 20, text: amount + " " + unit},
			{class: "amount", x: x + memoryWidth/2, y: middle + 110, text: "free"},
		}})
	}
}

// loose places the VMs that have no home node, in rows below the rooms.
func (l *layout) loose() {
	if len(l.d.Loose) == 0 {
		return
	}
	l.add(group{id: l.d.ID + "__loose", class: "heading", shapes: []shape{
		{class: "facts", x: margin, y: l.y + 120, text: "without home node: not NUMA-managed, memory from anywhere"},
	}})
	l.y += lineHeight
	box := func(i int, id, class, label, numbers string) {
		x := l.roomX(i % max(l.across, 2))
		if i > 0 && i%max(l.across, 2) == 0 {
			l.y += frameHeight + frameGap
		}
		l.add(group{id: id, class: class, numbers: numbers, shapes: []shape{
			{class: "block", x: x, y: l.y, w: roomWidth, h: frameHeight},
			{class: "label", x: x + roomPad, y: l.y + 170, text: texttab.Cut(label, int((roomWidth-2*roomPad)/letter))},
		}})
	}
	for i := range l.d.Loose {
		c := &l.d.Loose[i]
		box(i, c.ID, "loose", c.Numbers(), c.Numbers())
	}
	if m := &l.d.LooseMore; m.Clients > 0 {
		box(len(l.d.Loose), m.ID, "loose more", m.Numbers(), m.Numbers())
	}
	l.y += frameHeight + rowGap
}

// foot places the line where numbers appear, the legend and the caption.
func (l *layout) foot() {
	l.y += lineHeight // the line of numbers stands here, written with each group
	if len(l.d.Nodes) > 0 {
		l.legend()
	}
	for i, sentence := range l.d.Caption {
		for j, line := range texttab.Wrap(sentence, int((l.pic.width-2*margin)/letter)) {
			l.add(group{id: fmt.Sprintf("%s__caption-%d__line-%d", l.d.ID, i, j), class: "caption", shapes: []shape{{class: "facts", x: margin, y: l.y + 110, text: line}}})
			l.y += lineHeight
		}
	}
}

// example says how the clients of a wide VM are called, where they are.
func (l *layout) example() string {
	for i := range l.d.Nodes {
		for _, c := range l.d.Nodes[i].Clients {
			if c.Numbered() {
				return " (name.0, name.1 …)"
			}
		}
	}
	return ""
}

// legend explains the shades that occur.
func (l *layout) legend() {
	x := margin
	entry := func(name, class, fill, text string) {
		wide := 240 + Px(columns(text))*letter
		if x > margin && x+wide > l.pic.width-margin {
			x = margin
			l.y += lineHeight
		}
		mark := shape{class: "fill", x: x, y: l.y + 15, w: 180, h: 110, fill: fill}
		switch class {
		case "high":
			mark = shape{class: "alarm", x: x + 75, y: l.y + 15, w: 30, h: 110}
		case "cores":
			mark = shape{class: "line", x: x, y: l.y + 70, w: 180}
		}
		l.add(group{id: l.d.ID + "__legend-" + name, class: "legend " + class, shapes: []shape{mark, {class: "facts", x: x + 240, y: l.y + 110, text: text}}})
		x += wide + 280
	}
	single, wide, high := false, false, false
	for i := range l.d.Nodes {
		for _, c := range l.d.Nodes[i].Clients {
			wide, single, high = wide || c.Wide, single || !c.Wide, high || c.High
		}
	}
	if single {
		entry("client", "client", "", "client")
	}
	if wide {
		entry("wide", "client wide", "", "client of a wide VM"+l.example())
	}
	entry("cores", "cores", "", "cores of the node")
	if l.remote {
		entry("remote", "foreign", "remote", "remote memory")
	}
	if l.spread {
		entry("spread", "foreign", "spread", "interleaved")
	}
	if high {
		entry("alarm", "high", "", "VM with a finding of high severity")
	}
	l.y += lineHeight + 40
}

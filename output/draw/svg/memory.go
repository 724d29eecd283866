package svg

import (
	"fmt"
	"strings"

	"homenode/internal/texttab"
	"homenode/numa"
	"homenode/output/draw/picture"
	"homenode/output/draw/topo"
)

// column places the memory of a node as a column that fills from the floor: the
// local memory of its clients in the order of the blocks, then what clients on
// other nodes have here.
func (l *layout) column(n *topo.Node, x, floor picture.Px) {
	if l.memory == 0 || !n.Memory.Known() {
		return
	}
	height := func(b numa.Bytes) picture.Px {
		return picture.Px(int64(l.plan) * int64(b>>20) / int64(max(1, l.memory>>20)))
	}
	top := floor - height(n.Memory.Value)
	l.add(picture.Group{ID: n.ID + "__memory", Class: "memory", Shapes: []picture.Shape{{Class: "wall", X: x, Y: top, W: memoryWidth, H: floor - top}}})
	var below numa.Bytes
	part := func(g picture.Group, b numa.Bytes, class, fill string) {
		if from, to := floor-height(below), floor-height(below+b); b > 0 && from > to {
			g.Shapes = []picture.Shape{{Class: class, X: x, Y: to, W: memoryWidth, H: from - to, Fill: fill}}
			l.add(g)
		}
		below += b
	}
	for i := range n.Clients {
		c := &n.Clients[i]
		local := c.Local()
		numbers := fmt.Sprintf("%s: %s on node %d", c.Label, local, n.Number)
		part(picture.Group{ID: c.ID + "__memory", Class: clientClass(c), Numbers: numbers}, local, "fill", "")
		if c.Interleaved {
			below -= local
			part(picture.Group{ID: c.ID + "__spread", Class: clientClass(c)}, local, "pattern", "spread")
			l.spread = true
		}
	}
	part(picture.Group{ID: n.More.ID + "__memory", Class: "more", Numbers: n.More.Numbers()}, n.More.Local, "fill", "")
	if n.Foreign > 0 {
		l.remote = true
		part(picture.Group{ID: n.ID + "__foreign", Class: "foreign", Numbers: fmt.Sprintf("%s: remote to them", n.Numbers())},
			n.Foreign, "fill", "remote")
	}
	free, _ := n.Free()
	if room := floor - height(below) - top; room > 2*lineHeight {
		amount, unit, _ := strings.Cut(free.String(), " ")
		middle := top + room/2
		l.add(picture.Group{ID: n.ID + "__free", Class: "free", Shapes: []picture.Shape{
			{Class: "amount", X: x + memoryWidth/2, Y: middle - 20, Text: amount + " " + unit},
			{Class: "amount", X: x + memoryWidth/2, Y: middle + 110, Text: "free"},
		}})
	}
}

// loose places the VMs that have no home node, in rows below the rooms.
func (l *layout) loose() {
	if len(l.d.Loose) == 0 {
		return
	}
	l.add(picture.Group{ID: l.d.ID + "__loose", Class: "heading", Shapes: []picture.Shape{
		{Class: "facts", X: margin, Y: l.y + 120, Text: l.d.LooseTitle()},
	}})
	l.y += lineHeight
	box := func(i int, id, class, label, numbers string) {
		x := l.roomX(i % max(l.across, 2))
		if i > 0 && i%max(l.across, 2) == 0 {
			l.y += frameHeight + frameGap
		}
		l.add(picture.Group{ID: id, Class: class, Numbers: numbers, Shapes: []picture.Shape{
			{Class: "block", X: x, Y: l.y, W: roomWidth, H: frameHeight},
			{Class: "label", X: x + roomPad, Y: l.y + 170, Text: texttab.Cut(label, int((roomWidth-2*roomPad)/letter))},
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
	l.pic.NumbersY = l.y - 60
	if len(l.d.Nodes) > 0 {
		l.legend()
	}
	for i, sentence := range l.d.Caption {
		for j, line := range texttab.Wrap(sentence, int((l.pic.Width-2*margin)/letter)) {
			l.add(picture.Group{ID: fmt.Sprintf("%s__caption-%d__line-%d", l.d.ID, i, j), Class: "caption", Shapes: []picture.Shape{{Class: "facts", X: margin, Y: l.y + 110, Text: line}}})
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
		wide := 240 + picture.Px(texttab.Width(text))*letter
		if x > margin && x+wide > l.pic.Width-margin {
			x = margin
			l.y += lineHeight
		}
		mark := picture.Shape{Class: "fill", X: x, Y: l.y + 15, W: 180, H: 110, Fill: fill}
		switch class {
		case "high":
			mark = picture.Shape{Class: "alarm", X: x + 75, Y: l.y + 15, W: 30, H: 110}
		case "cores":
			mark = picture.Shape{Class: "line", X: x, Y: l.y + 70, W: 180}
		}
		l.add(picture.Group{ID: l.d.ID + "__legend-" + name, Class: "legend " + class, Shapes: []picture.Shape{mark, {Class: "facts", X: x + 240, Y: l.y + 110, Text: text}}})
		x += wide + 280
	}
	single, wide, high := false, false, false
	for i := range l.d.Nodes {
		for _, c := range l.d.Nodes[i].Clients {
			wide, single, high = wide || c.Wide, single || !c.Wide, high || c.High
		}
	}
	one, part := "client", "client of a wide VM"
	if l.d.Stated {
		one, part = "vCPUs of a VM", "a part of a VM"
	}
	if single {
		entry("client", "client", "", one)
	}
	if wide {
		entry("wide", "client wide", "", part+l.example())
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

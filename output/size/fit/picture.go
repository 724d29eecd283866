package fit

import (
	_ "embed"
	"fmt"
	"io"

	"homenode/internal/texttab"
	"homenode/numa"
	"homenode/output/draw/picture"
	"homenode/size/fit"
)

// Style is the style sheet of drawings of hosts with VMs. It follows the reader's
// preference for dark or light, and prints in grey.
//
//go:embed fit.css
var Style string

// A drawnHost is a host to be drawn.
type drawnHost struct {
	name, count, facts string
	nodes              []fit.Use
}

// A drawing is a drawing of hosts with VMs:
//
//	╭ 2x32c/1TB ───────────────────╮  hosts beside each other, on one floor
//	│ 4 VMs, cores bind            │
//	│ ┌ node 0 ────┐ ┌ node 1 ────┐│  rooms: NUMA nodes; left their cores, right their
//	│ │╱╱╱╱╱╱ rest │ │╱╱╱╱╱╱ rest ││  memory, each to one scale in all rooms
//	│ │████ VM █ ▒ │ │████ VM █ ▒ ││
//	│ └────────────┘ └────────────┘│
//	╰──────────────────────────────╯
type drawing struct {
	title   string
	hosts   []drawnHost
	kinds   []string // names of the fills
	fills   []int    // by Client.Shape; nil: a fill for each shape
	names   []string // by Client.Shape, where there are fewer fills
	caption []string
}

// Sizes of the drawing.
const (
	pageWidth    = picture.Px(9200)
	margin       = picture.Px(120)
	roomWidth    = picture.Px(2040)
	gap          = picture.Px(100)
	pad          = picture.Px(120)
	planHeight   = picture.Px(2600) // of the largest node
	hostHead     = picture.Px(640)  // of a host, above its rooms
	roomHead     = picture.Px(420)
	coresWidth   = picture.Px(1180) // width of the blocks of cores
	memoryWidth  = picture.Px(580)  // and of memory
	letter       = picture.Px(62)   // mean width of a letter at 11 px
	smallLetter  = picture.Px(57)   // and at 10 px
	boldLetter   = picture.Px(82)   // and at 14 px, bold
	lineHeight   = picture.Px(170)
	leastHeight  = picture.Px(130) // height of a block that holds its label
	across       = 4               // rooms beside each other
	mostDrawn    = 8
	mostFillings = 4 // hosts of a mix
	textures     = 8
)

// fills tell shapes apart without colour.
var fills = [textures]string{"", "M0 3H6", "M1.5 1.5h1.5v1.5h-1.5z", "M3 0V6", "M0 3H6M3 0V6", "M0 0 6 6", "M1 1.5h2M4 4.5h2", "M1 3h4M3 1v4"}

// draw writes the drawing as SVG.
func (d *drawing) draw(w io.Writer) error {
	l := &placing{d: d, pic: &picture.Picture{ID: "size-fit", Class: "fit", Title: d.title, Style: Style, Width: pageWidth, NumbersX: margin, Letter: letter}}
	l.scale()
	l.patterns()
	l.y = margin
	l.title()
	for i := 0; i < len(d.hosts); {
		i = l.line(i)
	}
	l.foot()
	l.pic.Height = l.y + margin
	return picture.Write(w, l.pic)
}

// placing is the state of the placing pass.
type placing struct {
	d      *drawing
	pic    *picture.Picture
	vcpus  int
	memory numa.Bytes
	y      picture.Px
	seen   [textures]bool
	remote bool
}

// scale finds what fills the highest room.
func (l *placing) scale() {
	l.vcpus, l.memory = 1, 1
	for _, h := range l.d.hosts {
		for i := range h.nodes {
			n := &h.nodes[i]
			l.vcpus, l.memory = max(l.vcpus, n.VCPUs, n.VCPUs-n.RestVCPUs), max(l.memory, n.Memory)
		}
	}
}

func (l *placing) rise(vcpus int) picture.Px {
	return planHeight * picture.Px(vcpus) / picture.Px(l.vcpus)
}

func (l *placing) fillTo(b numa.Bytes) picture.Px {
	return picture.Px(int64(planHeight) * int64(b>>20) / int64(max(1, l.memory>>20)))
}

func (l *placing) patterns() {
	for i, marks := range fills {
		l.pic.Patterns = append(l.pic.Patterns, picture.Pattern{Name: fmt.Sprint(i), Class: fmt.Sprintf("kind-%d", i), Size: 6, Marks: marks})
	}
	l.pic.Patterns = append(l.pic.Patterns,
		picture.Pattern{Name: "rest", Class: "rest", Size: 6, Tilted: true, Marks: "M0 0V6"},
		picture.Pattern{Name: "reserve", Class: "reserve", Size: 5, Marks: "M1 1h1.4M3.5 3.5h1.4"},
		picture.Pattern{Name: "remote", Class: "remote", Size: 6, Tilted: true, Marks: "M0 0V6"})
}

func (l *placing) title() {
	g := picture.Group{ID: "size-fit__title", Class: "title"}
	for _, line := range texttab.Wrap(l.d.title, int((pageWidth-2*margin)/94)) {
		l.y += 200
		g.Shapes = append(g.Shapes, picture.Shape{Class: "name", X: margin, Y: l.y - 40, Text: line})
	}
	l.pic.Add(g)
	l.y += 100
}

// wide returns the width of a host.
func (h *drawnHost) wide() picture.Px {
	n := picture.Px(max(1, min(len(h.nodes), across)))
	return n*roomWidth + (n-1)*gap + 2*pad
}

// line places as many hosts beside each other as have room, from one on; it returns the
// first of the next line.
func (l *placing) line(from int) (next int) {
	x, height, rows := margin, picture.Px(0), 1
	for next = from; next < len(l.d.hosts); next++ {
		h := &l.d.hosts[next]
		if next > from && x+h.wide() > pageWidth-margin {
			break
		}
		x += h.wide() + gap
		for i := range h.nodes {
			n := &h.nodes[i]
			height = max(height, l.rise(max(n.VCPUs, n.VCPUs-n.RestVCPUs)), l.fillTo(n.Memory))
		}
		rows = max(rows, (len(h.nodes)+across-1)/across)
	}
	room := roomHead + height + pad
	x = margin
	for i := from; i < next; i++ {
		h := &l.d.hosts[i]
		l.host(i, h, x, room)
		x += h.wide() + gap
	}
	l.y += hostHead + picture.Px(rows)*(room+gap) + pad
	return next
}

// host places a host with its rooms.
func (l *placing) host(index int, h *drawnHost, x, room picture.Px) {
	rows := picture.Px(max(1, (len(h.nodes)+across-1)/across))
	inner := h.wide() - 2*pad
	g := picture.Group{ID: fmt.Sprintf("size-fit__host-%d", index), Class: "host", Shapes: []picture.Shape{
		{Class: "frame", X: x, Y: l.y, W: h.wide(), H: hostHead + rows*(room+gap)},
		{Class: "name", X: x + pad, Y: l.y + 210, Text: texttab.Cut(h.name, int(inner/boldLetter))},
		{Class: "count", X: x + pad, Y: l.y + 390, Text: texttab.Cut(h.count, int(inner/70))},
		{Class: "facts", X: x + pad, Y: l.y + 550, Text: texttab.Cut(h.facts, int(inner/letter))},
	}}
	l.pic.Add(g)
	for i := range h.nodes {
		left := x + pad + picture.Px(i%across)*(roomWidth+gap)
		top := l.y + hostHead + picture.Px(i/across)*(room+gap)
		l.room(fmt.Sprintf("%s__node-%d", g.ID, h.nodes[i].Node), &h.nodes[i], left, top, room)
	}
}

// room places a node: its cores at the left, its memory at the right.
func (l *placing) room(id string, n *fit.Use, x, top, height picture.Px) {
	facts := fmt.Sprintf("%d cores", n.Cores)
	if n.VCPUs != n.Cores {
		facts += fmt.Sprintf(", %d vCPU", n.VCPUs)
	}
	l.pic.Add(picture.Group{ID: id, Class: "node", Shapes: []picture.Shape{
		{Class: "wall", X: x, Y: top, W: roomWidth, H: height},
		{Class: "name", X: x + pad, Y: top + 170, Text: fmt.Sprintf("node %d", n.Node)},
		{Class: "facts", X: x + pad, Y: top + 320, Text: texttab.Cut(facts, int(coresWidth/letter))},
		{Class: "facts middle", X: x + roomWidth - pad - memoryWidth/2, Y: top + 320, Text: short(n.Memory)},
	}})
	floor := top + height - pad
	l.cores(id, n, x+pad, floor)
	l.memoryOf(id, n, x+roomWidth-pad-memoryWidth, floor)
}

// block places one part of a column.
func (l *placing) block(id, class, fill, numbers, label string, x, top, w, h picture.Px) {
	if h <= 0 {
		return
	}
	g := picture.Group{ID: id, Class: class, Numbers: numbers, Focus: true, Shapes: []picture.Shape{
		{Class: map[bool]string{true: "left", false: "block"}[fill == "rest"], X: x, Y: top, W: w, H: h, Fill: fill},
	}}
	if label != "" && h >= leastHeight {
		text := "amount"
		if fill == "rest" || fill == "reserve" || fill == "remote" {
			text += " halo"
		}
		g.Shapes = append(g.Shapes, picture.Shape{Class: text, X: x + w/2, Y: top + h/2 + 38, Text: texttab.Cut(label, int(w/smallLetter))})
	}
	l.pic.Add(g)
}

// kind returns the fill of a shape.
func (l *placing) kind(shape int) string {
	k := shape % textures
	if shape < len(l.d.fills) {
		k = l.d.fills[shape]
	}
	l.seen[k] = true
	return fmt.Sprint(k)
}

// name returns the name of a client's shape.
func (l *placing) name(c *fit.Client) string {
	switch {
	case c.Shape < len(l.d.names):
		return l.d.names[c.Shape]
	case len(l.d.kinds) > 0:
		return l.d.kinds[min(c.Shape, len(l.d.kinds)-1)]
	}
	return "VM"
}

// cores stacks the clients on the floor and hatches what is left.
func (l *placing) cores(id string, n *fit.Use, x, floor picture.Px) {
	sum := 0
	for i := range n.Clients {
		c := &n.Clients[i]
		top, bottom := floor-l.rise(sum+c.VCPUs), floor-l.rise(sum)
		sum += c.VCPUs
		numbers := fmt.Sprintf("%s, VM %d, client %d: %d vCPUs, %s on node %d", l.name(c), c.VM+1, c.Index, c.VCPUs, c.Memory, n.Node)
		l.block(fmt.Sprintf("%s__client-%d", id, i), "client", l.kind(c.Shape), numbers, l.label(c), x, top, coresWidth, bottom-top)
	}
	if n.RestVCPUs > 0 {
		top := floor - l.rise(n.VCPUs)
		l.block(id+"__rest", "rest", "rest", fmt.Sprintf("node %d: %d vCPUs are left", n.Node, n.RestVCPUs),
			fmt.Sprintf("%d vCPU left", n.RestVCPUs), x, top, coresWidth, floor-l.rise(sum)-top)
	}
}

// label is what a block of cores says: its name where there are several shapes.
func (l *placing) label(c *fit.Client) string {
	if len(l.d.kinds) > 1 {
		return l.name(c)
	}
	return fmt.Sprintf("%d vCPU, %s", c.VCPUs, whole(c.Memory))
}

// memoryOf fills the column of memory: clients, memory of clients elsewhere, what is
// left, and the reserve on top.
func (l *placing) memoryOf(id string, n *fit.Use, x, floor picture.Px) {
	sum := numa.Bytes(0)
	part := func(name, class, fill, numbers, label string, b numa.Bytes) {
		top, bottom := floor-l.fillTo(sum+b), floor-l.fillTo(sum)
		sum += b
		l.block(id+name, class, fill, numbers, label, x, top, memoryWidth, bottom-top)
	}
	for i := range n.Clients {
		c := &n.Clients[i]
		local := c.Memory - c.Remote
		part(fmt.Sprintf("__memory-%d", i), "client", l.kind(c.Shape), fmt.Sprintf("%s, VM %d: %s on node %d", l.name(c), c.VM+1, local, n.Node), whole(local), local)
	}
	if n.Foreign > 0 {
		l.remote = true
		part("__foreign", "foreign", "remote", fmt.Sprintf("node %d: %s of VMs that live on other nodes", n.Node, n.Foreign), whole(n.Foreign), n.Foreign)
	}
	if n.RestMemory > 0 {
		part("__left", "rest", "rest", fmt.Sprintf("node %d: %s are left", n.Node, n.RestMemory), whole(n.RestMemory), n.RestMemory)
	}
	if n.Reserve > 0 {
		part("__reserve", "reserve", "reserve", fmt.Sprintf("node %d: %s are kept free", n.Node, n.Reserve), whole(n.Reserve), n.Reserve)
	}
}

// foot places the line of numbers, the legend and the caption.
func (l *placing) foot() {
	l.pic.NumbersY = l.y + 110
	l.y += lineHeight + 60
	x := margin
	entry := func(id, class, fill, text string) {
		text = texttab.Cut(text, 60)
		w := 320 + picture.Px(len([]rune(text)))*letter
		if x > margin && x+w > pageWidth-margin {
			x = margin
			l.y += lineHeight
		}
		l.pic.Add(picture.Group{ID: "size-fit__legend-" + id, Class: "legend", Shapes: []picture.Shape{
			{Class: class, X: x, Y: l.y, W: 240, H: 130, Fill: fill}, {Class: "facts", X: x + 310, Y: l.y + 110, Text: text},
		}})
		x += w + 160
	}
	for k, seen := range l.seen {
		if seen && k < len(l.d.kinds) {
			text := l.d.kinds[k]
			for i := k + textures; i < len(l.d.kinds); i += textures {
				text += ", " + l.d.kinds[i]
			}
			entry(fmt.Sprint(k), "block", fmt.Sprint(k), text)
		}
	}
	entry("rest", "left", "rest", "left")
	entry("reserve", "block", "reserve", "kept free (reserve of the node)")
	if l.remote {
		entry("remote", "block", "remote", "memory of VMs of other nodes")
	}
	l.y += lineHeight + 60
	g := picture.Group{ID: "size-fit__caption", Class: "caption"}
	for _, s := range l.d.caption {
		for _, line := range texttab.Wrap(s, int((pageWidth-2*margin)/letter)) {
			l.y += lineHeight
			g.Shapes = append(g.Shapes, picture.Shape{Class: "facts", X: margin, Y: l.y - 60, Text: line})
		}
	}
	l.pic.Add(g)
}

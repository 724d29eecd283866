package fit

import (
	"fmt"
	"strings"

	"homenode/numa"
	"homenode/output/draw/picture"
	"homenode/size/fit"
)

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
	fills   []int    // by Client.Shape; nil: each shape has its own fill
	names   []string // by Client.Shape, if there are fewer fills than shapes
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
	letter       = picture.Letter
	smallLetter  = picture.Px(57)  // mean width of a character at 10 px
	boldLetter   = picture.Px(82)  // and at 14 px, bold
	leastHeight  = picture.Px(130) // minimum height of a block with a label
	across       = 4               // rooms side by side
	mostDrawn    = 8
	mostFillings = 4 // hosts of a mix
	textures     = picture.Textures
)

// placing is the state of placing shapes.
type placing struct {
	*picture.Picture
	d      *drawing
	vcpus  int        // vCPUs of the fullest node, at full height
	memory numa.Bytes // memory of the fullest node, at full height
}

// picture returns the drawing with all shapes positioned.
func (d *drawing) picture() *picture.Picture {
	l := &placing{&picture.Picture{ID: "size-fit", Class: "fit", Title: d.title, Width: pageWidth, Margin: margin, Letter: letter, Y: margin}, d, 1, 1}
	for _, h := range d.hosts {
		for i := range h.nodes {
			n := &h.nodes[i]
			l.vcpus, l.memory = max(l.vcpus, full(n)), max(l.memory, n.Memory)
		}
	}
	l.Headline(l.ID, d.title)
	for i := 0; i < len(d.hosts); {
		i = l.line(i)
	}
	l.NumbersY = l.Y + 110
	l.Y += 230
	l.legend()
	l.Caption(l.ID, d.caption...)
	l.Height = l.Y + margin
	return l.Picture
}

// full returns the vCPUs of a node, or those placed on it if they are more.
func full(n *fit.Use) int { return max(n.VCPUs, n.VCPUs-n.RestVCPUs) }

// cores and memoryOf return the stacks of a node with this floor.
func (l *placing) cores(x, floor picture.Px) picture.Stack {
	return picture.Stack{X: x, W: coresWidth, Scale: picture.Scale{High: float64(l.vcpus), From: floor, To: floor - planHeight}}
}
func (l *placing) memoryOf(x, floor picture.Px) picture.Stack {
	return picture.Stack{X: x, W: memoryWidth, Scale: picture.Scale{High: float64(l.memory), From: floor, To: floor - planHeight}}
}

// wide returns the width of a host.
func (h *drawnHost) wide() picture.Px {
	n := picture.Px(max(1, min(len(h.nodes), across)))
	return n*roomWidth + (n-1)*gap + 2*pad
}

// line places as many hosts side by side as fit, at least one. It returns the first host of the next line.
func (l *placing) line(from int) (next int) {
	x, height, rows := margin, picture.Px(0), 1
	for next = from; next < len(l.d.hosts); next++ {
		h := &l.d.hosts[next]
		if next > from && x+h.wide() > pageWidth-margin {
			break
		}
		x += h.wide() + gap
		for i := range h.nodes {
			cores, memory := l.cores(0, 0), l.memoryOf(0, 0)
			height = max(height, -cores.At(float64(full(&h.nodes[i]))), -memory.At(float64(h.nodes[i].Memory)))
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
	l.Y += hostHead + picture.Px(rows)*(room+gap) + pad
	return next
}

// host places a host with its rooms.
func (l *placing) host(index int, h *drawnHost, x, room picture.Px) {
	rows := picture.Px(max(1, (len(h.nodes)+across-1)/across))
	inner := h.wide() - 2*pad
	id := fmt.Sprintf("%s__host-%d", l.ID, index)
	l.Add(picture.Group{ID: id, Class: "host", Shapes: []picture.Shape{
		{Class: "frame", X: x, Y: l.Y, W: h.wide(), H: hostHead + rows*(room+gap)},
		{Class: "name", X: x + pad, Y: l.Y + 210, Text: picture.Cut(h.name, inner, boldLetter)},
		{Class: "count", X: x + pad, Y: l.Y + 390, Text: picture.Cut(h.count, inner, 70)},
		{Class: "facts", X: x + pad, Y: l.Y + 550, Text: picture.Cut(h.facts, inner, letter)},
	}})
	for i := range h.nodes {
		left := x + pad + picture.Px(i%across)*(roomWidth+gap)
		top := l.Y + hostHead + picture.Px(i/across)*(room+gap)
		l.room(fmt.Sprintf("%s__node-%d", id, h.nodes[i].Node), &h.nodes[i], left, top, room)
	}
}

// room places a node. On the left are its cores, with the clients at the bottom and the free part hatched above. On the
// right is its memory: clients, memory of clients elsewhere, the free part, and the reserve at the top.
func (l *placing) room(id string, n *fit.Use, x, top, height picture.Px) {
	facts := fmt.Sprintf("%d cores", n.Cores)
	if n.VCPUs != n.Cores {
		facts += fmt.Sprintf(", %d vCPU", n.VCPUs)
	}
	l.Add(picture.Group{ID: id, Class: "node", Shapes: []picture.Shape{
		{Class: "wall", X: x, Y: top, W: roomWidth, H: height},
		{Class: "name", X: x + pad, Y: top + 170, Text: fmt.Sprintf("node %d", n.Node)},
		{Class: "facts", X: x + pad, Y: top + 320, Text: picture.Cut(facts, coresWidth, letter)},
		{Class: "facts middle", X: x + roomWidth - pad - memoryWidth/2, Y: top + 320, Text: short(n.Memory)},
	}})
	floor := top + height - pad
	cores, memory := l.cores(x+pad, floor), l.memoryOf(x+roomWidth-pad-memoryWidth, floor)
	node := fmt.Sprintf("node %d: ", n.Node)
	part := func(name, class string, b numa.Bytes, numbers string) {
		l.block(memory.Next(float64(b)), id+name, class, class, numbers, whole(b))
	}
	for i := range n.Clients {
		c := &n.Clients[i]
		name := l.name(c)
		label := name
		if len(l.d.kinds) <= 1 {
			label = fmt.Sprintf("%d vCPU, %s", c.VCPUs, whole(c.Memory))
		}
		l.block(cores.Next(float64(c.VCPUs)), fmt.Sprintf("%s__client-%d", id, i), "client", l.kind(c.Shape),
			fmt.Sprintf("%s, VM %d, client %d: %d vCPUs, %s on node %d", name, c.VM+1, c.Index, c.VCPUs, c.Memory, n.Node), label)
		local := c.Memory - c.Remote
		l.block(memory.Next(float64(local)), fmt.Sprintf("%s__memory-%d", id, i), "client", l.kind(c.Shape), fmt.Sprintf("%s, VM %d: %s on node %d", name, c.VM+1, local, n.Node), whole(local))
	}
	if n.RestVCPUs > 0 {
		l.block(cores.Next(float64(n.RestVCPUs)), id+"__rest", "rest", "rest", node+fmt.Sprintf("%d vCPUs are left", n.RestVCPUs), fmt.Sprintf("%d vCPU left", n.RestVCPUs))
	}
	part("__foreign", "remote", n.Foreign, node+n.Foreign.String()+" of VMs that live on other nodes")
	part("__left", "rest", max(0, n.RestMemory), node+n.RestMemory.String()+" are left")
	part("__reserve", "reserve", n.Reserve, node+n.Reserve.String()+" are kept free")
}

// block adds one part of a stack.
func (l *placing) block(b picture.Shape, id, class, fill, numbers, label string) {
	if b.H <= 0 {
		return
	}
	b.Class, b.Fill = "block", fill
	shapes := []picture.Shape{b}
	if label != "" && b.H >= leastHeight {
		text := "amount"
		if class != "client" { // hatched
			text += " halo"
		}
		shapes = append(shapes, picture.Shape{Class: text, X: b.X + b.W/2, Y: b.Y + b.H/2 + 38, Text: picture.Cut(label, b.W, smallLetter)})
	}
	l.Add(picture.Group{ID: id, Class: class, Numbers: numbers, Focus: true, Shapes: shapes})
}

// kind returns the fill of a shape.
func (l *placing) kind(shape int) string {
	if shape < len(l.d.fills) {
		shape = l.d.fills[shape]
	}
	return picture.Fill("kind", shape)
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

// legend explains the fills in use.
func (l *placing) legend() {
	var all []picture.Entry
	add := func(id, class, fill, text string) {
		all = append(all, picture.Swatch(l.ID+"__legend-"+id, class, fill, picture.Cut(text, 60, 1)))
	}
	for k := range min(textures, len(l.d.kinds)) {
		if fill := picture.Fill("kind", k); l.Uses(fill) {
			var alike []string
			for i := k; i < len(l.d.kinds); i += textures {
				alike = append(alike, l.d.kinds[i])
			}
			add(fmt.Sprint(k), "client", fill, strings.Join(alike, ", "))
		}
	}
	add("rest", "rest", "rest", "left")
	add("reserve", "reserve", "reserve", "kept free (reserve of the node)")
	if l.Uses("remote") {
		add("remote", "foreign", "remote", "memory of VMs of other nodes")
	}
	l.Legend(all...)
}

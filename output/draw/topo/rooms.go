package topo

import (
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/internal/texttab"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/draw/picture"
)

// Sizes of the picture.
const (
	margin     = picture.Px(80)
	roomWidth  = picture.Px(2560)
	roomGap    = picture.Px(140)
	arrowGap   = picture.Px(940) // between rooms, for an arrow
	roomPad    = picture.Px(100)
	acrossMost = 4 // rooms side by side: labels must stay legible on a page

	headHeight   = picture.Px(510) // of a room, above the blocks
	footHeight   = picture.Px(260)
	gutter       = picture.Px(160) // to the left of the blocks, for the number of cores
	memoryWidth  = picture.Px(400)
	frameHeight  = picture.Px(260)
	frameGap     = picture.Px(80)
	rowGap       = picture.Px(160)
	lineHeight   = picture.LineHeight
	labelHeight  = picture.Px(110) // minimum height of a block with a label
	planLeast    = picture.Px(1200)
	planMost     = picture.Px(3200)
	clientHeight = picture.Px(150) // desired height of the smallest client
	stripWidth   = picture.Px(90)
	letter       = picture.Letter
	blockLetter  = picture.Px(64) // of names and amounts, mostly digits
)

// layout is the state of placing shapes.
type layout struct {
	*picture.Picture
	all    []*Drawing
	d      *Drawing // the current one
	across int
	gap    picture.Px // between rooms
	vcpus  int        // vCPUs or cores at full height: the maximum of all nodes
	memory numa.Bytes // memory at full height: the maximum of all nodes
	plan   picture.Px // height of the area for blocks
}

// Picture draws d for a page:
//
//	  ╭ guest node 0 ──────╮ ╭ guest node 1 ──────╮   frames: nodes of the guest
//	┌ node 0 ──────────────┐ ┌ node 1 ──────────────┐ rooms: NUMA nodes
//	│ ┄┄┄┄┄┄┄┄┄┄┄┄┄┄  ▕  ▏ │ │ ┄┄┄┄┄┄┄┄┄┄┄┄┄┄  ▕  ▏ │ dashed: as many vCPUs as cores
//	│ ┌────────────┐  ▕  ▏ │ │ ┌────────────┐  ▕▒▒▏ │ blocks: clients, height ∝ vCPUs
//	│ │ sql01.0    │  ▕██▏ │ │ │ sql01.1    │  ▕██▏ │ column: memory of the node
//	└──────────────────────┘ └──────────────────────┘
func (d *Drawing) Picture() *picture.Picture {
	l := newLayout(d.ID, d.Title, d)
	l.Prefix = d.Prefix
	l.drawing(d)
	return l.finish(d.Caption)
}

// Several draws hosts one below the other, to one scale, below a title. The IDs of the hosts begin with id.
func Several(id, title string, hosts []*Drawing, caption []string) *picture.Picture {
	l := newLayout(id, title, hosts...)
	l.Headline(id, title)
	for _, d := range hosts {
		l.ID = d.ID
		l.drawing(d)
	}
	l.ID = id
	return l.finish(caption)
}

// newLayout begins a picture as wide as the widest drawing needs.
func newLayout(id, title string, all ...*Drawing) *layout {
	l := &layout{Picture: newPicture(id, title), all: all}
	for _, d := range all {
		l.take(d)
		columns := picture.Px(max(l.across, 2)) // the title and the caption need the width of two rooms
		l.Width = max(l.Width, 2*margin+columns*roomWidth+(columns-1)*l.gap)
	}
	l.scale()
	return l
}

// take makes d the current drawing.
func (l *layout) take(d *Drawing) {
	l.d, l.across = d, min(len(d.Nodes), acrossMost)
	for l.across > 1 && len(d.Nodes)%l.across != 0 && len(d.Nodes) > acrossMost {
		l.across--
	}
	if l.gap = roomGap; d.Away > 0 && l.across > 1 {
		l.gap = arrowGap
	}
}

// drawing adds the rooms of a host, with its name above.
func (l *layout) drawing(d *Drawing) {
	l.take(d)
	l.Heading(d.Title, strings.Join(d.Facts, " · "))
	for i := 0; i < len(d.Nodes); i += l.across {
		l.row(i, min(i+l.across, len(d.Nodes)))
	}
	l.loose()
}

// finish adds the legend and sentences.
func (l *layout) finish(caption []string) *picture.Picture {
	l.Y += lineHeight
	l.NumbersY = l.Y - 60
	if slices.ContainsFunc(l.all, func(d *Drawing) bool { return len(d.Nodes) > 0 }) {
		l.legend()
	}
	l.Caption(l.ID, caption...)
	l.Height = l.Y + margin
	return l.Picture
}

// newPicture returns a picture without groups.
func newPicture(id, title string) *picture.Picture {
	return &picture.Picture{ID: id, Class: "topo", Title: title, Margin: margin, Letter: letter, Y: margin}
}

// scale sets the height of a vCPU, which is the same in all rooms. The smallest client is legible unless the
// rooms would be too high.
func (l *layout) scale() {
	least := 0
	for _, d := range l.all {
		for i := range d.Nodes {
			n := &d.Nodes[i]
			l.vcpus = max(l.vcpus, n.Cores, n.VCPUs)
			l.memory = max(l.memory, n.Memory.Value, n.Used)
			for _, c := range n.Clients {
				if least == 0 || c.VCPUs < least {
					least = c.VCPUs
				}
			}
		}
	}
	l.vcpus, least = max(l.vcpus, 1), max(least, 1)
	l.plan = min(planMost, max(planLeast, clientHeight*picture.Px(l.vcpus)/picture.Px(least)))
}

// any reports whether is is true for a client of a drawing.
func (l *layout) any(is func(*Client) bool) bool {
	return slices.ContainsFunc(l.all, func(d *Drawing) bool { return d.any(is) })
}

// stack returns a stack on the floor of a room. Its full height is the height of the area for blocks.
func (l *layout) stack(x, floor, width picture.Px, full float64) picture.Stack {
	return picture.Stack{X: x, W: width, Scale: picture.Scale{High: full, From: floor, To: floor - l.plan}}
}

// add adds a group on top of all others, without shapes that are too small to be visible.
func (l *layout) add(g picture.Group) {
	g.Focus = true
	g.Shapes = slices.DeleteFunc(g.Shapes, func(s picture.Shape) bool {
		return s.Text == "" && s.Path == "" && s.Class != "line" && (s.W <= 0 || s.H <= 0)
	})
	l.Add(g)
}

// row adds the rooms from to to-1, with the guest's frames above.
func (l *layout) row(from, to int) {
	if l.frames(from, to) {
		l.Y += frameHeight + frameGap
	}
	for i := from; i < to; i++ {
		l.room(&l.d.Nodes[i], l.roomX(i-from))
		if i > from {
			l.arrow(i, l.roomX(i-from)-l.gap)
		}
	}
	l.Y += headHeight + l.plan + footHeight + rowGap
}

// arrow draws an arrow between two rooms for the share of the VM's memory accesses to another node. Its width
// is the share.
func (l *layout) arrow(right int, x picture.Px) {
	if l.d.Away == 0 || len(l.d.Nodes[right-1].Clients) == 0 || len(l.d.Nodes[right].Clients) == 0 {
		return
	}
	share := words.Percent(l.d.Away)
	half := 40 + picture.Px(l.d.Away*500)
	head, middle := half+140, l.Y+headHeight+l.plan/2
	from, to := x+60, x+l.gap-60
	path := fmt.Sprintf("M%s %sL%s %sV%sH%sV%sL%s %sL%s %sV%sH%sV%sZ", from, middle, from+260, middle-head, middle-half, to-260, middle-head, to, middle, to-260, middle+head, middle+half, from+260, middle+head)
	l.add(picture.Group{ID: fmt.Sprintf("%s__away-%d", l.d.ID, right), Class: "away", Numbers: share + " of the memory accesses go to another node, and the guest cannot avoid it", Shapes: []picture.Shape{
		{Class: "arrow", Path: path},
		{Class: "middle share", X: x + l.gap/2, Y: middle - head - 60, Text: share},
		{Class: "middle facts", X: x + l.gap/2, Y: middle + head + 150, Text: "of accesses"},
		{Class: "middle facts", X: x + l.gap/2, Y: middle + head + 290, Text: "are remote"},
	}})
}

func (l *layout) roomX(column int) picture.Px { return margin + picture.Px(column)*(roomWidth+l.gap) }

// frames adds the guest nodes above their rooms. It reports whether there are any in this row.
func (l *layout) frames(from, to int) bool {
	placed := false
	for _, s := range l.d.Spans() {
		a, b := max(s.From, from), min(s.To, to-1)
		if a > b {
			continue
		}
		placed = true
		x, end := l.roomX(a-from), l.roomX(b-from)+roomWidth
		n := picture.Px(len(s.Guests))
		each := (end - x - (n-1)*frameGap) / n
		for i, index := range s.Guests {
			g := &l.d.Guests[index]
			id, heading := g.ID, strings.Join(g.Heading(), " · ")
			if g.Clients > 1 {
				heading += " · " + g.Carried()
			}
			if s.From < from { // the frame is continued from the previous row
				id, heading = fmt.Sprintf("%s__row-%d", id, from/l.across), "… "+heading
			}
			left := x + picture.Px(i)*(each+frameGap)
			frame := picture.Group{ID: id, Class: l.guestClass(), Numbers: g.Numbers(), Shapes: framed("frame", left, l.Y, each, heading)}
			for _, on := range g.On {
				if leg := l.roomX(on-from) + roomWidth/2; on >= from && on < to && len(s.Guests) == 1 {
					frame.Shapes = append(frame.Shapes, picture.Shape{Class: "leg", X: leg - 30, Y: l.Y + frameHeight, W: 60, H: frameGap})
				}
			}
			l.add(frame)
		}
	}
	return placed
}

// guestClass returns the class of guest nodes; it marks those that hide host nodes, or that differ from today.
func (l *layout) guestClass() string {
	switch {
	case l.d.Away > 0:
		return "guest hides"
	case l.d.Changed:
		return "guest changed"
	}
	return "guest"
}

// framed returns a frame with a text in it.
func framed(class string, x, y, width picture.Px, text string) []picture.Shape {
	return []picture.Shape{{Class: class, X: x, Y: y, W: width, H: frameHeight},
		{Class: "label", X: x + roomPad, Y: y + 170, Text: picture.Cut(text, width-2*roomPad, letter)}}
}

// room adds a node: its walls and numbers, the blocks, the memory column.
func (l *layout) room(n *Node, x picture.Px) {
	heading := n.Heading()
	floor := l.Y + headHeight + l.plan
	left, inner := x+roomPad, roomWidth-2*roomPad
	l.add(picture.Group{ID: n.ID, Class: "node", Numbers: n.Numbers(), Shapes: []picture.Shape{
		{Class: "wall", X: x, Y: l.Y, W: roomWidth, H: headHeight + l.plan + footHeight},
		{Class: "name", X: left, Y: l.Y + 180, Text: heading[0]},
		{Class: "facts", X: left, Y: l.Y + 340, Text: strings.Join(heading[1:], " · ")},
		{Class: "facts", X: left, Y: floor + 180, Text: strings.Join(n.feet(), " · ")},
	}})
	blocks := l.stack(left+gutter, floor, inner-roomPad-gutter-memoryWidth, float64(l.vcpus))
	line := blocks.At(float64(n.Cores))
	l.add(picture.Group{ID: n.ID + "__cores", Class: "cores", Shapes: []picture.Shape{
		{Class: "line", X: left, Y: line, W: inner - memoryWidth - 30}, {Class: "tick", X: left, Y: line - 30, Text: fmt.Sprint(n.Cores)},
	}})
	// The blocks cover most of the line, which would otherwise cross out their names.
	for i := range n.Clients {
		l.block(&n.Clients[i], blocks.Next(float64(n.Clients[i].VCPUs)))
	}
	if m := &n.More; m.Clients > 0 {
		b := blocks.Next(float64(m.VCPUs))
		l.add(picture.Group{ID: m.ID, Class: "more", Numbers: m.Numbers(), Shapes: labelled(b, m.Label(), fmt.Sprintf("%d vCPU · %s", m.VCPUs, m.Memory), 0)})
	}
	l.column(n, x+roomWidth-roomPad-memoryWidth, floor)
}

// block adds a client. The height is its number of vCPUs; a strip shows memory on other nodes.
func (l *layout) block(c *Client, b picture.Shape) {
	amount := fmt.Sprintf("%d vCPU", c.VCPUs)
	if c.MemoryKnown {
		amount += " · " + c.Memory.String()
	}
	strip := picture.Shape{Class: "strip", X: b.X + b.W - stripWidth, Y: b.Y, W: stripWidth, H: b.H - 10}
	switch {
	case c.Remote > 0:
		share := strip.H * picture.Px(c.Remote>>20) / picture.Px(max(1, c.Memory>>20))
		strip.Y, strip.H, strip.Fill = strip.Y+strip.H-share, share, "remote"
	case c.Interleaved:
		strip.Fill = "spread"
	default:
		strip.W = 0
	}
	all := labelled(b, c.Label, amount, strip.W)
	extra := []picture.Shape{strip}
	if c.High {
		extra = append(extra, picture.Shape{Class: "alarm", X: b.X, Y: b.Y, W: 30, H: b.H - 10})
	}
	l.add(picture.Group{ID: c.ID, Class: clientClass(c), Numbers: c.Numbers(), Shapes: slices.Insert(all, 1, extra...)})
}

func clientClass(c *Client) string {
	class := "client"
	if c.Wide {
		class += " wide"
	}
	if c.High {
		class += " high"
	}
	return class
}

// labelled returns a block with a name on the left and amounts on the right, as far as they fit beside a strip.
func labelled(b picture.Shape, name, amount string, strip picture.Px) []picture.Shape {
	b.Class, b.H = "block", b.H-10
	out := []picture.Shape{b}
	if b.H < labelHeight {
		return out
	}
	y := b.Y + (b.H+10)/2 + 34
	room := int((b.W - strip - 140) / blockLetter)
	if texttab.Width(name)+1+texttab.Width(amount) > room {
		amount, _, _ = strings.Cut(amount, " · ")
	}
	if rest := room - 1 - texttab.Width(amount); rest >= 6 {
		room = rest
		out = append(out, picture.Shape{Class: "amount", X: b.X + b.W - strip - 70, Y: y, Text: amount})
	}
	return slices.Insert(out, 1, picture.Shape{Class: "label", X: b.X + 70, Y: y, Text: texttab.Cut(name, room)})
}

// column adds the memory of a node as a column, filled from the bottom: the local memory of its clients in the
// order of the blocks, then the memory of clients on other nodes.
func (l *layout) column(n *Node, x, floor picture.Px) {
	if l.memory == 0 || !n.Memory.Known() {
		return
	}
	s := l.stack(x, floor, memoryWidth, float64(l.memory))
	part := func(id, class, numbers string, b numa.Bytes, shapes ...picture.Shape) picture.Shape {
		p := s.Next(float64(b))
		for i := range shapes {
			shapes[i].X, shapes[i].Y, shapes[i].W, shapes[i].H = p.X, p.Y, p.W, p.H
		}
		if p.H > 0 {
			l.add(picture.Group{ID: id, Class: class, Numbers: numbers, Shapes: shapes})
		}
		return p
	}
	wall := part(n.ID+"__memory", "memory", "", n.Memory.Value, picture.Shape{Class: "wall"})
	s = l.stack(x, floor, memoryWidth, float64(l.memory))
	fill := picture.Shape{Class: "fill"}
	for i := range n.Clients {
		c := &n.Clients[i]
		shapes := []picture.Shape{fill}
		if c.Interleaved {
			shapes = append(shapes, picture.Shape{Class: "pattern", Fill: "spread"})
		}
		part(c.ID+"__memory", clientClass(c), fmt.Sprintf("%s: %s on node %d", c.Label, c.Local(), n.Number), c.Local(), shapes...)
	}
	part(n.More.ID+"__memory", "more", n.More.Numbers(), n.More.Local, fill)
	last := part(n.ID+"__foreign", "foreign", n.Numbers()+": remote to them", n.Foreign, picture.Shape{Class: "fill", Fill: "remote"})
	free, ok := n.Free()
	if room := last.Y - wall.Y; ok && room > 2*lineHeight {
		middle := wall.Y + room/2
		l.add(picture.Group{ID: n.ID + "__free", Class: "free", Shapes: []picture.Shape{
			{Class: "amount", X: x + memoryWidth/2, Y: middle - 20, Text: free.String()}, {Class: "amount", X: x + memoryWidth/2, Y: middle + 110, Text: "left"},
		}})
	}
}

// loose adds the VMs without home node, in rows below the rooms.
func (l *layout) loose() {
	if len(l.d.Loose) == 0 {
		return
	}
	l.add(picture.Group{ID: l.d.ID + "__loose", Class: "heading", Shapes: []picture.Shape{{Class: "facts", X: margin, Y: l.Y + 120, Text: l.d.LooseTitle()}}})
	l.Y += lineHeight
	each := max(l.across, 2)
	box := func(i int, id, class, numbers string) {
		if i > 0 && i%each == 0 {
			l.Y += frameHeight + frameGap
		}
		l.add(picture.Group{ID: id, Class: class, Numbers: numbers, Shapes: framed("block", l.roomX(i%each), l.Y, roomWidth, numbers)})
	}
	for i := range l.d.Loose {
		box(i, l.d.Loose[i].ID, "loose", l.d.Loose[i].Numbers())
	}
	if m := &l.d.LooseMore; m.Clients > 0 {
		box(len(l.d.Loose), m.ID, "loose more", m.Numbers())
	}
	l.Y += frameHeight + rowGap
}

// legend explains the graphical elements in use.
func (l *layout) legend() {
	var all []picture.Entry
	add := func(occurs bool, e picture.Entry) {
		if e.ID = l.ID + "__legend-" + e.ID; occurs {
			all = append(all, e)
		}
	}
	one, part := "client", "client of a wide VM"
	if l.d.Stated {
		one, part = "vCPUs of a VM", "a part of a VM"
	}
	if l.any((*Client).Numbered) {
		part += " (name.0, name.1 …)"
	}
	add(l.any(func(c *Client) bool { return !c.Wide }), picture.Swatch("client", "client", "", one))
	add(l.any(func(c *Client) bool { return c.Wide }), picture.Swatch("wide", "client wide", "", part))
	add(true, picture.Stroke("cores", "cores", "line", "cores of the node"))
	add(l.Uses("remote"), picture.Swatch("remote", "foreign", "remote", "remote memory"))
	add(l.Uses("spread"), picture.Swatch("spread", "foreign", "spread", "interleaved"))
	add(l.any(func(c *Client) bool { return c.High }), picture.Entry{ID: "alarm", Class: "high", Text: "VM with a finding of high severity",
		Sample: func(x, y picture.Px) []picture.Shape {
			return []picture.Shape{{Class: "alarm", X: x + 105, Y: y + 10, W: 30, H: 110}}
		}})
	l.Legend(all...)
}

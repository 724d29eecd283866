package svg

import (
	"fmt"
	"strings"

	"homenode/internal/texttab"
	"homenode/numa"
	"homenode/output/draw/topo"
)

// Px is a length in tenths of a pixel: whole numbers give the same bytes on every
// processor.
type Px int

// A picture is all shapes at their places.
type picture struct {
	id, title     string
	width, height Px
	groups        []group
}

// A group is the shapes of one thing: a node, a client, a guest node. With
// numbers it can be pointed at and focused, and then shows them.
type group struct {
	id, class string
	numbers   string
	shapes    []shape
}

// A shape is a rectangle, a line, or text at x, y when text is set.
type shape struct {
	class      string
	x, y, w, h Px
	text       string
	after      string // more text on the same line, softer
	fill       string // a pattern of the picture: "remote" or "spread"
}

// Sizes of the drawing.
const (
	margin     = Px(80)
	roomWidth  = Px(2560)
	roomGap    = Px(140)
	roomPad    = Px(100)
	acrossMost = 4 // rooms side by side, so that labels stay legible on a page

	titleHeight  = Px(320)
	headHeight   = Px(510) // of a room, above the floor plan
	footHeight   = Px(260)
	gutter       = Px(160) // left of the blocks: the number of cores
	memoryWidth  = Px(400)
	frameHeight  = Px(260)
	frameGap     = Px(80)
	rowGap       = Px(160)
	lineHeight   = Px(170)
	labelHeight  = Px(110) // least height of a block that holds a label
	planLeast    = Px(1200)
	planMost     = Px(3200)
	clientHeight = Px(150) // wanted for the smallest client
	stripWidth   = Px(90)
	letter       = Px(61) // mean width of a letter at 11 px
	titleLetter  = Px(92) // and at 15 px, bold
	blockLetter  = Px(64) // and of names and amounts, which are mostly digits
)

// layout is the state of the placing pass.
type layout struct {
	d      *topo.Drawing
	pic    *picture
	across int
	vcpus  int        // a full plan: the most vCPUs or cores of a node
	memory numa.Bytes // a full memory column: the most of a node
	plan   Px         // height of the blocks' floor plan
	y      Px
	remote bool // a hatched shape was placed
	spread bool
}

// place is the pass that gives every shape its place.
func place(d *topo.Drawing) *picture {
	l := &layout{d: d, pic: &picture{id: d.ID, title: d.Title}}
	l.across = min(len(d.Nodes), acrossMost)
	for l.across > 1 && len(d.Nodes)%l.across != 0 && len(d.Nodes) > acrossMost {
		l.across--
	}
	columns := Px(max(l.across, 2)) // room for the title and the caption
	l.pic.width = 2*margin + columns*roomWidth + (columns-1)*roomGap
	l.scale()
	l.y = margin
	l.title()
	for i := 0; i < len(d.Nodes); i += l.across {
		l.row(i, min(i+l.across, len(d.Nodes)))
	}
	l.loose()
	l.foot()
	l.pic.height = l.y + margin
	return l.pic
}

// scale chooses the height of a vCPU, the same in all rooms: the smallest client
// legible when the room does not become too high.
func (l *layout) scale() {
	least := 0
	for i := range l.d.Nodes {
		n := &l.d.Nodes[i]
		l.vcpus = max(l.vcpus, n.Cores, n.VCPUs)
		l.memory = max(l.memory, n.Memory.Value, n.Used)
		for _, c := range n.Clients {
			if least == 0 || c.VCPUs < least {
				least = c.VCPUs
			}
		}
	}
	l.vcpus, least = max(l.vcpus, 1), max(least, 1)
	l.plan = min(planMost, max(planLeast, clientHeight*Px(l.vcpus)/Px(least)))
}

// add places a group.
func (l *layout) add(g group) { l.pic.groups = append(l.pic.groups, g) }

func (l *layout) title() {
	facts := strings.Join(l.d.Facts, " · ")
	room := l.pic.width - 2*margin
	title := texttab.Cut(l.d.Title, int(room*2/3/titleLetter))
	facts = texttab.Cut(facts, int((room-Px(columns(title))*titleLetter-200)/letter))
	l.add(group{id: l.d.ID + "__title", class: "title", shapes: []shape{{class: "name", x: margin, y: l.y + 170, text: title, after: facts}}})
	l.y += titleHeight
}

// row places the rooms from and up to but not to, with the guest's frames above.
func (l *layout) row(from, to int) {
	if l.frames(from, to) {
		l.y += frameHeight + frameGap
	}
	for i := from; i < to; i++ {
		l.room(&l.d.Nodes[i], l.roomX(i-from))
	}
	l.y += headHeight + l.plan + footHeight + rowGap
}

func (l *layout) roomX(column int) Px { return margin + Px(column)*(roomWidth+roomGap) }

// frames places the guest nodes above the rooms that carry them; it reports
// whether there are any in this row.
func (l *layout) frames(from, to int) bool {
	placed := false
	for _, s := range l.d.Spans() {
		a, b := max(s.From, from), min(s.To, to-1)
		if a > b {
			continue
		}
		placed = true
		x, end := l.roomX(a-from), l.roomX(b-from)+roomWidth
		n := Px(len(s.Guests))
		each := (end - x - (n-1)*frameGap) / n
		for i, index := range s.Guests {
			g := &l.d.Guests[index]
			id, heading := g.ID, strings.Join(g.Heading(), " · ")
			if g.Clients > 1 {
				heading += fmt.Sprintf(" · carried by %d clients", g.Clients)
			}
			if s.From < from { // a frame that goes on in the next row
				id, heading = fmt.Sprintf("%s__row-%d", id, from/l.across), "… "+heading
			}
			left := x + Px(i)*(each+frameGap)
			frame := group{id: id, class: "guest", numbers: g.Numbers(), shapes: []shape{
				{class: "frame", x: left, y: l.y, w: each, h: frameHeight},
				{class: "label", x: left + roomPad, y: l.y + 170, text: texttab.Cut(heading, int((each-2*roomPad)/letter))},
			}}
			for _, on := range g.On {
				if leg := l.roomX(on-from) + roomWidth/2; on >= from && on < to && len(s.Guests) == 1 {
					frame.shapes = append(frame.shapes, shape{class: "leg", x: leg - 30, y: l.y + frameHeight, w: 60, h: frameGap})
				}
			}
			l.add(frame)
		}
	}
	return placed
}

// room places a node: its walls and numbers, the blocks, the memory column.
func (l *layout) room(n *topo.Node, x Px) {
	heading := n.Heading()
	floor := l.y + headHeight + l.plan
	sum := []string{}
	if load, ok := n.Load(); ok {
		sum = append(sum, fmt.Sprintf("%.1f vCPU per core", load))
	}
	if free, ok := n.Free(); ok {
		sum = append(sum, free.String()+" free")
	}
	l.add(group{id: n.ID, class: "node", numbers: n.Numbers(), shapes: []shape{
		{class: "wall", x: x, y: l.y, w: roomWidth, h: headHeight + l.plan + footHeight},
		{class: "name", x: x + roomPad, y: l.y + 180, text: heading[0]},
		{class: "facts", x: x + roomPad, y: l.y + 340, text: strings.Join(heading[1:], " · ")},
		{class: "facts", x: x + roomPad, y: floor + 180, text: strings.Join(sum, " · ")},
	}})
	line := floor - l.rise(n.Cores)
	l.add(group{id: n.ID + "__cores", class: "cores", shapes: []shape{
		{class: "line", x: x + roomPad, y: line, w: roomWidth - 2*roomPad - memoryWidth - 30},
		{class: "tick", x: x + roomPad, y: line - 30, text: fmt.Sprint(n.Cores)},
	}})
	// The blocks cover the line, which would strike their names through; its ends
	// stay visible.
	l.blocks(n, x+roomPad+gutter, floor)
	l.column(n, x+roomWidth-roomPad-memoryWidth, floor)
}

// rise returns the height of so many vCPUs.
func (l *layout) rise(vcpus int) Px { return l.plan * Px(vcpus) / Px(l.vcpus) }

// blocks stacks the clients on the floor, the largest lowest.
func (l *layout) blocks(n *topo.Node, x, floor Px) {
	width := roomWidth - 3*roomPad - gutter - memoryWidth
	below := 0
	for i := range n.Clients {
		c := &n.Clients[i]
		top, bottom := floor-l.rise(below+c.VCPUs), floor-l.rise(below)
		below += c.VCPUs
		amount := fmt.Sprintf("%d vCPU", c.VCPUs)
		if c.MemoryKnown {
			amount += " · " + c.Memory.String()
		}
		g := group{id: c.ID, class: clientClass(c), numbers: c.Numbers(), shapes: []shape{{class: "block", x: x, y: top, w: width, h: bottom - top - 10}}}
		inner := width
		switch {
		case c.Remote > 0:
			share := (bottom - top - 10) * Px(c.Remote>>20) / Px(max(1, c.Memory>>20))
			g.shapes = append(g.shapes, shape{class: "strip", x: x + width - stripWidth, y: bottom - 10 - share, w: stripWidth, h: share, fill: "remote"})
			inner, l.remote = inner-stripWidth, true
		case c.Interleaved:
			g.shapes = append(g.shapes, shape{class: "strip", x: x + width - stripWidth, y: top, w: stripWidth, h: bottom - top - 10, fill: "spread"})
			inner, l.spread = inner-stripWidth, true
		}
		if c.High {
			g.shapes = append(g.shapes, shape{class: "alarm", x: x, y: top, w: 30, h: bottom - top - 10})
		}
		g.shapes = append(g.shapes, labels(c.Label, amount, x, top, bottom, inner)...)
		l.add(g)
	}
	if m := &n.More; m.Clients > 0 {
		top, bottom := floor-l.rise(below+m.VCPUs), floor-l.rise(below)
		g := group{id: m.ID, class: "more", numbers: m.Numbers(), shapes: []shape{{class: "block", x: x, y: top, w: width, h: bottom - top - 10}}}
		g.shapes = append(g.shapes, labels(m.Label(), fmt.Sprintf("%d vCPU · %s", m.VCPUs, m.Memory), x, top, bottom, width)...)
		l.add(g)
	}
}

func clientClass(c *topo.Client) string {
	class := "client"
	if c.Wide {
		class += " wide"
	}
	if c.High {
		class += " high"
	}
	return class
}

// labels places a name at the left and amounts at the right of a block, as far as
// the block is high and wide enough.
func labels(name, amount string, x, top, bottom, width Px) []shape {
	if bottom-top-10 < labelHeight {
		return nil
	}
	y := (top+bottom)/2 + 34
	room := int((width - 140) / blockLetter)
	if columns(name)+1+columns(amount) > room {
		if short, _, ok := strings.Cut(amount, " · "); ok {
			amount = short
		}
	}
	if room-1-columns(amount) < 6 {
		return []shape{{class: "label", x: x + 70, y: y, text: texttab.Cut(name, room)}}
	}
	return []shape{
		{class: "label", x: x + 70, y: y, text: texttab.Cut(name, room-1-columns(amount))},
		{class: "amount", x: x + width - 70, y: y, text: amount},
	}
}

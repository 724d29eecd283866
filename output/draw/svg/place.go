package svg

import (
	"fmt"
	"slices"
	"strings"

	"homenode/internal/texttab"
	"homenode/numa"
	"homenode/output/draw/picture"
	"homenode/output/draw/topo"
)

// Sizes of the drawing.
const (
	margin     = picture.Px(80)
	roomWidth  = picture.Px(2560)
	roomGap    = picture.Px(140)
	roomPad    = picture.Px(100)
	acrossMost = 4 // rooms side by side, so that labels stay legible on a page

	titleHeight  = picture.Px(320)
	headHeight   = picture.Px(510) // of a room, above the floor plan
	footHeight   = picture.Px(260)
	gutter       = picture.Px(160) // left of the blocks: the number of cores
	memoryWidth  = picture.Px(400)
	frameHeight  = picture.Px(260)
	frameGap     = picture.Px(80)
	rowGap       = picture.Px(160)
	lineHeight   = picture.Px(170)
	labelHeight  = picture.Px(110) // least height of a block that holds a label
	planLeast    = picture.Px(1200)
	planMost     = picture.Px(3200)
	clientHeight = picture.Px(150) // wanted for the smallest client
	stripWidth   = picture.Px(90)
	letter       = picture.Px(61) // mean width of a letter at 11 px
	titleLetter  = picture.Px(92) // and at 15 px, bold
	blockLetter  = picture.Px(64) // and of names and amounts, which are mostly digits
)

// layout is the state of the placing pass.
type layout struct {
	d      *topo.Drawing
	pic    *picture.Picture
	across int
	vcpus  int        // a full plan: the most vCPUs or cores of a node
	memory numa.Bytes // a full memory column: the most of a node
	plan   picture.Px // height of the blocks' floor plan
	y      picture.Px
	remote bool // a hatched shape was placed
	spread bool
}

// place is the pass that gives every shape its place.
func place(d *topo.Drawing) *picture.Picture {
	l := &layout{d: d, pic: newPicture(d.ID, d.Title)}
	l.across = min(len(d.Nodes), acrossMost)
	for l.across > 1 && len(d.Nodes)%l.across != 0 && len(d.Nodes) > acrossMost {
		l.across--
	}
	columns := picture.Px(max(l.across, 2)) // room for the title and the caption
	l.pic.Width = 2*margin + columns*roomWidth + (columns-1)*roomGap
	l.scale()
	l.y = margin
	l.title()
	for i := 0; i < len(d.Nodes); i += l.across {
		l.row(i, min(i+l.across, len(d.Nodes)))
	}
	l.loose()
	l.foot()
	l.pic.Height = l.y + margin
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
	l.plan = min(planMost, max(planLeast, clientHeight*picture.Px(l.vcpus)/picture.Px(least)))
}

// newPicture returns a picture without groups.
func newPicture(id, title string) *picture.Picture {
	return &picture.Picture{ID: id, Class: "topo", Title: title, NumbersX: margin, Letter: letter, Patterns: []picture.Pattern{
		{Name: "remote", Class: "remote", Size: 6, Tilted: true, Drawn: `<rect width="6" height="6"/><line y2="6"/>`},
		{Name: "spread", Class: "spread", Size: 5, Drawn: `<circle cx="1.5" cy="1.5" r="1.1"/>`},
	}}
}

// add places a group above all others, without what is too small to be seen.
func (l *layout) add(g picture.Group) {
	g.Focus = true
	g.Shapes = slices.DeleteFunc(g.Shapes, func(s picture.Shape) bool {
		return s.Text == "" && s.After == "" && s.Class != "line" && (s.W <= 0 || s.H <= 0)
	})
	l.pic.Add(g)
}

func (l *layout) title() {
	facts := strings.Join(l.d.Facts, " · ")
	room := l.pic.Width - 2*margin
	title := texttab.Cut(l.d.Title, int(room*2/3/titleLetter))
	facts = texttab.Cut(facts, int((room-picture.Px(texttab.Width(title))*titleLetter-200)/letter))
	l.add(picture.Group{ID: l.d.ID + "__title", Class: "title", Shapes: []picture.Shape{{Class: "name", X: margin, Y: l.y + 170, Text: title, After: facts}}})
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

func (l *layout) roomX(column int) picture.Px { return margin + picture.Px(column)*(roomWidth+roomGap) }

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
		n := picture.Px(len(s.Guests))
		each := (end - x - (n-1)*frameGap) / n
		for i, index := range s.Guests {
			g := &l.d.Guests[index]
			id, heading := g.ID, strings.Join(g.Heading(), " · ")
			if g.Clients > 1 {
				heading += " · " + g.Carried()
			}
			if s.From < from { // a frame that goes on in the next row
				id, heading = fmt.Sprintf("%s__row-%d", id, from/l.across), "… "+heading
			}
			left := x + picture.Px(i)*(each+frameGap)
			frame := picture.Group{ID: id, Class: "guest", Numbers: g.Numbers(), Shapes: []picture.Shape{
				{Class: "frame", X: left, Y: l.y, W: each, H: frameHeight},
				{Class: "label", X: left + roomPad, Y: l.y + 170, Text: texttab.Cut(heading, int((each-2*roomPad)/letter))},
			}}
			for _, on := range g.On {
				if leg := l.roomX(on-from) + roomWidth/2; on >= from && on < to && len(s.Guests) == 1 {
					frame.Shapes = append(frame.Shapes, picture.Shape{Class: "leg", X: leg - 30, Y: l.y + frameHeight, W: 60, H: frameGap})
				}
			}
			l.add(frame)
		}
	}
	return placed
}

// room places a node: its walls and numbers, the blocks, the memory column.
func (l *layout) room(n *topo.Node, x picture.Px) {
	heading := n.Heading()
	floor := l.y + headHeight + l.plan
	sum := []string{}
	if load, ok := n.Load(); ok {
		sum = append(sum, fmt.Sprintf("%.1f vCPU per core", load))
	}
	if free, ok := n.Free(); ok {
		sum = append(sum, free.String()+" free")
	}
	l.add(picture.Group{ID: n.ID, Class: "node", Numbers: n.Numbers(), Shapes: []picture.Shape{
		{Class: "wall", X: x, Y: l.y, W: roomWidth, H: headHeight + l.plan + footHeight},
		{Class: "name", X: x + roomPad, Y: l.y + 180, Text: heading[0]},
		{Class: "facts", X: x + roomPad, Y: l.y + 340, Text: strings.Join(heading[1:], " · ")},
		{Class: "facts", X: x + roomPad, Y: floor + 180, Text: strings.Join(sum, " · ")},
	}})
	line := floor - l.rise(n.Cores)
	l.add(picture.Group{ID: n.ID + "__cores", Class: "cores", Shapes: []picture.Shape{
		{Class: "line", X: x + roomPad, Y: line, W: roomWidth - 2*roomPad - memoryWidth - 30},
		{Class: "tick", X: x + roomPad, Y: line - 30, Text: fmt.Sprint(n.Cores)},
	}})
	// The blocks cover the line, which would strike their names through; its ends
	// stay visible.
	l.blocks(n, x+roomPad+gutter, floor)
	l.column(n, x+roomWidth-roomPad-memoryWidth, floor)
}

// rise returns the height of so many vCPUs.
func (l *layout) rise(vcpus int) picture.Px { return l.plan * picture.Px(vcpus) / picture.Px(l.vcpus) }

// blocks stacks the clients on the floor, the largest lowest.
func (l *layout) blocks(n *topo.Node, x, floor picture.Px) {
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
		g := picture.Group{ID: c.ID, Class: clientClass(c), Numbers: c.Numbers(), Shapes: []picture.Shape{{Class: "block", X: x, Y: top, W: width, H: bottom - top - 10}}}
		inner := width
		switch {
		case c.Remote > 0:
			share := (bottom - top - 10) * picture.Px(c.Remote>>20) / picture.Px(max(1, c.Memory>>20))
			g.Shapes = append(g.Shapes, picture.Shape{Class: "strip", X: x + width - stripWidth, Y: bottom - 10 - share, W: stripWidth, H: share, Fill: "remote"})
			inner, l.remote = inner-stripWidth, true
		case c.Interleaved:
			g.Shapes = append(g.Shapes, picture.Shape{Class: "strip", X: x + width - stripWidth, Y: top, W: stripWidth, H: bottom - top - 10, Fill: "spread"})
			inner, l.spread = inner-stripWidth, true
		}
		if c.High {
			g.Shapes = append(g.Shapes, picture.Shape{Class: "alarm", X: x, Y: top, W: 30, H: bottom - top - 10})
		}
		g.Shapes = append(g.Shapes, labels(c.Label, amount, x, top, bottom, inner)...)
		l.add(g)
	}
	if m := &n.More; m.Clients > 0 {
		top, bottom := floor-l.rise(below+m.VCPUs), floor-l.rise(below)
		g := picture.Group{ID: m.ID, Class: "more", Numbers: m.Numbers(), Shapes: []picture.Shape{{Class: "block", X: x, Y: top, W: width, H: bottom - top - 10}}}
		g.Shapes = append(g.Shapes, labels(m.Label(), fmt.Sprintf("%d vCPU · %s", m.VCPUs, m.Memory), x, top, bottom, width)...)
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
func labels(name, amount string, x, top, bottom, width picture.Px) []picture.Shape {
	if bottom-top-10 < labelHeight {
		return nil
	}
	y := (top+bottom)/2 + 34
	room := int((width - 140) / blockLetter)
	if texttab.Width(name)+1+texttab.Width(amount) > room {
		if short, _, ok := strings.Cut(amount, " · "); ok {
			amount = short
		}
	}
	if room-1-texttab.Width(amount) < 6 {
		return []picture.Shape{{Class: "label", X: x + 70, Y: y, Text: texttab.Cut(name, room)}}
	}
	return []picture.Shape{
		{Class: "label", X: x + 70, Y: y, Text: texttab.Cut(name, room-1-texttab.Width(amount))},
		{Class: "amount", X: x + width - 70, Y: y, Text: amount},
	}
}

package topo

import (
	"strings"

	"example.org/homenode/internal/texttab"
)

// A Span is a run of guest nodes on a run of host nodes. Guest nodes on overlapping host nodes
// are in the same span.
type Span struct {
	Guests   []int // indexes in Drawing.Guests
	From, To int   // indexes in Drawing.Nodes
}

// Spans groups the guest nodes with host nodes, so that frames never overlap.
func (d *Drawing) Spans() []Span {
	var spans []Span
	for i := range d.Guests {
		g := &d.Guests[i]
		if g.On == nil {
			continue
		}
		s := Span{[]int{i}, g.On[0], g.On[len(g.On)-1]}
		for j := 0; j < len(spans); {
			o := spans[j]
			if o.To < s.From || s.To < o.From {
				j++
				continue
			}
			s = Span{append(o.Guests, s.Guests...), min(s.From, o.From), max(s.To, o.To)}
			spans = append(spans[:j], spans[j+1:]...)
		}
		spans = append(spans, s)
	}
	return spans
}

// guests draws the guest nodes as frames above the nodes. It lists them if the nodes are
// stacked, or if a frame is too narrow for its text.
func (c *canvas) guests(d *Drawing, p *plan) {
	if len(d.Guests) == 0 {
		return
	}
	spans := d.Spans()
	box := p.inner + 4
	asFrames := p.across == len(d.Nodes) && len(spans) > 0
	for _, s := range spans {
		room := (s.To-s.From+1)*(box+1) - 1
		for _, g := range s.Guests {
			if texttab.Width(frameTitle(&d.Guests[g])) > room/len(s.Guests)-5 {
				asFrames = false
			}
		}
	}
	if !asFrames {
		for i := range d.Guests {
			c.wrapped("", d.Guests[i].Numbers())
		}
		return
	}
	top, bottom := make([]string, len(d.Nodes)), make([]string, len(d.Nodes))
	blank := strings.Repeat(" ", box+1)
	for i := range top {
		top[i], bottom[i] = blank, blank
	}
	for _, s := range spans {
		room := (s.To-s.From+1)*(box+1) - 1
		var t, b []string
		for i, g := range s.Guests {
			// The frames share the space; the first ones get the remainder.
			each, over := (room-len(s.Guests)+1)/len(s.Guests), (room-len(s.Guests)+1)%len(s.Guests)
			if i < over {
				each++
			}
			t = append(t, c.border('╭', frameTitle(&d.Guests[g]), '╮', each-4))
			b = append(b, c.border('╰', "", '╯', each-4))
		}
		for n := s.From; n <= s.To; n++ {
			top[n], bottom[n] = "", ""
		}
		top[s.From], bottom[s.From] = strings.Join(t, " ")+" ", strings.Join(b, " ")+" "
	}
	c.line(strings.Join(top, ""))
	c.line(strings.Join(bottom, ""))
}

func frameTitle(g *Guest) string { return strings.Join(g.Heading(), " ─ ") }

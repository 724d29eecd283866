package picture

import "example.org/homenode/internal/texttab"

// lines adds sentences as one group, one below the other.
func (p *Picture) lines(g Group, class string, sentences []string, letter, height Px) {
	for _, s := range sentences {
		for _, line := range texttab.Wrap(s, int(p.Inner()/letter)) {
			p.Y += height
			g.Shapes = append(g.Shapes, Shape{Class: class, X: p.Margin, Y: p.Y - 60, Text: Cut(line, p.Inner(), letter)})
		}
	}
	if g.Shapes != nil {
		p.Add(g)
	}
}

// Caption adds sentences.
func (p *Picture) Caption(id string, sentences ...string) {
	p.lines(Group{ID: id + "__caption", Class: "caption"}, "facts", sentences, p.Letter, LineHeight)
}

// Headline adds a title, wrapped as necessary.
func (p *Picture) Headline(id, title string) {
	p.lines(Group{ID: id + "__title", Class: "title"}, "name", []string{title}, titleLetter, 220)
	p.Y += 60
}

// Heading adds a title on one line, followed by facts.
func (p *Picture) Heading(title, facts string) {
	title = Cut(title, p.Inner()*2/3, titleLetter)
	p.Add(Group{ID: p.ID + "__title", Class: "title", Shapes: []Shape{{Class: "name", X: p.Margin, Y: p.Y + 160, Text: title,
		After: Cut(facts, p.Inner()-Wide(title, titleLetter)-200, p.Letter)}}})
	p.Y += 290
}

// Size of a sample in a legend.
const (
	SampleWidth  = Px(240)
	SampleHeight = Px(130)
)

// An Entry explains a graphical element in a legend.
type Entry struct {
	ID, Class, Text string
	Sample          func(x, y Px) []Shape // shapes of the sample at this position
}

// Swatch returns an entry for a fill.
func Swatch(id, class, fill, text string) Entry {
	return Entry{id, class, text, func(x, y Px) []Shape {
		return []Shape{{Class: "swatch", X: x, Y: y, W: SampleWidth, H: SampleHeight, Fill: fill}}
	}}
}

// Stroke returns an entry for a line.
func Stroke(id, class, line, text string) Entry {
	return Entry{id, class, text, func(x, y Px) []Shape { return []Shape{{Class: line, X: x, Y: y + 70, W: SampleWidth}} }}
}

// Legend adds entries, in as many lines as necessary.
func (p *Picture) Legend(entries ...Entry) {
	if len(entries) == 0 {
		return
	}
	x := p.Margin
	for _, e := range entries {
		text := Cut(e.Text, p.Inner()-SampleWidth-60, p.Letter)
		w := SampleWidth + 60 + Wide(text, p.Letter)
		if x > p.Margin && x+w > p.Width-p.Margin {
			x = p.Margin
			p.Y += LineHeight
		}
		p.Add(Group{ID: e.ID, Class: "legend " + e.Class, Shapes: append(e.Sample(x, p.Y), Shape{Class: "facts", X: x + SampleWidth + 60, Y: p.Y + 110, Text: text})})
		x += w + 200
	}
	p.Y += LineHeight + 60
}

// Rows places labels without overlaps in as few rows as possible.
type Rows struct {
	ends []Px // by row
}

// Len returns the number of rows.
func (r *Rows) Len() int { return len(r.ends) }

// Take reserves the space between two positions in the first row where it is free, and returns the row. ok is false if none
// of most rows has space.
func (r *Rows) Take(from, to Px, most int) (row int, ok bool) {
	for row < len(r.ends) && r.ends[row] > from {
		row++
	}
	switch {
	case row == most:
		return most - 1, false
	case row == len(r.ends):
		r.ends = append(r.ends, 0)
	}
	r.ends[row] = to
	return row, true
}

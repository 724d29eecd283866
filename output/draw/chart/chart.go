// Package chart draws the figures of calculations: curves over an axis, areas, bars, matrices and hosts.
// Ranges and extrapolated values are recognizable without colour.
package chart

import (
	"fmt"

	"example.org/homenode/internal/words"
	"example.org/homenode/output/draw/picture"
)

// A Chart is one figure with its title.
type Chart struct {
	ID     string // unique on a page: a letter, then letters, digits and hyphens
	Title  string // statement about its content
	Note   string // one line below: sources
	Figure Figure
}

// A Figure is *Lines, *Areas, *Bars, *Heat or *Hosts.
type Figure interface{ draw(*layout) }

// Sizes of the drawing. It is narrow, so that its text stays legible in a column of a page.
const (
	width      = picture.Px(7600)
	margin     = picture.Px(120)
	lineHeight = picture.LineHeight
	letter     = picture.Px(68) // mean width of a character at 12 px
	small      = picture.Px(62) // and at 11 px, mostly digits
	bold       = picture.Px(70) // and at 11 px, bold
	plotHeight = picture.Px(3200)
)

// layout is the state of placing shapes.
type layout struct {
	*picture.Picture
	of    *Chart
	alone bool
	ids   map[string]int // number of uses of an ID
	left  int            // number of values that could not be drawn
}

// Of returns the charts as one picture, one below the other. Its ID is that of the first chart. All other IDs
// begin with the ID of their chart.
//
// Values that cannot be drawn are omitted and counted in a line below the chart: NaN, infinity, numbers beyond
// 1e±100, negative values in a bar, and values of 0 or less on a logarithmic axis. It panics for charts with a
// missing or duplicate ID.
func Of(charts ...Chart) *picture.Picture {
	p := &picture.Picture{ID: charts[0].ID, Class: "chart", Title: charts[0].Title, Width: width, Margin: margin, Letter: letter}
	seen := map[string]bool{}
	for i := range charts {
		c := &charts[i]
		if c.ID == "" || picture.ID(c.ID) != c.ID || c.ID[0]|0x20 < 'a' || c.ID[0]|0x20 > 'z' || seen[c.ID] {
			panic(fmt.Sprintf("chart %d: found id %q, want its own: a letter, then letters, digits and hyphens", i, c.ID))
		}
		seen[c.ID] = true
		l := &layout{Picture: p, of: c, alone: len(charts) == 1, ids: map[string]int{}}
		l.chart()
	}
	p.Height = p.Y
	return p
}

func (l *layout) chart() {
	l.Y += margin
	first := len(l.Groups)
	l.Headline(l.of.ID, l.of.Title)
	l.of.Figure.draw(l)
	numbers := l.Y + 110
	l.Y += lineHeight
	var below []string
	if l.left > 0 {
		below = append(below, fmt.Sprintf("Not drawn: %s without a place on the axis (not a number, infinite, or below what it begins with).", words.Plural(l.left, "value")))
	}
	if l.of.Note != "" {
		below = append(below, l.of.Note)
	}
	l.Caption(l.of.ID, below...)
	for i := range l.Groups[first:] {
		l.Groups[first+i].NumbersY = numbers
	}
	l.Y += margin
}

// id returns an ID below that of the chart, unique even if names are equal.
func (l *layout) id(kind, name string) string {
	id := l.of.ID + "__" + kind
	if name != "" {
		id += "-" + picture.ID(name)
	}
	l.ids[id]++
	if n := l.ids[id]; n > 1 {
		return fmt.Sprintf("%s__%d", id, n)
	}
	return id
}

// legend adds the legend.
func (l *layout) legend(entries []picture.Entry) {
	for i := range entries {
		entries[i].ID = l.id("legend", entries[i].Text)
	}
	l.Legend(entries...)
}

// text places one text as a group.
func (l *layout) text(kind, name, group, class string, x, y picture.Px, text string) {
	l.Add(picture.Group{ID: l.id(kind, name), Class: group, Shapes: []picture.Shape{{Class: class, X: x, Y: y, Text: text}}})
}

// nothing marks an empty frame.
func (l *layout) nothing(x, y picture.Px) {
	l.text("empty", "", "empty", "facts", x, y, "nothing to draw")
}

// bounded removes a range that cannot be drawn, and counts it.
func (l *layout) bounded(a *picture.Axis, low, high *float64) {
	if (*low != 0 || *high != 0) && (!a.Has(*low) && !(a.Log && *low == 0) || !a.Has(*high) || *low > *high) {
		l.left++
		*low, *high = 0, 0
	}
}

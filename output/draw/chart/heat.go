package chart

import (
	"fmt"
	"math"
	"slices"

	"example.org/homenode/output/draw/picture"
)

// Heat is a matrix whose cells are darker for greater values.
type Heat struct {
	Unit          string // of the values
	Rows, Columns []string
	ColumnLabel   string       // meaning of the columns
	Cells         [][]HeatCell // by Rows, then Columns; missing cells are unknown
	// Breaks are the indexes of rows and columns before which a group separator is drawn.
	Breaks []int
}

// A HeatCell is one value. An unknown one has no colour. A soft one was not measured but derived from others.
type HeatCell struct {
	Value       float64
	Known, Soft bool
}

// Sizes and limits of cells.
const (
	heatSteps    = 7
	heatStep     = 1.1               // minimum ratio of two steps; smaller differences are noise
	heatMost     = picture.Px(420)   // maximum size of a cell
	heatNumbered = picture.Px(300)   // minimum size of a cell with a number
	heatGrouped  = 2500              // maximum number of cells that each show their numbers on hover
	heatHeight   = picture.Px(140)   // height of the samples in the legend
	heatNames    = picture.Px(1_500) // maximum width of a row's name
)

// heatClass returns the class of a shade, 0 for the lightest.
func heatClass(shade int) string { return fmt.Sprintf("heat-%d", min(max(shade, 0), heatSteps-1)) }

// heatScale is the scale of colours: step i begins at low·ratio^i.
type heatScale struct {
	low, ratio float64
	steps      int
}

// scale returns the scale of the known values. steps is 0 if there are none.
func (h *Heat) scale() heatScale {
	low, high := math.Inf(1), 0.0
	for _, c := range slices.Concat(h.Cells...) {
		if c.placed() {
			low, high = min(low, c.Value), max(high, c.Value)
		}
	}
	if high == 0 {
		return heatScale{}
	}
	ratio := max(heatStep, math.Pow(high/low, 1.0/heatSteps))
	steps := 1
	for v := low * ratio; v < high*(1-picture.Near) && steps < heatSteps; v *= ratio {
		steps++
	}
	return heatScale{low, ratio, steps}
}

// placed reports whether a value has a colour.
func (c *HeatCell) placed() bool { return c.Known && c.Value > 0 && !math.IsInf(c.Value, 0) }

// step returns the colour of a value, 0 for the lightest.
func (s *heatScale) step(v float64) int {
	i := int(math.Floor(math.Log(v/s.low)/math.Log(s.ratio) + picture.Near))
	return min(max(i, 0), s.steps-1)
}

// class returns the class of a step. Few steps are spread over the whole range of colours.
func (s *heatScale) class(step int) string {
	return heatClass(step * (heatSteps - 1) / max(s.steps-1, 1))
}

// grid is the position of the cells of a matrix.
type grid struct{ left, top, cell picture.Px }

func (g *grid) x(column int) picture.Px { return g.left + picture.Px(column)*g.cell }
func (g *grid) y(row int) picture.Px    { return g.top + picture.Px(row)*g.cell }

func (h *Heat) draw(l *layout) {
	s := h.scale()
	for _, c := range slices.Concat(h.Cells...) {
		if c.Known && !c.placed() {
			l.left++
		}
	}
	var entries []picture.Entry
	for i, from := 0, s.low; i < s.steps; i, from = i+1, from*s.ratio {
		entries = append(entries, picture.Entry{Class: s.class(i), Text: fmt.Sprintf("%.3g–%.3g %s", from, from*s.ratio, h.Unit), Sample: func(x, y picture.Px) []picture.Shape {
			return []picture.Shape{{Class: "heatcell", X: x, Y: y, W: picture.SampleWidth, H: heatHeight}}
		}})
	}
	l.legend(entries)
	names := picture.Px(0)
	for _, n := range h.Rows {
		names = max(names, picture.Wide(picture.Cut(n, heatNames, small), small))
	}
	g := &grid{left: margin + names + 100}
	g.cell = min(heatMost, (width-margin-g.left)/picture.Px(max(len(h.Columns), 1)))
	if h.ColumnLabel != "" {
		l.text("columns", "", "axis", "facts", g.left, l.Y+110, picture.Cut(h.ColumnLabel, width-margin-g.left, letter))
		l.Y += lineHeight
	}
	g.top = l.Y + lineHeight
	l.heatNames(h, g)
	if len(h.Rows)*len(h.Columns) <= heatGrouped {
		l.heatCells(h, &s, g)
	} else {
		l.heatAreas(h, &s, g)
	}
	if len(h.Breaks) > 0 {
		lines := picture.Group{ID: l.id("groups", ""), Class: "breaks"}
		for _, b := range h.Breaks {
			lines.Shapes = append(lines.Shapes, picture.Shape{Class: "heatbreak", X: g.left, Y: g.y(b), W: picture.Px(len(h.Columns)) * g.cell},
				picture.Shape{Class: "heatbreak", X: g.x(b), Y: g.top, H: picture.Px(len(h.Rows)) * g.cell})
		}
		l.Add(lines)
	}
	l.Y = g.y(len(h.Rows))
	if s.steps == 0 {
		l.nothing(width/2, g.top+100)
		l.Y += 200
	}
}

// heatNames adds the names of columns and rows, as many as fit.
func (l *layout) heatNames(h *Heat, g *grid) {
	every := func(room picture.Px) int { return max(1, int((room+g.cell-1)/max(g.cell, 1))) }
	widest := picture.Px(0)
	for _, n := range h.Columns {
		widest = max(widest, picture.Wide(n, small)+60)
	}
	names := picture.Group{ID: l.id("names", ""), Class: "axis"}
	for i := 0; i < len(h.Columns); i += every(min(widest, 900)) {
		names.Shapes = append(names.Shapes, picture.Shape{Class: "tick", X: g.x(i) + g.cell/2, Y: l.Y + 110, Text: picture.Cut(h.Columns[i], 900, small)})
	}
	for i := 0; i < len(h.Rows); i += every(lineHeight) {
		names.Shapes = append(names.Shapes, picture.Shape{Class: "amount", X: g.left - 60, Y: g.y(i) + g.cell/2 + 38, Text: picture.Cut(h.Rows[i], heatNames, small)})
	}
	l.Add(names)
}

// heatCells draws cells that show their numbers.
func (l *layout) heatCells(h *Heat, s *heatScale, at *grid) {
	for i, row := range h.Cells {
		for j, c := range row {
			name := fmt.Sprintf("%s → %s: ", h.Rows[i], h.Columns[j])
			g := picture.Group{ID: l.id("cell", h.Rows[i]+"-"+h.Columns[j]), Class: "cell none", Numbers: name + "not measured",
				Shapes: []picture.Shape{{Class: "heatcell", X: at.x(j), Y: at.y(i), W: at.cell, H: at.cell}}}
			if c.placed() {
				g.Class, g.Numbers = "cell "+s.class(s.step(c.Value)), name+fmt.Sprintf("%.4g %s", c.Value, h.Unit)
				if c.Soft {
					g.Class += " soft"
					g.Numbers += ", not measured: that of its groups"
				}
				if at.cell >= heatNumbered {
					g.Shapes = append(g.Shapes, picture.Shape{Class: "tick", X: at.x(j) + at.cell/2, Y: at.y(i) + at.cell/2 + 38, Text: fmt.Sprintf("%.0f", c.Value)})
				}
			}
			l.Add(g)
		}
	}
}

// heatAreas draws all cells of one colour as one path, because a matrix of 256 rows has 65,536 cells.
func (l *layout) heatAreas(h *Heat, s *heatScale, at *grid) {
	paths := make([][]byte, s.steps)
	for i, row := range h.Cells {
		for from, to := 0, 0; from < len(row); from = to {
			to = from + 1
			if !row[from].placed() {
				continue
			}
			step := s.step(row[from].Value)
			for to < len(row) && row[to].placed() && s.step(row[to].Value) == step {
				to++
			}
			wide := picture.Px(to-from) * at.cell
			paths[step] = fmt.Appendf(paths[step], "M%s %sh%sv%sh-%sz", at.x(from), at.y(i), wide, at.cell, wide)
		}
	}
	for step, path := range paths {
		if len(path) > 0 {
			l.Add(picture.Group{ID: l.id("cells", fmt.Sprint(step)), Class: "cell " + s.class(step), Shapes: []picture.Shape{{Class: "heatarea", Path: string(path)}}})
		}
	}
}

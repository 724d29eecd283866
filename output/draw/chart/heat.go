package chart

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"homenode/output/draw/picture"
)

// Heat is a matrix whose cells are the darker the greater their value is.
type Heat struct {
	Unit          string // of the values
	Rows, Columns []string
	RowLabel      string // what the rows are, what the columns are
	ColumnLabel   string
	Cells         [][]HeatCell // by Rows, then Columns
	// Breaks are the numbers of rows and columns before which a line is drawn: groups.
	Breaks []int
}

// A HeatCell is one value. An unknown one has no colour; a soft one was not measured but follows from others.
type HeatCell struct {
	Value       float64
	Known, Soft bool
}

// Looks of cells.
const (
	heatSteps    = 7
	heatStep     = 1.1               // the least ratio of two steps: less is noise
	heatMost     = picture.Px(420)   // of a cell
	heatNumbered = picture.Px(300)   // a cell of that size shows its number
	heatGrouped  = 2500              // cells up to which each one shows its numbers when it is pointed at
	heatHeight   = picture.Px(140)   // of its samples
	heatNames    = picture.Px(1_500) // the widest name of a row
)

// heatScale are the steps of colours: step i begins at low·ratio^i.
type heatScale struct {
	low, ratio float64
	steps      int
}

// heatScaleOf returns the scale of the known values; steps is 0 when there are none.
func heatScaleOf(h *Heat) heatScale {
	low, high := math.Inf(1), 0.0
	for _, row := range h.Cells {
		for _, c := range row {
			if c.placed() {
				low, high = min(low, c.Value), max(high, c.Value)
			}
		}
	}
	if high == 0 {
		return heatScale{}
	}
	ratio := max(heatStep, math.Pow(high/low, 1.0/heatSteps))
	steps := 1
	for v := low * ratio; v < high*(1-1e-9) && steps < heatSteps; v *= ratio {
		steps++
	}
	return heatScale{low, ratio, steps}
}

// placed reports whether a value has a colour.
func (c *HeatCell) placed() bool {
	return c.Known && c.Value > 0 && !math.IsInf(c.Value, 0)
}

// step returns the colour of a value, 0 for the lightest.
func (s *heatScale) step(v float64) int {
	i := int(math.Floor(math.Log(v/s.low)/math.Log(s.ratio) + 1e-9))
	return min(max(i, 0), s.steps-1)
}

// class returns the class of a step: the whole range of colours is used when there are few.
func (s *heatScale) class(step int) string {
	if s.steps > 1 {
		step = step * (heatSteps - 1) / (s.steps - 1)
	}
	return "heat-" + strconv.Itoa(step)
}

// even reports whether there is a cell for each row and column.
func (h *Heat) even() bool {
	return len(h.Cells) == len(h.Rows) && !slices.ContainsFunc(h.Cells, func(row []HeatCell) bool { return len(row) != len(h.Columns) })
}

func (l *layout) heat(h *Heat) {
	s := heatScaleOf(h)
	for _, row := range h.Cells {
		for i := range row {
			if row[i].Known && !row[i].placed() {
				l.left++
			}
		}
	}
	l.heatLegend(h, &s)
	names := picture.Px(0)
	for _, n := range h.Rows {
		names = max(names, picture.Wide(picture.Cut(n, heatNames, small), small))
	}
	left := margin + names + 100
	columns := max(len(h.Columns), 1)
	cell := min(heatMost, (width-margin-left)/picture.Px(columns))
	if h.ColumnLabel != "" {
		l.pic.Add(picture.Group{ID: l.id("columns", ""), Class: "axis", Shapes: []picture.Shape{{Class: "facts", X: left, Y: l.y + 110, Text: picture.Cut(h.ColumnLabel, width-margin-left, letter)}}})
		l.y += lineHeight
	}
	l.heatNames(h, left, cell)
	top := l.y
	if len(h.Rows)*columns <= heatGrouped {
		l.heatCells(h, &s, left, top, cell)
	} else {
		l.heatAreas(h, &s, left, top, cell)
	}
	l.heatBreaks(h, left, top, cell)
	l.y = top + picture.Px(len(h.Rows))*cell
	if s.steps == 0 {
		l.nothing(width/2, top+100)
		l.y += 200
	}
}

// heatLegend shows which colour stands for which values.
func (l *layout) heatLegend(h *Heat, s *heatScale) {
	var entries []entry
	from := s.low
	for i := range s.steps {
		to := from * s.ratio
		text := fmt.Sprintf("%.3g–%.3g %s", from, to, h.Unit)
		entries = append(entries, entry{class: s.class(i), text: text, shapes: func(x, y picture.Px) []picture.Shape {
			return []picture.Shape{{Class: "heatcell", X: x, Y: y, W: 260, H: heatHeight}}
		}})
		from = to
	}
	l.legend(entries)
}

// heatNames writes the names of columns and rows, as many as have room.
func (l *layout) heatNames(h *Heat, left, cell picture.Px) {
	every := func(room picture.Px) int { return max(1, int((room+cell-1)/max(cell, 1))) }
	widest := picture.Px(0)
	for _, n := range h.Columns {
		widest = max(widest, picture.Wide(n, small)+60)
	}
	g := picture.Group{ID: l.id("names", ""), Class: "axis"}
	for i := 0; i < len(h.Columns); i += every(min(widest, 900)) {
		g.Shapes = append(g.Shapes, picture.Shape{Class: "tick", X: left + picture.Px(i)*cell + cell/2, Y: l.y + 110, Text: picture.Cut(h.Columns[i], 900, small)})
	}
	l.y += lineHeight
	for i := 0; i < len(h.Rows); i += every(lineHeight) {
		g.Shapes = append(g.Shapes, picture.Shape{Class: "amount", X: left - 60, Y: l.y + picture.Px(i)*cell + cell/2 + 38, Text: picture.Cut(h.Rows[i], heatNames, small)})
	}
	l.pic.Add(g)
}

// heatCells draws cells that show their numbers.
func (l *layout) heatCells(h *Heat, s *heatScale, left, top, cell picture.Px) {
	for i, row := range h.Cells {
		for j, c := range row {
			x, y := left+picture.Px(j)*cell, top+picture.Px(i)*cell
			g := picture.Group{ID: l.id("cell", h.Rows[i]+"-"+h.Columns[j]), Class: "cell none", Numbers: fmt.Sprintf("%s → %s: not measured", h.Rows[i], h.Columns[j])}
			g.Shapes = []picture.Shape{{Class: "heatcell", X: x, Y: y, W: cell, H: cell}}
			if c.placed() {
				g.Class = "cell " + s.class(s.step(c.Value))
				g.Numbers = fmt.Sprintf("%s → %s: %.4g %s", h.Rows[i], h.Columns[j], c.Value, h.Unit)
				if c.Soft {
					g.Class += " soft"
					g.Numbers += ", not measured: that of its groups"
				}
				if cell >= heatNumbered {
					g.Shapes = append(g.Shapes, picture.Shape{Class: "tick", X: x + cell/2, Y: y + cell/2 + 38, Text: fmt.Sprintf("%.0f", c.Value)})
				}
			}
			l.pic.Add(g)
		}
	}
}

// heatAreas draws all cells of a colour as one path: a matrix of 256 rows has 65,536 cells.
func (l *layout) heatAreas(h *Heat, s *heatScale, left, top, cell picture.Px) {
	paths := make([][]byte, s.steps)
	for i, row := range h.Cells {
		for j := 0; j < len(row); {
			if !row[j].placed() {
				j++
				continue
			}
			step, from := s.step(row[j].Value), j
			for j < len(row) && row[j].placed() && s.step(row[j].Value) == step {
				j++
			}
			paths[step] = fmt.Appendf(paths[step], "M%s %sh%sv%sh-%sz", left+picture.Px(from)*cell, top+picture.Px(i)*cell, picture.Px(j-from)*cell, cell, picture.Px(j-from)*cell)
		}
	}
	for step, path := range paths {
		if len(path) > 0 {
			l.pic.Add(picture.Group{ID: l.id("cells", strconv.Itoa(step)), Class: "cell " + s.class(step), Shapes: []picture.Shape{{Class: "heatarea", Path: string(path)}}})
		}
	}
}

// heatBreaks draws the lines between groups.
func (l *layout) heatBreaks(h *Heat, left, top, cell picture.Px) {
	if len(h.Breaks) == 0 {
		return
	}
	g := picture.Group{ID: l.id("groups", ""), Class: "breaks"}
	for _, b := range h.Breaks {
		g.Shapes = append(g.Shapes,
			picture.Shape{Class: "heatbreak", X: left, Y: top + picture.Px(b)*cell, W: picture.Px(len(h.Columns)) * cell},
			picture.Shape{Class: "heatbreak", X: left + picture.Px(b)*cell, Y: top, H: picture.Px(len(h.Rows)) * cell})
	}
	l.pic.Add(g)
}

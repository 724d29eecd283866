// Package chart draws the figures of calculations as SVG: curves over an axis, bars and matrices, with
// the range of each figure and what is extrapolated distinguished without colour. The
// same chart gives the same bytes.
package chart

// A Chart is either Lines, Areas, Bars, Heat or Hosts.
type Chart struct {
	ID    string // unique on a page: a letter, then letters, digits and hyphens
	Title string // what it shows, as a statement
	Note  string // one line below: sources
	Lines *Lines
	Areas *Areas
	Bars  *Bars
	Heat  *Heat
	Hosts *Hosts // alone in its drawing, which is as wide as it needs
}

// An Axis has a label with its unit. Its numbers are printed by Text.
type Axis struct {
	Label string
	Log   bool // logarithmic; all values are above 0
	Bytes bool // values are bytes: marked at powers of two
	Text  func(float64) string
}

// Lines are curves over one pair of axes.
type Lines struct {
	X, Y   Axis
	Series []Series
	Marks  []Mark
}

// A Series is one curve, its points in ascending X.
type Series struct {
	Name   string // unique in the chart; the legend
	Points []Point
}

// A Point is one point of a curve. A curve is solid from and to measured points, dashed
// where either end is extrapolated.
type Point struct {
	X, Y float64
	// Low and High are the range of Y; both 0 for none. Beside points with a range a
	// measured point without one is taken to be exact.
	Low, High float64
	Measured  bool // drawn as a dot
	Outside   bool // extrapolated
}

// A Mark is a line across the chart: a limit, or what was asked.
type Mark struct {
	Name       string
	Value      float64
	Horizontal bool // Value is a Y; else an X
}

// Bars are horizontal bars over one axis, from the top.
type Bars struct {
	X     Axis
	Rows  []Row
	Limit string // what the rows' limits are, for the legend; "" means "limit"
}

// A Row is one bar: segments that follow each other from the left. On a logarithmic axis
// it has one segment.
type Row struct {
	Name     string // unique in the chart
	Value    string // printed at the end of the bar
	Segments []Segment
	// Limit is drawn as a line across the row: its capacity. 0 for none.
	Limit float64
}

// A Segment is a part of a bar. Segments of one Kind look alike in all rows.
type Segment struct {
	Kind      string // the legend; "" when the chart needs none
	Value     float64
	Low, High float64 // range of its end, as values of the axis; both 0 for none
	Soft      bool    // drawn lightly: what is not used, or not known to be
}

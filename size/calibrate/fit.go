package calibrate

import (
	"math"

	"example.org/homenode/internal/keyed"
	"example.org/homenode/numa/unit"
	"example.org/homenode/size/iocost"
)

// A Fit is a line through the costs of one direction: each I/O costs Fixed, and PerBit
// for each bit of its block. It is found by least squares, weighted by runs.
type Fit struct {
	Path   iocost.Path `json:"path"`
	Read   unit.Share  `json:"read"`
	Random unit.Share  `json:"random"`
	Scope  Scope       `json:"scope"`
	Sizes  int         `json:"sizes"`
	// Fixed and PerBit have 95 % intervals, by Student's t with sizes − 2 degrees of freedom. An
	// interval that reaches below 0 means that the sizes do not determine it.
	Fixed  unit.Figure[unit.Cycles]       `json:"fixed"`
	PerBit unit.Figure[unit.CyclesPerBit] `json:"perBit"`
	// Residual is the standard deviation of the costs from the line.
	Residual unit.Cycles `json:"residual"`
}

// leastSizes is the number of sizes needed for a line with an interval: any two points lie on a line.
const leastSizes = 3

// fits returns a line for each direction that has enough sizes.
func fits(costs []Cost) []Fit {
	type key struct {
		path         iocost.Path
		read, random unit.Share
		scope        Scope
	}
	var groups keyed.Lists[key, *Cost]
	for i := range costs {
		c := &costs[i]
		groups.Add(key{c.Path, c.Read, c.Random, c.Scope}, c)
	}
	var out []Fit
	for k, alike := range groups.All() {
		if len(alike) >= leastSizes {
			f := line(alike)
			f.Path, f.Read, f.Random, f.Scope = k.path, k.read, k.random, k.scope
			out = append(out, f)
		}
	}
	return out
}

// line returns the weighted least squares of costs over the bits of their blocks. The mean of n
// runs has 1 ÷ √n of the deviation of one, so its weight is n.
func line(costs []*Cost) Fit {
	var weight, x, y float64
	for _, c := range costs {
		w := float64(c.Runs)
		weight += w
		x += float64(w * unit.Bits(c.Block))
		y += float64(w * float64(c.PerIO.Value))
	}
	x, y = x/weight, y/weight
	var xx, xy float64
	for _, c := range costs {
		dx := unit.Bits(c.Block) - x
		xx += float64(float64(c.Runs) * dx * dx)
		xy += float64(float64(c.Runs) * dx * (float64(c.PerIO.Value) - y))
	}
	b := xy / xx
	a := y - float64(b*x)
	var squares float64
	for _, c := range costs {
		off := float64(c.PerIO.Value) - a - float64(b*unit.Bits(c.Block))
		squares += float64(float64(c.Runs) * off * off)
	}
	freedom := len(costs) - 2
	variance := squares / float64(freedom) // of one run
	t := quantile(freedom)
	halfA, halfB := t*math.Sqrt(variance*(1/weight+float64(x*x)/xx)), t*math.Sqrt(variance/xx)
	f := Fit{Sizes: len(costs), Residual: unit.Cycles(math.Sqrt(variance * float64(len(costs)) / weight))}
	f.Fixed = fitted(unit.Cycles(a), halfA, costs[0])
	f.PerBit = fitted(unit.CyclesPerBit(b), halfB, costs[0])
	return f
}

func fitted[T ~float64](v T, half float64, c *Cost) unit.Figure[T] {
	return unit.Figure[T]{
		Value: v, Low: v - T(half), High: v + T(half), Origin: unit.Derived,
		Source: "least squares over sizes", Hardware: c.PerIO.Hardware, Note: c.PerIO.Note,
	}
}

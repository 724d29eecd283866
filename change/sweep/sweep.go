// Package sweep simulates a grid of what-ifs: one story, changed in every combination of some
// dimensions, each combination with several seeds. The runs use goroutines; the result is the
// same for any number of them.
//
//	--grid … ──► Dimension ─┐
//	                         ├─► Plan ─► runs ─► Records ─► Result, in the order of the plan
//	story ──────────────────┘
package sweep

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/rules"
)

// A Dimension is one --grid: the varied words, and their values.
type Dimension struct {
	Text   string  `json:"text"` // as the user wrote it
	Name   string  `json:"name"` // the heading of its column
	Values []Value `json:"values"`
}

// A Value is one value of a dimension.
type Value struct {
	Label string `json:"label"`
	Steps []Step `json:"steps,omitempty"` // empty: no change
}

// A Step is one change of the story.
type Step struct {
	Do StepKind `json:"do"`
	// Text is the text of a what-if, a line of the story, or the VMs with the multiplied load.
	Text   string  `json:"text"`
	Factor float64 `json:"factor,omitempty"` // of ScaleLoad
}

// A StepKind is the kind of a step.
type StepKind string

// The kinds of steps.
const (
	WhatIf    StepKind = "what-if"
	StoryLine StepKind = "line"
	ScaleLoad StepKind = "scale-load" // CPU demand of VMs
)

// Limits of a sweep.
const (
	// MostPoints limits points × seeds: a day on a host needs milliseconds, a day of a large
	// fleet a minute.
	MostPoints = 10_000
	mostValues = 1_000 // of a dimension
	mostSeeds  = 1_000
	// mostRecords limits the VMs or hosts of all records together: 350 bytes each.
	mostRecords = 200_000
)

// A Plan is a sweep to be run.
type Plan struct {
	Story      *numa.Story `json:"-"`                    // the unchanged story
	Dimensions []Dimension `json:"dimensions,omitempty"` // the last one varies fastest
	Seeds      []uint64    `json:"seeds"`                // repetitions of every point; at least one
	Options    Options     `json:"-"`
}

// Options control the simulation and assessment of points; each of them affects the result.
type Options struct {
	Rules rules.Options
	// VMs and Hosts: records include each of them; set by New.
	VMs, Hosts bool
	// Silent omits the assessment, prices and hosts: for fleets of tens of thousands of VMs.
	Silent bool
}

// New returns the plan of a sweep. texts are the --grid arguments.
func New(ctx context.Context, story *numa.Story, texts []string, o Options) (*Plan, error) {
	p := &Plan{Story: story, Options: o}
	seen := map[string]bool{}
	for i, text := range texts {
		d, seeds, err := parse(text, i+1)
		if err != nil {
			return nil, err
		}
		if seeds != nil {
			if p.Seeds != nil {
				return nil, fmt.Errorf("--grid:%d: found seed= twice", i+1)
			}
			p.Seeds = seeds
			continue
		}
		if seen[d.Name] {
			return nil, fmt.Errorf("--grid:%d: found %s twice: each --grid varies something else", i+1, d.Name)
		}
		seen[d.Name] = true
		p.Dimensions = append(p.Dimensions, *d)
	}
	if p.Seeds == nil {
		p.Seeds = []uint64{story.Seed}
	}
	if err := p.count(); err != nil {
		return nil, err
	}
	return p, p.try(ctx)
}

// count returns an error for a grid that is too large.
func (p *Plan) count() error {
	n := 1
	var sizes []string
	for i := range p.Dimensions {
		sizes = append(sizes, strconv.Itoa(len(p.Dimensions[i].Values)))
		n *= len(p.Dimensions[i].Values)
		if n > MostPoints {
			n = MostPoints + 1 // a larger number makes no difference
		}
	}
	if len(p.Dimensions) > 0 {
		n++ // today
	}
	runs := n * len(p.Seeds)
	p.Options.VMs = runs*len(p.Story.Fleet.VMs) <= mostRecords
	p.Options.Hosts = runs*len(p.Story.Fleet.Hosts) <= mostRecords && !p.Options.Silent
	if runs <= MostPoints {
		return nil
	}
	text := strings.Join(sizes, " × ") + " points"
	if len(p.Seeds) > 1 {
		text += fmt.Sprintf(" × %d seeds", len(p.Seeds))
	}
	return fmt.Errorf("--grid: found %s, want at most %d runs: fewer values, or several sweeps", text, MostPoints)
}

// try makes each change alone. If all values of a dimension name an unknown object, or are
// invalid, the sweep fails before it begins. Otherwise the points with such a value report it.
func (p *Plan) try(ctx context.Context) error {
	for i := range p.Dimensions {
		d := &p.Dimensions[i]
		var first error
		works := false
		for j := range d.Values {
			_, err := change(ctx, p.Story, d.Values[j].Steps, p.Options.Rules.Choices)
			if err == nil && d.Values[j].Steps != nil {
				works = true
			}
			if first == nil {
				first = err
			}
		}
		if !works && first != nil {
			return fmt.Errorf("--grid '%s': %w", d.Text, first)
		}
	}
	return nil
}

// A Point is one combination of values; Values are indexes, nil for today.
type Point struct {
	Values []int `json:"-"`
}

// Points returns the points in their order: today first, then the grid.
func (p *Plan) Points() []Point {
	out := []Point{{}}
	if len(p.Dimensions) == 0 {
		return out
	}
	at := make([]int, len(p.Dimensions))
	for {
		out = append(out, Point{slices.Clone(at)})
		k := len(at) - 1
		for ; k >= 0; k-- {
			if at[k]++; at[k] < len(p.Dimensions[k].Values) {
				break
			}
			at[k] = 0
		}
		if k < 0 {
			return out
		}
	}
}

// labels returns the values of a point, by dimension.
func (p *Plan) labels(at Point) []string {
	out := make([]string, len(p.Dimensions))
	for d := range out {
		out[d] = today
		if at.Values != nil {
			out[d] = p.Dimensions[d].Values[at.Values[d]].Label
		}
	}
	return out
}

// steps returns the changes of a point, in the order of the dimensions.
func (p *Plan) steps(at Point) []Step {
	var out []Step
	for k, v := range at.Values {
		out = append(out, p.Dimensions[k].Values[v].Steps...)
	}
	return out
}

package iocost

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa/unit"
)

// Assumptions: a power law between two measured sizes.
//
// Costs per I/O rise with the block, from a floor (the command) towards proportion (the bytes).
// Over the five doublings between the published sizes of vSAN ESA a straight line in log size would
// put the middle above both ends per bit; a straight line in log size and log cost does not, and it
// returns each measured cost exactly.
//
// The range between and outside the measured sizes follows from two assumed laws:
//
//	a larger block costs no less per I/O and no more per bit
//	a sequential I/O costs no more than a random one

// A Basis is the kind of evidence for a cost.
type Basis int8

// The bases, the best first.
const (
	Measured     Basis = iota
	Interpolated       // between measurements
	Estimated          // a rule of thumb, not a measurement
	Extrapolated       // outside the measurements
)

// String names the basis.
func (b Basis) String() string {
	return []string{"measured", "interpolated", "estimated", "extrapolated"}[b]
}

// A Model computes the cost of I/Os from measurements.
type Model struct {
	points []Point // sorted by Kind
}

// New returns the model of the published measurements. The user's own points replace all published
// ones of their path: a curve belongs to one machine.
func New(own ...Point) (*Model, error) {
	m := &Model{points: slices.Clone(own)}
	for i := range own {
		if err := own[i].check(); err != nil {
			return nil, err
		}
	}
	for _, p := range Published() {
		if !slices.ContainsFunc(own, func(o Point) bool { return o.Path == p.Path }) {
			m.points = append(m.points, p)
		}
	}
	slices.SortFunc(m.points, func(a, b Point) int { return compareKinds(a.Kind, b.Kind) })
	for i := 1; i < len(m.points); i++ {
		if m.points[i].Kind == m.points[i-1].Kind {
			return nil, fmt.Errorf("%s is measured twice, want one cost of each kind", m.points[i].Kind)
		}
	}
	return m, nil
}

func compareKinds(a, b Kind) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Random, b.Random), cmp.Compare(a.Read, b.Read), cmp.Compare(a.Block, b.Block))
}

// check returns the fault of a measurement.
func (p *Point) check() error {
	if err := p.Kind.check(); err != nil {
		return err
	}
	if c := float64(p.PerIO.Value); !(c > 0) || math.IsInf(c, 0) || p.PerIO.Low > p.PerIO.Value || p.PerIO.High < p.PerIO.Value || p.PerIO.Low < 0 {
		return fmt.Errorf("%s: found a cost of %v cycles (%v to %v), want more than 0 within its range", p.Kind, c, float64(p.PerIO.Low), float64(p.PerIO.High))
	}
	if p.Network != nil && (p.Network.Value < 0 || p.Network.Value > p.PerIO.Value) {
		return fmt.Errorf("%s: found %v cycles of network, want at most the %v of the I/O", p.Kind, float64(p.Network.Value), float64(p.PerIO.Value))
	}
	return nil
}

// check returns the fault of a kind of I/O.
func (k Kind) check() error {
	switch {
	case k.Path != NVMe && k.Path != VSANESA:
		return fmt.Errorf("path %q has no I/Os, want %s or %s", k.Path, NVMe, VSANESA)
	case k.Block <= 0:
		return fmt.Errorf("found a block of %d bytes, want more than 0", k.Block)
	case !(k.Read >= 0 && k.Read <= 1):
		return fmt.Errorf("found a read share of %v, want 0 to 1", float64(k.Read))
	case !(k.Random >= 0 && k.Random <= 1):
		return fmt.Errorf("found a random share of %v, want 0 to 1", float64(k.Random))
	}
	return nil
}

// Points returns the model's measurements of a path, sorted by pattern, direction and size.
func (m *Model) Points(path Path) []Point {
	return slices.DeleteFunc(slices.Clone(m.points), func(p Point) bool { return p.Path != path })
}

// Unused returns how many published kinds of a path the user's own points replace.
func (m *Model) Unused(path Path) int {
	if slices.ContainsFunc(m.points, func(q Point) bool { return q.Path == path && q.PerIO.Origin == unit.Published }) {
		return 0
	}
	return words.Count(Published(), func(p Point) bool { return p.Path == path })
}

// A Cost is the cost of one I/O of a kind.
type Cost struct {
	Kind
	PerIO   unit.Figure[unit.Cycles]
	Network *unit.Figure[unit.Cycles] // the part of PerIO that is TCP/IP between the hosts; nil when unknown
	Basis   Basis
	Why     []string // how an unmeasured cost was derived
	Core    unit.Hz  // base frequency it was measured at; 0 unknown
	Own     bool     // from the user's own measurements
	Scope   Scope    // the measured CPU: that of a guest is a lower bound for its host
	// Digits reports that the range of PerIO only reflects the printed digits of a single
	// measurement: it does not state its accuracy.
	Digits bool
}

// Cost returns the cost of one I/O. For a measured kind it is exactly the measured cost.
func (m *Model) Cost(k Kind) (Cost, error) {
	if err := k.check(); err != nil {
		return Cost{}, err
	}
	points := m.Points(k.Path)
	if len(points) == 0 {
		return Cost{}, fmt.Errorf("no measurements of path %s", k.Path)
	}
	e := mixPatterns(points, k)
	c := Cost{Kind: k, Basis: e.basis, Why: e.why, Core: points[0].Core, Own: points[0].PerIO.Origin != unit.Published, PerIO: joint(points), Scope: Host}
	for _, p := range points {
		if p.Scope == Guest {
			c.Scope = Guest
		}
		if p.Core != c.Core {
			c.Core = 0
		}
		if p.Kind == k && e.basis == Measured {
			c.PerIO, c.Digits = p.PerIO, p.Runs == 1
		}
	}
	c.PerIO.Value, c.PerIO.Low, c.PerIO.High = e.cycles, e.low, e.high
	if i := slices.IndexFunc(points, func(p Point) bool { return p.Network != nil }); e.known && i >= 0 {
		f := unit.Exactly(e.network, unit.Derived, points[i].Network.Source, points[i].Network.Hardware)
		c.Network = &f
	}
	return c, nil
}

// joint returns a figure without numbers that names the sources, the hardware and the notes of all points.
func joint(points []Point) unit.Figure[unit.Cycles] {
	var sources, hardware []string
	note := points[0].PerIO.Note
	for _, p := range points {
		if s := p.PerIO.Source; s != "" && !slices.Contains(sources, s) {
			sources = append(sources, s)
		}
		if h := p.PerIO.Hardware; h != "" && !slices.Contains(hardware, h) {
			hardware = append(hardware, h)
		}
		if p.PerIO.Note != note {
			note = ""
		}
	}
	return unit.Figure[unit.Cycles]{Origin: unit.Derived, Source: strings.Join(sources, ", "), Hardware: strings.Join(hardware, ", "), Note: note}
}

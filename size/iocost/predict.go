package iocost

import (
	"slices"

	"homenode/numa"
	"homenode/numa/unit"
)

// A Prediction is the CPU of one published test beside what the model and the rule of
// thumb make of its I/Os. All are of one host, less its idle CPU.
type Prediction struct {
	Test     string  `json:"test"`
	Measured unit.Hz `json:"measured"`
	// Model is the cost per I/O × IOPS. It rests on this very test.
	Model unit.Hz `json:"model"`
	// Mixed weights the tests of pure reads and writes: a prediction; 0 for these themselves.
	Mixed unit.Hz `json:"mixed,omitempty"`
	Rule  unit.Hz `json:"rule"`
	// Limited: the test stopped at its IOPS limit. More I/Os were possible; their cost is not
	// affected.
	Limited bool `json:"atIOPSLimit,omitempty"`
}

// Predictions returns what the published model makes of the tests of b-vsan.
func Predictions() ([]Prediction, error) {
	model, err := New()
	if err != nil {
		return nil, err
	}
	pure, err := New(slices.DeleteFunc(Published(), func(p Point) bool { return p.Read != 0 && p.Read != 1 })...)
	if err != nil {
		return nil, err
	}
	var out []Prediction
	for i := range hcibench {
		r := &hcibench[i]
		kind := Kind{Path: VSANESA, Block: r.Block, Read: r.Read, Random: r.Random}
		c, err := model.Cost(kind)
		if err != nil {
			return nil, err
		}
		p := Prediction{
			Test: r.Name, Measured: r.net(), Model: c.PerIO.Value.At(r.rate()), Limited: r.Limited,
			Rule: Rules()[3].Cost.Value.At(r.rate().Traffic(r.Block)),
		}
		if r.Read != 0 && r.Read != 1 {
			if c, err = pure.Cost(kind); err != nil {
				return nil, err
			}
			p.Mixed = c.PerIO.Value.At(r.rate())
		}
		out = append(out, p)
	}
	return out, nil
}

// A CurvePoint is the cost of one bit at one block size.
type CurvePoint struct {
	Block  numa.Bytes                     `json:"block"`
	PerBit unit.Figure[unit.CyclesPerBit] `json:"perBit"`
	Basis  Basis                          `json:"basis"`
}

// Curve returns the cost of a bit by block size: at every power of two from 512 B to 4 MiB
// and at every measured size. The block of the kind does not matter.
func (m *Model) Curve(k Kind) ([]CurvePoint, error) {
	const smallest, largest = 512, 4 * numa.MiB
	var sizes []numa.Bytes
	for b := numa.Bytes(smallest); b <= largest; b *= 2 {
		sizes = append(sizes, b)
	}
	for _, p := range m.Points(k.Path) {
		sizes = append(sizes, p.Block)
	}
	slices.Sort(sizes)
	var out []CurvePoint
	for _, b := range slices.Compact(sizes) {
		k.Block = b
		c, err := m.Cost(k)
		if err != nil {
			return nil, err
		}
		out = append(out, CurvePoint{b, c.PerBit, c.Basis})
	}
	return out, nil
}

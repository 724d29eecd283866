package stat

import (
	"math/rand/v2"
	"slices"
)

// Confidence is the level of an interval.
const Confidence = 0.95

// Seed is the seed of the PCG generators. It is fixed, so that the same data give the same bytes; any other is as good.
const Seed = 20_230_630

func draws(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(Seed, stream)) }

// An Interval is a bootstrap interval of a difference with an unknown distribution.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// HasZero reports whether there may be no difference.
func (i Interval) HasZero() bool { return i.Low <= 0 && i.High >= 0 }

// mirrored returns the interval of the opposite difference.
func (i Interval) mirrored() Interval { return Interval{-i.High, -i.Low} }

// percentile returns the interval around x that excludes a share alpha of the errors, half at either end. The errors
// are sorted, and scaled by wider.
func percentile(x float64, errors []float64, alpha, wider float64) Interval {
	slices.Sort(errors)
	k := max(1, int(float64(len(errors))*alpha/2))
	return Interval{x + float64(wider*errors[k-1]), x + float64(wider*errors[len(errors)-k])}
}

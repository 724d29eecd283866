package calibrate

import (
	"math"

	"example.org/homenode/internal/stat"
)

// confidence is the level of every interval.
const confidence = 0.95

// quantile returns the half-width of a 95 % interval in standard errors of the mean.
func quantile(freedom int) float64 { return stat.Student(confidence, freedom) }

// meanOf returns the mean and the standard deviation of a sample of two or more.
func meanOf(v []float64) (mean, deviation float64) {
	for _, x := range v {
		mean += x
	}
	mean /= float64(len(v))
	for _, x := range v {
		deviation += float64((x - mean) * (x - mean))
	}
	return mean, math.Sqrt(deviation / float64(len(v)-1))
}

package stat

import "math"

// Trend returns the slope of y over x as the median of the slopes between all pairs of points (Theil 1950, Sen 1968, "Estimates of the
// regression coefficient based on Kendall's tau"): up to 29 % of wild points do not move it. Points with NaN and pairs with equal x
// are ignored; without a pair the slope is NaN. O(n²).
func Trend(x, y []float64) float64 {
	var slopes []float64
	for i := range x {
		for j := range i {
			if x[i] != x[j] {
				slopes = append(slopes, (y[i]-y[j])/(x[i]-x[j]))
			}
		}
	}
	return MedianOf(slopes)
}

// Drift returns the change of y by its trend from the first x to the last, divided by its median: 0.05 is 5 % more at the end. It is
// NaN with fewer than two points, or a median of 0.
func Drift(x, y []float64) float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for _, at := range x {
		low, high = min(low, at), max(high, at)
	}
	m := MedianOf(append([]float64(nil), y...))
	if m == 0 {
		return math.NaN()
	}
	return Trend(x, y) * (high - low) / m
}

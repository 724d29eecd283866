package stat

import (
	"math"
	"slices"
)

// Median returns the median of an ascending slice that is not empty.
func Median(sorted []float64) float64 {
	n := len(sorted)
	lower, upper := sorted[(n-1)/2], sorted[n/2]
	return lower + (upper-lower)/2
}

// MedianOf returns the median of samples in any order, and sorts them. NaN samples are ignored; without others the median is NaN.
func MedianOf(samples []float64) float64 {
	slices.Sort(samples) // NaN come first
	for len(samples) > 0 && math.IsNaN(samples[0]) {
		samples = samples[1:]
	}
	if len(samples) == 0 {
		return math.NaN()
	}
	return Median(samples)
}

// Quantile returns the quantile at share, 0 to 1, of an ascending slice that is not empty: with n samples the one at (n − 1) · share,
// interpolated between its neighbours (definition 7 of Hyndman and Fan, "Sample quantiles in statistical packages", 1996).
func Quantile(sorted []float64, share float64) float64 {
	at := share * float64(len(sorted)-1)
	i := min(int(at), len(sorted)-1)
	next := min(i+1, len(sorted)-1)
	return sorted[i] + float64((at-float64(i))*(sorted[next]-sorted[i]))
}

// Deviation estimates the standard deviation of samples in any order from the median of their distances from their median: 1.4826 times that. For
// a normal distribution this is the standard deviation, and a few wild samples do not move it. It sorts and overwrites the samples; NaN are
// ignored, and without others it is NaN.
func Deviation(samples []float64) float64 {
	m := MedianOf(samples)
	for i, x := range samples {
		samples[i] = math.Abs(x - m)
	}
	return 1.4826 * MedianOf(samples)
}

// A Summary describes the distribution of samples of one quantity, in their unit.
type Summary struct {
	N                          int
	Min, P25, Median, P75, P99 float64
	// Low and High are the 95 % interval of the median by order statistics, without assumptions about the shape of the distribution. For fewer
	// than 6 samples it is their range, with less than 95 % confidence.
	Low, High float64
}

// Summarize summarizes samples in any order; false without any. It does not change them. NaN are ignored.
//
// The interval's ranks, counted from 1, are ⌊(n − 1.96√n) ÷ 2⌋ and ⌈1 + (n + 1.96√n) ÷ 2⌉: the number of samples below the true median is
// binomial with n and ½ (David and Nagaraja, Order Statistics, 2003, chapter 7.1).
func Summarize(samples []float64) (s Summary, ok bool) {
	sorted := slices.DeleteFunc(slices.Clone(samples), math.IsNaN)
	slices.Sort(sorted)
	n := len(sorted)
	if n == 0 {
		return Summary{}, false
	}
	half := 1.96 * math.Sqrt(float64(n))
	low := max(1, int(math.Floor((float64(n)-half)/2)))
	high := min(n, int(math.Ceil(1+(float64(n)+half)/2)))
	return Summary{
		N: n, Min: sorted[0], P25: Quantile(sorted, 0.25), Median: Median(sorted), P75: Quantile(sorted, 0.75), P99: Quantile(sorted, 0.99),
		Low: sorted[low-1], High: sorted[high-1],
	}, true
}

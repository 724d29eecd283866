package guest

import (
	"example.org/homenode/internal/stat"
	"example.org/homenode/source/measured"
)

// Limits for steady samples.
const (
	mostDrift = .05 // of the median, over the time of measuring
	mostSlow  = .20 // of the samples, above slowTimes the median
	slowTimes = 3
	mostTrend = 300 // samples for the trend, whose cost is quadratic
)

// statsOf summarises samples in the order in which they were taken. ok is false without any.
func statsOf(samples []float64) (s measured.Stats, ok bool) {
	sum, ok := stat.Summarize(samples)
	if !ok {
		return s, false
	}
	s = measured.Stats{N: sum.N, Median: sum.Median, Low: sum.Low, High: sum.High, Min: sum.Min, P25: sum.P25, P75: sum.P75, P99: sum.P99}
	if slow := countAbove(samples, slowTimes*s.Median); float64(slow) > mostSlow*float64(len(samples)) {
		s.Disturbed = "more than 20 % of the samples took three times the median"
	}
	const least = 8 // with fewer samples a trend is chance
	if len(samples) < least || s.Median == 0 {
		return s, true
	}
	every := (len(samples) + mostTrend - 1) / mostTrend
	var x, y []float64
	for i := 0; i < len(samples); i += every {
		x, y = append(x, float64(i)), append(y, samples[i])
	}
	s.Drift = stat.Drift(x, y)
	s.Drifting = s.Drift > mostDrift || s.Drift < -mostDrift
	return s, true
}

func countAbove(samples []float64, limit float64) (n int) {
	for _, s := range samples {
		if s > limit {
			n++
		}
	}
	return n
}

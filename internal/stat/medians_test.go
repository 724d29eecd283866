package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// resampledMedians are the medians of all resamples of a set: the bootstrap by its
// definition, without chance.
func resampledMedians(s []float64) []float64 {
	n := len(s)
	var medians []float64
	for code := range int(math.Pow(float64(n), float64(n))) {
		sample := make([]float64, n)
		for i := range sample {
			sample[i] = s[code%n]
			code /= n
		}
		slices.Sort(sample)
		medians = append(medians, Median(sample))
	}
	return medians
}

// TestExact checks the simulation against all resamples: beyond either limit lie
// 2.5 % of them, give or take what 10,000 draws can be off (three deviations).
func TestExact(t *testing.T) {
	const off = 3 * 0.0016
	tail := (1 - Confidence) / 2
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 3; n <= 4; n++ {
		for range 20 {
			a, b := sample(rng, n, 100, 3), sample(rng, n, 102, 3)
			slices.Sort(a)
			slices.Sort(b)
			i := Medians(a, b)
			var all, below, atMost, above, atLeast float64
			for _, x := range resampledMedians(a) {
				for _, y := range resampledMedians(b) {
					all++
					switch d := y - x; {
					case d < i.Low:
						below++
					case d == i.Low:
						atMost++
					case d == i.High:
						atLeast++
					case d > i.High:
						above++
					}
				}
			}
			if below/all > tail+off || (below+atMost)/all < tail-off || above/all > tail+off || (above+atLeast)/all < tail-off {
				t.Errorf("Medians(%v, %v) = %v … %v: %.4f below, %.4f above, want %.4f", a, b, i.Low, i.High, below/all, above/all, tail)
			}
		}
	}
}

func sample(rng *rand.Rand, n int, mean, deviation float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = max(0, mean+deviation*rng.NormFloat64())
	}
	return out
}

// TestFalseAlarms measures how often sets that are really alike are said to differ:
// normal values. The comment in medians.go and the note of the
// report rest on these rates.
func TestFalseAlarms(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, tt := range []struct {
		n, pairs    int
		least, most float64
	}{
		{3, 400, 0.06, 0.14}, // 2 of 20 orders
		{5, 200, 0.02, 0.10},
		{20, 100, 0, 0.08},
	} {
		alarms := 0
		for range tt.pairs {
			a, b := sample(rng, tt.n, 100, 2), sample(rng, tt.n, 100, 2)
			slices.Sort(a)
			slices.Sort(b)
			if !Medians(a, b).HasZero() {
				alarms++
			}
		}
		rate := float64(alarms) / float64(tt.pairs)
		t.Logf("%d runs a side: %.1f %%", tt.n, 100*rate)
		if rate < tt.least || rate > tt.most {
			t.Errorf("%d runs a side: %.3f of like sets differ, want %.2f to %.2f", tt.n, rate, tt.least, tt.most)
		}
	}
}

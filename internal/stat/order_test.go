package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestSummarize(t *testing.T) {
	ten := []float64{10, 2, 3, 9, 5, math.NaN(), 7, 8, 6, 4, 1}
	got, ok := Summarize(ten)
	// Ranks ⌊(10 − 6.198) ÷ 2⌋ = 1 and ⌈1 + (10 + 6.198) ÷ 2⌉ = 10.
	want := Summary{N: 10, Min: 1, P25: 3.25, Median: 5.5, P75: 7.75, P99: 9.91, Low: 1, High: 10}
	if !ok || got.N != want.N || math.Abs(got.P99-want.P99) > 1e-9 || got.P25 != want.P25 || got.P75 != want.P75 || got.Median != want.Median || got.Low != want.Low || got.High != want.High || got.Min != want.Min {
		t.Errorf("Summarize = %+v, %v; want %+v", got, ok, want)
	}
	if _, ok := Summarize([]float64{math.NaN()}); ok {
		t.Error("nothing has a summary")
	}
}

// TestMedianInterval draws from a distribution with a long tail, as latencies have: the interval must hold the true median in 95 % of the
// draws or a little more, since ranks are whole.
func TestMedianInterval(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{10, 30, 200} {
		held, runs := 0, 4000
		for range runs {
			v := make([]float64, n)
			for i := range v {
				v[i] = rng.ExpFloat64()
			}
			if s, _ := Summarize(v); s.Low <= math.Ln2 && math.Ln2 <= s.High {
				held++
			}
		}
		if share := float64(held) / float64(runs); share < 0.945 || share > 0.999 {
			t.Errorf("%d samples: the interval held the median in %.1f %% of the draws", n, 100*share)
		}
	}
}

func TestQuantile(t *testing.T) {
	v := []float64{1, 2, 4, 8}
	for _, tt := range []struct{ share, want float64 }{{0, 1}, {0.5, 3}, {1, 8}, {1.0 / 3, 2}, {0.9, 6.8}} {
		if got := Quantile(v, tt.share); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("Quantile(%v) = %v, want %v", tt.share, got, tt.want)
		}
	}
	if got := Deviation([]float64{1, 2, 3, 4, 1000, math.NaN()}); math.Abs(got-1.4826) > 1e-9 {
		t.Errorf("Deviation = %v, want 1.4826", got)
	}
	if !math.IsNaN(Deviation(nil)) {
		t.Error("the deviation of nothing is not NaN")
	}
}

func TestTrend(t *testing.T) {
	x := []float64{0, 1, 2, 3, 4, 5, 6, 7}
	y := []float64{10, 10.5, 11, 900, 12, 12.5, math.NaN(), 13.5} // ½ a step, but for a wild one
	if got := Trend(x, y); math.Abs(got-0.5) > 1e-9 {
		t.Errorf("Trend = %v, want 0.5", got)
	}
	if got := Drift(x, y); math.Abs(got-3.5/12) > 1e-9 {
		t.Errorf("Drift = %v, want %v", got, 3.5/12)
	}
	if !math.IsNaN(Trend(x[:1], y[:1])) {
		t.Error("one point has a trend")
	}
}

// TestShareInterval compares with published values (Newcombe, "Two-sided confidence intervals for the single proportion", 1998, table I,
// method 3).
func TestShareInterval(t *testing.T) {
	for _, tt := range []struct{ k, n, low, high float64 }{
		{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718},
	} {
		if low, high := ShareInterval(tt.k, tt.n); math.Abs(low-tt.low) > 5e-5 || math.Abs(high-tt.high) > 5e-5 {
			t.Errorf("%v of %v: %.4f to %.4f, want %v to %v", tt.k, tt.n, low, high, tt.low, tt.high)
		}
	}
}

package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// autoregressive returns n values around a mean of which each keeps the share rho of the one before.
func autoregressive(rng *rand.Rand, n int, rho, mean float64) []Ratio {
	out := make([]Ratio, n)
	x := rng.NormFloat64() / math.Sqrt(1-rho*rho)
	for i := range out {
		out[i] = Ratio{mean + x, 1}
		x = rho*x + rng.NormFloat64()
	}
	return out
}

// TestMeans measures how often the 95 % interval holds the true difference, for series that
// remember more and more. The figures of docs/evidence/compare.md are of 600 trials each; the test makes
// fewer and allows three standard errors around its bands.
func TestMeans(t *testing.T) {
	const trials = 200
	for _, tt := range []struct {
		n         int
		rho       float64
		low, high float64
	}{
		{256, 0, 0.93, 0.98},
		{256, 0.5, 0.92, 0.98},
		{256, 0.8, 0.92, 0.98},
		{256, 0.9, 0.90, 0.98},
		{512, 0.95, 0.90, 0.98},
		{60, 0.5, 0.90, 0.98},
	} {
		rng := rand.New(rand.NewPCG(1, uint64(tt.n)))
		held := 0
		for range trials {
			a, b := autoregressive(rng, tt.n, tt.rho, 10), autoregressive(rng, tt.n, tt.rho, 12)
			i, _ := Means(a, b, 0.05)
			if i.Low <= 2 && i.High >= 2 {
				held++
			}
		}
		share := float64(held) / trials
		t.Logf("n %d, rho %.2f: %.3f", tt.n, tt.rho, share)
		slack := 3 * math.Sqrt(0.05*0.95/trials)
		if share < tt.low-slack || share > tt.high+slack {
			t.Errorf("n %d, rho %.2f: the interval holds the difference in %.3f of the trials, want %.2f to %.2f", tt.n, tt.rho, share, tt.low, tt.high)
		}
	}
}

// TestExpansion compares with the tables of Student's t.
func TestExpansion(t *testing.T) {
	for _, tt := range []struct{ z, free, want float64 }{
		{1.959964, 3, 3.182}, {1.959964, 10, 2.228}, {1.959964, 100, 1.984}, {2.575829, 6, 3.707}, {2.575829, 30, 2.750},
	} {
		if got := student(tt.z, tt.free); math.Abs(got-tt.want) > 0.01*tt.want {
			t.Errorf("student(%v, %v) = %.4f, want %v", tt.z, tt.free, got, tt.want)
		}
	}
}

func TestBlockLength(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	length := func(rho float64) int {
		values := autoregressive(rng, 512, rho, 0)
		m, _ := Mean(values)
		return blockLength(influence(values, m))
	}
	if short, long := length(0), length(0.9); short != 16 || long < 2*short { // 2 × 512^⅓
		t.Errorf("blocks of %d without memory and %d with, want 16 and at least twice as much", short, long)
	}
	if got := blockLength(make([]float64, 100)); got != 25 {
		t.Errorf("blocks of %d where nothing changes, want a quarter", got)
	}
}
